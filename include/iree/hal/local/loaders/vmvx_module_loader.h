// Loads `vmvx-bytecode-fb`: portable bytecode, run by an interpreter.
#ifndef IREE_HAL_LOCAL_LOADERS_VMVX_MODULE_LOADER_H_
#define IREE_HAL_LOCAL_LOADERS_VMVX_MODULE_LOADER_H_

#include "iree/base/api.h"
#include "iree/hal/local/executable_loader.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// `instance` and `user_modules` are accepted for compatibility; user modules are refused (UNIMPLEMENTED).
IREE_API_EXPORT iree_status_t iree_hal_vmvx_module_loader_create(iree_vm_instance_t* instance,
                                                                 iree_host_size_t user_module_count,
                                                                 iree_vm_module_t** user_modules,
                                                                 iree_allocator_t host_allocator,
                                                                 iree_hal_executable_loader_t** out_executable_loader);
IREE_API_EXPORT iree_status_t iree_hal_vmvx_module_loader_create_isolated(
    iree_host_size_t user_module_count, iree_vm_module_t** user_modules, iree_allocator_t host_allocator,
    iree_hal_executable_loader_t** out_executable_loader);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_LOCAL_LOADERS_VMVX_MODULE_LOADER_H_
