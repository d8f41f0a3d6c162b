// The driver of the null device, of which there is one.
#include "hal/null/device.h"
#include "iree/hal/drivers/null/registration/driver_module.h"
#include "iree/hal/local/executable_plugin_manager.h"
#include "iree/hal/local/loaders/registration/init.h"

#define MAX_LOADERS 8

typedef struct null_driver_t {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  iree_hal_allocator_t* allocator;
  iree_host_size_t loader_count;
  iree_hal_executable_loader_t* loaders[MAX_LOADERS];
} null_driver_t;

static void driver_destroy(iree_hal_driver_t* base) {
  null_driver_t* driver = (null_driver_t*)base;
  for (iree_host_size_t i = 0; i < driver->loader_count; ++i) iree_hal_executable_loader_release(driver->loaders[i]);
  iree_hal_allocator_release(driver->allocator);
  iree_allocator_free(driver->host_allocator, driver);
}

static iree_status_t driver_query_available_devices(iree_hal_driver_t* driver, iree_allocator_t host_allocator,
                                                    iree_host_size_t* out_device_info_count,
                                                    iree_hal_device_info_t** out_device_infos) {
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(**out_device_infos), (void**)out_device_infos));
  (*out_device_infos)->device_id = IREE_HAL_DEVICE_ID_DEFAULT;
  (*out_device_infos)->path = iree_string_view_empty();
  (*out_device_infos)->name = IREE_SV("default");
  *out_device_info_count = 1;
  return iree_ok_status();
}

static iree_status_t driver_dump_device_info(iree_hal_driver_t* driver, iree_hal_device_id_t device_id,
                                             iree_string_builder_t* builder) {
  return iree_string_builder_append_cstring(builder, "\n- executes: nothing\n");
}

static iree_status_t driver_create_device_by_id(iree_hal_driver_t* base, iree_hal_device_id_t device_id,
                                                iree_host_size_t param_count, const iree_string_pair_t* params,
                                                const iree_hal_device_create_params_t* create_params,
                                                iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  null_driver_t* driver = (null_driver_t*)base;
  if (device_id != IREE_HAL_DEVICE_ID_DEFAULT) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "'null' has one device, number 0");
  }
  if (param_count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "'null' has no device parameter '%.*s'",
                            (int)params[0].key.size, params[0].key.data);
  }
  return null_device_create(driver->loader_count, driver->loaders, driver->allocator, create_params, host_allocator,
                            out_device);
}

static iree_status_t driver_create_device_by_path(iree_hal_driver_t* base, iree_string_view_t driver_name,
                                                  iree_string_view_t device_path, iree_host_size_t param_count,
                                                  const iree_string_pair_t* params,
                                                  const iree_hal_device_create_params_t* create_params,
                                                  iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  if (!iree_string_view_is_empty(device_path)) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "'null' has one device, without a path");
  }
  return driver_create_device_by_id(base, IREE_HAL_DEVICE_ID_DEFAULT, param_count, params, create_params,
                                    host_allocator, out_device);
}

static const iree_hal_driver_vtable_t driver_vtable = {
    .destroy = driver_destroy,
    .query_available_devices = driver_query_available_devices,
    .dump_device_info = driver_dump_device_info,
    .create_device_by_id = driver_create_device_by_id,
    .create_device_by_path = driver_create_device_by_path,
};

//===----------------------------------------------------------------------------------------------------------------===
// Registration
//===----------------------------------------------------------------------------------------------------------------===

static const iree_hal_driver_info_t driver_info = {IREE_SVL("null"), IREE_SVL("Executes nothing, with real memory")};

static iree_status_t factory_enumerate(void* self, iree_host_size_t* out_driver_info_count,
                                       const iree_hal_driver_info_t** out_driver_infos) {
  *out_driver_info_count = 1;
  *out_driver_infos = &driver_info;
  return iree_ok_status();
}

static iree_status_t create_loaders(null_driver_t* driver) {
  iree_hal_executable_plugin_manager_t* plugins = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_executable_plugin_manager_create_from_flags(driver->host_allocator, &plugins));
  iree_status_t status = iree_hal_create_all_available_executable_loaders(plugins, MAX_LOADERS, &driver->loader_count,
                                                                          driver->loaders, driver->host_allocator);
  iree_hal_executable_plugin_manager_release(plugins);
  return status;
}

static iree_status_t factory_try_create(void* self, iree_string_view_t driver_name, iree_allocator_t host_allocator,
                                        iree_hal_driver_t** out_driver) {
  *out_driver = NULL;
  null_driver_t* driver = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*driver), (void**)&driver));
  iree_hal_resource_initialize(&driver_vtable, &driver->resource);
  driver->host_allocator = host_allocator;
  iree_status_t status =
      iree_hal_allocator_create_heap(driver_info.driver_name, host_allocator, host_allocator, &driver->allocator);
  if (iree_status_is_ok(status)) status = create_loaders(driver);
  if (!iree_status_is_ok(status)) {
    driver_destroy((iree_hal_driver_t*)driver);
    return status;
  }
  *out_driver = (iree_hal_driver_t*)driver;
  return iree_ok_status();
}

static const iree_hal_driver_factory_t driver_factory = {NULL, factory_enumerate, factory_try_create};

iree_status_t iree_hal_null_driver_module_register(iree_hal_driver_registry_t* registry) {
  return iree_hal_driver_registry_register_factory(registry, &driver_factory);
}
