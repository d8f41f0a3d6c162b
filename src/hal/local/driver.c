// The drivers of local devices. Each has one device; it is the same code but for who runs the work.
#include "hal/local/driver.h"

#include <unistd.h>

#include "hal/driver_base.h"
#include "hal/local/device.h"
#include "iree/base/internal/cpu.h"
#include "iree/hal/drivers/local_sync/registration/driver_module.h"
#include "iree/hal/drivers/local_sync/sync_driver.h"
#include "iree/hal/drivers/local_task/registration/driver_module.h"
#include "iree/hal/drivers/local_task/task_driver.h"
#include "iree/hal/local/executable_plugin_manager.h"
#include "iree/hal/local/loaders/registration/init.h"
#include "iree/task/api.h"

#define MAX_LOADERS 8
#define MAX_EXECUTORS 64

typedef struct local_driver_t {
  hal_driver_t base;  // its name is in the tail of the object
  iree_hal_sync_device_params_t sync_params;
  iree_hal_task_device_params_t task_params;
  iree_hal_allocator_t* device_allocator;
  iree_host_size_t loader_count;
  iree_hal_executable_loader_t* loaders[MAX_LOADERS];
  iree_host_size_t executor_count;
  iree_task_executor_t* executors[MAX_EXECUTORS];
} local_driver_t;

static const hal_driver_class_t sync_class, task_class;

static void driver_deinitialize(iree_hal_driver_t* base) {
  local_driver_t* driver = (local_driver_t*)base;
  for (iree_host_size_t i = 0; i < driver->loader_count; ++i) iree_hal_executable_loader_release(driver->loaders[i]);
  for (iree_host_size_t i = 0; i < driver->executor_count; ++i) iree_task_executor_release(driver->executors[i]);
  iree_hal_allocator_release(driver->device_allocator);
}

static iree_status_t dump_device(iree_hal_driver_t* base, iree_hal_device_id_t device_id,
                                 iree_string_builder_t* builder) {
  local_driver_t* driver = (local_driver_t*)base;
  IREE_RETURN_IF_ERROR(iree_string_builder_append_format(builder, "\n- architecture: %s\n- features:", IREE_ARCH));
  iree_string_view_t name;
  bool present = false;
  for (iree_host_size_t i = 0; iree_cpu_enumerate_feature(i, &name, &present); ++i) {
    if (!present) continue;
    IREE_RETURN_IF_ERROR(iree_string_builder_append_format(builder, " %.*s", (int)name.size, name.data));
  }
  IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, "\n"));
  for (iree_host_size_t i = 0; i < driver->executor_count; ++i) {
    IREE_RETURN_IF_ERROR(iree_string_builder_append_format(builder, "- queue-%" PRIhsz "-workers: %" PRIhsz "\n", i,
                                                           iree_task_executor_worker_count(driver->executors[i])));
  }
  uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  return iree_string_builder_append_format(builder, "- memory-total: %" PRIu64 " MB\n", memory >> 20);
}

static iree_status_t create_device(iree_hal_driver_t* base, iree_hal_device_id_t device_id,
                                   const iree_hal_device_create_params_t* create_params,
                                   iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  local_driver_t* driver = (local_driver_t*)base;
  iree_string_view_t name = driver->base.name;
  IREE_RETURN_IF_ERROR(hal_driver_check_only_device(base, device_id));
  if (driver->base.type == &sync_class) {
    return iree_hal_sync_device_create(name, &driver->sync_params, create_params, driver->loader_count, driver->loaders,
                                       driver->device_allocator, host_allocator, out_device);
  }
  return iree_hal_task_device_create(name, &driver->task_params, driver->executor_count, driver->executors,
                                     driver->loader_count, driver->loaders, driver->device_allocator, create_params,
                                     host_allocator, out_device);
}

static iree_status_t driver_create(const hal_driver_class_t* type, iree_string_view_t identifier,
                                   iree_host_size_t loader_count, iree_hal_executable_loader_t** loaders,
                                   iree_hal_allocator_t* device_allocator, iree_allocator_t host_allocator,
                                   local_driver_t** out_driver) {
  *out_driver = NULL;
  if (loader_count > MAX_LOADERS) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "at most %d executable loaders", MAX_LOADERS);
  }
  local_driver_t* driver = NULL;
  IREE_RETURN_IF_ERROR(hal_driver_allocate(type, sizeof(*driver) + identifier.size, host_allocator, (void**)&driver));
  iree_string_view_append_to_buffer(identifier, &driver->base.name, (char*)(driver + 1));
  driver->device_allocator = device_allocator;
  iree_hal_allocator_retain(device_allocator);
  driver->loader_count = loader_count;
  for (iree_host_size_t i = 0; i < loader_count; ++i) {
    driver->loaders[i] = loaders[i];
    iree_hal_executable_loader_retain(loaders[i]);
  }
  *out_driver = driver;
  return iree_ok_status();
}

iree_status_t iree_hal_sync_driver_create(iree_string_view_t identifier,
                                          const iree_hal_sync_device_params_t* default_params,
                                          iree_host_size_t loader_count, iree_hal_executable_loader_t** loaders,
                                          iree_hal_allocator_t* device_allocator, iree_allocator_t host_allocator,
                                          iree_hal_driver_t** out_driver) {
  local_driver_t* driver = NULL;
  *out_driver = NULL;
  IREE_RETURN_IF_ERROR(
      driver_create(&sync_class, identifier, loader_count, loaders, device_allocator, host_allocator, &driver));
  driver->sync_params = *default_params;
  *out_driver = (iree_hal_driver_t*)driver;
  return iree_ok_status();
}

