// A value or a ref with its type, as lists hold them.

#ifndef IREE_VM_VARIANT_H_
#define IREE_VM_VARIANT_H_

#include "iree/vm/ref.h"
#include "iree/vm/type_def.h"
#include "iree/vm/value.h"

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

typedef struct iree_vm_variant_t {
  iree_vm_type_def_t type;
  union {
#define IREE_VM_VALUE_ROW_(NAME, number, field, ctype) ctype field;
    IREE_VM_VALUE_TYPES(IREE_VM_VALUE_ROW_)
#undef IREE_VM_VALUE_ROW_
    iree_vm_ref_t ref;
    uint8_t value_storage[IREE_VM_VALUE_STORAGE_SIZE];
  };
} iree_vm_variant_t;

static inline iree_vm_variant_t iree_vm_variant_empty(void) {
  iree_vm_variant_t result;
  result.type = iree_vm_make_undefined_type_def();
  result.ref = iree_vm_ref_null();
  return result;
}

static inline bool iree_vm_variant_is_empty(iree_vm_variant_t variant) {
  return iree_vm_type_def_is_variant(variant.type);
}
static inline bool iree_vm_variant_is_value(iree_vm_variant_t variant) {
  return iree_vm_type_def_is_value(variant.type);
}
static inline bool iree_vm_variant_is_ref(iree_vm_variant_t variant) { return iree_vm_type_def_is_ref(variant.type); }

static inline iree_vm_variant_t iree_vm_make_variant_value(iree_vm_value_t value) {
  iree_vm_variant_t result = iree_vm_variant_empty();
  result.type = iree_vm_make_value_type_def(value.type);
  memcpy(result.value_storage, value.value_storage, sizeof(result.value_storage));
  return result;
}

// Does not retain.
static inline iree_vm_variant_t iree_vm_make_variant_ref_assign(iree_vm_ref_t ref) {
  iree_vm_variant_t result = iree_vm_variant_empty();
  result.type = iree_vm_make_ref_type_def(ref.type);
  result.ref = ref;
  return result;
}

// The value of a variant that holds one.
static inline iree_vm_value_t iree_vm_variant_value(iree_vm_variant_t variant) {
  iree_vm_value_t value;
  value.type = iree_vm_type_def_as_value(variant.type);
  memcpy(value.value_storage, variant.value_storage, sizeof(value.value_storage));
  return value;
}

// Releases what the variant holds and makes it empty. Accepts NULL.
static inline void iree_vm_variant_reset(iree_vm_variant_t* variant) {
  if (!variant) return;
  if (iree_vm_variant_is_ref(*variant)) iree_vm_ref_release(&variant->ref);
  *variant = iree_vm_variant_empty();
}

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  // IREE_VM_VARIANT_H_
