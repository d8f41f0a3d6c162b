// Functions and kernels: what is known of them, and how many of their blocks fit.
#include <stdlib.h>
#include <string.h>

#include "softgpu/cuda/calls.h"
#include "softgpu/cuda/module.h"

enum {
  MAX_THREADS = 0,
  SHARED_SIZE,
  CONSTANT_SIZE,
  LOCAL_SIZE,
  REGISTERS,
  PTX_VERSION,
  BINARY_VERSION,
  CACHE_MODE,
  MAX_DYNAMIC_SHARED,
  CARVEOUT,
  LAST_ATTRIBUTE = 15,
};

uint32_t function_shared_limit(const function_t* function) {
  return function->module->context->device->target->shared_per_block_most;
}

// Handles of functions are used in any context; those of kernels in the current one.
static result_t find(void* handle, function_t** out) {
  CHECK(driver_enter());
  *out = handle;
  if (object_is(handle, OBJECT_FUNCTION)) return CUDA_SUCCESS;
  context_t* context;
  CHECK(context_enter(&context));
  return function_find(handle, context, out);
}

static result_t get_attribute(const function_t* function, int attribute, int* out) {
  const nv_function_info_t* info = &function->info;
  REQUIRE(out && attribute >= 0 && attribute <= LAST_ATTRIBUTE, CUDA_ERROR_INVALID_VALUE);
  const int values[LAST_ATTRIBUTE + 1] = {[MAX_THREADS] = (int)info->max_threads,
                                          [SHARED_SIZE] = (int)info->shared_size,
                                          [CONSTANT_SIZE] = (int)info->constant_size,
                                          [LOCAL_SIZE] = (int)info->local_size,
                                          [REGISTERS] = (int)info->registers,
                                          [PTX_VERSION] = (int)info->ptx_version,
                                          [BINARY_VERSION] = (int)info->architecture,
                                          [MAX_DYNAMIC_SHARED] = function->max_dynamic_shared,
                                          [CARVEOUT] = function->carveout};
  *out = values[attribute];
  return CUDA_SUCCESS;
}

static result_t set_attribute(function_t* function, int attribute, int value) {
  switch (attribute) {
    case MAX_DYNAMIC_SHARED:
      REQUIRE(value >= 0, CUDA_ERROR_INVALID_VALUE);
      REQUIRE((uint64_t)value + function->info.shared_size <= function_shared_limit(function),
              CUDA_ERROR_INVALID_VALUE);
      function->max_dynamic_shared = value;
      return CUDA_SUCCESS;
    case CARVEOUT:
      REQUIRE(value >= -1 && value <= 100, CUDA_ERROR_INVALID_VALUE);
      function->carveout = value;
      return CUDA_SUCCESS;
    default:
      return attribute > CARVEOUT && attribute <= LAST_ATTRIBUTE
                 ? driver_refuse("cuFuncSetAttribute", "of clusters: blocks run by themselves")
                 : CUDA_ERROR_INVALID_VALUE;
  }
}

result_t cuFuncGetAttribute(int* out, int attribute, void* handle) {
  function_t* function;
  CHECK(find(handle, &function));
  return get_attribute(function, attribute, out);
}

result_t cuFuncSetAttribute(void* handle, int attribute, int value) {
  function_t* function;
  CHECK(find(handle, &function));
  return set_attribute(function, attribute, value);
}

