// The drivers a process knows. Thread safe.
#ifndef IREE_HAL_DRIVER_REGISTRY_H_
#define IREE_HAL_DRIVER_REGISTRY_H_

#include "iree/base/api.h"
#include "iree/hal/driver.h"

#ifdef __cplusplus
extern "C" {
#endif

// Knows about drivers and makes them. It and what `enumerate` returns must live while it is registered.
typedef struct iree_hal_driver_factory_t {
  void* self;
  iree_status_t(IREE_API_PTR* enumerate)(void* self, iree_host_size_t* out_driver_info_count,
                                         const iree_hal_driver_info_t** out_driver_infos);
  // Errors: UNAVAILABLE when the system lacks what the driver needs.
  iree_status_t(IREE_API_PTR* try_create)(void* self, iree_string_view_t driver_name, iree_allocator_t host_allocator,
                                          iree_hal_driver_t** out_driver);
} iree_hal_driver_factory_t;

typedef struct iree_hal_driver_registry_t iree_hal_driver_registry_t;

// The process's registry, empty at first: iree_hal_register_all_available_drivers fills it.
IREE_API_EXPORT iree_hal_driver_registry_t* iree_hal_driver_registry_default(void);
IREE_API_EXPORT iree_status_t iree_hal_driver_registry_allocate(iree_allocator_t host_allocator,
                                                                iree_hal_driver_registry_t** out_registry);
IREE_API_EXPORT void iree_hal_driver_registry_free(iree_hal_driver_registry_t* registry);
// Errors: ALREADY_EXISTS, RESOURCE_EXHAUSTED.
IREE_API_EXPORT iree_status_t iree_hal_driver_registry_register_factory(iree_hal_driver_registry_t* registry,
                                                                        const iree_hal_driver_factory_t* factory);
// Errors: NOT_FOUND.
IREE_API_EXPORT iree_status_t iree_hal_driver_registry_unregister_factory(iree_hal_driver_registry_t* registry,
                                                                          const iree_hal_driver_factory_t* factory);
// All drivers, sorted by name, in one allocation that the caller frees.
IREE_API_EXPORT iree_status_t iree_hal_driver_registry_enumerate(iree_hal_driver_registry_t* registry,
                                                                 iree_allocator_t host_allocator,
                                                                 iree_host_size_t* out_driver_info_count,
                                                                 iree_hal_driver_info_t** out_driver_infos);
// Errors: NOT_FOUND `no driver 'x' registered`, and those of the factory.
IREE_API_EXPORT iree_status_t iree_hal_driver_registry_try_create(iree_hal_driver_registry_t* registry,
                                                                  iree_string_view_t driver_name,
                                                                  iree_allocator_t host_allocator,
                                                                  iree_hal_driver_t** out_driver);
// Driver and device from one URI.
IREE_API_EXPORT iree_status_t iree_hal_create_device(iree_hal_driver_registry_t* registry,
                                                     iree_string_view_t device_uri,
                                                     const iree_hal_device_create_params_t* create_params,
                                                     iree_allocator_t host_allocator, iree_hal_device_t** out_device);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_DRIVER_REGISTRY_H_
