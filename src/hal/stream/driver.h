// Drivers with options of the caller's, not of flags.
#ifndef IREE_C_HAL_STREAM_DRIVER_H_
#define IREE_C_HAL_STREAM_DRIVER_H_

#include "hal/stream/options.h"
#include "iree/hal/driver.h"

// `name` is copied. Errors: UNAVAILABLE without the library.
iree_status_t stream_driver_create_cuda(iree_string_view_t name, const stream_options_t* options,
                                        iree_allocator_t host_allocator, iree_hal_driver_t** out_driver);
// Without paths the flag's and the environment's are searched.
iree_status_t stream_driver_create_hip(iree_string_view_t name, const stream_options_t* options,
                                       iree_string_view_list_t paths, iree_allocator_t host_allocator,
                                       iree_hal_driver_t** out_driver);

#endif  // IREE_C_HAL_STREAM_DRIVER_H_
