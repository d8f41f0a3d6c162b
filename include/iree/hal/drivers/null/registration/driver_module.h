// Registers the null driver: devices that do nothing, with real memory.
#ifndef IREE_HAL_DRIVERS_NULL_REGISTRATION_DRIVER_MODULE_H_
#define IREE_HAL_DRIVERS_NULL_REGISTRATION_DRIVER_MODULE_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"

#ifdef __cplusplus
extern "C" {
#endif

IREE_API_EXPORT iree_status_t iree_hal_null_driver_module_register(iree_hal_driver_registry_t* registry);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_DRIVERS_NULL_REGISTRATION_DRIVER_MODULE_H_
