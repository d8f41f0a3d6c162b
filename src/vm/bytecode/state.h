// What a .vmfb module is in memory, and its state in one context.
#ifndef VM_BYTECODE_STATE_H_
#define VM_BYTECODE_STATE_H_

#include "iree/hal/api.h"
#include "iree/vm/api.h"
#include "iree/vm/c_module.h"
#include "module/image.h"
#include "vm/bytecode/device.h"

typedef struct bytecode_module_t {
  iree_vm_module_t interface;
  iree_vm_instance_t* instance;
  iree_allocator_t allocator;
  iree_allocator_t archive_allocator;
  iree_const_byte_span_t archive;
  module_image_t image;
  module_devices_t provider;              // of its devices
  bool portable_only;                     // native code in it is not used
  const iree_vm_c_function_t* functions;  // of each function, what of it is C; or NULL
} bytecode_module_t;

// Imports that every module with devices has besides its own: after those, in this order.
//   IMPLICIT_IMPORT(NAME, module of it where hal_loader has the device, name, convention, linkage)
#define VM_IMPLICIT_IMPORTS(IMPLICIT_IMPORT)                                    \
  IMPLICIT_IMPORT(DEVICE_COUNT, "hal_loader.", "devices.count", "0v_i", IMPORT) \
  IMPLICIT_IMPORT(DEVICE_GET, "hal_loader.", "devices.get", "0i_r", IMPORT)     \
  IMPLICIT_IMPORT(VIEW_TRACE, "hal_inline.", "buffer_view.trace", "0rCrD_v", IMPORT_OPTIONAL)

typedef enum {
#define IMPLICIT_IMPORT(NAME, loader, tail, convention, linkage) VM_IMPLICIT_##NAME,
  VM_IMPLICIT_IMPORTS(IMPLICIT_IMPORT)
#undef IMPLICIT_IMPORT
      VM_IMPLICIT_COUNT,
} vm_implicit_import_t;

// A linked import with its packed list sizes. Unresolved optional ones have a null function.
typedef struct vm_import_t {
  iree_vm_function_t function;
  iree_host_size_t argument_size, result_size;
} vm_import_t;

typedef iree_vm_c_value_t vm_cell_t;

struct iree_vm_module_state_t {
  bytecode_module_t* module;  // outlives the state
  iree_allocator_t allocator;
  iree_budget_t* budget;          // of the context, retained; NULL: nothing counts
  bool is_ready;                  // devices and constants are there
  vm_cell_t* global_values;       // one for each global
  iree_vm_ref_t* global_refs;     // one for each global
  vm_import_t* imports;           // the module's, then the implicit ones
  vm_device_t** devices;          // one for each row of devices
  iree_hal_buffer_t** constants;  // one for each row of constants
  // Of fences that the program made and that others may still wait for, retained.
  iree_hal_semaphore_t** fences;
  iree_host_size_t fence_count, fence_capacity;
};

static inline bool vm_module_uses_hal(const bytecode_module_t* module) { return module->image.devices_count != 0; }

static inline uint32_t vm_module_import_count(const bytecode_module_t* module) {
  return module->image.imports_count + (vm_module_uses_hal(module) ? VM_IMPLICIT_COUNT : 0);
}

iree_status_t vm_state_create(bytecode_module_t* module, iree_allocator_t allocator,
                              iree_vm_module_state_t** out_state);
void vm_state_destroy(iree_vm_module_state_t* state);

// A state with copies of the parent's variables, its own pools and the same device objects.
iree_status_t vm_state_fork(iree_vm_module_state_t* parent, iree_allocator_t allocator,
                            iree_vm_module_state_t** out_state);

iree_status_t vm_state_resolve_import(iree_vm_module_state_t* state, uint32_t ordinal,
                                      const iree_vm_function_t* function);

// Finds devices, loads executables and makes constants; the first part of `__init`.
iree_status_t vm_state_setup(iree_vm_module_state_t* state, iree_vm_stack_t* stack);

// A fence that is not signaled yet.
iree_status_t vm_state_create_fence(iree_vm_module_state_t* state, iree_hal_device_t* device,
                                    iree_hal_fence_t** out_fence);

// An error when an optional import was not found. It has no sizes then.
iree_status_t vm_import_check(const vm_import_t* import);
// Calls an import with packed lists; refs that the callee left in the arguments are the caller's to release.
iree_status_t vm_import_call(const vm_import_t* import, iree_vm_stack_t* stack, iree_byte_span_t arguments,
                             iree_byte_span_t results);

#endif  // VM_BYTECODE_STATE_H_
