// Calls that allocate, free and describe memory.
#include <stdlib.h>
#include <string.h>

#include "softgpu/cuda/calls.h"
#include "softgpu/cuda/capture.h"
#include "softgpu/cuda/memory.h"
#include "softgpu/cuda/stream.h"

// A context, for calls that a capture elsewhere may forbid.
static result_t enter(context_t** out_context) {
  CHECK(context_enter(out_context));
  return capture_forbids();
}

static result_t allocate(memory_kind_t kind, size_t size, unsigned flags, uint64_t* out) {
  context_t* context;
  CHECK(enter(&context));
  REQUIRE(out && size, CUDA_ERROR_INVALID_VALUE);
  allocation_t a = {.size = size, .kind = kind, .device = context->device, .context = context, .flags = flags};
  CHECK(allocation_create(&a));
  *out = a.base;
  return CUDA_SUCCESS;
}

// Work that may use the memory ends first, as on hardware.
static result_t release(uint64_t address, bool is_host) {
  context_t* context;
  CHECK(enter(&context));
  if (!address) return CUDA_SUCCESS;
  allocation_t a;
  REQUIRE(allocation_find(address, &a) && a.base == address, CUDA_ERROR_INVALID_VALUE);
  bool fits =
      is_host ? a.kind == MEMORY_HOST : a.kind == MEMORY_DEVICE || a.kind == MEMORY_MANAGED || a.kind == MEMORY_POOL;
  REQUIRE(fits, CUDA_ERROR_INVALID_VALUE);
  if (a.context && context_is_alive(a.context)) CHECK(stream_synchronize_all(a.context));
  return allocation_free(address, a.kind) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

result_t cuMemAlloc_v2(uint64_t* out, size_t size) { return allocate(MEMORY_DEVICE, size, 0, out); }
result_t cuMemFree_v2(uint64_t address) { return release(address, false); }

result_t cuMemAllocPitch_v2(uint64_t* out, size_t* out_pitch, size_t width, size_t height, unsigned element) {
  enum { PITCH = 512 };
  REQUIRE(out_pitch && width && height && (element == 4 || element == 8 || element == 16), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(width <= SIZE_MAX / 2 && height <= SIZE_MAX / 2 / (width + PITCH), CUDA_ERROR_OUT_OF_MEMORY);
  size_t pitch = (width + PITCH - 1) & ~(size_t)(PITCH - 1);
  CHECK(allocate(MEMORY_DEVICE, pitch * height, 0, out));
  *out_pitch = pitch;
  return CUDA_SUCCESS;
}

result_t cuMemAllocManaged(uint64_t* out, size_t size, unsigned flags) {
  enum { GLOBAL = 1, HOST = 2 };
  REQUIRE(flags == GLOBAL || flags == HOST, CUDA_ERROR_INVALID_VALUE);
  return allocate(MEMORY_MANAGED, size, flags, out);
}

result_t cuMemHostAlloc(void** out, size_t size, unsigned flags) {
  enum { FLAGS = 7 };
  uint64_t address = 0;
  REQUIRE(out && !(flags & ~FLAGS), CUDA_ERROR_INVALID_VALUE);
  CHECK(allocate(MEMORY_HOST, size, flags, &address));
  *out = (void*)(uintptr_t)address;
  return CUDA_SUCCESS;
}
result_t cuMemAllocHost_v2(void** out, size_t size) { return cuMemHostAlloc(out, size, 0); }
result_t cuMemFreeHost(void* host) { return release((uint64_t)(uintptr_t)host, true); }

result_t cuMemHostRegister_v2(void* host, size_t size, unsigned flags) {
  enum { FLAGS = 15, IO_MEMORY = 4 };
  context_t* context;
  CHECK(enter(&context));
  REQUIRE(host && size && size <= UINT64_MAX - (uint64_t)(uintptr_t)host && !(flags & ~FLAGS),
          CUDA_ERROR_INVALID_VALUE);
  if (flags & IO_MEMORY) return driver_refuse("cuMemHostRegister", "of memory of other devices: there are none");
  allocation_t a = {.base = (uint64_t)(uintptr_t)host,
                    .size = size,
                    .kind = MEMORY_REGISTERED,
                    .device = context->device,
                    .context = context,
                    .flags = flags,
                    .agents = UINT64_MAX};
  return allocation_add(&a);
}
result_t cuMemHostRegister(void* host, size_t size, unsigned flags) { return cuMemHostRegister_v2(host, size, flags); }

result_t cuMemHostUnregister(void* host) {
  context_t* context;
  CHECK(enter(&context));
  REQUIRE(host, CUDA_ERROR_INVALID_VALUE);
  allocation_t a;
  uint64_t address = (uint64_t)(uintptr_t)host;
  bool is_there = allocation_find(address, &a) && a.base == address && a.kind == MEMORY_REGISTERED;
  REQUIRE(is_there, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  if (a.context && context_is_alive(a.context)) CHECK(stream_synchronize_all(a.context));
  return allocation_free(address, MEMORY_REGISTERED) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

// Host memory has the same address everywhere.
static result_t find_host(const void* host, allocation_t* out) {
  context_t* context;
  CHECK(context_enter(&context));
  bool is_there = host && allocation_find((uint64_t)(uintptr_t)host, out);
  return is_there && (memory_is_host(out->kind) || out->kind == MEMORY_MANAGED) ? CUDA_SUCCESS
                                                                                : CUDA_ERROR_INVALID_VALUE;
}

result_t cuMemHostGetDevicePointer_v2(uint64_t* out, void* host, unsigned flags) {
  allocation_t a;
  REQUIRE(out && flags == 0, CUDA_ERROR_INVALID_VALUE);
  CHECK(find_host(host, &a));
  *out = (uint64_t)(uintptr_t)host;
  return CUDA_SUCCESS;
}

result_t cuMemHostGetFlags(unsigned* out, void* host) {
  allocation_t a;
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  CHECK(find_host(host, &a));
  REQUIRE(memory_is_host(a.kind), CUDA_ERROR_INVALID_VALUE);
  enum { DEVICEMAP = 2 };
  *out = a.flags | DEVICEMAP;
  return CUDA_SUCCESS;
}

result_t cuMemGetInfo_v2(size_t* out_free, size_t* out_total) {
  context_t* context;
  CHECK(context_enter(&context));
  REQUIRE(out_free && out_total, CUDA_ERROR_INVALID_VALUE);
  device_t* device = context->device;
  *out_total = device->target->memory;
  *out_free = *out_total - __atomic_load_n(&device->allocated, __ATOMIC_RELAXED);
  return CUDA_SUCCESS;
}

result_t cuMemGetAddressRange_v2(uint64_t* out_base, size_t* out_size, uint64_t address) {
  context_t* context;
  allocation_t a;
  CHECK(context_enter(&context));
  REQUIRE(allocation_find(address, &a), CUDA_ERROR_NOT_FOUND);
  if (out_base) *out_base = a.base;
  if (out_size) *out_size = a.size;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------------------------------------------------===
// Attributes
//===----------------------------------------------------------------------------------------------------------------===

enum { LAST_POINTER_ATTRIBUTE = 21, SYNC_MEMOPS = 6, MAX_DATA = 8 };

// ROW(number, type, value) of the allocation `a` and `address`.
#define POINTER_ATTRIBUTES(ROW)                                                        \
  ROW(1, context_t*, a->context ? a->context : &a->device->primary)                    \
  ROW(2, unsigned, memory_is_host(a->kind) ? MEMORY_TYPE_HOST : MEMORY_TYPE_DEVICE)    \
  ROW(3, uint64_t, address)                                                            \
  ROW(4, uint64_t, memory_is_host(a->kind) || a->kind == MEMORY_MANAGED ? address : 0) \
  ROW(6, int, 1)                                                                       \
  ROW(7, uint64_t, a->id)                                                              \
  ROW(8, int, a->kind == MEMORY_MANAGED)                                               \
  ROW(9, int, (int)a->device->ordinal)                                                 \
  ROW(10, int, 0)                                                                      \
  ROW(11, uint64_t, a->base)                                                           \
  ROW(12, uint64_t, a->size)                                                           \
  ROW(13, int, 1)                                                                      \
  ROW(14, uint64_t, 0)                                                                 \
  ROW(15, int, 0)                                                                      \
  ROW(16, int, 3)                                                                      \
  ROW(17, pool_t*, a->pool)                                                            \
  ROW(18, uint64_t, a->size)                                                           \
  ROW(19, uint64_t, a->base)                                                           \
  ROW(20, uint64_t, a->id)                                                             \
  ROW(21, int, 0)

// False when there is no such attribute.
static bool describe(void* out, int attribute, const allocation_t* a, uint64_t address) {
  switch (attribute) {
#define ROW(number, type, value) \
  case number:                   \
    *(type*)out = (type)(value); \
    return true;
    POINTER_ATTRIBUTES(ROW)
#undef ROW
    default:
      return false;
  }
}

static size_t size_of(int attribute) {
  switch (attribute) {
#define ROW(number, type, value) \
  case number:                   \
    return sizeof(type);
    POINTER_ATTRIBUTES(ROW)
#undef ROW
    default:
      return 0;
  }
}

result_t cuPointerGetAttribute(void* out, int attribute, uint64_t address) {
  allocation_t a;
  CHECK(driver_enter());
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  REQUIRE(allocation_find(address, &a), CUDA_ERROR_INVALID_VALUE);
  return describe(out, attribute, &a, address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Of memory that is none of ours, all is zero, and that is no error.
result_t cuPointerGetAttributes(unsigned count, int* attributes, void** out, uint64_t address) {
  allocation_t a;
  CHECK(driver_enter());
  REQUIRE(attributes && out, CUDA_ERROR_INVALID_VALUE);
  bool is_there = allocation_find(address, &a);
  for (unsigned i = 0; i < count; ++i) {
    size_t size = size_of(attributes[i]);
    REQUIRE(size && out[i], CUDA_ERROR_INVALID_VALUE);
    memset(out[i], 0, size);
    if (is_there) describe(out[i], attributes[i], &a, address);
  }
  return CUDA_SUCCESS;
}

result_t cuPointerSetAttribute(const void* value, int attribute, uint64_t address) {
  allocation_t a;
  CHECK(driver_enter());
  REQUIRE(value && attribute == SYNC_MEMOPS && allocation_find(address, &a), CUDA_ERROR_INVALID_VALUE);
  return CUDA_SUCCESS;
}

// Advice on where managed memory should be: it is where everyone sees it.
static result_t check_managed(uint64_t address, size_t size) {
  context_t* context;
  allocation_t a;
  CHECK(context_enter(&context));
  REQUIRE(size && allocation_find(address, &a) && a.kind == MEMORY_MANAGED, CUDA_ERROR_INVALID_VALUE);
  return allocation_holds(address, size) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

result_t cuMemAdvise(uint64_t address, size_t size, int advice, int device) {
  CHECK(check_managed(address, size));
  REQUIRE(advice >= 1 && advice <= 6, CUDA_ERROR_INVALID_VALUE);
  return device < 0 || driver_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
result_t cuMemAdvise_v2(uint64_t address, size_t size, int advice, location_t location) {
  return cuMemAdvise(address, size, advice, location.type == LOCATION_DEVICE ? location.id : -1);
}
result_t cuMemPrefetchAsync(uint64_t address, size_t size, int device, stream_t* stream) {
  CHECK(check_managed(address, size));
  REQUIRE(device == -1 || driver_device(device), CUDA_ERROR_INVALID_DEVICE);
  context_t* context;
  CHECK(context_enter(&context));
  return stream_find(stream, context, &stream);
}
result_t cuMemPrefetchAsync_v2(uint64_t address, size_t size, location_t location, unsigned flags, stream_t* stream) {
  REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
  return cuMemPrefetchAsync(address, size, location.type == LOCATION_DEVICE ? location.id : -1, stream);
}
result_t cuStreamAttachMemAsync(stream_t* stream, uint64_t address, size_t size, unsigned flags) {
  return check_managed(address, size ? size : 1);
}
