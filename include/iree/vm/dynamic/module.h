// Loads modules from shared libraries, which run as part of the program: only for code that is trusted. Any thread.

#ifndef IREE_VM_DYNAMIC_MODULE_H_
#define IREE_VM_DYNAMIC_MODULE_H_

#include "iree/base/api.h"
#include "iree/vm/api.h"
#include "iree/vm/dynamic/api.h"

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

// Opens the library at `path` and has its `export_name` (empty: IREE_VM_DYNAMIC_MODULE_EXPORT_NAME) create a module.
// The library stays loaded. Errors: NOT_FOUND for the library or the symbol.
IREE_API_EXPORT iree_status_t iree_vm_dynamic_module_load_from_file(
    iree_vm_instance_t* instance, iree_string_view_t path, iree_string_view_t export_name, iree_host_size_t param_count,
    const iree_string_pair_t* params, iree_allocator_t allocator, iree_vm_module_t** out_module);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  // IREE_VM_DYNAMIC_MODULE_H_
