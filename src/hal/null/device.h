// Devices that do nothing: operations wait and signal as everywhere, memory is real, but no command is executed. What
// remains is the cost of everything around the work; and this is the smallest driver there is, to start from.
#ifndef IREE_C_HAL_NULL_DEVICE_H_
#define IREE_C_HAL_NULL_DEVICE_H_

#include "iree/hal/local/executable_loader.h"

// Takes what the loaders take. The allocator's memory is the host's. Both are retained.
iree_status_t null_device_create(iree_host_size_t loader_count, iree_hal_executable_loader_t* const* loaders,
                                 iree_hal_allocator_t* allocator, const iree_hal_device_create_params_t* create_params,
                                 iree_allocator_t host_allocator, iree_hal_device_t** out_device);

#endif  // IREE_C_HAL_NULL_DEVICE_H_
