// Collectives: names, checks and arithmetic.
//
// Reductions go through the ranks in order, element by element: every rank gets the same bits, whoever comes last.
// Floats below 32 bits are computed as f32 and rounded once; integers wrap, and their averages are rounded towards
// zero; a NaN is the minimum and the maximum of everything.
#include "hal/collective.h"

#include "base/small_float.h"

enum { REDUCES = 1, ROOTED = 2, PEER = 4, PEERS = 8 };
enum { NONE, ONE, ALL };

typedef struct kind_t {
  const char* text;
  uint8_t traits, send, recv;
} kind_t;
static const kind_t kinds[] = {
#define KIND(NAME, text, traits, send, recv) [IREE_HAL_COLLECTIVE_KIND_##NAME] = {text, traits, send, recv},
#include "hal/collectives.def"
};

static const char* const reductions[] = {
#define REDUCTION(NAME, text) [IREE_HAL_COLLECTIVE_REDUCTION_##NAME] = text,
#include "hal/collectives.def"
};

//===----------------------------------------------------------------------------------------------------------------===
// Arithmetic
//===----------------------------------------------------------------------------------------------------------------===

enum { BLOCK = 256 };  // elements

#define LOAD_NUMBER(value, ordered) ((ordered)(value))
#define STORE_NUMBER(value, stored) ((stored)(value))
#define LOAD_F16(value, ordered) ((ordered)small_float_decode(SMALL_F16, (value)))
#define STORE_F16(value, stored) ((stored)small_float_encode(SMALL_F16, (value)))
#define LOAD_BF16(value, ordered) ((ordered)small_float_decode(SMALL_BF16, (value)))
#define STORE_BF16(value, stored) ((stored)small_float_encode(SMALL_BF16, (value)))

// Buffers may begin anywhere.
#define UNALIGNED(type) type __attribute__((__aligned__(1), __may_alias__))

