// Calls on streams.
#include <stdlib.h>
#include <string.h>

#include "softgpu/cuda/calls.h"
#include "softgpu/cuda/capture.h"
#include "softgpu/cuda/memory.h"
#include "softgpu/cuda/stream.h"

// The stream of a call, in *stream.
static result_t enter(stream_t** stream) {
  context_t* context;
  CHECK(context_enter(&context));
  return stream_find(*stream, context, stream);
}

result_t cuStreamQuery(stream_t* stream) {
  CHECK(enter(&stream));
  driver_lock();
  result_t result = capture_forbids_waiting(stream);
  if (result == CUDA_SUCCESS && stream_is_behind(stream)) result = CUDA_ERROR_NOT_READY;
  driver_unlock();
  return result;
}

result_t cuStreamSynchronize(stream_t* stream) {
  CHECK(enter(&stream));
  context_t* context = stream->context;
  driver_lock();
  result_t result = capture_forbids_waiting(stream);
  if (result == CUDA_SUCCESS) stream_await_order(stream);
  driver_unlock();
  return result == CUDA_SUCCESS ? context_error(context) : result;
}

result_t cuStreamGetPriority(stream_t* stream, int* out) {
  CHECK(enter(&stream));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = stream->priority;
  return CUDA_SUCCESS;
}
result_t cuStreamGetFlags(stream_t* stream, unsigned* out) {
  CHECK(enter(&stream));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = stream->flags;
  return CUDA_SUCCESS;
}
result_t cuStreamGetId(stream_t* stream, unsigned long long* out) {
  CHECK(enter(&stream));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = stream->id;
  return CUDA_SUCCESS;
}
result_t cuStreamGetCtx(stream_t* stream, context_t** out) {
  CHECK(enter(&stream));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = stream->context;
  return CUDA_SUCCESS;
}
result_t cuStreamGetDevice(stream_t* stream, int* out) {
  CHECK(enter(&stream));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = (int)stream->context->device->ordinal;
  return CUDA_SUCCESS;
}

enum { ATTRIBUTE_PRIORITY = 8, LAST_ATTRIBUTE = 16, ATTRIBUTE_SIZE = 64 };

// Hints: all but the priority are zero, and setting them changes nothing.
result_t cuStreamGetAttribute(stream_t* stream, int attribute, void* out) {
  CHECK(enter(&stream));
  REQUIRE(out && attribute > 0 && attribute <= LAST_ATTRIBUTE, CUDA_ERROR_INVALID_VALUE);
  memset(out, 0, ATTRIBUTE_SIZE);
  if (attribute == ATTRIBUTE_PRIORITY) *(int*)out = stream->priority;
  return CUDA_SUCCESS;
}
result_t cuStreamSetAttribute(stream_t* stream, int attribute, const void* value) {
  CHECK(enter(&stream));
  REQUIRE(value && attribute > 0 && attribute <= LAST_ATTRIBUTE, CUDA_ERROR_INVALID_VALUE);
  if (attribute == ATTRIBUTE_PRIORITY) stream->priority = *(const int*)value;
  return CUDA_SUCCESS;
}
result_t cuStreamCopyAttributes(stream_t* target, stream_t* source) {
  CHECK(enter(&target));
  CHECK(enter(&source));
  target->priority = source->priority;
  return CUDA_SUCCESS;
}

result_t cuLaunchHostFunc(stream_t* stream, host_call_t call, void* data) {
  CHECK(enter(&stream));
  REQUIRE(call, CUDA_ERROR_INVALID_VALUE);
  work_t work = {.kind = WORK_HOST, .host = {call, data}};
  return stream_submit(stream, &work);
}

result_t cuStreamAddCallback(stream_t* stream, stream_callback_t call, void* data, unsigned flags) {
  stream_t* handle = stream;
  CHECK(enter(&stream));
  REQUIRE(call && flags == 0, CUDA_ERROR_INVALID_VALUE);
  REQUIRE(!stream_is_capturing(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  work_t work = {.kind = WORK_CALLBACK, .callback = {call, handle, data}};
  return stream_submit(stream, &work);
}

//===----------------------------------------------------------------------------------------------------------------===
// Operations on words of memory
//===----------------------------------------------------------------------------------------------------------------===

static result_t check_mem_op(const mem_op_t* op) {
  enum { FLUSH = 1 << 30 };
  bool is_wide = op->operation == MEM_OP_WAIT_64 || op->operation == MEM_OP_WRITE_64;
  switch (op->operation) {
    case MEM_OP_WAIT_32:
    case MEM_OP_WAIT_64:
      REQUIRE(!(op->flags & FLUSH), driver_refuse("cuStreamWaitValue", "with a flush of remote writes"));
      REQUIRE(op->flags <= WAIT_NOR, CUDA_ERROR_INVALID_VALUE);
      break;
    case MEM_OP_WRITE_32:
    case MEM_OP_WRITE_64:
      REQUIRE(op->flags <= 1, CUDA_ERROR_INVALID_VALUE);
      break;
    case MEM_OP_BARRIER:
      return CUDA_SUCCESS;
    case MEM_OP_FLUSH:
      return driver_refuse("cuStreamBatchMemOp", "with a flush of remote writes");
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  size_t size = is_wide ? 8 : 4;
  REQUIRE(op->address % size == 0 && allocation_holds(op->address, size), CUDA_ERROR_INVALID_VALUE);
  return CUDA_SUCCESS;
}

result_t mem_ops_make(const mem_op_t* ops, uint32_t count, work_t* out) {
  REQUIRE(ops && count && count <= 256, CUDA_ERROR_INVALID_VALUE);
  for (uint32_t i = 0; i < count; ++i) CHECK(check_mem_op(&ops[i]));
  mem_op_t* copy = malloc(count * sizeof(*copy));
  REQUIRE(copy, CUDA_ERROR_OUT_OF_MEMORY);
  for (uint32_t i = 0; i < count; ++i) copy[i] = ops[i];
  *out = (work_t){.kind = WORK_MEM_OPS, .mem_ops = {count, copy}};
  return CUDA_SUCCESS;
}

result_t cuStreamBatchMemOp_v2(stream_t* stream, unsigned count, mem_op_t* ops, unsigned flags) {
  work_t work;
  CHECK(enter(&stream));
  REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
  CHECK(mem_ops_make(ops, count, &work));
  return stream_submit(stream, &work);
}
result_t cuStreamBatchMemOp(stream_t* stream, unsigned count, mem_op_t* ops, unsigned flags) {
  return cuStreamBatchMemOp_v2(stream, count, ops, flags);
}

// The first versions and the second ones, which differ in flags that are not there.
#define ONE_MEM_OP(name, kind, type)                                                       \
  result_t name##_v2(stream_t* stream, uint64_t address, type value, unsigned flags) {     \
    mem_op_t op = {.operation = kind, .address = address, .value = value, .flags = flags}; \
    return cuStreamBatchMemOp_v2(stream, 1, &op, 0);                                       \
  }                                                                                        \
  result_t name(stream_t* stream, uint64_t address, type value, unsigned flags) {          \
    return name##_v2(stream, address, value, flags);                                       \
  }
ONE_MEM_OP(cuStreamWaitValue32, MEM_OP_WAIT_32, uint32_t)
ONE_MEM_OP(cuStreamWriteValue32, MEM_OP_WRITE_32, uint32_t)
ONE_MEM_OP(cuStreamWaitValue64, MEM_OP_WAIT_64, uint64_t)
ONE_MEM_OP(cuStreamWriteValue64, MEM_OP_WRITE_64, uint64_t)
