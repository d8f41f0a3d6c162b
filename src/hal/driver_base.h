// What drivers share: the vtable and the factory, over a class that says what they differ in.
#ifndef IREE_C_HAL_DRIVER_BASE_H_
#define IREE_C_HAL_DRIVER_BASE_H_

#include "iree/hal/api.h"

typedef struct hal_driver_class_t hal_driver_class_t;

// A driver's first member.
typedef struct hal_driver_t {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  const hal_driver_class_t* type;
  iree_string_view_t name;
} hal_driver_t;

struct hal_driver_class_t {
  iree_hal_driver_info_t info;
  // Makes the driver when it is asked for by name.
  iree_status_t (*create)(const hal_driver_class_t* type, iree_allocator_t host_allocator,
                          iree_hal_driver_t** out_driver);
  // Releases what the driver holds, but for its own memory. NULL: nothing.
  void (*deinitialize)(iree_hal_driver_t* driver);
  iree_status_t (*query_devices)(iree_hal_driver_t* driver, iree_allocator_t host_allocator,
                                 iree_host_size_t* out_device_info_count, iree_hal_device_info_t** out_device_infos);
  iree_status_t (*dump_device)(iree_hal_driver_t* driver, iree_hal_device_id_t device_id,
                               iree_string_builder_t* builder);
  // The id of the device that a path names, which may be empty.
  iree_status_t (*parse_path)(iree_hal_driver_t* driver, iree_string_view_t path, iree_hal_device_id_t* out_device_id);
  // A device by its id; 0 is the default one.
  iree_status_t (*create_device)(iree_hal_driver_t* driver, iree_hal_device_id_t device_id,
                                 const iree_hal_device_create_params_t* create_params, iree_allocator_t host_allocator,
                                 iree_hal_device_t** out_device);
  // The same with parameters (`?key=value`), at least one. NULL: all are refused.
  iree_status_t (*create_device_with)(iree_hal_driver_t* driver, iree_hal_device_id_t device_id,
                                      iree_host_size_t param_count, const iree_string_pair_t* params,
                                      const iree_hal_device_create_params_t* create_params,
                                      iree_allocator_t host_allocator, iree_hal_device_t** out_device);
};
// Of a device parameter that there is not; `known` is the one that there is, or NULL.
iree_status_t hal_driver_refuse_param(const iree_hal_driver_t* driver, const iree_string_pair_t* param,
                                      const char* known);

// A driver of `size` bytes, zero but for its base, with the class's name.
iree_status_t hal_driver_allocate(const hal_driver_class_t* type, size_t size, iree_allocator_t host_allocator,
                                  void** out_driver);
// The same with a name of the caller's, which is copied behind it.
iree_status_t hal_driver_allocate_named(const hal_driver_class_t* type, size_t size, iree_string_view_t name,
                                        iree_allocator_t host_allocator, void** out_driver);

// For drivers of one device, which has no path and the number 0: calls of a class, and the check of a number.
iree_status_t hal_driver_query_only_device(iree_hal_driver_t* driver, iree_allocator_t host_allocator,
                                           iree_host_size_t* out_device_info_count,
                                           iree_hal_device_info_t** out_device_infos);
iree_status_t hal_driver_parse_only_path(iree_hal_driver_t* driver, iree_string_view_t path,
                                         iree_hal_device_id_t* out_device_id);
iree_status_t hal_driver_check_only_device(iree_hal_driver_t* driver, iree_hal_device_id_t device_id);

// The calls of a factory whose `self` is a hal_driver_class_t.
iree_status_t hal_driver_enumerate(void* self, iree_host_size_t* out_driver_info_count,
                                   const iree_hal_driver_info_t** out_driver_infos);
iree_status_t hal_driver_try_create(void* self, iree_string_view_t driver_name, iree_allocator_t host_allocator,
                                    iree_hal_driver_t** out_driver);
#define HAL_DRIVER_FACTORY(type) {(void*)(type), hal_driver_enumerate, hal_driver_try_create}

#endif  // IREE_C_HAL_DRIVER_BASE_H_
