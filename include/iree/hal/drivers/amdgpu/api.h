// The driver `amdgpu` for applications that choose its options themselves: AMD GPUs through HSA. Thread safe.
#ifndef IREE_HAL_DRIVERS_AMDGPU_API_H_
#define IREE_HAL_DRIVERS_AMDGPU_API_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum iree_hal_amdgpu_queue_placement_e {
  IREE_HAL_AMDGPU_QUEUE_PLACEMENT_ANY = 0,
  IREE_HAL_AMDGPU_QUEUE_PLACEMENT_HOST,
  IREE_HAL_AMDGPU_QUEUE_PLACEMENT_DEVICE,  // refused
} iree_hal_amdgpu_queue_placement_t;

// What command buffers become: packets of the queue's format, or the GPU's own commands, where it takes them.
typedef enum iree_hal_amdgpu_command_buffer_mode_e {
  IREE_HAL_AMDGPU_COMMAND_BUFFER_MODE_AQL = 0,
  IREE_HAL_AMDGPU_COMMAND_BUFFER_MODE_PM4 = 1,
  IREE_HAL_AMDGPU_COMMAND_BUFFER_MODE_AUTO = 2,
} iree_hal_amdgpu_command_buffer_mode_t;

// How the GPU's own commands reach it: all but HOST_COPY are refused.
typedef enum iree_hal_amdgpu_pm4_command_buffer_publication_mode_e {
  IREE_HAL_AMDGPU_PM4_COMMAND_BUFFER_PUBLICATION_MODE_DIRECT = 0,
  IREE_HAL_AMDGPU_PM4_COMMAND_BUFFER_PUBLICATION_MODE_HOST_COPY = 1,
  IREE_HAL_AMDGPU_PM4_COMMAND_BUFFER_PUBLICATION_MODE_HOST_ASYNC_COPY = 2,
  IREE_HAL_AMDGPU_PM4_COMMAND_BUFFER_PUBLICATION_MODE_HOST_ASYNC_COPY_NONBLOCKING = 3,
} iree_hal_amdgpu_pm4_command_buffer_publication_mode_t;

// Sizes and capacities are powers of two, or 0 for the driver's own. Those of pools that the driver has no use for are
// hints.
typedef struct iree_hal_amdgpu_logical_device_options_t {
  struct {
    struct {
      iree_host_size_t block_size;  // bytes of host memory that is kept for each submission
    } small;
    struct {
      iree_host_size_t block_size;  // a hint
    } large;
    struct {
      iree_host_size_t usable_block_size;  // bytes of the blocks that command buffers are recorded into
    } command_buffer;
  } host_block_pools;
  struct {
    struct {
      iree_device_size_t block_size;      // a hint
      iree_host_size_t initial_capacity;  // a hint
    } small, large;
  } device_block_pools;
  struct {
    iree_device_size_t range_length;  // bytes that the pool of queue-ordered memory takes from a GPU at once
    iree_device_size_t alignment;     // bytes, at most 4096
    uint8_t frontier_capacity;        // queues whose work freed memory may still wait for, at most 8
  } default_pool;
  iree_hal_amdgpu_queue_placement_t queue_placement;
  iree_hal_amdgpu_command_buffer_mode_t command_buffer_mode;
  iree_hal_amdgpu_pm4_command_buffer_publication_mode_t pm4_command_buffer_publication_mode;
  struct {
    uint32_t aql_capacity;           // packets of a queue; at most what the GPU takes
    uint32_t notification_capacity;  // submissions in flight
    uint32_t kernarg_capacity;       // blocks of 64 bytes of kernel arguments in flight, at least twice aql_capacity
    uint32_t upload_capacity;        // a hint: data of updates is among the kernel arguments
  } host_queues;
  uint64_t preallocate_pools : 1;                        // takes the pool's first range when a device is made
  uint64_t exclusive_execution : 1;                      // refused
  uint64_t force_wait_barrier_defer : 1;                 // waits on the host for every semaphore
  uint64_t enable_experimental_pm4_command_buffers : 1;  // AUTO is PM4 where the GPU takes it
  iree_duration_t wait_active_for_ns;                    // another than 0 is refused
} iree_hal_amdgpu_logical_device_options_t;

// The driver's own.
IREE_API_EXPORT void iree_hal_amdgpu_logical_device_options_initialize(
    iree_hal_amdgpu_logical_device_options_t* out_options);
// There are no parameters. Errors: INVALID_ARGUMENT with the first one's name.
IREE_API_EXPORT iree_status_t iree_hal_amdgpu_logical_device_options_parse(
    iree_hal_amdgpu_logical_device_options_t* options, iree_string_pair_list_t params);

typedef struct iree_hal_amdgpu_driver_options_t {
  iree_string_view_list_t libhsa_search_paths;  // files or folders of libhsa-runtime64.so, before all others
  iree_hal_amdgpu_logical_device_options_t default_device_options;
} iree_hal_amdgpu_driver_options_t;
IREE_API_EXPORT void iree_hal_amdgpu_driver_options_initialize(iree_hal_amdgpu_driver_options_t* out_options);
IREE_API_EXPORT iree_status_t iree_hal_amdgpu_driver_options_parse(iree_hal_amdgpu_driver_options_t* options,
                                                                   iree_string_pair_list_t params);

// A driver that is not registered anywhere, called `identifier`; flags do not change it. Errors: UNAVAILABLE without
// the library, INVALID_ARGUMENT and UNIMPLEMENTED for options, with the field's name.
IREE_API_EXPORT iree_status_t iree_hal_amdgpu_driver_create(iree_string_view_t identifier,
                                                            const iree_hal_amdgpu_driver_options_t* options,
                                                            iree_allocator_t host_allocator,
                                                            iree_hal_driver_t** out_driver);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_DRIVERS_AMDGPU_API_H_
