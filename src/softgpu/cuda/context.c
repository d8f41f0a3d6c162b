// Contexts: primary and own ones, and the stack of them that each thread has.
#include <stdlib.h>

#include "softgpu/cuda/calls.h"
#include "softgpu/cuda/memory.h"
#include "softgpu/cuda/module.h"
#include "softgpu/cuda/stream.h"

enum { MAX_DEPTH = 256, FLAGS = 0xff, API_VERSION = 3020, LIMIT_STACK = 0, LIMIT_PRINTF = 1, LIMIT_HEAP = 2 };

_Thread_local bool driver_in_callback;
_Thread_local bool driver_per_thread;

static _Thread_local struct {
  context_t* contexts[MAX_DEPTH];
  uint32_t depth;
} stack;

void context_initialize(context_t* context, device_t* device, bool is_primary) {
  *context =
      (context_t){.device = device,
                  .is_primary = is_primary,
                  .id = __atomic_add_fetch(&driver.next_id, 1, __ATOMIC_RELAXED),
                  .limits = {[LIMIT_STACK] = 1024, [LIMIT_PRINTF] = 1 << 20, [LIMIT_HEAP] = 8 << 20, 2, 2048, 64}};
}

context_t* context_current(void) { return stack.depth ? stack.contexts[stack.depth - 1] : NULL; }

