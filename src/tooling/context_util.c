// See iree/tooling/context_util.h and modules/resolver.h.
#include "iree/tooling/context_util.h"

#include "iree/hal/local/executable_plugin_manager.h"
#include "iree/hal/local/loaders/registration/init.h"
#include "iree/modules/check/module.h"
#include "iree/modules/hal/inline/module.h"
#include "iree/modules/hal/loader/module.h"
#include "iree/modules/hal/module.h"
#include "iree/tooling/modules/resolver.h"
#include "iree/tooling/parameter_util.h"
#include "tooling/context.h"
#include "tooling/devices.h"

//===----------------------------------------------------------------------------------------------------------------===
// Lists
//===----------------------------------------------------------------------------------------------------------------===

void iree_tooling_module_list_initialize(iree_tooling_module_list_t* out_list) {
  out_list->capacity = IREE_ARRAYSIZE(out_list->values);
  out_list->count = 0;
}

void iree_tooling_module_list_clone(const iree_tooling_module_list_t* source_list,
                                    iree_tooling_module_list_t* out_list) {
  iree_tooling_module_list_initialize(out_list);
  for (iree_host_size_t i = 0; i < source_list->count; ++i) {
    out_list->values[out_list->count++] = source_list->values[i];
    iree_vm_module_retain(source_list->values[i]);
  }
}

void iree_tooling_module_list_reset(iree_tooling_module_list_t* list) {
  for (iree_host_size_t i = 0; i < list->count; ++i) iree_vm_module_release(list->values[i]);
  list->count = 0;
}

iree_status_t iree_tooling_module_list_push_back(iree_tooling_module_list_t* list, iree_vm_module_t* module) {
  if (list->count == list->capacity) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "more than %" PRIhsz " modules", list->capacity);
  }
  list->values[list->count++] = module;
  iree_vm_module_retain(module);
  return iree_ok_status();
}

iree_vm_module_t* iree_tooling_module_list_back(const iree_tooling_module_list_t* list) {
  return list->count ? list->values[list->count - 1] : NULL;
}

static bool has_module(const iree_tooling_module_list_t* list, iree_string_view_t name) {
  for (iree_host_size_t i = 0; i < list->count; ++i) {
    if (iree_string_view_equal(iree_vm_module_name(list->values[i]), name)) return true;
  }
  return false;
}

//===----------------------------------------------------------------------------------------------------------------===
// Modules
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t iree_tooling_register_all_module_types(iree_vm_instance_t* instance) {
  return iree_hal_module_register_all_types(instance);
}

iree_status_t iree_tooling_create_instance(iree_allocator_t host_allocator, iree_vm_instance_t** out_instance) {
  *out_instance = NULL;
  iree_vm_instance_t* instance = NULL;
  IREE_RETURN_IF_ERROR(iree_vm_instance_create(IREE_VM_TYPE_CAPACITY_DEFAULT, host_allocator, &instance));
  iree_status_t status = iree_tooling_register_all_module_types(instance);
  if (iree_status_is_ok(status)) {
    *out_instance = instance;
  } else {
    iree_vm_instance_release(instance);
  }
  return status;
}

iree_status_t iree_tooling_load_modules_from_flags(iree_vm_instance_t* instance, iree_allocator_t host_allocator,
                                                   iree_tooling_module_list_t* list) {
  iree_string_view_list_t specs = tooling_module_flags();
  if (!specs.count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "no user module specified; use --module=file.vmfb to load from a file or --module=- to "
                            "load from stdin");
  }
  for (iree_host_size_t i = 0; i < specs.count; ++i) {
    iree_vm_module_t* module = NULL;
    IREE_RETURN_IF_ERROR(tooling_module_load(instance, specs.values[i], host_allocator, &module));
    iree_status_t status = iree_tooling_module_list_push_back(list, module);
    iree_vm_module_release(module);
    IREE_RETURN_IF_ERROR(status);
  }
  return iree_ok_status();
}

iree_status_t iree_tooling_find_single_exported_function(const iree_vm_module_t* module,
                                                         iree_vm_function_t* out_function) {
  return tooling_module_find_function(module, out_function);
}

