// vmvx executables (module/vmvx.h) on local devices: the loader, and the interpreter behind its functions.
#ifndef IREE_C_HAL_LOCAL_VMVX_H_
#define IREE_C_HAL_LOCAL_VMVX_H_

#include "iree/hal/api.h"
#include "iree/hal/local/executable_library.h"
#include "iree/hal/local/executable_loader.h"
#include "iree/hal/local/executable_plugin_manager.h"
#include "module/vmvx.h"

// `plugin_manager` is not used: bytecode has no imports.
iree_status_t local_vmvx_loader_create(iree_hal_executable_plugin_manager_t* plugin_manager,
                                       iree_allocator_t host_allocator, iree_hal_executable_loader_t** out_loader);

// What a function's workgroups are called with.
typedef struct local_vmvx_environment_t {
  iree_hal_executable_environment_v0_t base;
  const vmvx_function_t* function;
  iree_budget_t* budget;  // NULL: there is no end
} local_vmvx_environment_t;

// Bytes of local memory that a workgroup of the function needs: registers, then workgroup and private memory.
size_t local_vmvx_memory_size(const vmvx_function_t* function);

// Runs one workgroup; an iree_hal_executable_dispatch_v0_t whose environment is a local_vmvx_environment_t. Returns an
// iree_status_code_t: OUT_OF_RANGE when an access leaves its memory, INVALID_ARGUMENT when bindings, constants or local
// memory are less than the function needs, and what the budget says when that is used up.
int local_vmvx_run(const iree_hal_executable_environment_v0_t* environment,
                   const iree_hal_executable_dispatch_state_v0_t* dispatch_state,
                   const iree_hal_executable_workgroup_state_v0_t* workgroup_state);

// What local_vmvx_run returned, as a status that names the function.
iree_status_t local_vmvx_failure(const iree_hal_executable_environment_v0_t* environment, int code);

#endif  // IREE_C_HAL_LOCAL_VMVX_H_
