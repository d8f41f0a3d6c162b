// libcuda, found at run time. Facts of its interface are from the CUDA driver API reference.
#ifndef IREE_C_HAL_STREAM_API_H_
#define IREE_C_HAL_STREAM_API_H_

#include "iree/base/api.h"

// Of CUresult.
enum {
  STREAM_API_SUCCESS = 0,
  STREAM_API_INVALID_VALUE = 1,
  STREAM_API_OUT_OF_MEMORY = 2,
  STREAM_API_NO_DEVICE = 100,
  STREAM_API_INVALID_IMAGE = 200,
  STREAM_API_NO_BINARY = 209,
  STREAM_API_INVALID_PTX = 218,
  STREAM_API_UNSUPPORTED_PTX = 222,
};
// Of CUdevice_attribute.
enum {
  STREAM_API_MAX_BLOCK_SIZE = 1,
  STREAM_API_MAX_BLOCK_X = 2,  // then Y, Z
  STREAM_API_MAX_GRID_X = 5,   // then Y, Z
  STREAM_API_MAX_SHARED_MEMORY = 8,
  STREAM_API_CONSTANT_MEMORY = 9,
  STREAM_API_WARP_SIZE = 10,
  STREAM_API_MAX_REGISTERS = 12,
  STREAM_API_CLOCK_RATE = 13,  // kHz
  STREAM_API_MULTIPROCESSORS = 16,
  STREAM_API_IS_INTEGRATED = 18,
  STREAM_API_MEMORY_CLOCK_RATE = 36,  // kHz
  STREAM_API_L2_CACHE_SIZE = 38,
  STREAM_API_MAX_THREADS_OF_MULTIPROCESSOR = 39,
  STREAM_API_HAS_UNIFIED_ADDRESSES = 41,
  STREAM_API_CAPABILITY_MAJOR = 75,
  STREAM_API_CAPABILITY_MINOR = 76,
  STREAM_API_SHARED_MEMORY_OF_MULTIPROCESSOR = 81,
  STREAM_API_REGISTERS_OF_MULTIPROCESSOR = 82,
  STREAM_API_HAS_MANAGED_MEMORY = 83,
  STREAM_API_HAS_CONCURRENT_MANAGED_ACCESS = 89,
  STREAM_API_MAX_SHARED_MEMORY_OPTIN = 97,
};
// Of flags and options.
enum {
  STREAM_API_HOST_PORTABLE = 1,
  STREAM_API_HOST_DEVICEMAP = 2,
  STREAM_API_MANAGED_GLOBAL = 1,
  STREAM_API_STREAM_NON_BLOCKING = 1,
  STREAM_API_EVENT_BLOCKING_SYNC = 1,
  STREAM_API_EVENT_DISABLE_TIMING = 2,
  STREAM_API_JIT_ERROR_LOG = 5,
  STREAM_API_JIT_ERROR_LOG_SIZE = 6,
  STREAM_API_FUNCTION_MAX_THREADS = 0,
  STREAM_API_FUNCTION_SHARED_SIZE = 1,
  STREAM_API_FUNCTION_MAX_DYNAMIC_SHARED_SIZE = 8,
};
#define STREAM_API_LAUNCH_END ((void*)0)
#define STREAM_API_LAUNCH_BUFFER ((void*)1)
#define STREAM_API_LAUNCH_BUFFER_SIZE ((void*)2)

typedef struct stream_api_t {
#define ENTRY(name, symbol, parameters) int(*name) parameters;
#include "hal/stream/api.def"
} stream_api_t;

// The library's table, which stays loaded with it for good. Initializes the library. Errors: UNAVAILABLE, with what was
// tried and why it failed.
iree_status_t stream_api_load(const stream_api_t** out_api);
// A status for what `call` returned.
iree_status_t stream_api_check(const stream_api_t* api, int result, const char* call);
// STREAM_CALL(api, event_record, event, stream): an iree_status_t.
#define STREAM_CALL(api, name, ...) stream_api_check((api), (api)->name(__VA_ARGS__), stream_api_##name##_symbol)
#define ENTRY(name, symbol, parameters) extern const char stream_api_##name##_symbol[];
#include "hal/stream/api.def"

#endif  // IREE_C_HAL_STREAM_API_H_