iree_status_t iree_hal_task_driver_create(iree_string_view_t identifier,
                                          const iree_hal_task_device_params_t* default_params,
                                          iree_host_size_t queue_count, iree_task_executor_t* const* queue_executors,
                                          iree_host_size_t loader_count, iree_hal_executable_loader_t** loaders,
                                          iree_hal_allocator_t* device_allocator, iree_allocator_t host_allocator,
                                          iree_hal_driver_t** out_driver) {
  local_driver_t* driver = NULL;
  *out_driver = NULL;
  if (queue_count > MAX_EXECUTORS) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "at most %d executors", MAX_EXECUTORS);
  }
  IREE_RETURN_IF_ERROR(
      driver_create(&task_class, identifier, loader_count, loaders, device_allocator, host_allocator, &driver));
  driver->task_params = *default_params;
  driver->executor_count = queue_count;
  for (iree_host_size_t i = 0; i < queue_count; ++i) {
    driver->executors[i] = queue_executors[i];
    iree_task_executor_retain(queue_executors[i]);
  }
  *out_driver = (iree_hal_driver_t*)driver;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Registration: drivers as the flags say
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t create_task_from_flags(iree_string_view_t name, iree_host_size_t loader_count,
                                            iree_hal_executable_loader_t** loaders, iree_hal_allocator_t* allocator,
                                            iree_allocator_t host_allocator, iree_hal_driver_t** out_driver) {
  iree_hal_task_device_params_t params;
  iree_hal_task_device_params_initialize(&params);
  params.queue_scope_flags = local_task_scope_flags();
  iree_task_executor_t* executors[MAX_EXECUTORS];
  iree_host_size_t count = 0;
  IREE_RETURN_IF_ERROR(
      iree_task_executors_create_from_flags(host_allocator, IREE_ARRAYSIZE(executors), executors, &count));
  iree_status_t status = iree_hal_task_driver_create(name, &params, count, executors, loader_count, loaders, allocator,
                                                     host_allocator, out_driver);
  for (iree_host_size_t i = 0; i < count; ++i) iree_task_executor_release(executors[i]);
  return status;
}

static iree_status_t create_sync(iree_string_view_t name, iree_host_size_t loader_count,
                                 iree_hal_executable_loader_t** loaders, iree_hal_allocator_t* allocator,
                                 iree_allocator_t host_allocator, iree_hal_driver_t** out_driver) {
  iree_hal_sync_device_params_t params;
  iree_hal_sync_device_params_initialize(&params);
  return iree_hal_sync_driver_create(name, &params, loader_count, loaders, allocator, host_allocator, out_driver);
}

static iree_status_t create_with_loaders(const hal_driver_class_t* type, iree_hal_executable_plugin_manager_t* plugins,
                                         iree_allocator_t host_allocator, iree_hal_driver_t** out_driver) {
  iree_hal_executable_loader_t* loaders[MAX_LOADERS];
  iree_host_size_t count = 0;
  IREE_RETURN_IF_ERROR(iree_hal_create_all_available_executable_loaders(plugins, IREE_ARRAYSIZE(loaders), &count,
                                                                        loaders, host_allocator));
  iree_hal_allocator_t* allocator = NULL;
  iree_status_t status =
      iree_hal_allocator_create_heap(type->info.driver_name, host_allocator, host_allocator, &allocator);
  if (iree_status_is_ok(status)) {
    status = (type == &sync_class ? create_sync : create_task_from_flags)(type->info.driver_name, count, loaders,
                                                                          allocator, host_allocator, out_driver);
  }
  iree_hal_allocator_release(allocator);
  for (iree_host_size_t i = 0; i < count; ++i) iree_hal_executable_loader_release(loaders[i]);
  return status;
}

static iree_status_t create(const hal_driver_class_t* type, iree_allocator_t host_allocator,
                            iree_hal_driver_t** out_driver) {
  iree_hal_executable_plugin_manager_t* plugins = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_executable_plugin_manager_create_from_flags(host_allocator, &plugins));
  iree_status_t status = create_with_loaders(type, plugins, host_allocator, out_driver);
  iree_hal_executable_plugin_manager_release(plugins);
  return status;
}

#define CLASS(name, full_name)                    \
  {.info = {IREE_SVL(name), IREE_SVL(full_name)}, \
   .create = create,                              \
   .deinitialize = driver_deinitialize,           \
   .query_devices = hal_driver_query_only_device, \
   .dump_device = dump_device,                    \
   .parse_path = hal_driver_parse_only_path,      \
   .create_device = create_device}
static const hal_driver_class_t sync_class =
    CLASS("local-sync", "Local execution using a lightweight inline synchronous queue");
static const hal_driver_class_t task_class =
    CLASS("local-task", "Local execution using the IREE multithreading task system");
static const iree_hal_driver_factory_t sync_factory = HAL_DRIVER_FACTORY(&sync_class);
static const iree_hal_driver_factory_t task_factory = HAL_DRIVER_FACTORY(&task_class);

iree_status_t iree_hal_local_sync_driver_module_register(iree_hal_driver_registry_t* registry) {
  return iree_hal_driver_registry_register_factory(registry, &sync_factory);
}

iree_status_t iree_hal_local_task_driver_module_register(iree_hal_driver_registry_t* registry) {
  return iree_hal_driver_registry_register_factory(registry, &task_factory);
}
