// Drivers: list and make devices of one kind. Thread safe.
#ifndef IREE_HAL_DRIVER_H_
#define IREE_HAL_DRIVER_H_

#include "iree/base/api.h"
#include "iree/hal/device.h"
#include "iree/hal/resource.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_driver_info_t {
  iree_string_view_t driver_name;  // in URIs: `local-task`
  iree_string_view_t full_name;    // for people
} iree_hal_driver_info_t;

typedef struct iree_hal_driver_t iree_hal_driver_t;

IREE_API_EXPORT void iree_hal_driver_retain(iree_hal_driver_t* driver);
IREE_API_EXPORT void iree_hal_driver_release(iree_hal_driver_t* driver);
IREE_API_EXPORT void iree_hal_driver_destroy(iree_hal_driver_t* driver);

// The devices there are now, in one allocation that the caller frees with `host_allocator`.
IREE_API_EXPORT iree_status_t iree_hal_driver_query_available_devices(iree_hal_driver_t* driver,
                                                                      iree_allocator_t host_allocator,
                                                                      iree_host_size_t* out_device_info_count,
                                                                      iree_hal_device_info_t** out_device_infos);
// Appends `- key: value` lines about a device.
IREE_API_EXPORT iree_status_t iree_hal_driver_dump_device_info(iree_hal_driver_t* driver,
                                                               iree_hal_device_id_t device_id,
                                                               iree_string_builder_t* builder);

// Make a device: by its place in the list, its id, its path (`driver_name` is for messages), a URI
// (`driver://path?key=value&key=value`), or the default. `create_params` may be NULL. Errors: NOT_FOUND, UNAVAILABLE,
// INVALID_ARGUMENT for unknown parameters.
IREE_API_EXPORT iree_status_t iree_hal_driver_create_device_by_ordinal(
    iree_hal_driver_t* driver, iree_host_size_t device_ordinal, iree_host_size_t param_count,
    const iree_string_pair_t* params, const iree_hal_device_create_params_t* create_params,
    iree_allocator_t host_allocator, iree_hal_device_t** out_device);
IREE_API_EXPORT iree_status_t iree_hal_driver_create_device_by_id(
    iree_hal_driver_t* driver, iree_hal_device_id_t device_id, iree_host_size_t param_count,
    const iree_string_pair_t* params, const iree_hal_device_create_params_t* create_params,
    iree_allocator_t host_allocator, iree_hal_device_t** out_device);
IREE_API_EXPORT iree_status_t iree_hal_driver_create_device_by_path(
    iree_hal_driver_t* driver, iree_string_view_t driver_name, iree_string_view_t device_path,
    iree_host_size_t param_count, const iree_string_pair_t* params,
    const iree_hal_device_create_params_t* create_params, iree_allocator_t host_allocator,
    iree_hal_device_t** out_device);
IREE_API_EXPORT iree_status_t iree_hal_driver_create_device_by_uri(iree_hal_driver_t* driver,
                                                                   iree_string_view_t device_uri,
                                                                   const iree_hal_device_create_params_t* create_params,
                                                                   iree_allocator_t host_allocator,
                                                                   iree_hal_device_t** out_device);
IREE_API_EXPORT iree_status_t
iree_hal_driver_create_default_device(iree_hal_driver_t* driver, const iree_hal_device_create_params_t* create_params,
                                      iree_allocator_t host_allocator, iree_hal_device_t** out_device);

// For drivers.
typedef struct iree_hal_driver_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_driver_t* driver);
  iree_status_t(IREE_API_PTR* query_available_devices)(iree_hal_driver_t* driver, iree_allocator_t host_allocator,
                                                       iree_host_size_t* out_device_info_count,
                                                       iree_hal_device_info_t** out_device_infos);
  iree_status_t(IREE_API_PTR* dump_device_info)(iree_hal_driver_t* driver, iree_hal_device_id_t device_id,
                                                iree_string_builder_t* builder);
  iree_status_t(IREE_API_PTR* create_device_by_id)(iree_hal_driver_t* driver, iree_hal_device_id_t device_id,
                                                   iree_host_size_t param_count, const iree_string_pair_t* params,
                                                   const iree_hal_device_create_params_t* create_params,
                                                   iree_allocator_t host_allocator, iree_hal_device_t** out_device);
  iree_status_t(IREE_API_PTR* create_device_by_path)(iree_hal_driver_t* driver, iree_string_view_t driver_name,
                                                     iree_string_view_t device_path, iree_host_size_t param_count,
                                                     const iree_string_pair_t* params,
                                                     const iree_hal_device_create_params_t* create_params,
                                                     iree_allocator_t host_allocator, iree_hal_device_t** out_device);
} iree_hal_driver_vtable_t;

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_DRIVER_H_
