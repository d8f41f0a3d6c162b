// Contexts from the flags of tools: --module= and those of devices, parameters and limits. Flags are declared where the
// library is linked in, and parsed by iree_flags_parse (iree/base/tooling/flags.h). Thread-compatible.
#ifndef IREE_TOOLING_CONTEXT_UTIL_H_
#define IREE_TOOLING_CONTEXT_UTIL_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Modules with a reference each, in the order in which a context has them.
typedef struct {
  iree_host_size_t capacity;
  iree_host_size_t count;
  iree_vm_module_t* values[64];
} iree_tooling_module_list_t;

IREE_API_EXPORT void iree_tooling_module_list_initialize(iree_tooling_module_list_t* out_list);
IREE_API_EXPORT void iree_tooling_module_list_clone(const iree_tooling_module_list_t* source_list,
                                                    iree_tooling_module_list_t* out_list);
// Releases all modules.
IREE_API_EXPORT void iree_tooling_module_list_reset(iree_tooling_module_list_t* list);
// Retains the module. Errors: RESOURCE_EXHAUSTED when there are too many.
IREE_API_EXPORT iree_status_t iree_tooling_module_list_push_back(iree_tooling_module_list_t* list,
                                                                 iree_vm_module_t* module);

// The last one, not retained; NULL when there is none.
IREE_API_EXPORT iree_vm_module_t* iree_tooling_module_list_back(const iree_tooling_module_list_t* list);

// A VM instance that knows the types of all modules here.
IREE_API_EXPORT iree_status_t iree_tooling_create_instance(iree_allocator_t host_allocator,
                                                           iree_vm_instance_t** out_instance);
// Adds the modules that --module names. Errors: INVALID_ARGUMENT without any.
IREE_API_EXPORT iree_status_t iree_tooling_load_modules_from_flags(iree_vm_instance_t* instance,
                                                                   iree_allocator_t host_allocator,
                                                                   iree_tooling_module_list_t* list);
// Adds the modules to `resolved_list`, each behind what it depends on and the list does not have yet: hal, with the
// devices of --device or `default_device_uri` (empty: local-task), io_parameters and check. *out_device is the first
// device, retained, or NULL when no module needs one; *out_device_allocator, retained, is for buffers of the context in
// either case. Both may be NULL.
IREE_API_EXPORT iree_status_t iree_tooling_resolve_modules(
    iree_vm_instance_t* instance, iree_host_size_t user_module_count, iree_vm_module_t** user_modules,
    iree_string_view_t default_device_uri, iree_allocator_t host_allocator, iree_tooling_module_list_t* resolved_list,
    iree_hal_device_t** out_device, iree_hal_allocator_t** out_device_allocator);
// The same as a context, frozen.
IREE_API_EXPORT iree_status_t iree_tooling_create_context_from_flags(
    iree_vm_instance_t* instance, iree_host_size_t user_module_count, iree_vm_module_t** user_modules,
    iree_string_view_t default_device_uri, iree_allocator_t host_allocator, iree_vm_context_t** out_context,
    iree_hal_device_t** out_device, iree_hal_allocator_t** out_device_allocator);

// The only export that is not internal; `f` and `f$async` count as one. Errors: INVALID_ARGUMENT.
IREE_API_EXPORT iree_status_t iree_tooling_find_single_exported_function(const iree_vm_module_t* module,
                                                                         iree_vm_function_t* out_function);

#ifdef __cplusplus
}
#endif

#endif  // IREE_TOOLING_CONTEXT_UTIL_H_
