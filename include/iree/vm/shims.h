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
#define IREE_VM_ABI_VLA_STRUCT(types, vla_count, vla_field, body)                                                      \
  typedef struct iree_vm_abi_##types##_t body iree_vm_abi_##types##_t;                                                 \
  IREE_ATTRIBUTE_UNUSED static inline iree_vm_abi_##types##_t* iree_vm_abi_##types##_checked_deref(                    \
      iree_byte_span_t buffer) {                                                                                       \
    iree_vm_abi_##types##_t* args = (iree_vm_abi_##types##_t*)buffer.data;                                             \
    if (buffer.data_length < sizeof(*args) || args->vla_count < 0) return NULL;                                        \
    iree_host_size_t size =                                                                                            \
        offsetof(iree_vm_abi_##types##_t, vla_field) + (iree_host_size_t)args->vla_count * sizeof(args->vla_field[0]); \
    return buffer.data_length == iree_host_align(size, __alignof__(iree_vm_abi_##types##_t)) ? args : NULL;            \
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

// Fields by letter and place: `r0`, `i1`, `f2`; lists as `a3_count` and `a3`.
#define IREE_VM_ABI_i(n) int32_t i##n;
#define IREE_VM_ABI_I(n) int64_t i##n;
#define IREE_VM_ABI_f(n) float f##n;
#define IREE_VM_ABI_r(n) iree_vm_ref_t r##n;
#define IREE_VM_ABI_LIST(types, n) \
  int32_t a##n##_count;            \
  iree_vm_abi_##types##_t a##n[];

// clang-format off
IREE_VM_ABI_FIXED_STRUCT(I, { IREE_VM_ABI_I(0) })
IREE_VM_ABI_FIXED_STRUCT(f, { IREE_VM_ABI_f(0) })
IREE_VM_ABI_FIXED_STRUCT(i, { IREE_VM_ABI_i(0) })
IREE_VM_ABI_FIXED_STRUCT(r, { IREE_VM_ABI_r(0) })
IREE_VM_ABI_FIXED_STRUCT(II, { IREE_VM_ABI_I(0) IREE_VM_ABI_I(1) })
IREE_VM_ABI_FIXED_STRUCT(Ii, { IREE_VM_ABI_I(0) IREE_VM_ABI_i(1) })
IREE_VM_ABI_FIXED_STRUCT(iI, { IREE_VM_ABI_i(0) IREE_VM_ABI_I(1) })
IREE_VM_ABI_FIXED_STRUCT(ii, { IREE_VM_ABI_i(0) IREE_VM_ABI_i(1) })
IREE_VM_ABI_FIXED_STRUCT(ir, { IREE_VM_ABI_i(0) IREE_VM_ABI_r(1) })
IREE_VM_ABI_FIXED_STRUCT(rI, { IREE_VM_ABI_r(0) IREE_VM_ABI_I(1) })
IREE_VM_ABI_FIXED_STRUCT(ri, { IREE_VM_ABI_r(0) IREE_VM_ABI_i(1) })
IREE_VM_ABI_FIXED_STRUCT(rr, { IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) })
IREE_VM_ABI_FIXED_STRUCT(IIi, { IREE_VM_ABI_I(0) IREE_VM_ABI_I(1) IREE_VM_ABI_i(2) })
IREE_VM_ABI_FIXED_STRUCT(iIi, { IREE_VM_ABI_i(0) IREE_VM_ABI_I(1) IREE_VM_ABI_i(2) })
IREE_VM_ABI_FIXED_STRUCT(iii, { IREE_VM_ABI_i(0) IREE_VM_ABI_i(1) IREE_VM_ABI_i(2) })
IREE_VM_ABI_FIXED_STRUCT(rII, { IREE_VM_ABI_r(0) IREE_VM_ABI_I(1) IREE_VM_ABI_I(2) })
IREE_VM_ABI_FIXED_STRUCT(rIi, { IREE_VM_ABI_r(0) IREE_VM_ABI_I(1) IREE_VM_ABI_i(2) })
IREE_VM_ABI_FIXED_STRUCT(rif, { IREE_VM_ABI_r(0) IREE_VM_ABI_i(1) IREE_VM_ABI_f(2) })
IREE_VM_ABI_FIXED_STRUCT(rii, { IREE_VM_ABI_r(0) IREE_VM_ABI_i(1) IREE_VM_ABI_i(2) })
IREE_VM_ABI_FIXED_STRUCT(rir, { IREE_VM_ABI_r(0) IREE_VM_ABI_i(1) IREE_VM_ABI_r(2) })
IREE_VM_ABI_FIXED_STRUCT(rrr, { IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) IREE_VM_ABI_r(2) })
IREE_VM_ABI_FIXED_STRUCT(iiii, { IREE_VM_ABI_i(0) IREE_VM_ABI_i(1) IREE_VM_ABI_i(2) IREE_VM_ABI_i(3) })
IREE_VM_ABI_FIXED_STRUCT(iiir, { IREE_VM_ABI_i(0) IREE_VM_ABI_i(1) IREE_VM_ABI_i(2) IREE_VM_ABI_r(3) })
IREE_VM_ABI_FIXED_STRUCT(irII, { IREE_VM_ABI_i(0) IREE_VM_ABI_r(1) IREE_VM_ABI_I(2) IREE_VM_ABI_I(3) })
IREE_VM_ABI_FIXED_STRUCT(irIi, { IREE_VM_ABI_i(0) IREE_VM_ABI_r(1) IREE_VM_ABI_I(2) IREE_VM_ABI_i(3) })
IREE_VM_ABI_FIXED_STRUCT(riiI, { IREE_VM_ABI_r(0) IREE_VM_ABI_i(1) IREE_VM_ABI_i(2) IREE_VM_ABI_I(3) })
IREE_VM_ABI_FIXED_STRUCT(riii, { IREE_VM_ABI_r(0) IREE_VM_ABI_i(1) IREE_VM_ABI_i(2) IREE_VM_ABI_i(3) })
IREE_VM_ABI_FIXED_STRUCT(rrrr, { IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) IREE_VM_ABI_r(2) IREE_VM_ABI_r(3) })
IREE_VM_ABI_FIXED_STRUCT(iirII, {
    IREE_VM_ABI_i(0) IREE_VM_ABI_i(1) IREE_VM_ABI_r(2) IREE_VM_ABI_I(3) IREE_VM_ABI_I(4)
})
IREE_VM_ABI_FIXED_STRUCT(rIiiI, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_I(1) IREE_VM_ABI_i(2) IREE_VM_ABI_i(3) IREE_VM_ABI_I(4)
})
IREE_VM_ABI_FIXED_STRUCT(rIiii, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_I(1) IREE_VM_ABI_i(2) IREE_VM_ABI_i(3) IREE_VM_ABI_i(4)
})
IREE_VM_ABI_FIXED_STRUCT(rIrrI, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_I(1) IREE_VM_ABI_r(2) IREE_VM_ABI_r(3) IREE_VM_ABI_I(4)
})
IREE_VM_ABI_FIXED_STRUCT(rIrrr, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_I(1) IREE_VM_ABI_r(2) IREE_VM_ABI_r(3) IREE_VM_ABI_r(4)
})
IREE_VM_ABI_FIXED_STRUCT(riiIi, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_i(1) IREE_VM_ABI_i(2) IREE_VM_ABI_I(3) IREE_VM_ABI_i(4)
})
IREE_VM_ABI_FIXED_STRUCT(riiii, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_i(1) IREE_VM_ABI_i(2) IREE_VM_ABI_i(3) IREE_VM_ABI_i(4)
})
IREE_VM_ABI_FIXED_STRUCT(ririi, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_i(1) IREE_VM_ABI_r(2) IREE_VM_ABI_i(3) IREE_VM_ABI_i(4)
})
IREE_VM_ABI_FIXED_STRUCT(rrIii, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) IREE_VM_ABI_I(2) IREE_VM_ABI_i(3) IREE_VM_ABI_i(4)
})
IREE_VM_ABI_FIXED_STRUCT(rrirI, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) IREE_VM_ABI_i(2) IREE_VM_ABI_r(3) IREE_VM_ABI_I(4)
})
IREE_VM_ABI_FIXED_STRUCT(rIrrrI, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_I(1) IREE_VM_ABI_r(2) IREE_VM_ABI_r(3) IREE_VM_ABI_r(4) IREE_VM_ABI_I(5)
})
IREE_VM_ABI_FIXED_STRUCT(rrIIIi, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) IREE_VM_ABI_I(2) IREE_VM_ABI_I(3) IREE_VM_ABI_I(4) IREE_VM_ABI_i(5)
})
IREE_VM_ABI_FIXED_STRUCT(rrrIii, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) IREE_VM_ABI_r(2) IREE_VM_ABI_I(3) IREE_VM_ABI_i(4) IREE_VM_ABI_i(5)
})
IREE_VM_ABI_FIXED_STRUCT(rIIrrii, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_I(1) IREE_VM_ABI_I(2) IREE_VM_ABI_r(3) IREE_VM_ABI_r(4) IREE_VM_ABI_i(5)
    IREE_VM_ABI_i(6)
})
IREE_VM_ABI_FIXED_STRUCT(rIirIIi, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_I(1) IREE_VM_ABI_i(2) IREE_VM_ABI_r(3) IREE_VM_ABI_I(4) IREE_VM_ABI_I(5)
    IREE_VM_ABI_i(6)
})
IREE_VM_ABI_FIXED_STRUCT(rrIIiii, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) IREE_VM_ABI_I(2) IREE_VM_ABI_I(3) IREE_VM_ABI_i(4) IREE_VM_ABI_i(5)
    IREE_VM_ABI_i(6)
})
IREE_VM_ABI_FIXED_STRUCT(rrIiiiI, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) IREE_VM_ABI_I(2) IREE_VM_ABI_i(3) IREE_VM_ABI_i(4) IREE_VM_ABI_i(5)
    IREE_VM_ABI_I(6)
})
IREE_VM_ABI_FIXED_STRUCT(rrIirII, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) IREE_VM_ABI_I(2) IREE_VM_ABI_i(3) IREE_VM_ABI_r(4) IREE_VM_ABI_I(5)
    IREE_VM_ABI_I(6)
})
IREE_VM_ABI_FIXED_STRUCT(rriiiiI, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) IREE_VM_ABI_i(2) IREE_VM_ABI_i(3) IREE_VM_ABI_i(4) IREE_VM_ABI_i(5)
    IREE_VM_ABI_I(6)
})
IREE_VM_ABI_FIXED_STRUCT(rriirII, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) IREE_VM_ABI_i(2) IREE_VM_ABI_i(3) IREE_VM_ABI_r(4) IREE_VM_ABI_I(5)
    IREE_VM_ABI_I(6)
})
IREE_VM_ABI_FIXED_STRUCT(riIiirII, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_i(1) IREE_VM_ABI_I(2) IREE_VM_ABI_i(3) IREE_VM_ABI_i(4) IREE_VM_ABI_r(5)
    IREE_VM_ABI_I(6) IREE_VM_ABI_I(7)
})
IREE_VM_ABI_FIXED_STRUCT(rrIIiIiI, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) IREE_VM_ABI_I(2) IREE_VM_ABI_I(3) IREE_VM_ABI_i(4) IREE_VM_ABI_I(5)
    IREE_VM_ABI_i(6) IREE_VM_ABI_I(7)
})
IREE_VM_ABI_FIXED_STRUCT(rrIrIIiI, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) IREE_VM_ABI_I(2) IREE_VM_ABI_r(3) IREE_VM_ABI_I(4) IREE_VM_ABI_I(5)
    IREE_VM_ABI_i(6) IREE_VM_ABI_I(7)
})
IREE_VM_ABI_FIXED_STRUCT(rIrrIiiII, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_I(1) IREE_VM_ABI_r(2) IREE_VM_ABI_r(3) IREE_VM_ABI_I(4) IREE_VM_ABI_i(5)
    IREE_VM_ABI_i(6) IREE_VM_ABI_I(7) IREE_VM_ABI_I(8)
})
IREE_VM_ABI_FIXED_STRUCT(rIrrrrrrr, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_I(1) IREE_VM_ABI_r(2) IREE_VM_ABI_r(3) IREE_VM_ABI_r(4) IREE_VM_ABI_r(5)
    IREE_VM_ABI_r(6) IREE_VM_ABI_r(7) IREE_VM_ABI_r(8)
})
IREE_VM_ABI_FIXED_STRUCT(riirIrIII, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_i(1) IREE_VM_ABI_i(2) IREE_VM_ABI_r(3) IREE_VM_ABI_I(4) IREE_VM_ABI_r(5)
    IREE_VM_ABI_I(6) IREE_VM_ABI_I(7) IREE_VM_ABI_I(8)
})
IREE_VM_ABI_FIXED_STRUCT(rIrrrIIIiI, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_I(1) IREE_VM_ABI_r(2) IREE_VM_ABI_r(3) IREE_VM_ABI_r(4) IREE_VM_ABI_I(5)
    IREE_VM_ABI_I(6) IREE_VM_ABI_I(7) IREE_VM_ABI_i(8) IREE_VM_ABI_I(9)
})
IREE_VM_ABI_FIXED_STRUCT(rIrrrIrIII, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_I(1) IREE_VM_ABI_r(2) IREE_VM_ABI_r(3) IREE_VM_ABI_r(4) IREE_VM_ABI_I(5)
    IREE_VM_ABI_r(6) IREE_VM_ABI_I(7) IREE_VM_ABI_I(8) IREE_VM_ABI_I(9)
})
IREE_VM_ABI_FIXED_STRUCT(rIrrrIrIIi, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_I(1) IREE_VM_ABI_r(2) IREE_VM_ABI_r(3) IREE_VM_ABI_r(4) IREE_VM_ABI_I(5)
    IREE_VM_ABI_r(6) IREE_VM_ABI_I(7) IREE_VM_ABI_I(8) IREE_VM_ABI_i(9)
})
IREE_VM_ABI_FIXED_STRUCT(rIrrrIiirrr, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_I(1) IREE_VM_ABI_r(2) IREE_VM_ABI_r(3) IREE_VM_ABI_r(4) IREE_VM_ABI_I(5)
    IREE_VM_ABI_i(6) IREE_VM_ABI_i(7) IREE_VM_ABI_r(8) IREE_VM_ABI_r(9) IREE_VM_ABI_r(10)
})
IREE_VM_ABI_FIXED_STRUCT(rriiiirrIIIII, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) IREE_VM_ABI_i(2) IREE_VM_ABI_i(3) IREE_VM_ABI_i(4) IREE_VM_ABI_i(5)
    IREE_VM_ABI_r(6) IREE_VM_ABI_r(7) IREE_VM_ABI_I(8) IREE_VM_ABI_I(9) IREE_VM_ABI_I(10) IREE_VM_ABI_I(11)
    IREE_VM_ABI_I(12)
})
IREE_VM_ABI_VLA_STRUCT(CrD, a0_count, a0, { IREE_VM_ABI_LIST(r, 0) })
IREE_VM_ABI_VLA_STRUCT(CrID, a0_count, a0, { IREE_VM_ABI_LIST(rI, 0) })
IREE_VM_ABI_VLA_STRUCT(ICrD, a1_count, a1, { IREE_VM_ABI_I(0) IREE_VM_ABI_LIST(r, 1) })
IREE_VM_ABI_VLA_STRUCT(rCiD, a1_count, a1, { IREE_VM_ABI_r(0) IREE_VM_ABI_LIST(i, 1) })
IREE_VM_ABI_VLA_STRUCT(rCrD, a1_count, a1, { IREE_VM_ABI_r(0) IREE_VM_ABI_LIST(r, 1) })
IREE_VM_ABI_VLA_STRUCT(iICrD, a2_count, a2, { IREE_VM_ABI_i(0) IREE_VM_ABI_I(1) IREE_VM_ABI_LIST(r, 2) })
IREE_VM_ABI_VLA_STRUCT(riCiD, a2_count, a2, { IREE_VM_ABI_r(0) IREE_VM_ABI_i(1) IREE_VM_ABI_LIST(i, 2) })
IREE_VM_ABI_VLA_STRUCT(riCrD, a2_count, a2, { IREE_VM_ABI_r(0) IREE_VM_ABI_i(1) IREE_VM_ABI_LIST(r, 2) })
IREE_VM_ABI_VLA_STRUCT(rirCrD, a3_count, a3, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_i(1) IREE_VM_ABI_r(2) IREE_VM_ABI_LIST(r, 3)
})
IREE_VM_ABI_VLA_STRUCT(rriCiD, a3_count, a3, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) IREE_VM_ABI_i(2) IREE_VM_ABI_LIST(i, 3)
})
IREE_VM_ABI_VLA_STRUCT(iiICrID, a3_count, a3, {
    IREE_VM_ABI_i(0) IREE_VM_ABI_i(1) IREE_VM_ABI_I(2) IREE_VM_ABI_LIST(rI, 3)
})
IREE_VM_ABI_VLA_STRUCT(rIrrCrD, a4_count, a4, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_I(1) IREE_VM_ABI_r(2) IREE_VM_ABI_r(3) IREE_VM_ABI_LIST(r, 4)
})
IREE_VM_ABI_VLA_STRUCT(riCiiiD, a2_count, a2, { IREE_VM_ABI_r(0) IREE_VM_ABI_i(1) IREE_VM_ABI_LIST(iii, 2) })
IREE_VM_ABI_VLA_STRUCT(riiCriD, a3_count, a3, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_i(1) IREE_VM_ABI_i(2) IREE_VM_ABI_LIST(ri, 3)
})
IREE_VM_ABI_VLA_STRUCT(rrCrIID, a2_count, a2, { IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) IREE_VM_ABI_LIST(rII, 2) })
IREE_VM_ABI_VLA_STRUCT(rriiCID, a4_count, a4, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) IREE_VM_ABI_i(2) IREE_VM_ABI_i(3) IREE_VM_ABI_LIST(I, 4)
})
IREE_VM_ABI_VLA_STRUCT(rrirCID, a4_count, a4, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) IREE_VM_ABI_i(2) IREE_VM_ABI_r(3) IREE_VM_ABI_LIST(I, 4)
})
IREE_VM_ABI_VLA_STRUCT(rrrrCrD, a4_count, a4, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) IREE_VM_ABI_r(2) IREE_VM_ABI_r(3) IREE_VM_ABI_LIST(r, 4)
})
IREE_VM_ABI_VLA_STRUCT(rIIiiCID, a5_count, a5, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_I(1) IREE_VM_ABI_I(2) IREE_VM_ABI_i(3) IREE_VM_ABI_i(4) IREE_VM_ABI_LIST(I, 5)
})
IREE_VM_ABI_VLA_STRUCT(rriCiirIID, a3_count, a3, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_r(1) IREE_VM_ABI_i(2) IREE_VM_ABI_LIST(iirII, 3)
})
IREE_VM_ABI_VLA_STRUCT(rIrrrICrIID, a6_count, a6, {
    IREE_VM_ABI_r(0) IREE_VM_ABI_I(1) IREE_VM_ABI_r(2) IREE_VM_ABI_r(3) IREE_VM_ABI_r(4) IREE_VM_ABI_I(5)
    IREE_VM_ABI_LIST(rII, 6)
})

