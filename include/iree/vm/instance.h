// The process-wide part of the VM: which reference types exist. Thread safe.

#ifndef IREE_VM_INSTANCE_H_
#define IREE_VM_INSTANCE_H_

#include "iree/base/api.h"
#include "iree/vm/ref.h"

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

// Enough types for the HAL and a few modules.
#define IREE_VM_TYPE_CAPACITY_DEFAULT 32

typedef struct iree_vm_instance_t iree_vm_instance_t;

// An instance that can hold `type_capacity` types beside the built-in ones (`vm.buffer`, `vm.list`, `vm.stream`).
IREE_API_EXPORT iree_status_t iree_vm_instance_create(iree_host_size_t type_capacity, iree_allocator_t allocator,
                                                      iree_vm_instance_t** out_instance);
IREE_API_EXPORT void iree_vm_instance_retain(iree_vm_instance_t* instance);
IREE_API_EXPORT void iree_vm_instance_release(iree_vm_instance_t* instance);
IREE_API_EXPORT iree_allocator_t iree_vm_instance_allocator(iree_vm_instance_t* instance);

// Registers a type; registering the same descriptor again counts and must be undone as often.
// Errors: RESOURCE_EXHAUSTED above the capacity.
IREE_API_EXPORT iree_status_t iree_vm_instance_register_type(iree_vm_instance_t* instance,
                                                             const iree_vm_ref_type_descriptor_t* descriptor,
                                                             iree_vm_ref_type_t* out_registration);
IREE_API_EXPORT void iree_vm_instance_unregister_type(iree_vm_instance_t* instance,
                                                      const iree_vm_ref_type_descriptor_t* descriptor);

// The type called "module.type"; IREE_VM_REF_TYPE_NULL when there is none.
IREE_API_EXPORT iree_vm_ref_type_t iree_vm_instance_lookup_type(iree_vm_instance_t* instance,
                                                                iree_string_view_t full_name);

// Sets the registrations of the built-in types in a library that has its own copies of these variables.
IREE_API_EXPORT iree_status_t iree_vm_resolve_builtin_types(iree_vm_instance_t* instance);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

IREE_VM_DECLARE_CC_TYPE_ADAPTERS(iree_vm_instance, iree_vm_instance_t);

#endif  // IREE_VM_INSTANCE_H_
