// The registry of driver factories.
#include "iree/hal/driver_registry.h"

#include "hal/detail.h"
#include "iree/base/threading/mutex.h"

#define MAX_FACTORIES 64

struct iree_hal_driver_registry_t {
  iree_allocator_t host_allocator;
  iree_slim_mutex_t mutex;
  iree_host_size_t count;
  const iree_hal_driver_factory_t* factories[MAX_FACTORIES];
};

iree_hal_driver_registry_t* iree_hal_driver_registry_default(void) {
  static iree_hal_driver_registry_t registry;  // all zeros is an empty one
  return &registry;
}

iree_status_t iree_hal_driver_registry_allocate(iree_allocator_t host_allocator,
                                                iree_hal_driver_registry_t** out_registry) {
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(**out_registry), (void**)out_registry));
  (*out_registry)->host_allocator = host_allocator;
  iree_slim_mutex_initialize(&(*out_registry)->mutex);
  return iree_ok_status();
}

void iree_hal_driver_registry_free(iree_hal_driver_registry_t* registry) {
  if (registry) iree_allocator_free(registry->host_allocator, registry);
}

iree_status_t iree_hal_driver_registry_register_factory(iree_hal_driver_registry_t* registry,
                                                        const iree_hal_driver_factory_t* factory) {
  iree_status_t status = iree_ok_status();
  iree_slim_mutex_lock(&registry->mutex);
  for (iree_host_size_t i = 0; i < registry->count && iree_status_is_ok(status); ++i) {
    if (registry->factories[i] != factory) continue;
    status = iree_make_status(IREE_STATUS_ALREADY_EXISTS, "factory is registered already");
  }
  if (iree_status_is_ok(status) && registry->count == MAX_FACTORIES) {
    status = iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "at most %d driver factories", MAX_FACTORIES);
  }
  if (iree_status_is_ok(status)) registry->factories[registry->count++] = factory;
  iree_slim_mutex_unlock(&registry->mutex);
  return status;
}

iree_status_t iree_hal_driver_registry_unregister_factory(iree_hal_driver_registry_t* registry,
                                                          const iree_hal_driver_factory_t* factory) {
  iree_slim_mutex_lock(&registry->mutex);
  iree_host_size_t i = 0;
  while (i < registry->count && registry->factories[i] != factory) ++i;
  bool found = i < registry->count;
  if (found) registry->factories[i] = registry->factories[--registry->count];
  iree_slim_mutex_unlock(&registry->mutex);
  return found ? iree_ok_status() : iree_make_status(IREE_STATUS_NOT_FOUND, "factory is not registered");
}

//===----------------------------------------------------------------------------------------------------------------===
// Enumeration
//===----------------------------------------------------------------------------------------------------------------===

static int compare_infos(const void* lhs, const void* rhs) {
  return iree_string_view_compare(((const iree_hal_driver_info_t*)lhs)->driver_name,
                                  ((const iree_hal_driver_info_t*)rhs)->driver_name);
}

// Walks all infos: counts them and their text, and copies them when `infos` and `text` are given.
static iree_status_t walk_infos(iree_hal_driver_registry_t* registry, iree_host_size_t* out_count,
                                iree_host_size_t* out_text_size, iree_hal_driver_info_t* infos, char* text) {
  *out_count = *out_text_size = 0;
  for (iree_host_size_t i = 0; i < registry->count; ++i) {
    iree_host_size_t count = 0;
    const iree_hal_driver_info_t* rows = NULL;
    IREE_RETURN_IF_ERROR(registry->factories[i]->enumerate(registry->factories[i]->self, &count, &rows));
    for (iree_host_size_t j = 0; j < count; ++j) {
      if (infos) {
        iree_hal_driver_info_t* info = &infos[*out_count];
        text += iree_string_view_append_to_buffer(rows[j].driver_name, &info->driver_name, text);
        text += iree_string_view_append_to_buffer(rows[j].full_name, &info->full_name, text);
      }
      ++*out_count;
      *out_text_size += rows[j].driver_name.size + rows[j].full_name.size;
    }
  }
  return iree_ok_status();
}

