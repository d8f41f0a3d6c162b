// The driver of the null device, which executes nothing (src/hal/null). Thread safe.
#ifndef IREE_HAL_DRIVERS_NULL_API_H_
#define IREE_HAL_DRIVERS_NULL_API_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_null_device_options_t {
  int reserved;
} iree_hal_null_device_options_t;
IREE_API_EXPORT void iree_hal_null_device_options_initialize(iree_hal_null_device_options_t* out_options);

// A device of its own. It is called `null`, whatever its driver is.
IREE_API_EXPORT iree_status_t iree_hal_null_device_create(iree_string_view_t identifier,
                                                          const iree_hal_null_device_options_t* options,
                                                          const iree_hal_device_create_params_t* create_params,
                                                          iree_allocator_t host_allocator,
                                                          iree_hal_device_t** out_device);

typedef struct iree_hal_null_driver_options_t {
  iree_hal_null_device_options_t default_device_options;
} iree_hal_null_driver_options_t;
IREE_API_EXPORT void iree_hal_null_driver_options_initialize(iree_hal_null_driver_options_t* out_options);

// A driver that is not registered anywhere, called `identifier`.
IREE_API_EXPORT iree_status_t iree_hal_null_driver_create(iree_string_view_t identifier,
                                                          const iree_hal_null_driver_options_t* options,
                                                          iree_allocator_t host_allocator,
                                                          iree_hal_driver_t** out_driver);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_DRIVERS_NULL_API_H_