// All that the library has: SHIM(arguments, results).
#define IREE_VM_ABI_SHIMS(SHIM) \
  SHIM(i, i) SHIM(i, r) SHIM(r, I) SHIM(r, i) SHIM(r, iI) SHIM(r, ii) SHIM(r, iii) SHIM(r, iiii) SHIM(r, r) \
  SHIM(r, rI) SHIM(r, v) SHIM(v, i) SHIM(v, r) SHIM(v, v) SHIM(Ii, i) SHIM(iI, I) SHIM(iI, rr) SHIM(ir, i) \
  SHIM(rI, i) SHIM(rI, r) SHIM(rI, v) SHIM(ri, I) SHIM(ri, f) SHIM(ri, i) SHIM(ri, ii) SHIM(ri, r) SHIM(ri, v) \
  SHIM(rr, I) SHIM(rr, i) SHIM(rr, iI) SHIM(rr, ii) SHIM(rr, r) SHIM(rr, v) SHIM(CrD, r) SHIM(iIi, I) SHIM(rII, r) \
  SHIM(rIi, i) SHIM(rif, v) SHIM(rii, r) SHIM(rii, v) SHIM(rir, i) SHIM(rrr, iI) SHIM(rrr, r) SHIM(CrID, r) \
  SHIM(ICrD, r) SHIM(iiir, i) SHIM(irII, rr) SHIM(irIi, v) SHIM(rCiD, i) SHIM(rCrD, v) SHIM(riiI, r) SHIM(riiI, v) \
  SHIM(riii, r) SHIM(riii, v) SHIM(rrrr, r) SHIM(iICrD, i) SHIM(rIiiI, r) SHIM(rIrrI, v) SHIM(rIrrr, r) \
  SHIM(rIrrr, v) SHIM(riCiD, r) SHIM(riCrD, r) SHIM(riiIi, r) SHIM(ririi, v) SHIM(rrIii, v) SHIM(rrirI, v) \
  SHIM(rIrrrI, v) SHIM(rrIIIi, v) SHIM(rriCiD, v) SHIM(rrrIii, v) SHIM(iiICrID, rI) SHIM(rIIrrii, r) \
  SHIM(rIirIIi, r) SHIM(rIrrCrD, v) SHIM(riCiiiD, r) SHIM(rrCrIID, v) SHIM(rrIIiii, v) SHIM(rrIiiiI, v) \
  SHIM(rrIirII, v) SHIM(rriiCID, v) SHIM(rriiiiI, v) SHIM(rriirII, v) SHIM(rrirCID, v) SHIM(rrrrCrD, r) \
  SHIM(rIIiiCID, r) SHIM(riIiirII, r) SHIM(rrIIiIiI, v) SHIM(rrIrIIiI, v) SHIM(rIrrIiiII, r) SHIM(rIrrrrrrr, v) \
  SHIM(riirIrIII, v) SHIM(rIrrrIIIiI, v) SHIM(rIrrrIrIII, v) SHIM(rIrrrIrIIi, v) SHIM(rriCiirIID, v) \
  SHIM(rIrrrICrIID, v) SHIM(rIrrrIiirrr, r) SHIM(rriiiirrIIIII, v)
// clang-format on
IREE_VM_ABI_SHIMS(IREE_VM_ABI_DECLARE_SHIM)

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  // IREE_VM_SHIMS_H_
