// Modules from .vmfb files.

#ifndef IREE_VM_BYTECODE_MODULE_H_
#define IREE_VM_BYTECODE_MODULE_H_

#include "iree/base/api.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

typedef enum iree_vm_bytecode_module_flags_e {
  IREE_VM_BYTECODE_MODULE_FLAG_NONE = 0,
  // Only vmvx executables are loaded: a module of native code alone (ELF, GPU code), which the host can not confine, is
  // refused. Not part of IREE's API.
  IREE_VM_BYTECODE_MODULE_FLAG_PORTABLE_ONLY = 1u << 0,
} iree_vm_bytecode_module_flags_t;

// Reads and verifies a module. `archive_contents` is used where it lies (constants are not copied when it is aligned to
// 64 bytes) until the module is destroyed, and is then freed with `archive_allocator` (null: the caller's). When the
// creation fails the contents stay the caller's.
// Errors: INVALID_ARGUMENT for unknown flags, that and DATA_LOSS for damaged files, INCOMPATIBLE for other format
// versions, PERMISSION_DENIED for native code where only portable code may be loaded.
IREE_API_EXPORT iree_status_t iree_vm_bytecode_module_create(iree_vm_instance_t* instance,
                                                             iree_vm_bytecode_module_flags_t flags,
                                                             iree_const_byte_span_t archive_contents,
                                                             iree_allocator_t archive_allocator,
                                                             iree_allocator_t allocator, iree_vm_module_t** out_module);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  // IREE_VM_BYTECODE_MODULE_H_
