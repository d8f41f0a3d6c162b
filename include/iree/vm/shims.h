// Packed argument structs and shims for native modules in C.
//
//   IREE_VM_ABI_FIXED_STRUCT(rI, { iree_vm_ref_t r0; int64_t i1; });
//   IREE_VM_ABI_DEFINE_SHIM(rI, v);
//   IREE_VM_ABI_EXPORT(my_function, my_state_t, rI, v) { use args->r0, args->i1; return iree_ok_status(); }

#ifndef IREE_VM_SHIMS_H_
#define IREE_VM_SHIMS_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "iree/base/api.h"
#include "iree/vm/module.h"
#include "iree/vm/native_module.h"
#include "iree/vm/ref.h"
#include "iree/vm/stack.h"
#include "iree/vm/value.h"

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

#define IREE_VM_ABI_TYPE_NAME(types) iree_vm_abi_##types##_t

// The struct of a convention fragment and the function that finds it in a packed list (NULL for another size).
#define IREE_VM_ABI_FIXED_STRUCT(types, body)                                                                         \
  typedef struct iree_vm_abi_##types##_t body iree_vm_abi_##types##_t;                                                \
  IREE_ATTRIBUTE_UNUSED static inline iree_vm_abi_##types##_t* iree_vm_abi_##types##_checked_deref(                   \
      iree_byte_span_t buffer) {                                                                                      \
    return IREE_LIKELY(buffer.data_length == sizeof(iree_vm_abi_##types##_t)) ? (iree_vm_abi_##types##_t*)buffer.data \
                                                                              : NULL;                                 \
  }                                                                                                                   \
  IREE_ATTRIBUTE_UNUSED static inline void iree_vm_abi_##types##_reset(iree_vm_abi_##types##_t* value) {              \
    memset(value, 0, sizeof(*value));                                                                                 \
  }

// A struct that ends in `vla_field[]` with `vla_count` elements.
#define IREE_VM_ABI_VLA_STRUCT(types, vla_count, vla_field, body)                                            \
  typedef struct iree_vm_abi_##types##_t body iree_vm_abi_##types##_t;                                       \
  IREE_ATTRIBUTE_UNUSED static inline iree_vm_abi_##types##_t* iree_vm_abi_##types##_checked_deref(          \
      iree_byte_span_t buffer) {                                                                             \
    iree_vm_abi_##types##_t* args = (iree_vm_abi_##types##_t*)buffer.data;                                   \
    if (buffer.data_length < sizeof(*args)) return NULL;                                                     \
    return buffer.data_length == sizeof(*args) + args->vla_count * sizeof(args->vla_field[0]) ? args : NULL; \
  }

typedef iree_status_t(IREE_API_PTR* iree_vm_native_function_target2_t)(iree_vm_stack_t* stack, void* module,
                                                                       void* module_state, const void* args,
                                                                       void* rets);

#define IREE_VM_ABI_DECLARE_SHIM(arg_types, ret_types)                                              \
  iree_status_t iree_vm_shim_##arg_types##_##ret_types(                                             \
      iree_vm_stack_t* stack, iree_vm_native_function_flags_t flags, iree_byte_span_t args_storage, \
      iree_byte_span_t rets_storage, iree_vm_native_function_target2_t target_fn, void* module, void* module_state);

#define IREE_VM_ABI_DEFINE_SHIM(arg_types, ret_types)                                                                 \
  iree_status_t iree_vm_shim_##arg_types##_##ret_types(                                                               \
      iree_vm_stack_t* stack, iree_vm_native_function_flags_t flags, iree_byte_span_t args_storage,                   \
      iree_byte_span_t rets_storage, iree_vm_native_function_target2_t target_fn, void* module, void* module_state) { \
    const iree_vm_abi_##arg_types##_t* args = iree_vm_abi_##arg_types##_checked_deref(args_storage);                  \
    iree_vm_abi_##ret_types##_t* rets = iree_vm_abi_##ret_types##_checked_deref(rets_storage);                        \
    if (IREE_UNLIKELY((!(flags & IREE_VM_NATIVE_FUNCTION_CALL_RESUME) && !args) || !rets)) {                          \
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "arguments do not fit " #arg_types " -> " #ret_types);    \
    }                                                                                                                 \
    iree_vm_abi_##ret_types##_reset(rets);                                                                            \
    return target_fn(stack, module, module_state, args, rets);                                                        \
  }

#define IREE_VM_ABI_EXPORT(function_name, module_state, arg_types, ret_types)                   \
  static iree_status_t function_name(iree_vm_stack_t* stack, void* module, module_state* state, \
                                     IREE_VM_ABI_TYPE_NAME(arg_types) * args, IREE_VM_ABI_TYPE_NAME(ret_types) * rets)

// Nothing: NULL is what an empty list has, so this one gives a pointer that is never read.
typedef struct iree_vm_abi_v_t {
  int unused;
} iree_vm_abi_v_t;
static inline iree_vm_abi_v_t* iree_vm_abi_v_checked_deref(iree_byte_span_t buffer) {
  static iree_vm_abi_v_t nothing;
  return buffer.data_length == 0 ? &nothing : NULL;
}
static inline void iree_vm_abi_v_reset(iree_vm_abi_v_t* value) { (void)value; }

IREE_VM_ABI_FIXED_STRUCT(i, { int32_t i0; })
IREE_VM_ABI_FIXED_STRUCT(I, { int64_t i0; })
IREE_VM_ABI_FIXED_STRUCT(f, { float f0; })
IREE_VM_ABI_FIXED_STRUCT(r, { iree_vm_ref_t r0; })
IREE_VM_ABI_FIXED_STRUCT(ii, {
  int32_t i0;
  int32_t i1;
})
IREE_VM_ABI_FIXED_STRUCT(rr, {
  iree_vm_ref_t r0;
  iree_vm_ref_t r1;
})
IREE_VM_ABI_FIXED_STRUCT(rI, {
  iree_vm_ref_t r0;
  int64_t i1;
})

IREE_VM_ABI_FIXED_STRUCT(rrr, {
  iree_vm_ref_t r0;
  iree_vm_ref_t r1;
  iree_vm_ref_t r2;
})

IREE_VM_ABI_DECLARE_SHIM(v, v)
IREE_VM_ABI_DECLARE_SHIM(v, i)
IREE_VM_ABI_DECLARE_SHIM(v, r)
IREE_VM_ABI_DECLARE_SHIM(i, i)
IREE_VM_ABI_DECLARE_SHIM(i, r)
IREE_VM_ABI_DECLARE_SHIM(ii, i)
IREE_VM_ABI_DECLARE_SHIM(r, v)
IREE_VM_ABI_DECLARE_SHIM(r, i)
IREE_VM_ABI_DECLARE_SHIM(r, I)
IREE_VM_ABI_DECLARE_SHIM(r, r)
IREE_VM_ABI_DECLARE_SHIM(rr, v)
IREE_VM_ABI_DECLARE_SHIM(rr, r)
IREE_VM_ABI_DECLARE_SHIM(rI, v)

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  // IREE_VM_SHIMS_H_
