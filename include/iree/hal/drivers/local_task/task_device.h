// A device that runs work on the worker threads of executors, one queue per executor. A thread that waits for a
// semaphore of the device helps.
#ifndef IREE_HAL_DRIVERS_LOCAL_TASK_TASK_DEVICE_H_
#define IREE_HAL_DRIVERS_LOCAL_TASK_TASK_DEVICE_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/hal/local/executable_loader.h"
#include "iree/task/executor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_task_device_params_t {
  iree_host_size_t arena_block_size;  // bytes that command buffers grow by
  iree_task_scope_flags_t queue_scope_flags;
  iree_device_size_t inline_transfer_threshold;  // bytes below which a fill, copy or update is one piece of work
} iree_hal_task_device_params_t;
IREE_API_EXPORT void iree_hal_task_device_params_initialize(iree_hal_task_device_params_t* out_params);

// The device keeps executors, loaders, allocator and the proactor pool of `create_params` alive. Errors:
// INVALID_ARGUMENT for no queues or more than IREE_HAL_MAX_QUEUES.
IREE_API_EXPORT iree_status_t iree_hal_task_device_create(
    iree_string_view_t identifier, const iree_hal_task_device_params_t* params, iree_host_size_t queue_count,
    iree_task_executor_t* const* queue_executors, iree_host_size_t loader_count, iree_hal_executable_loader_t** loaders,
    iree_hal_allocator_t* device_allocator, const iree_hal_device_create_params_t* create_params,
    iree_allocator_t host_allocator, iree_hal_device_t** out_device);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_DRIVERS_LOCAL_TASK_TASK_DEVICE_H_
