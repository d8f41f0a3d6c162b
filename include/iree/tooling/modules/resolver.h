// Modules that tools make themselves for others that depend on them.
#ifndef IREE_TOOLING_MODULES_RESOLVER_H_
#define IREE_TOOLING_MODULES_RESOLVER_H_

#include "iree/base/api.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Registers the types of all modules here, which must be done before modules are loaded.
IREE_API_EXPORT iree_status_t iree_tooling_register_all_module_types(iree_vm_instance_t* instance);
// Makes the module `check` or `io_parameters` (from flags). *out_module is NULL for an optional one of another name.
// Errors: NOT_FOUND for a required one.
IREE_API_EXPORT iree_status_t iree_tooling_resolve_module_dependency(iree_vm_instance_t* instance,
                                                                     const iree_vm_module_dependency_t* dependency,
                                                                     iree_allocator_t host_allocator,
                                                                     iree_vm_module_t** out_module);

#ifdef __cplusplus
}
#endif

#endif  // IREE_TOOLING_MODULES_RESOLVER_H_
