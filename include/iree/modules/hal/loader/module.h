// The module `hal_loader`: executables for programs that run on the host alone, in their caller's thread.
//
//   executable.query_support(format) -> supported         executable.load(format, data, constants) -> executable
//   executable.lookup.function(executable, name) -> function
//   executable.dispatch(executable, function, x, y, z, constants..., (storage, offset, length)...)
//
// format, data, constants and storage are !vm.buffer; constants may be null. Dispatches are done when the call returns.
// Programs of iree-compile --iree-execution-model=inline-dynamic take their device from here (devices.count,
// devices.get), and need the module hal_inline beside it.
#ifndef IREE_MODULES_HAL_LOADER_MODULE_H_
#define IREE_MODULES_HAL_LOADER_MODULE_H_

#include <stdint.h>

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/hal/local/executable_loader.h"
#include "iree/modules/hal/types.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif

enum iree_hal_loader_module_flag_bits_t {
  IREE_HAL_LOADER_MODULE_FLAG_NONE = 0u,
};
typedef uint32_t iree_hal_loader_module_flags_t;

// The loaders, which are retained, are asked in order. Errors: INVALID_ARGUMENT for unknown flags. Thread safe as far
// as the loaders are.
IREE_API_EXPORT iree_status_t iree_hal_loader_module_create(
    iree_vm_instance_t* instance, iree_hal_loader_module_flags_t flags, iree_host_size_t loader_count,
    iree_hal_executable_loader_t** loaders, iree_allocator_t host_allocator, iree_vm_module_t** out_module);

#ifdef __cplusplus
}
#endif

#endif  // IREE_MODULES_HAL_LOADER_MODULE_H_
