// A device that runs work on the calling thread: in the submission when its waits are reached, else in whichever call
// reaches the last one. No threads, least latency.
#ifndef IREE_HAL_DRIVERS_LOCAL_SYNC_SYNC_DEVICE_H_
#define IREE_HAL_DRIVERS_LOCAL_SYNC_SYNC_DEVICE_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/hal/local/executable_loader.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_sync_device_params_t {
  iree_host_size_t arena_block_size;  // bytes that command buffers grow by
} iree_hal_sync_device_params_t;
IREE_API_EXPORT void iree_hal_sync_device_params_initialize(iree_hal_sync_device_params_t* out_params);

// The device keeps loaders, allocator and the proactor pool of `create_params` alive.
IREE_API_EXPORT iree_status_t
iree_hal_sync_device_create(iree_string_view_t identifier, const iree_hal_sync_device_params_t* params,
                            const iree_hal_device_create_params_t* create_params, iree_host_size_t loader_count,
                            iree_hal_executable_loader_t** loaders, iree_hal_allocator_t* device_allocator,
                            iree_allocator_t host_allocator, iree_hal_device_t** out_device);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_DRIVERS_LOCAL_SYNC_SYNC_DEVICE_H_
