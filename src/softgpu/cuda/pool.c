// Pools: memory that is allocated and freed in the order of a stream. What is freed goes back at once, whatever the
// threshold, so that a later access to it is found.
#include <stdlib.h>
#include <string.h>

#include "softgpu/cuda/calls.h"
#include "softgpu/cuda/capture.h"
#include "softgpu/cuda/memory.h"
#include "softgpu/cuda/stream.h"

enum { PINNED = 1, READ_WRITE = 3 };

pool_t* pool_create(device_t* device, uint64_t max_size) {
  pool_t* pool = malloc(sizeof(*pool));
  if (!pool) return NULL;
  *pool = (pool_t){.device = device,
                   .max_size = max_size,
                   .reuse = {1, 1, 1},
                   .is_default = !device->default_pool,
                   .agents = UINT64_C(1) << device->ordinal};
  if (object_add(pool, OBJECT_POOL)) return pool;
  free(pool);
  return NULL;
}

void pool_account(pool_t* pool, int64_t bytes) {
  uint64_t used = __atomic_add_fetch(&pool->used, (uint64_t)bytes, __ATOMIC_RELAXED);
  uint64_t high = __atomic_load_n(&pool->used_high, __ATOMIC_RELAXED);
  while (used > high && bytes > 0 &&
         !__atomic_compare_exchange_n(&pool->used_high, &high, used, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

static result_t allocate(pool_t* pool, const stream_t* stream, size_t size, bool is_of_graph, uint64_t* out) {
  allocation_t a = {.size = size,
                    .kind = MEMORY_POOL,
                    .device = pool->device,
                    .context = stream->context,
                    .pool = pool,
                    .is_of_graph = is_of_graph};
  REQUIRE(!pool->max_size || pool->used + size <= pool->max_size, CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(allocation_create(&a));
  pool_account(pool, (int64_t)size);
  *out = a.base;
  return CUDA_SUCCESS;
}

static result_t check_location(const location_t* location, device_t** out_device) {
  REQUIRE(location->type == LOCATION_DEVICE, driver_refuse("cuMemPoolCreate", "of host memory: pools are of GPUs"));
  *out_device = driver_device(location->id);
  return *out_device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

result_t cuMemPoolCreate(pool_t** out, const pool_props_t* props) {
  device_t* device;
  CHECK(driver_enter());
  REQUIRE(out && props && props->type == PINNED, CUDA_ERROR_INVALID_VALUE);
  if (props->handle_types) return driver_refuse("cuMemPoolCreate", "with handles for other processes: there are none");
  CHECK(check_location(&props->location, &device));
  *out = pool_create(device, props->max_size);
  return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

// The pool lives until the process ends: memory of it may still be freed.
result_t cuMemPoolDestroy(pool_t* pool) {
  CHECK(driver_enter());
  REQUIRE(object_is(pool, OBJECT_POOL) && !pool->is_default, CUDA_ERROR_INVALID_VALUE);
  if (pool->device->pool == pool) pool->device->pool = pool->device->default_pool;
  object_remove(pool);
  return CUDA_SUCCESS;
}

static result_t find(pool_t* pool) {
  CHECK(driver_enter());
  return object_is(pool, OBJECT_POOL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

result_t cuMemPoolTrimTo(pool_t* pool, size_t keep) { return find(pool); }

enum { REUSE_FIRST = 1, REUSE_LAST = 3, THRESHOLD, RESERVED, RESERVED_HIGH, USED, USED_HIGH };

result_t cuMemPoolGetAttribute(pool_t* pool, int attribute, void* out) {
  CHECK(find(pool));
  REQUIRE(out && attribute >= REUSE_FIRST && attribute <= USED_HIGH, CUDA_ERROR_INVALID_VALUE);
  if (attribute <= REUSE_LAST) {
    *(int*)out = pool->reuse[attribute - REUSE_FIRST];
  } else if (attribute == THRESHOLD) {
    *(uint64_t*)out = pool->threshold;
  } else {
    bool is_high = attribute == RESERVED_HIGH || attribute == USED_HIGH;
    *(uint64_t*)out = __atomic_load_n(is_high ? &pool->used_high : &pool->used, __ATOMIC_RELAXED);
  }
  return CUDA_SUCCESS;
}

result_t cuMemPoolSetAttribute(pool_t* pool, int attribute, void* value) {
  CHECK(find(pool));
  REQUIRE(value, CUDA_ERROR_INVALID_VALUE);
  if (attribute >= REUSE_FIRST && attribute <= REUSE_LAST) {
    pool->reuse[attribute - REUSE_FIRST] = *(int*)value != 0;
  } else if (attribute == THRESHOLD) {
    pool->threshold = *(uint64_t*)value;
  } else {
    REQUIRE((attribute == RESERVED_HIGH || attribute == USED_HIGH) && *(uint64_t*)value == 0, CUDA_ERROR_INVALID_VALUE);
    __atomic_store_n(&pool->used_high, __atomic_load_n(&pool->used, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
  }
  return CUDA_SUCCESS;
}

result_t cuMemPoolSetAccess(pool_t* pool, const access_t* accesses, size_t count) {
  CHECK(find(pool));
  REQUIRE(accesses || !count, CUDA_ERROR_INVALID_VALUE);
  uint64_t agents = pool->agents;
  for (size_t i = 0; i < count; ++i) {
    device_t* device;
    CHECK(check_location(&accesses[i].location, &device));
    REQUIRE(accesses[i].flags == 0 || accesses[i].flags == READ_WRITE, CUDA_ERROR_INVALID_VALUE);
    uint64_t bit = UINT64_C(1) << device->ordinal;
    REQUIRE(device != pool->device || accesses[i].flags, CUDA_ERROR_INVALID_DEVICE);
    agents = accesses[i].flags ? agents | bit : agents & ~bit;
  }
  pool->agents = agents;
  allocation_update_agents(pool->device);
  return CUDA_SUCCESS;
}

result_t cuMemPoolGetAccess(int* out, pool_t* pool, const location_t* location) {
  device_t* device;
  CHECK(find(pool));
  REQUIRE(out && location, CUDA_ERROR_INVALID_VALUE);
  CHECK(check_location(location, &device));
  *out = pool->agents >> device->ordinal & 1 ? READ_WRITE : 0;
  return CUDA_SUCCESS;
}

result_t cuDeviceGetDefaultMemPool(pool_t** out, int ordinal) {
  CHECK(driver_enter());
  device_t* device = driver_device(ordinal);
  REQUIRE(device, CUDA_ERROR_INVALID_DEVICE);
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = device->default_pool;
  return CUDA_SUCCESS;
}

result_t cuDeviceGetMemPool(pool_t** out, int ordinal) {
  CHECK(cuDeviceGetDefaultMemPool(out, ordinal));
  *out = driver_device(ordinal)->pool;
  return CUDA_SUCCESS;
}

result_t cuDeviceSetMemPool(int ordinal, pool_t* pool) {
  CHECK(find(pool));
  device_t* device = driver_device(ordinal);
  REQUIRE(device && pool->device == device, CUDA_ERROR_INVALID_DEVICE);
  device->pool = pool;
  return CUDA_SUCCESS;
}

result_t cuMemAllocFromPoolAsync(uint64_t* out, size_t size, pool_t* pool, stream_t* stream) {
  context_t* context;
  CHECK(context_enter(&context));
  CHECK(find(pool));
  CHECK(stream_find(stream, context, &stream));
  REQUIRE(out && size, CUDA_ERROR_INVALID_VALUE);
  bool is_of_graph = stream_is_capturing(stream);
  CHECK(allocate(pool, stream, size, is_of_graph, out));
  if (!is_of_graph) return CUDA_SUCCESS;
  work_t work = {.kind = WORK_ALLOCATE, .memory = {.address = *out, .size = size}};
  work.memory.shared = shared_memory_create(*out);
  REQUIRE(work.memory.shared, CUDA_ERROR_OUT_OF_MEMORY);
  return stream_submit(stream, &work);
}

result_t cuMemAllocAsync(uint64_t* out, size_t size, stream_t* stream) {
  context_t* context;
  CHECK(context_enter(&context));
  CHECK(stream_find(stream, context, &stream));
  return cuMemAllocFromPoolAsync(out, size, stream->context->device->pool, stream);
}

result_t cuMemFreeAsync(uint64_t address, stream_t* stream) {
  context_t* context;
  allocation_t a;
  CHECK(context_enter(&context));
  CHECK(stream_find(stream, context, &stream));
  if (!address) return CUDA_SUCCESS;
  bool is_there =
      allocation_find(address, &a) && a.base == address && (a.kind == MEMORY_POOL || a.kind == MEMORY_DEVICE);
  REQUIRE(is_there, CUDA_ERROR_INVALID_VALUE);
  work_t work = {.kind = WORK_FREE, .memory = {.address = address, .size = a.size}};
  return stream_submit(stream, &work);
}
