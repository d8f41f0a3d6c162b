// The driver of local-task devices, with one device. `identifier` names it; it has a queue for each executor, which
// are retained as loaders, tried in order, and the allocator are. Thread safe.
#ifndef IREE_HAL_DRIVERS_LOCAL_TASK_TASK_DRIVER_H_
#define IREE_HAL_DRIVERS_LOCAL_TASK_TASK_DRIVER_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/hal/drivers/local_task/task_device.h"
#include "iree/hal/local/executable_loader.h"
#include "iree/task/executor.h"

#ifdef __cplusplus
extern "C" {
#endif

IREE_API_EXPORT iree_status_t iree_hal_task_driver_create(
    iree_string_view_t identifier, const iree_hal_task_device_params_t* default_params, iree_host_size_t queue_count,
    iree_task_executor_t* const* queue_executors, iree_host_size_t loader_count, iree_hal_executable_loader_t** loaders,
    iree_hal_allocator_t* device_allocator, iree_allocator_t host_allocator, iree_hal_driver_t** out_driver);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_DRIVERS_LOCAL_TASK_TASK_DRIVER_H_
