// Copies and fills.
//
// What is asynchronous with memory of the process that is not pinned: its bytes are taken at once if they are few, else
// the call returns when it is done; a copy to such memory is done when the call returns.
#include <stdlib.h>
#include <string.h>

#include "softgpu/cuda/calls.h"
#include "softgpu/cuda/capture.h"
#include "softgpu/cuda/graph.h"
#include "softgpu/cuda/memory.h"

enum { STAGED_MOST = 64 << 10 };

//===----------------------------------------------------------------------------------------------------------------===
// Descriptions
//===----------------------------------------------------------------------------------------------------------------===

// Whether the products of a side's sizes fit.
static bool fits(const copy_3d_t* p, const copy_side_t* side) {
  size_t rows, bytes;
  bool overflows = __builtin_add_overflow(p->depth, side->z, &rows) ||
                   __builtin_mul_overflow(rows, side->height, &rows) ||
                   __builtin_add_overflow(rows, p->height, &rows) || __builtin_add_overflow(rows, side->y, &rows) ||
                   __builtin_mul_overflow(rows, side->pitch, &bytes) ||
                   __builtin_add_overflow(bytes, p->width, &bytes) || __builtin_add_overflow(bytes, side->x, &bytes);
  return !overflows && bytes <= UINT64_MAX - copy_side_base(side);
}