// Elements [offset, offset + length) of all sources, at most BLOCK, to `result`.
#define ELEMENT(NAME, text, stored, wide, ordered, load, store)                                                        \
  static void reduce_##NAME(iree_hal_collective_reduction_t reduction, uint32_t count,                                 \
                            const hal_collective_memory_t* ranks, size_t offset, size_t length, void* result) {        \
    typedef UNALIGNED(stored) stored_t;                                                                                \
    typedef wide wide_t;                                                                                               \
    typedef ordered ordered_t;                                                                                         \
    wide_t sums[BLOCK];                                                                                                \
    for (size_t i = 0; i < length; ++i) sums[i] = (wide_t)load(((const stored_t*)ranks[0].send)[offset + i], ordered); \
    for (uint32_t rank = 1; rank < count; ++rank) {                                                                    \
      const stored_t* source = (const stored_t*)ranks[rank].send + offset;                                             \
      for (size_t i = 0; i < length; ++i) {                                                                            \
        ordered_t x = (ordered_t)sums[i], y = load(source[i], ordered);                                                \
        switch (reduction) {                                                                                           \
          case IREE_HAL_COLLECTIVE_REDUCTION_PRODUCT:                                                                  \
            sums[i] = (wide_t)x * (wide_t)y;                                                                           \
            break;                                                                                                     \
          case IREE_HAL_COLLECTIVE_REDUCTION_MINIMUM:                                                                  \
            sums[i] = (wide_t)(y < x || y != y ? y : x);                                                               \
            break;                                                                                                     \
          case IREE_HAL_COLLECTIVE_REDUCTION_MAXIMUM:                                                                  \
            sums[i] = (wide_t)(y > x || y != y ? y : x);                                                               \
            break;                                                                                                     \
          default:                                                                                                     \
            sums[i] = (wide_t)x + (wide_t)y;                                                                           \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
    for (size_t i = 0; i < length; ++i) {                                                                              \
      ordered_t value = (ordered_t)sums[i];                                                                            \
      if (reduction == IREE_HAL_COLLECTIVE_REDUCTION_AVERAGE) value /= (ordered_t)count;                               \
      ((stored_t*)result)[i] = store(value, stored);                                                                   \
    }                                                                                                                  \
  }
#include "hal/collectives.def"

typedef struct element_t {
  const char* text;
  uint8_t size;  // bytes
  void (*reduce)(iree_hal_collective_reduction_t reduction, uint32_t count, const hal_collective_memory_t* ranks,
                 size_t offset, size_t length, void* result);
} element_t;
static const element_t elements[] = {
#define ELEMENT(NAME, text, stored, ...) \
  [IREE_HAL_COLLECTIVE_ELEMENT_TYPE_##NAME] = {text, sizeof(stored), reduce_##NAME},
#include "hal/collectives.def"
};

iree_device_size_t iree_hal_collective_element_byte_count(iree_hal_collective_element_type_t element_type) {
  return element_type < IREE_ARRAYSIZE(elements) ? elements[element_type].size : 0;
}

// Reduces elements [offset, offset + length) of what is sent and writes them to the begin of `first` and of the ranks
// after it, `step` of them.
static void reduce_range(iree_hal_collective_op_t op, size_t offset, size_t length, uint32_t rank_count,
                         const hal_collective_memory_t* ranks, uint32_t first, uint32_t step) {
  const element_t* element = &elements[op.element_type];
  iree_alignas(16) uint8_t block[BLOCK * sizeof(uint64_t)];
  for (size_t done = 0; done < length;) {
    size_t count = iree_min(length - done, BLOCK);
    element->reduce(op.reduction, rank_count, ranks, offset + done, count, block);
    for (uint32_t rank = first; rank < first + step; ++rank) {
      memcpy(ranks[rank].recv + done * element->size, block, count * element->size);
    }
    done += count;
  }
}

static void copy_range(uint8_t* target, const uint8_t* source, size_t length) {
  if (target != source) memmove(target, source, length);
}

void hal_collective_compute(iree_hal_collective_op_t op, uint32_t root, iree_device_size_t element_count,
                            uint32_t rank_count, const hal_collective_memory_t* ranks) {
  size_t size = (size_t)element_count * elements[op.element_type].size;
  size_t piece = size / rank_count;
  if (size == 0) return;
  switch (op.kind) {
    case IREE_HAL_COLLECTIVE_KIND_ALL_REDUCE:
      reduce_range(op, 0, element_count, rank_count, ranks, 0, rank_count);
      break;
    case IREE_HAL_COLLECTIVE_KIND_REDUCE:
      reduce_range(op, 0, element_count, rank_count, ranks, root, 1);
      break;
    case IREE_HAL_COLLECTIVE_KIND_REDUCE_SCATTER:
      for (uint32_t i = 0; i < rank_count; ++i) {
        reduce_range(op, i * (size_t)element_count, element_count, rank_count, ranks, i, 1);
      }
      break;
    case IREE_HAL_COLLECTIVE_KIND_ALL_GATHER:
      for (uint32_t i = 0; i < rank_count; ++i) {
        for (uint32_t j = 0; j < rank_count; ++j) copy_range(ranks[j].recv + i * size, ranks[i].send, size);
      }
      break;
    case IREE_HAL_COLLECTIVE_KIND_ALL_TO_ALL:
      for (uint32_t i = 0; i < rank_count; ++i) {
        for (uint32_t j = 0; j < rank_count; ++j) memcpy(ranks[j].recv + i * piece, ranks[i].send + j * piece, piece);
      }
      break;
    case IREE_HAL_COLLECTIVE_KIND_BROADCAST:
      for (uint32_t i = 0; i < rank_count; ++i) {
        if (i != root) copy_range(ranks[i].recv, ranks[root].send, size);
      }
      break;
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Names
//===----------------------------------------------------------------------------------------------------------------===

static const char* name_of(const char* const* names, size_t count, size_t index) {
  return index < count && names[index] ? names[index] : "?";
}

iree_string_view_t iree_hal_collective_op_format(const iree_hal_collective_op_t* op,
                                                 iree_bitfield_string_temp_t* out_temp) {
  const char* kind = op->kind < IREE_ARRAYSIZE(kinds) ? kinds[op->kind].text : "?";
  const char* element = op->element_type < IREE_ARRAYSIZE(elements) ? elements[op->element_type].text : "?";
  int length = op->reduction ? snprintf(out_temp->buffer, sizeof(out_temp->buffer), "%s %s %s", kind,
                                        name_of(reductions, IREE_ARRAYSIZE(reductions), op->reduction), element)
                             : snprintf(out_temp->buffer, sizeof(out_temp->buffer), "%s %s", kind, element);
  return iree_make_string_view(out_temp->buffer, (iree_host_size_t)length);
}

//===----------------------------------------------------------------------------------------------------------------===
// Checks
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t check_op(iree_hal_collective_op_t op) {
  if (op.kind >= IREE_ARRAYSIZE(kinds)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "collective kind %u is not known", op.kind);
  }
  if (op.element_type >= IREE_ARRAYSIZE(elements)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "collective element type %u is not known", op.element_type);
  }
  bool reduces = kinds[op.kind].traits & REDUCES;
  if (reduces == !op.reduction || op.reduction >= IREE_ARRAYSIZE(reductions)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "collective %s %s with reduction %u", kinds[op.kind].text,
                            reduces ? "needs a reduction, and not one" : "has none, but comes", op.reduction);
  }
  return iree_ok_status();
}

static iree_status_t check_rank(uint32_t rank, int32_t count) {
  if (rank < (uint32_t)count) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "rank %u is not one of the group's %d", rank, count);
}

// Of SEND_RECV: the low and the high half, 65535 for nobody.
static iree_status_t check_param(const hal_collective_t* collective, uint8_t traits, int32_t count) {
  if (traits & (ROOTED | PEER)) return check_rank(collective->param, count);
  if (!(traits & PEERS)) return iree_ok_status();
  for (int shift = 0; shift <= 16; shift += 16) {
    uint32_t peer = collective->param >> shift & UINT16_MAX;
    if (peer != UINT16_MAX) IREE_RETURN_IF_ERROR(check_rank(peer, count));
  }
  return iree_ok_status();
}

// Whether this rank reads or writes its end.
static bool uses_end(const hal_collective_t* collective, int32_t rank, bool is_recv) {
  const kind_t* kind = &kinds[collective->op.kind];
  if ((is_recv ? kind->recv : kind->send) == NONE) return false;
  if (kind->traits & PEERS) {
    return is_recv || (collective->param & UINT16_MAX) != UINT16_MAX;  // what nobody sends is received as zeros
  }
  if (!(kind->traits & ROOTED)) return true;
  bool is_root = collective->param == (uint32_t)rank;
  if (collective->op.kind == IREE_HAL_COLLECTIVE_KIND_BROADCAST) return is_root != is_recv;
  return is_root || !is_recv;
}

static iree_status_t check_end(iree_hal_buffer_ref_t* ref, iree_device_size_t size, const char* name) {
  if (ref->length != IREE_HAL_WHOLE_BUFFER && ref->length < size) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "the %s range has %" PRIdsz " bytes, %" PRIdsz " are needed",
                            name, ref->length, size);
  }
  ref->length = size;
  return iree_ok_status();
}