iree_status_t tooling_inline_create(iree_vm_instance_t* instance, iree_allocator_t allocator,
                                    iree_vm_module_t** out_module) {
  iree_hal_allocator_t* memory = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_allocator_create_heap(IREE_SV("host"), allocator, allocator, &memory));
  iree_status_t status =
      iree_hal_inline_module_create(instance, IREE_HAL_INLINE_MODULE_FLAG_NONE,
                                    iree_hal_module_debug_sink_stdio(stderr), memory, allocator, out_module);
  iree_hal_allocator_release(memory);
  return status;
}

iree_status_t tooling_loader_create(iree_vm_instance_t* instance, iree_allocator_t allocator,
                                    iree_vm_module_t** out_module) {
  iree_hal_executable_plugin_manager_t* plugins = NULL;
  iree_hal_executable_loader_t* loaders[8];
  iree_host_size_t count = 0;
  IREE_RETURN_IF_ERROR(iree_hal_executable_plugin_manager_create_from_flags(allocator, &plugins));
  iree_status_t status =
      iree_hal_create_all_available_executable_loaders(plugins, IREE_ARRAYSIZE(loaders), &count, loaders, allocator);
  iree_hal_executable_plugin_manager_release(plugins);
  IREE_RETURN_IF_ERROR(status);
  status =
      iree_hal_loader_module_create(instance, IREE_HAL_LOADER_MODULE_FLAG_NONE, count, loaders, allocator, out_module);
  for (iree_host_size_t i = 0; i < count; ++i) iree_hal_executable_loader_release(loaders[i]);
  return status;
}

iree_status_t iree_tooling_resolve_module_dependency(iree_vm_instance_t* instance,
                                                     const iree_vm_module_dependency_t* dependency,
                                                     iree_allocator_t host_allocator, iree_vm_module_t** out_module) {
  *out_module = NULL;
  if (iree_string_view_equal(dependency->name, IREE_SV("check"))) {
    return iree_check_module_create(instance, host_allocator, out_module);
  }
  if (iree_string_view_equal(dependency->name, IREE_SV("hal_inline"))) {
    return tooling_inline_create(instance, host_allocator, out_module);
  }
  if (iree_string_view_equal(dependency->name, IREE_SV("hal_loader"))) {
    return tooling_loader_create(instance, host_allocator, out_module);
  }
  if (iree_string_view_equal(dependency->name, IREE_SV("io_parameters"))) {
    return iree_tooling_create_parameters_module_from_flags(instance, 0, NULL, host_allocator, out_module);
  }
  if (!(dependency->flags & IREE_VM_MODULE_DEPENDENCY_FLAG_REQUIRED)) return iree_ok_status();
  return iree_make_status(IREE_STATUS_NOT_FOUND,
                          "required module '%.*s' not registered on the context; --module adds it",
                          (int)dependency->name.size, dependency->name.data);
}

//===----------------------------------------------------------------------------------------------------------------===
// Dependencies
//===----------------------------------------------------------------------------------------------------------------===

typedef struct resolver_t {
  iree_vm_instance_t* instance;
  iree_string_view_t default_device_uri;
  iree_allocator_t allocator;
  iree_tooling_module_list_t* list;
  iree_hal_device_t* device;  // retained; NULL until a module needs one
} resolver_t;

static iree_status_t create_hal(resolver_t* resolver, iree_vm_module_t** out_module) {
  iree_hal_device_group_t* group = NULL;
  IREE_RETURN_IF_ERROR(tooling_devices_create(resolver->default_device_uri, resolver->allocator, &group));
  iree_status_t status = iree_hal_module_create(resolver->instance, iree_hal_module_device_policy_default(), group,
                                                IREE_HAL_MODULE_FLAG_NONE, iree_hal_module_debug_sink_stdio(stderr),
                                                resolver->allocator, out_module);
  if (iree_status_is_ok(status)) {
    resolver->device = iree_hal_device_group_device_at(group, 0);
    iree_hal_device_retain(resolver->device);
  }
  iree_hal_device_group_release(group);
  return status;
}