result_t context_enter(context_t** out_context) {
  CHECK(driver_enter());
  context_t* context = *out_context = context_current();
  REQUIRE(context, CUDA_ERROR_INVALID_CONTEXT);
  REQUIRE(context_is_alive(context), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return context_error(context);
}

void context_poison(context_t* context, result_t error) {
  int32_t none = CUDA_SUCCESS;
  __atomic_compare_exchange_n(&context->error, &none, error, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static result_t push(context_t* context) {
  REQUIRE(stack.depth < MAX_DEPTH, CUDA_ERROR_OUT_OF_MEMORY);
  stack.contexts[stack.depth++] = context;
  return CUDA_SUCCESS;
}

// A handle that a program passes, or NULL for the current one.
static result_t find(context_t* handle, context_t** out_context) {
  CHECK(driver_enter());
  *out_context = handle ? handle : context_current();
  REQUIRE(*out_context && object_is(*out_context, OBJECT_CONTEXT), CUDA_ERROR_INVALID_CONTEXT);
  REQUIRE(context_is_alive(*out_context), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return CUDA_SUCCESS;
}

// Everything that the context holds goes; running launches are stopped.
static void close_context(context_t* context) {
  __atomic_store_n(&context->is_alive, false, __ATOMIC_RELEASE);
  __atomic_store_n(&context->stops, 1, __ATOMIC_RELEASE);
  stream_close_all(context);
  event_destroy_all(context);
  module_destroy_all(context);
  allocation_free_context(context);
  context->error = CUDA_SUCCESS;
  context->stops = 0;
  context->cache_config = context->shared_config = 0;
}

static result_t open_context(context_t* context) {
  CHECK(stream_open_legacy(context));
  __atomic_store_n(&context->is_alive, true, __ATOMIC_RELEASE);
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------------------------------------------------===
// Primary contexts
//===----------------------------------------------------------------------------------------------------------------===

static pthread_mutex_t primary_lock = PTHREAD_MUTEX_INITIALIZER;

static result_t find_primary(int ordinal, device_t** out_device) {
  CHECK(driver_enter());
  *out_device = driver_device(ordinal);
  return *out_device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

result_t cuDevicePrimaryCtxRetain(context_t** out, int ordinal) {
  device_t* device;
  CHECK(find_primary(ordinal, &device));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  pthread_mutex_lock(&primary_lock);
  result_t result = context_is_alive(&device->primary) ? CUDA_SUCCESS : open_context(&device->primary);
  if (result == CUDA_SUCCESS) {
    ++device->primary_references;
    *out = &device->primary;
  }
  pthread_mutex_unlock(&primary_lock);
  return result;
}

result_t cuDevicePrimaryCtxRelease_v2(int ordinal) {
  device_t* device;
  CHECK(find_primary(ordinal, &device));
  pthread_mutex_lock(&primary_lock);
  bool is_held = device->primary_references != 0;
  if (is_held && --device->primary_references == 0) close_context(&device->primary);
  pthread_mutex_unlock(&primary_lock);
  return is_held ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
result_t cuDevicePrimaryCtxRelease(int ordinal) { return cuDevicePrimaryCtxRelease_v2(ordinal); }

// Who retained the context keeps it, as a new one.
result_t cuDevicePrimaryCtxReset_v2(int ordinal) {
  device_t* device;
  CHECK(find_primary(ordinal, &device));
  result_t result = CUDA_SUCCESS;
  pthread_mutex_lock(&primary_lock);
  if (context_is_alive(&device->primary)) {
    close_context(&device->primary);
    if (device->primary_references) result = open_context(&device->primary);
  }
  pthread_mutex_unlock(&primary_lock);
  return result;
}
result_t cuDevicePrimaryCtxReset(int ordinal) { return cuDevicePrimaryCtxReset_v2(ordinal); }

result_t cuDevicePrimaryCtxSetFlags_v2(int ordinal, unsigned flags) {
  device_t* device;
  CHECK(find_primary(ordinal, &device));
  REQUIRE(!(flags & ~FLAGS), CUDA_ERROR_INVALID_VALUE);
  device->primary.flags = flags;
  return CUDA_SUCCESS;
}
result_t cuDevicePrimaryCtxSetFlags(int ordinal, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(ordinal, flags);
}

result_t cuDevicePrimaryCtxGetState(int ordinal, unsigned* out_flags, int* out_active) {
  device_t* device;
  CHECK(find_primary(ordinal, &device));
  if (out_flags) *out_flags = device->primary.flags;
  if (out_active) *out_active = context_is_alive(&device->primary);
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------------------------------------------------===
// Own contexts
//===----------------------------------------------------------------------------------------------------------------===

result_t cuCtxCreate_v2(context_t** out, unsigned flags, int ordinal) {
  device_t* device;
  CHECK(find_primary(ordinal, &device));
  REQUIRE(out && !(flags & ~FLAGS), CUDA_ERROR_INVALID_VALUE);
  context_t* context = malloc(sizeof(*context));
  REQUIRE(context, CUDA_ERROR_OUT_OF_MEMORY);
  context_initialize(context, device, false);
  context->flags = flags;
  result_t result = open_context(context);
  if (result == CUDA_SUCCESS && !object_add(context, OBJECT_CONTEXT)) result = CUDA_ERROR_OUT_OF_MEMORY;
  if (result == CUDA_SUCCESS) result = push(context);
  if (result != CUDA_SUCCESS) {
    object_remove(context);
    close_context(context);
    free(context);
    return result;
  }
  driver_lock();
  context->next = driver.contexts;
  driver.contexts = context;
  driver_unlock();
  *out = context;
  return CUDA_SUCCESS;
}
result_t cuCtxCreate_v3(context_t** out, void* affinities, int affinity_count, unsigned flags, int ordinal) {
  if (affinity_count) return driver_refuse("cuCtxCreate_v3", "with affinities: there are none");
  return cuCtxCreate_v2(out, flags, ordinal);
}
result_t cuCtxCreate_v4(context_t** out, void* params, unsigned flags, int ordinal) {
  if (params) return driver_refuse("cuCtxCreate_v4", "with parameters: there are neither affinities nor CIG");
  return cuCtxCreate_v2(out, flags, ordinal);
}

result_t cuCtxDestroy_v2(context_t* context) {
  REQUIRE(context, CUDA_ERROR_INVALID_CONTEXT);
  CHECK(find(context, &context));
  REQUIRE(!context->is_primary, CUDA_ERROR_INVALID_CONTEXT);
  close_context(context);
  if (context_current() == context) --stack.depth;
  return CUDA_SUCCESS;
}
result_t cuCtxDestroy(context_t* context) { return cuCtxDestroy_v2(context); }

result_t cuCtxAttach(context_t** out, unsigned flags) {
  context_t* context;
  CHECK(find(NULL, &context));
  REQUIRE(out && !flags, CUDA_ERROR_INVALID_VALUE);
  *out = context;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------------------------------------------------===
// The current context
//===----------------------------------------------------------------------------------------------------------------===

result_t cuCtxPushCurrent_v2(context_t* context) {
  REQUIRE(context, CUDA_ERROR_INVALID_CONTEXT);
  CHECK(find(context, &context));
  return push(context);
}
result_t cuCtxPushCurrent(context_t* context) { return cuCtxPushCurrent_v2(context); }

result_t cuCtxPopCurrent_v2(context_t** out) {
  CHECK(driver_enter());
  REQUIRE(stack.depth, CUDA_ERROR_INVALID_CONTEXT);
  if (out) *out = stack.contexts[stack.depth - 1];
  --stack.depth;
  return CUDA_SUCCESS;
}
result_t cuCtxPopCurrent(context_t** out) { return cuCtxPopCurrent_v2(out); }

result_t cuCtxSetCurrent(context_t* context) {
  CHECK(driver_enter());
  if (context) CHECK(find(context, &context));
  if (stack.depth) --stack.depth;
  return context ? push(context) : CUDA_SUCCESS;
}

result_t cuCtxGetCurrent(context_t** out) {
  CHECK(driver_enter());
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = context_current();
  return CUDA_SUCCESS;
}

result_t cuCtxGetDevice(int* out) { return cuCtxGetDevice_v2(out, NULL); }
result_t cuCtxGetDevice_v2(int* out, context_t* context) {
  CHECK(find(context, &context));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = (int)context->device->ordinal;
  return CUDA_SUCCESS;
}

result_t cuCtxGetFlags(unsigned* out) {
  context_t* context;
  CHECK(find(NULL, &context));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = context->flags;
  return CUDA_SUCCESS;
}

result_t cuCtxSetFlags(unsigned flags) {
  context_t* context;
  CHECK(find(NULL, &context));
  REQUIRE(!(flags & ~FLAGS), CUDA_ERROR_INVALID_VALUE);
  context->flags = flags;
  return CUDA_SUCCESS;
}

result_t cuCtxGetId(context_t* context, unsigned long long* out) {
  CHECK(find(context, &context));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = context->id;
  return CUDA_SUCCESS;
}

result_t cuCtxGetApiVersion(context_t* context, unsigned* out) {
  CHECK(find(context, &context));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = API_VERSION;
  return CUDA_SUCCESS;
}

result_t cuCtxSynchronize(void) {
  context_t* context;
  CHECK(context_enter(&context));
  return stream_synchronize_all(context);
}
result_t cuCtxSynchronize_v2(context_t* context) {
  CHECK(find(context, &context));
  CHECK(context_error(context));
  return stream_synchronize_all(context);
}

result_t cuCtxSetLimit(int limit, size_t value) {
  context_t* context;
  CHECK(context_enter(&context));
  REQUIRE(limit >= 0 && limit < DRIVER_LIMITS, CUDA_ERROR_UNSUPPORTED_LIMIT);
  context->limits[limit] = value;
  return CUDA_SUCCESS;
}

result_t cuCtxGetLimit(size_t* out, int limit) {
  context_t* context;
  CHECK(context_enter(&context));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  REQUIRE(limit >= 0 && limit < DRIVER_LIMITS, CUDA_ERROR_UNSUPPORTED_LIMIT);
  *out = context->limits[limit];
  return CUDA_SUCCESS;
}

// Preferences without effect, kept to be asked for.
static result_t get_config(int* out, bool is_cache) {
  context_t* context;
  CHECK(context_enter(&context));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = is_cache ? context->cache_config : context->shared_config;
  return CUDA_SUCCESS;
}
static result_t set_config(int value, bool is_cache) {
  context_t* context;
  CHECK(context_enter(&context));
  REQUIRE(value >= 0 && value <= 3, CUDA_ERROR_INVALID_VALUE);
  *(is_cache ? &context->cache_config : &context->shared_config) = value;
  return CUDA_SUCCESS;
}
result_t cuCtxGetCacheConfig(int* out) { return get_config(out, true); }
result_t cuCtxSetCacheConfig(int config) { return set_config(config, true); }
result_t cuCtxGetSharedMemConfig(int* out) { return get_config(out, false); }
result_t cuCtxSetSharedMemConfig(int config) { return set_config(config, false); }

result_t cuCtxGetStreamPriorityRange(int* out_least, int* out_greatest) {
  context_t* context;
  CHECK(context_enter(&context));
  if (out_least) *out_least = STREAM_LEAST_PRIORITY;
  if (out_greatest) *out_greatest = STREAM_GREATEST_PRIORITY;
  return CUDA_SUCCESS;
}

result_t cuCtxResetPersistingL2Cache(void) {
  context_t* context;
  return context_enter(&context);
}

//===----------------------------------------------------------------------------------------------------------------===
// Peers
//===----------------------------------------------------------------------------------------------------------------===

// Lets the current context's GPU use memory of the peer's, or no more.
static result_t set_peer(context_t* peer, bool has_access) {
  context_t* context;
  CHECK(context_enter(&context));
  REQUIRE(peer, CUDA_ERROR_INVALID_CONTEXT);
  CHECK(find(peer, &peer));
  device_t *device = context->device, *other = peer->device;
  REQUIRE(device != other, has_access ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  uint64_t bit = UINT64_C(1) << device->ordinal;
  uint64_t before = has_access ? __atomic_fetch_or(&other->accessors, bit, __ATOMIC_ACQ_REL)
                               : __atomic_fetch_and(&other->accessors, ~bit, __ATOMIC_ACQ_REL);
  if (has_access && before & bit) return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  if (!has_access && !(before & bit)) return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  allocation_update_agents(other);
  return CUDA_SUCCESS;
}

result_t cuCtxEnablePeerAccess(context_t* peer, unsigned flags) {
  REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
  return set_peer(peer, true);
}
result_t cuCtxDisablePeerAccess(context_t* peer) { return set_peer(peer, false); }

// Nothing is profiled.
result_t cuProfilerStart(void) { return driver_enter(); }
result_t cuProfilerStop(void) { return driver_enter(); }
