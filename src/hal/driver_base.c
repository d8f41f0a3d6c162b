// What drivers share.
#include "hal/driver_base.h"

static void driver_destroy(iree_hal_driver_t* base) {
  hal_driver_t* driver = (hal_driver_t*)base;
  if (driver->type->deinitialize) driver->type->deinitialize(base);
  iree_allocator_free(driver->host_allocator, driver);
}

static iree_status_t driver_query_available_devices(iree_hal_driver_t* base, iree_allocator_t host_allocator,
                                                    iree_host_size_t* out_device_info_count,
                                                    iree_hal_device_info_t** out_device_infos) {
  return ((hal_driver_t*)base)->type->query_devices(base, host_allocator, out_device_info_count, out_device_infos);
}

static iree_status_t driver_dump_device_info(iree_hal_driver_t* base, iree_hal_device_id_t device_id,
                                             iree_string_builder_t* builder) {
  return ((hal_driver_t*)base)->type->dump_device(base, device_id, builder);
}

iree_status_t hal_driver_refuse_param(const iree_hal_driver_t* base, const iree_string_pair_t* param,
                                      const char* known) {
  const hal_driver_t* driver = (const hal_driver_t*)base;
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "'%.*s' has no device parameter '%.*s'; %s%s",
                          (int)driver->name.size, driver->name.data, (int)param->key.size, param->key.data,
                          known ? "there is " : "it has none", known ? known : "");
}

static iree_status_t driver_create_device_by_id(iree_hal_driver_t* base, iree_hal_device_id_t device_id,
                                                iree_host_size_t param_count, const iree_string_pair_t* params,
                                                const iree_hal_device_create_params_t* create_params,
                                                iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  const hal_driver_class_t* type = ((hal_driver_t*)base)->type;
  if (!param_count) return type->create_device(base, device_id, create_params, host_allocator, out_device);
  if (!type->create_device_with) return hal_driver_refuse_param(base, &params[0], NULL);
  return type->create_device_with(base, device_id, param_count, params, create_params, host_allocator, out_device);
}

static iree_status_t driver_create_device_by_path(iree_hal_driver_t* base, iree_string_view_t driver_name,
                                                  iree_string_view_t device_path, iree_host_size_t param_count,
                                                  const iree_string_pair_t* params,
                                                  const iree_hal_device_create_params_t* create_params,
                                                  iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  iree_hal_device_id_t device_id = 0;
  IREE_RETURN_IF_ERROR(((hal_driver_t*)base)->type->parse_path(base, device_path, &device_id));
  return driver_create_device_by_id(base, device_id, param_count, params, create_params, host_allocator, out_device);
}

iree_status_t hal_driver_allocate(const hal_driver_class_t* type, size_t size, iree_allocator_t host_allocator,
                                  void** out_driver) {
  static const iree_hal_driver_vtable_t vtable = {
      .destroy = driver_destroy,
      .query_available_devices = driver_query_available_devices,
      .dump_device_info = driver_dump_device_info,
      .create_device_by_id = driver_create_device_by_id,
      .create_device_by_path = driver_create_device_by_path,
  };
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, size, out_driver));
  hal_driver_t* driver = (hal_driver_t*)*out_driver;
  iree_hal_resource_initialize(&vtable, &driver->resource);
  driver->host_allocator = host_allocator;
  driver->type = type;
  driver->name = type->info.driver_name;
  return iree_ok_status();
}

iree_status_t hal_driver_allocate_named(const hal_driver_class_t* type, size_t size, iree_string_view_t name,
                                        iree_allocator_t host_allocator, void** out_driver) {
  IREE_RETURN_IF_ERROR(hal_driver_allocate(type, size + name.size, host_allocator, out_driver));
  iree_string_view_append_to_buffer(name, &((hal_driver_t*)*out_driver)->name, (char*)*out_driver + size);
  return iree_ok_status();
}

iree_status_t hal_driver_query_only_device(iree_hal_driver_t* driver, iree_allocator_t host_allocator,
                                           iree_host_size_t* out_device_info_count,
                                           iree_hal_device_info_t** out_device_infos) {
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(**out_device_infos), (void**)out_device_infos));
  (*out_device_infos)->device_id = IREE_HAL_DEVICE_ID_DEFAULT;
  (*out_device_infos)->path = iree_string_view_empty();
  (*out_device_infos)->name = IREE_SV("default");
  *out_device_info_count = 1;
  return iree_ok_status();
}

iree_status_t hal_driver_parse_only_path(iree_hal_driver_t* base, iree_string_view_t path,
                                         iree_hal_device_id_t* out_device_id) {
  iree_string_view_t name = ((hal_driver_t*)base)->name;
  *out_device_id = IREE_HAL_DEVICE_ID_DEFAULT;
  if (iree_string_view_is_empty(path)) return iree_ok_status();
  return iree_make_status(IREE_STATUS_NOT_FOUND,
                          "device paths not yet implemented: '%.*s' has one device, without a path", (int)name.size,
                          name.data);
}

iree_status_t hal_driver_check_only_device(iree_hal_driver_t* base, iree_hal_device_id_t device_id) {
  iree_string_view_t name = ((hal_driver_t*)base)->name;
  if (device_id == IREE_HAL_DEVICE_ID_DEFAULT) return iree_ok_status();
  return iree_make_status(IREE_STATUS_NOT_FOUND, "'%.*s' has one device, number 0", (int)name.size, name.data);
}

iree_status_t hal_driver_enumerate(void* self, iree_host_size_t* out_driver_info_count,
                                   const iree_hal_driver_info_t** out_driver_infos) {
  *out_driver_info_count = 1;
  *out_driver_infos = &((const hal_driver_class_t*)self)->info;
  return iree_ok_status();
}

iree_status_t hal_driver_try_create(void* self, iree_string_view_t driver_name, iree_allocator_t host_allocator,
                                    iree_hal_driver_t** out_driver) {
  const hal_driver_class_t* type = (const hal_driver_class_t*)self;
  *out_driver = NULL;
  return type->create(type, host_allocator, out_driver);
}