static iree_status_t resolve(void* user_data, const iree_vm_module_dependency_t* dependency) {
  resolver_t* resolver = user_data;
  iree_vm_module_t* module = NULL;
  if (has_module(resolver->list, dependency->name)) return iree_ok_status();
  if (iree_string_view_equal(dependency->name, IREE_SV("hal"))) {
    IREE_RETURN_IF_ERROR(create_hal(resolver, &module));
  } else {
    IREE_RETURN_IF_ERROR(
        iree_tooling_resolve_module_dependency(resolver->instance, dependency, resolver->allocator, &module));
  }
  iree_status_t status = module ? iree_tooling_module_list_push_back(resolver->list, module) : iree_ok_status();
  iree_vm_module_release(module);
  return status;
}

static iree_status_t resolve_all(resolver_t* resolver, iree_host_size_t count, iree_vm_module_t** modules) {
  for (iree_host_size_t i = 0; i < count; ++i) {
    iree_string_view_t name = iree_vm_module_name(modules[i]);
    IREE_RETURN_IF_ERROR(iree_vm_module_enumerate_dependencies(modules[i], resolve, resolver),
                         "resolving dependencies for '%.*s'", (int)name.size, name.data);
    IREE_RETURN_IF_ERROR(iree_tooling_module_list_push_back(resolver->list, modules[i]));
  }
  return iree_ok_status();
}

// The device's, or the host's memory without one.
static iree_status_t find_allocator(const resolver_t* resolver, iree_hal_allocator_t** out_allocator) {
  if (!resolver->device) {
    return iree_hal_allocator_create_heap(IREE_SV("host"), resolver->allocator, resolver->allocator, out_allocator);
  }
  *out_allocator = iree_hal_device_allocator(resolver->device);
  iree_hal_allocator_retain(*out_allocator);
  return iree_ok_status();
}

iree_status_t iree_tooling_resolve_modules(iree_vm_instance_t* instance, iree_host_size_t user_module_count,
                                           iree_vm_module_t** user_modules, iree_string_view_t default_device_uri,
                                           iree_allocator_t host_allocator, iree_tooling_module_list_t* resolved_list,
                                           iree_hal_device_t** out_device,
                                           iree_hal_allocator_t** out_device_allocator) {
  resolver_t resolver = {instance, default_device_uri, host_allocator, resolved_list, NULL};
  if (out_device) *out_device = NULL;
  if (out_device_allocator) *out_device_allocator = NULL;
  iree_status_t status = resolve_all(&resolver, user_module_count, user_modules);
  if (iree_status_is_ok(status) && out_device_allocator) status = find_allocator(&resolver, out_device_allocator);
  if (iree_status_is_ok(status) && out_device) {
    *out_device = resolver.device;
  } else {
    iree_hal_device_release(resolver.device);
  }
  return status;
}

iree_status_t iree_tooling_create_context_from_flags(iree_vm_instance_t* instance, iree_host_size_t user_module_count,
                                                     iree_vm_module_t** user_modules,
                                                     iree_string_view_t default_device_uri,
                                                     iree_allocator_t host_allocator, iree_vm_context_t** out_context,
                                                     iree_hal_device_t** out_device,
                                                     iree_hal_allocator_t** out_device_allocator) {
  *out_context = NULL;
  iree_tooling_module_list_t list;
  iree_hal_device_t* device = NULL;
  iree_hal_allocator_t* allocator = NULL;
  iree_tooling_module_list_initialize(&list);
  iree_status_t status = iree_tooling_resolve_modules(instance, user_module_count, user_modules, default_device_uri,
                                                      host_allocator, &list, &device, &allocator);
  if (iree_status_is_ok(status)) {
    status = tooling_vm_context_create(instance, list.count, list.values, host_allocator, out_context);
  }
  iree_tooling_module_list_reset(&list);
  bool ok = iree_status_is_ok(status);
  if (out_device) *out_device = ok ? device : NULL;
  if (out_device_allocator) *out_device_allocator = ok ? allocator : NULL;
  if (!ok || !out_device) iree_hal_device_release(device);
  if (!ok || !out_device_allocator) iree_hal_allocator_release(allocator);
  return status;
}
