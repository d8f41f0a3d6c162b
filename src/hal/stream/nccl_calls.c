// Collectives as calls of the library.
#include "hal/stream/nccl.h"

typedef struct number_t {
  bool is_known;
  int number;
} number_t;
static const number_t elements[] = {
#define ELEMENT(NAME, number) [IREE_HAL_COLLECTIVE_ELEMENT_TYPE_##NAME] = {true, number},
#include "hal/stream/nccl.def"
    [IREE_HAL_COLLECTIVE_ELEMENT_TYPE_MAX_VALUE + 1] = {false, 0},
};
static const int reductions[] = {
#define REDUCTION(NAME, number) [IREE_HAL_COLLECTIVE_REDUCTION_##NAME] = number,
#include "hal/stream/nccl.def"
};

iree_status_t nccl_calls_check(iree_hal_collective_op_t op) {
  if (!op.reduction || elements[op.element_type].is_known) return iree_ok_status();
  iree_bitfield_string_temp_t name;
  iree_hal_collective_op_format(&op, &name);
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                          "%s: NCCL has no reductions of 16-bit integers; use 32-bit ones, or bytes where nothing is "
                          "reduced",
                          name.buffer);
}

// What the library is told of a part.
typedef struct call_t {
  const nccl_rank_t* rank;
  const uint8_t* send;
  uint8_t* recv;
  size_t count;
  size_t size;  // bytes of an element
  int type, reduction, param;
} call_t;

// A type that the library does not have is moved as bytes.
static call_t make_call(const nccl_rank_t* rank, const hal_collective_part_t* part) {
  size_t size = (size_t)iree_hal_collective_element_byte_count(part->op.element_type);
  call_t call = {.rank = rank,
                 .send = part->memory.send,
                 .recv = part->memory.recv,
                 .count = (size_t)part->element_count,
                 .size = size,
                 .type = elements[part->op.element_type].number,
                 .reduction = reductions[part->op.reduction],
                 .param = (int)part->param};
  if (!elements[part->op.element_type].is_known) {
    call.type = elements[IREE_HAL_COLLECTIVE_ELEMENT_TYPE_UINT_8].number;
    call.count *= size;
    call.size = 1;
  }
  return call;
}

// To and from everybody.
static iree_status_t start_all_to_all(const call_t* c) {
  const nccl_rank_t* rank = c->rank;
  size_t count = c->count / (size_t)rank->count;
  for (int32_t peer = 0; peer < rank->count; ++peer) {
    size_t at = (size_t)peer * count * c->size;
    IREE_RETURN_IF_ERROR(NCCL_CALL(rank->api, send, c->send + at, count, c->type, peer, rank->comm, rank->stream));
    IREE_RETURN_IF_ERROR(NCCL_CALL(rank->api, recv, c->recv + at, count, c->type, peer, rank->comm, rank->stream));
  }
  return iree_ok_status();
}

// Where this rank has nothing to give or to get, the library is given the other end: it copies nothing onto itself.
iree_status_t nccl_calls_start(const nccl_rank_t* rank, const hal_collective_part_t* part) {
  const call_t c = make_call(rank, part);
  const nccl_api_t* api = rank->api;
  void *comm = rank->comm, *stream = rank->stream;
  const void* send = c.send ? c.send : c.recv;
  void* recv = c.recv ? c.recv : (void*)(uintptr_t)c.send;
  switch (part->op.kind) {
    case IREE_HAL_COLLECTIVE_KIND_ALL_GATHER:
      return NCCL_CALL(api, all_gather, send, recv, c.count, c.type, comm, stream);
    case IREE_HAL_COLLECTIVE_KIND_ALL_REDUCE:
      return NCCL_CALL(api, all_reduce, send, recv, c.count, c.type, c.reduction, comm, stream);
    case IREE_HAL_COLLECTIVE_KIND_ALL_TO_ALL:
      return start_all_to_all(&c);
    case IREE_HAL_COLLECTIVE_KIND_BROADCAST:
      return NCCL_CALL(api, broadcast, send, recv, c.count, c.type, c.param, comm, stream);
    case IREE_HAL_COLLECTIVE_KIND_REDUCE:
      return NCCL_CALL(api, reduce, send, recv, c.count, c.type, c.reduction, c.param, comm, stream);
    case IREE_HAL_COLLECTIVE_KIND_REDUCE_SCATTER:
      return NCCL_CALL(api, reduce_scatter, send, recv, c.count, c.type, c.reduction, comm, stream);
    case IREE_HAL_COLLECTIVE_KIND_SEND:
      return NCCL_CALL(api, send, send, c.count, c.type, c.param, comm, stream);
    case IREE_HAL_COLLECTIVE_KIND_RECV:
      return NCCL_CALL(api, recv, recv, c.count, c.type, c.param, comm, stream);
    default:
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "collective kind %u is not known", part->op.kind);
  }
}
