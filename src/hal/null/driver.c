// The driver of the null device, of which there is one.
#include "hal/driver_base.h"
#include "hal/null/device.h"
#include "iree/hal/drivers/null/api.h"
#include "iree/hal/drivers/null/registration/driver_module.h"
#include "iree/hal/local/executable_plugin_manager.h"
#include "iree/hal/local/loaders/registration/init.h"

#define MAX_LOADERS 8

typedef struct null_driver_t {
  hal_driver_t base;
  iree_hal_allocator_t* allocator;
  iree_host_size_t loader_count;
  iree_hal_executable_loader_t* loaders[MAX_LOADERS];
} null_driver_t;

static void deinitialize(iree_hal_driver_t* base) {
  null_driver_t* driver = (null_driver_t*)base;
  for (iree_host_size_t i = 0; i < driver->loader_count; ++i) iree_hal_executable_loader_release(driver->loaders[i]);
  iree_hal_allocator_release(driver->allocator);
}

static iree_status_t dump_device(iree_hal_driver_t* driver, iree_hal_device_id_t device_id,
                                 iree_string_builder_t* builder) {
  return iree_string_builder_append_cstring(builder, "\n- executes: nothing\n");
}

static iree_status_t create_device(iree_hal_driver_t* base, iree_hal_device_id_t device_id,
                                   const iree_hal_device_create_params_t* create_params,
                                   iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  null_driver_t* driver = (null_driver_t*)base;
  IREE_RETURN_IF_ERROR(hal_driver_check_only_device(base, device_id));
  return null_device_create(driver->loader_count, driver->loaders, driver->allocator, create_params, host_allocator,
                            out_device);
}

//===----------------------------------------------------------------------------------------------------------------===
// Registration
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t initialize(null_driver_t* driver, iree_allocator_t host_allocator) {
  iree_hal_executable_plugin_manager_t* plugins = NULL;
  IREE_RETURN_IF_ERROR(
      iree_hal_allocator_create_heap(driver->base.name, host_allocator, host_allocator, &driver->allocator));
  IREE_RETURN_IF_ERROR(iree_hal_executable_plugin_manager_create_from_flags(host_allocator, &plugins));
  iree_status_t status = iree_hal_create_all_available_executable_loaders(plugins, MAX_LOADERS, &driver->loader_count,
                                                                          driver->loaders, host_allocator);
  iree_hal_executable_plugin_manager_release(plugins);
  return status;
}

static iree_status_t create_named(const hal_driver_class_t* type, iree_string_view_t name,
                                  iree_allocator_t host_allocator, iree_hal_driver_t** out_driver) {
  null_driver_t* driver = NULL;
  IREE_RETURN_IF_ERROR(hal_driver_allocate_named(type, sizeof(*driver), name, host_allocator, (void**)&driver));
  iree_status_t status = initialize(driver, host_allocator);
  if (!iree_status_is_ok(status)) {
    iree_hal_driver_release((iree_hal_driver_t*)driver);
    return status;
  }
  *out_driver = (iree_hal_driver_t*)driver;
  return iree_ok_status();
}

static iree_status_t create(const hal_driver_class_t* type, iree_allocator_t host_allocator,
                            iree_hal_driver_t** out_driver) {
  return create_named(type, type->info.driver_name, host_allocator, out_driver);
}

static const hal_driver_class_t null_class = {
    .info = {IREE_SVL("null"), IREE_SVL("Executes nothing, with real memory")},
    .create = create,
    .deinitialize = deinitialize,
    .query_devices = hal_driver_query_only_device,
    .dump_device = dump_device,
    .parse_path = hal_driver_parse_only_path,
    .create_device = create_device,
};
static const iree_hal_driver_factory_t driver_factory = HAL_DRIVER_FACTORY(&null_class);

iree_status_t iree_hal_null_driver_module_register(iree_hal_driver_registry_t* registry) {
  return iree_hal_driver_registry_register_factory(registry, &driver_factory);
}

//===----------------------------------------------------------------------------------------------------------------===
// Drivers and devices of an application's own
//===----------------------------------------------------------------------------------------------------------------===

void iree_hal_null_device_options_initialize(iree_hal_null_device_options_t* out_options) {
  *out_options = (iree_hal_null_device_options_t){0};
}

void iree_hal_null_driver_options_initialize(iree_hal_null_driver_options_t* out_options) {
  *out_options = (iree_hal_null_driver_options_t){0};
}

iree_status_t iree_hal_null_driver_create(iree_string_view_t identifier, const iree_hal_null_driver_options_t* options,
                                          iree_allocator_t host_allocator, iree_hal_driver_t** out_driver) {
  *out_driver = NULL;
  return create_named(&null_class, identifier, host_allocator, out_driver);
}

iree_status_t iree_hal_null_device_create(iree_string_view_t identifier, const iree_hal_null_device_options_t* options,
                                          const iree_hal_device_create_params_t* create_params,
                                          iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  iree_hal_driver_t* driver = NULL;
  *out_device = NULL;
  IREE_RETURN_IF_ERROR(create_named(&null_class, identifier, host_allocator, &driver));
  iree_status_t status = create_device(driver, IREE_HAL_DEVICE_ID_DEFAULT, create_params, host_allocator, out_device);
  iree_hal_driver_release(driver);
  return status;
}
