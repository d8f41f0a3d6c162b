// All drivers of this build. Thread safe, as the registry is; registering them twice is fine.
#ifndef IREE_HAL_DRIVERS_INIT_H_
#define IREE_HAL_DRIVERS_INIT_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Registers them. Cheap: a driver looks at the system only when it is created.
IREE_API_EXPORT iree_status_t iree_hal_register_all_available_drivers(iree_hal_driver_registry_t* registry);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_DRIVERS_INIT_H_