// Unified addresses are what the table of allocations says; a row's pitch of 0 is its width.
static result_t resolve_side(const copy_3d_t* p, copy_side_t* side) {
  if (side->type == MEMORY_TYPE_ARRAY) return driver_refuse("cuMemcpy", "of arrays: there are none");
  REQUIRE(side->type == MEMORY_TYPE_HOST || side->type == MEMORY_TYPE_DEVICE || side->type == MEMORY_TYPE_UNIFIED,
          CUDA_ERROR_INVALID_VALUE);
  if (!side->pitch) side->pitch = p->width + side->x;
  if (!side->height) side->height = p->height + side->y;
  REQUIRE(p->height <= 1 || side->pitch >= p->width + side->x, CUDA_ERROR_INVALID_VALUE);
  REQUIRE(p->depth <= 1 || side->height >= p->height + side->y, CUDA_ERROR_INVALID_VALUE);
  REQUIRE(fits(p, side), CUDA_ERROR_INVALID_VALUE);
  if (side->type == MEMORY_TYPE_UNIFIED) {
    allocation_t a;
    bool is_known = allocation_find(copy_side_begin(side), &a);
    side->type = is_known ? MEMORY_TYPE_DEVICE : MEMORY_TYPE_HOST;
    side->host = (void*)(uintptr_t)side->device;
  }
  size_t extent = copy_side_extent(p, side);
  if (side->type == MEMORY_TYPE_HOST) return extent && !side->host ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  return allocation_holds(copy_side_begin(side), extent) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

result_t copy_make(const copy_3d_t* params, work_t* out) {
  *out = (work_t){.kind = WORK_COPY, .copy = {.params = *params}};
  copy_3d_t* p = &out->copy.params;
  CHECK(resolve_side(p, &p->source));
  return resolve_side(p, &p->target);
}

result_t fill_make(const fill_params_t* params, work_t* out) {
  *out = (work_t){.kind = WORK_FILL, .fill = *params};
  fill_params_t* p = &out->fill;
  size_t bytes, extent;
  REQUIRE(p->element == 1 || p->element == 2 || p->element == 4, CUDA_ERROR_INVALID_VALUE);
  REQUIRE(p->target % p->element == 0, CUDA_ERROR_INVALID_VALUE);
  REQUIRE(!__builtin_mul_overflow(p->width, p->element, &bytes), CUDA_ERROR_INVALID_VALUE);
  if (p->height <= 1) p->pitch = bytes;
  if (!bytes || !p->height) return CUDA_SUCCESS;
  REQUIRE(p->pitch >= bytes && p->pitch % p->element == 0, CUDA_ERROR_INVALID_VALUE);
  REQUIRE(!__builtin_mul_overflow(p->height - 1, p->pitch, &extent), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(!__builtin_add_overflow(extent, bytes, &extent), CUDA_ERROR_INVALID_VALUE);
  return allocation_holds(p->target, extent) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

//===----------------------------------------------------------------------------------------------------------------===
// Submission
//===----------------------------------------------------------------------------------------------------------------===

static bool is_pageable(const copy_3d_t* p, const copy_side_t* side) {
  return side->type == MEMORY_TYPE_HOST && !allocation_holds(copy_side_begin(side), copy_side_extent(p, side));
}

// `waits`: the call is not asynchronous.
static result_t submit(const copy_3d_t* params, stream_t* handle, bool waits) {
  context_t* context;
  stream_t* stream;
  work_t work;
  CHECK(context_enter(&context));
  if (waits) CHECK(capture_forbids());
  CHECK(stream_find(handle, context, &stream));
  CHECK(copy_make(params, &work));
  const copy_3d_t* p = &work.copy.params;
  if (!p->width || !p->height || !p->depth) return CUDA_SUCCESS;
  if (stream_is_capturing(stream)) return stream_submit(stream, &work);
  bool from_pageable = is_pageable(p, &p->source), to_pageable = is_pageable(p, &p->target);
  // Copies within the GPU's memory are never waited for.
  allocation_t a, b;
  bool is_inside = p->source.type == MEMORY_TYPE_DEVICE && p->target.type == MEMORY_TYPE_DEVICE &&
                   allocation_find(copy_side_begin(&p->source), &a) &&
                   allocation_find(copy_side_begin(&p->target), &b) && !memory_is_host(a.kind) &&
                   !memory_is_host(b.kind);
  waits = (waits && !is_inside) || to_pageable;
  if (from_pageable && !waits) {
    bool is_small = p->width <= STAGED_MOST && p->height <= STAGED_MOST / p->width &&
                    p->depth <= STAGED_MOST / p->width / p->height;
    work.copy.staged = is_small ? copy_stage(p) : NULL;
    waits = !work.copy.staged;
  }
  return waits ? stream_submit_and_wait(stream, &work) : stream_submit(stream, &work);
}

static copy_3d_t line(uint64_t target, int target_type, uint64_t source, int source_type, size_t size) {
  return (copy_3d_t){.source = {.type = source_type, .host = (void*)(uintptr_t)source, .device = source},
                     .target = {.type = target_type, .host = (void*)(uintptr_t)target, .device = target},
                     .width = size,
                     .height = 1,
                     .depth = 1};
}

static copy_side_t side_of_2d(const copy_2d_side_t* s) {
  return (copy_side_t){.x = s->x,
                       .y = s->y,
                       .type = s->type,
                       .host = s->host,
                       .device = s->device,
                       .array = s->array,
                       .pitch = s->pitch};
}
static copy_3d_t of_2d(const copy_2d_t* p) {
  return (copy_3d_t){.source = side_of_2d(&p->source),
                     .target = side_of_2d(&p->target),
                     .width = p->width,
                     .height = p->height,
                     .depth = 1};
}

// COPY(call, address types and names, types of memory): the call, and the one that takes a stream.
#define COPY(name, name_async, target_t, target_type, source_t, source_type)                                      \
  result_t name(target_t target, source_t source, size_t size) {                                                  \
    copy_3d_t p = line((uint64_t)(uintptr_t)target, target_type, (uint64_t)(uintptr_t)source, source_type, size); \
    return submit(&p, NULL, true);                                                                                \
  }                                                                                                               \
  result_t name_async(target_t target, source_t source, size_t size, stream_t* stream) {                          \
    copy_3d_t p = line((uint64_t)(uintptr_t)target, target_type, (uint64_t)(uintptr_t)source, source_type, size); \
    return submit(&p, stream, false);                                                                             \
  }
COPY(cuMemcpy, cuMemcpyAsync, uint64_t, MEMORY_TYPE_UNIFIED, uint64_t, MEMORY_TYPE_UNIFIED)
COPY(cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2, uint64_t, MEMORY_TYPE_DEVICE, const void*, MEMORY_TYPE_HOST)
COPY(cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2, void*, MEMORY_TYPE_HOST, uint64_t, MEMORY_TYPE_DEVICE)
COPY(cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2, uint64_t, MEMORY_TYPE_DEVICE, uint64_t, MEMORY_TYPE_DEVICE)

result_t cuMemcpyPeer(uint64_t target, context_t* target_context, uint64_t source, context_t* source_context,
                      size_t size) {
  return cuMemcpyDtoD_v2(target, source, size);
}
result_t cuMemcpyPeerAsync(uint64_t target, context_t* target_context, uint64_t source, context_t* source_context,
                           size_t size, stream_t* stream) {
  return cuMemcpyDtoDAsync_v2(target, source, size, stream);
}

static result_t submit_2d(const copy_2d_t* params, stream_t* stream, bool waits) {
  REQUIRE(params, CUDA_ERROR_INVALID_VALUE);
  copy_3d_t p = of_2d(params);
  return submit(&p, stream, waits);
}
static result_t submit_3d(const copy_3d_t* params, stream_t* stream, bool waits) {
  REQUIRE(params, CUDA_ERROR_INVALID_VALUE);
  return submit(params, stream, waits);
}
result_t cuMemcpy2D_v2(const copy_2d_t* params) { return submit_2d(params, NULL, true); }
result_t cuMemcpy2DUnaligned_v2(const copy_2d_t* params) { return submit_2d(params, NULL, true); }
result_t cuMemcpy2DAsync_v2(const copy_2d_t* params, stream_t* stream) { return submit_2d(params, stream, false); }
result_t cuMemcpy3D_v2(const copy_3d_t* params) { return submit_3d(params, NULL, true); }
result_t cuMemcpy3DAsync_v2(const copy_3d_t* params, stream_t* stream) { return submit_3d(params, stream, false); }
result_t cuMemcpy3DPeer(const copy_3d_t* params) { return submit_3d(params, NULL, true); }
result_t cuMemcpy3DPeerAsync(const copy_3d_t* params, stream_t* stream) { return submit_3d(params, stream, false); }

//===----------------------------------------------------------------------------------------------------------------===
// Fills
//===----------------------------------------------------------------------------------------------------------------===

// Fills return before they are done, unless the memory is the host's.
static result_t fill(const fill_params_t* params, stream_t* handle, bool waits) {
  context_t* context;
  stream_t* stream;
  allocation_t a;
  work_t work;
  CHECK(context_enter(&context));
  if (waits) CHECK(capture_forbids());
  CHECK(stream_find(handle, context, &stream));
  CHECK(fill_make(params, &work));
  if (!params->width || !params->height) return CUDA_SUCCESS;
  waits = waits && allocation_find(params->target, &a) && memory_is_host(a.kind);
  return waits ? stream_submit_and_wait(stream, &work) : stream_submit(stream, &work);
}

#define FILL(bits, type)                                                                                    \
  result_t cuMemsetD##bits##_v2(uint64_t target, type value, size_t count) {                                \
    fill_params_t p = {.target = target, .value = value, .element = bits / 8, .width = count, .height = 1}; \
    return fill(&p, NULL, true);                                                                            \
  }                                                                                                         \
  result_t cuMemsetD##bits##Async(uint64_t target, type value, size_t count, stream_t* stream) {            \
    fill_params_t p = {.target = target, .value = value, .element = bits / 8, .width = count, .height = 1}; \
    return fill(&p, stream, false);                                                                         \
  }                                                                                                         \
  result_t cuMemsetD2D##bits##_v2(uint64_t target, size_t pitch, type value, size_t width, size_t height) { \
    fill_params_t p = {target, pitch, value, bits / 8, width, height, NULL};                                \
    return fill(&p, NULL, true);                                                                            \
  }                                                                                                         \
  result_t cuMemsetD2D##bits##Async(uint64_t target, size_t pitch, type value, size_t width, size_t height, \
                                    stream_t* stream) {                                                     \
    fill_params_t p = {target, pitch, value, bits / 8, width, height, NULL};                                \
    return fill(&p, stream, false);                                                                         \
  }
FILL(8, uint8_t)
FILL(16, uint16_t)
FILL(32, uint32_t)