iree_status_t hal_collective_check(hal_collective_t* collective) {
  if (!collective->channel) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no channel given");
  IREE_RETURN_IF_ERROR(check_op(collective->op));
  const kind_t* kind = &kinds[collective->op.kind];
  int32_t rank = 0, count = 0;
  iree_hal_channel_query_rank_and_count(collective->channel, &rank, &count);
  IREE_RETURN_IF_ERROR(check_param(collective, kind->traits, count));
  iree_device_size_t one = 0, all = 0;
  if (!iree_device_size_checked_mul(collective->element_count, elements[collective->op.element_type].size, &one) ||
      !iree_device_size_checked_mul(one, (iree_device_size_t)count, &all)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "%" PRIdsz " elements are too many", collective->element_count);
  }
  if (collective->op.kind == IREE_HAL_COLLECTIVE_KIND_ALL_TO_ALL && collective->element_count % (uint32_t)count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%" PRIdsz " elements are not the same for each of %d ranks",
                            collective->element_count, count);
  }
  iree_hal_buffer_ref_t unused = {0};
  if (!uses_end(collective, rank, false)) {
    collective->send = unused;
  } else {
    IREE_RETURN_IF_ERROR(check_end(&collective->send, kind->send == ALL ? all : one, "send"));
  }
  if (!uses_end(collective, rank, true)) {
    collective->recv = unused;
    return iree_ok_status();
  }
  return check_end(&collective->recv, kind->recv == ALL ? all : one, "recv");
}
