// The driver `hip` for applications that choose its options themselves: AMD GPUs through libamdhip64. Thread safe.
#ifndef IREE_HAL_DRIVERS_HIP_API_H_
#define IREE_HAL_DRIVERS_HIP_API_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// What command buffers whose workgroup counts are known become: a graph, where the device is one GPU and the library
// has graphs, or a run of calls on a stream.
typedef enum iree_hal_hip_command_buffer_mode_e {
  IREE_HAL_HIP_COMMAND_BUFFER_MODE_GRAPH = 0,
  IREE_HAL_HIP_COMMAND_BUFFER_MODE_STREAM = 1,
} iree_hal_hip_command_buffer_mode_t;

#define IREE_HAL_DEVICE_INVALID_EXTERNAL_STREAM UINT64_MAX

// An id of RCCL's.
typedef struct {
  char data[128];
} iree_hal_hip_nccl_id_t;

typedef struct iree_hal_hip_memory_pool_params_t {
  uint64_t minimum_capacity;   // bytes
  uint64_t release_threshold;  // bytes
} iree_hal_hip_memory_pool_params_t;

typedef struct iree_hal_hip_memory_pooling_params_t {
  iree_hal_hip_memory_pool_params_t device_local;
  iree_hal_hip_memory_pool_params_t other;
} iree_hal_hip_memory_pooling_params_t;

// Sizes of blocks, pools and transfers are hints: the driver sizes its own.
typedef struct iree_hal_hip_device_params_t {
  iree_host_size_t queue_count;          // streams of a GPU, at least 1
  iree_host_size_t arena_block_size;     // bytes; a hint
  iree_host_size_t event_pool_capacity;  // a hint
  iree_hal_hip_command_buffer_mode_t command_buffer_mode;
  int32_t stream_tracing;  // times that profiles may take: 0: none, 1: of queue operations, 2: of dispatches too
  bool async_allocations;  // queue-ordered allocations come from pools that keep memory
  iree_device_size_t file_transfer_buffer_size;  // bytes; a hint
  iree_device_size_t file_transfer_chunk_size;   // bytes; a hint
  iree_hal_hip_memory_pooling_params_t memory_pools;
  bool allow_inline_execution;  // true is refused: commands run when they are submitted
  bool async_caching;           // pools keep memory for later allocations
  // A hipStream_t of the caller's, which outlives the device and is its only queue, for one GPU; or
  // IREE_HAL_DEVICE_INVALID_EXTERNAL_STREAM.
  uint64_t external_stream;
} iree_hal_hip_device_params_t;
IREE_API_EXPORT void iree_hal_hip_device_params_initialize(iree_hal_hip_device_params_t* out_params);

typedef struct iree_hal_hip_driver_options_t {
  int32_t default_device_index;              // the GPU that no path means, by the library's order
  iree_string_view_t* hip_lib_search_paths;  // folders of libamdhip64.so, or file:PATH, before all others
  iree_host_size_t hip_lib_search_path_count;
} iree_hal_hip_driver_options_t;
IREE_API_EXPORT void iree_hal_hip_driver_options_initialize(iree_hal_hip_driver_options_t* out_options);

// A driver that is not registered anywhere, called `identifier`; flags do not change it. Errors: UNAVAILABLE without
// the library, INVALID_ARGUMENT and UNIMPLEMENTED for params.
IREE_API_EXPORT iree_status_t iree_hal_hip_driver_create(iree_string_view_t identifier,
                                                         const iree_hal_hip_driver_options_t* options,
                                                         const iree_hal_hip_device_params_t* default_params,
                                                         iree_allocator_t host_allocator,
                                                         iree_hal_driver_t** out_driver);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_DRIVERS_HIP_API_H_