// Preferences, without effect.
result_t cuFuncSetCacheConfig(void* handle, int config) {
  function_t* function;
  CHECK(find(handle, &function));
  return config >= 0 && config <= 3 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
result_t cuFuncSetSharedMemConfig(void* handle, int config) { return cuFuncSetCacheConfig(handle, config); }

result_t cuFuncGetModule(module_t** out, void* handle) {
  function_t* function;
  CHECK(find(handle, &function));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = function->module;
  return CUDA_SUCCESS;
}

result_t cuFuncGetName(const char** out, void* handle) {
  function_t* function;
  CHECK(find(handle, &function));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = function->info.name;
  return CUDA_SUCCESS;
}

result_t cuFuncGetParamInfo(void* handle, size_t index, size_t* out_offset, size_t* out_size) {
  function_t* function;
  CHECK(find(handle, &function));
  REQUIRE(out_offset && index < function->info.parameter_count, CUDA_ERROR_INVALID_VALUE);
  *out_offset = function->info.parameters[index].offset;
  if (out_size) *out_size = function->info.parameters[index].size;
  return CUDA_SUCCESS;
}

result_t cuFuncIsLoaded(int* out, void* handle) {
  enum { LOADED = 1 };
  function_t* function;
  CHECK(find(handle, &function));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = LOADED;
  return CUDA_SUCCESS;
}
result_t cuFuncLoad(void* handle) {
  function_t* function;
  return find(handle, &function);
}

//===----------------------------------------------------------------------------------------------------------------===
// Kernels
//===----------------------------------------------------------------------------------------------------------------===

static result_t enter_kernel(kernel_t* kernel) {
  CHECK(driver_enter());
  return object_is(kernel, OBJECT_KERNEL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

result_t cuKernelGetFunction(function_t** out, kernel_t* kernel) {
  CHECK(enter_kernel(kernel));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  return find(kernel, out);
}

result_t cuKernelGetLibrary(library_t** out, kernel_t* kernel) {
  CHECK(enter_kernel(kernel));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = kernel->library;
  return CUDA_SUCCESS;
}

result_t cuKernelGetName(const char** out, kernel_t* kernel) {
  CHECK(enter_kernel(kernel));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = kernel->name;
  return CUDA_SUCCESS;
}

result_t cuKernelGetParamInfo(kernel_t* kernel, size_t index, size_t* out_offset, size_t* out_size) {
  CHECK(enter_kernel(kernel));
  return cuFuncGetParamInfo(kernel, index, out_offset, out_size);
}

// In the GPU's primary context, where none is current.
static result_t with_device(kernel_t* kernel, int ordinal, function_t** out) {
  CHECK(enter_kernel(kernel));
  device_t* device = driver_device(ordinal);
  REQUIRE(device, CUDA_ERROR_INVALID_DEVICE);
  context_t* context = context_current();
  if (context && context->device == device) return find(kernel, out);
  CHECK(cuDevicePrimaryCtxRetain(&context, ordinal));
  result_t result = function_find(kernel, context, out);
  cuDevicePrimaryCtxRelease_v2(ordinal);
  return result;
}

result_t cuKernelGetAttribute(int* out, int attribute, kernel_t* kernel, int ordinal) {
  function_t* function;
  CHECK(with_device(kernel, ordinal, &function));
  return get_attribute(function, attribute, out);
}

result_t cuKernelSetAttribute(int attribute, int value, kernel_t* kernel, int ordinal) {
  function_t* function;
  CHECK(with_device(kernel, ordinal, &function));
  CHECK(set_attribute(function, attribute, value));
  if (attribute == MAX_DYNAMIC_SHARED) kernel->max_dynamic_shared = value;
  return CUDA_SUCCESS;
}

result_t cuKernelSetCacheConfig(kernel_t* kernel, int config, int ordinal) {
  function_t* function;
  CHECK(with_device(kernel, ordinal, &function));
  return config >= 0 && config <= 3 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

//===----------------------------------------------------------------------------------------------------------------===
// Occupancy
//===----------------------------------------------------------------------------------------------------------------===

result_t cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* out, void* handle, int threads, size_t shared,
                                                              unsigned flags) {
  function_t* function;
  CHECK(find(handle, &function));
  REQUIRE(out && threads > 0 && flags <= 1, CUDA_ERROR_INVALID_VALUE);
  bool fits = (uint32_t)threads <= function->info.max_threads && shared <= function_shared_limit(function);
  *out = fits ? (int)nv_function_occupancy(function->function, (uint32_t)threads, (uint32_t)shared) : 0;
  return CUDA_SUCCESS;
}
result_t cuOccupancyMaxActiveBlocksPerMultiprocessor(int* out, void* handle, int threads, size_t shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, handle, threads, shared, 0);
}

// The size of blocks with which most threads are held; of several, the largest.
result_t cuOccupancyMaxPotentialBlockSizeWithFlags(int* out_grid, int* out_block, void* handle,
                                                   shared_of_block_t shared_of, size_t shared, int limit,
                                                   unsigned flags) {
  enum { WARP = 32 };
  function_t* function;
  CHECK(find(handle, &function));
  REQUIRE(out_grid && out_block && flags <= 1, CUDA_ERROR_INVALID_VALUE);
  int most = (int)function->info.max_threads, best = 0, best_blocks = 0, best_threads = 0;
  if (limit > 0 && limit < most) most = limit;
  for (int threads = most; threads > 0; threads = threads % WARP ? threads - threads % WARP : threads - WARP) {
    int blocks = 0;
    size_t bytes = shared_of ? shared_of(threads) : shared;
    CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, handle, threads, bytes, flags));
    if (blocks * threads <= best_threads) continue;
    best = threads;
    best_blocks = blocks;
    best_threads = blocks * threads;
  }
  *out_block = best;
  *out_grid = best_blocks * (int)function->module->context->device->target->units;
  return CUDA_SUCCESS;
}
result_t cuOccupancyMaxPotentialBlockSize(int* out_grid, int* out_block, void* handle, shared_of_block_t shared_of,
                                          size_t shared, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(out_grid, out_block, handle, shared_of, shared, limit, 0);
}

result_t cuOccupancyAvailableDynamicSMemPerBlock(size_t* out, void* handle, int blocks, int threads) {
  enum { STEP = 128 };
  function_t* function;
  CHECK(find(handle, &function));
  REQUIRE(out && blocks > 0 && threads > 0, CUDA_ERROR_INVALID_VALUE);
  uint32_t most = function_shared_limit(function) - function->info.shared_size;
  uint32_t low = 0, high = most / STEP;
  while (low < high) {
    uint32_t middle = (low + high + 1) / 2;
    if (nv_function_occupancy(function->function, (uint32_t)threads, middle * STEP) >= (uint32_t)blocks) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  *out = (size_t)low * STEP;
  return CUDA_SUCCESS;
}