static iree_status_t copy_infos(iree_hal_driver_registry_t* registry, iree_allocator_t host_allocator,
                                iree_host_size_t* out_count, iree_hal_driver_info_t** out_infos) {
  iree_host_size_t count = 0, text_size = 0;
  IREE_RETURN_IF_ERROR(walk_infos(registry, &count, &text_size, NULL, NULL));
  if (count == 0) return iree_ok_status();
  iree_hal_driver_info_t* infos = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, count * sizeof(*infos) + text_size, (void**)&infos));
  IREE_RETURN_AND_EVAL_IF_ERROR(iree_allocator_free(host_allocator, infos),
                                walk_infos(registry, &count, &text_size, infos, (char*)(infos + count)));
  qsort(infos, count, sizeof(*infos), compare_infos);
  *out_count = count;
  *out_infos = infos;
  return iree_ok_status();
}

iree_status_t iree_hal_driver_registry_enumerate(iree_hal_driver_registry_t* registry, iree_allocator_t host_allocator,
                                                 iree_host_size_t* out_driver_info_count,
                                                 iree_hal_driver_info_t** out_driver_infos) {
  *out_driver_info_count = 0;
  *out_driver_infos = NULL;
  iree_slim_mutex_lock(&registry->mutex);
  iree_status_t status = copy_infos(registry, host_allocator, out_driver_info_count, out_driver_infos);
  iree_slim_mutex_unlock(&registry->mutex);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Creation
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t refuse_driver(iree_hal_driver_registry_t* registry, iree_string_view_t name) {
  char known[256] = "";
  size_t size = 0;
  for (iree_host_size_t i = 0; i < registry->count; ++i) {
    iree_host_size_t count = 0;
    const iree_hal_driver_info_t* rows = NULL;
    IREE_RETURN_IF_ERROR(registry->factories[i]->enumerate(registry->factories[i]->self, &count, &rows));
    for (iree_host_size_t j = 0; j < count && size < sizeof(known); ++j) {
      size += (size_t)snprintf(known + size, sizeof(known) - size, "%s%.*s", size ? ", " : "",
                               (int)rows[j].driver_name.size, rows[j].driver_name.data);
    }
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND, "no driver '%.*s' registered; there is [%s]", (int)name.size,
                          name.data, known);
}

// The factory that has the driver; later registrations win.
static iree_status_t find_factory(iree_hal_driver_registry_t* registry, iree_string_view_t driver_name,
                                  const iree_hal_driver_factory_t** out_factory) {
  for (iree_host_size_t i = registry->count; i-- > 0;) {
    iree_host_size_t count = 0;
    const iree_hal_driver_info_t* rows = NULL;
    IREE_RETURN_IF_ERROR(registry->factories[i]->enumerate(registry->factories[i]->self, &count, &rows));
    for (iree_host_size_t j = 0; j < count; ++j) {
      if (!iree_string_view_equal(rows[j].driver_name, driver_name)) continue;
      *out_factory = registry->factories[i];
      return iree_ok_status();
    }
  }
  return refuse_driver(registry, driver_name);
}

iree_status_t iree_hal_driver_registry_try_create(iree_hal_driver_registry_t* registry, iree_string_view_t driver_name,
                                                  iree_allocator_t host_allocator, iree_hal_driver_t** out_driver) {
  *out_driver = NULL;
  const iree_hal_driver_factory_t* factory = NULL;
  iree_slim_mutex_lock(&registry->mutex);
  iree_status_t status = find_factory(registry, driver_name, &factory);
  iree_slim_mutex_unlock(&registry->mutex);
  IREE_RETURN_IF_ERROR(status);
  return factory->try_create(factory->self, driver_name, host_allocator, out_driver);
}

iree_status_t iree_hal_create_device(iree_hal_driver_registry_t* registry, iree_string_view_t device_uri,
                                     const iree_hal_device_create_params_t* create_params,
                                     iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  *out_device = NULL;
  iree_string_view_t driver_name, path, params;
  hal_uri_split(device_uri, &driver_name, &path, &params);
  iree_hal_driver_t* driver = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_driver_registry_try_create(registry, driver_name, host_allocator, &driver),
                       "creating driver for device '%.*s'", (int)device_uri.size, device_uri.data);
  iree_status_t status =
      iree_hal_driver_create_device_by_uri(driver, device_uri, create_params, host_allocator, out_device);
  iree_hal_driver_release(driver);
  return iree_status_is_ok(status)
             ? status
             : iree_status_annotate_f(status, "creating device '%.*s'", (int)device_uri.size, device_uri.data);
}
