// The driver of local-sync devices, with one device. `identifier` names it; loaders, tried in order, and the allocator
// are retained. Thread safe.
#ifndef IREE_HAL_DRIVERS_LOCAL_SYNC_SYNC_DRIVER_H_
#define IREE_HAL_DRIVERS_LOCAL_SYNC_SYNC_DRIVER_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/hal/drivers/local_sync/sync_device.h"
#include "iree/hal/local/executable_loader.h"

#ifdef __cplusplus
extern "C" {
#endif

IREE_API_EXPORT iree_status_t iree_hal_sync_driver_create(
    iree_string_view_t identifier, const iree_hal_sync_device_params_t* default_params, iree_host_size_t loader_count,
    iree_hal_executable_loader_t** loaders, iree_hal_allocator_t* device_allocator, iree_allocator_t host_allocator,
    iree_hal_driver_t** out_driver);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_DRIVERS_LOCAL_SYNC_SYNC_DRIVER_H_
