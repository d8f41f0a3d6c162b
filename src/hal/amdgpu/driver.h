// Drivers with options of the caller's, not of flags.
#ifndef IREE_C_HAL_AMDGPU_DRIVER_H_
#define IREE_C_HAL_AMDGPU_DRIVER_H_

#include "hal/amdgpu/logical_device.h"
#include "iree/hal/driver.h"

// `name` is copied; `libhsa_paths` are searched first. Errors: UNAVAILABLE without the library.
iree_status_t amdgpu_driver_create(iree_string_view_t name, const logical_device_options_t* options,
                                   iree_string_view_list_t libhsa_paths, iree_allocator_t host_allocator,
                                   iree_hal_driver_t** out_driver);

#endif  // IREE_C_HAL_AMDGPU_DRIVER_H_
