// The type of a list element or variant in one word: a value type, a ref type, or neither (any).

#ifndef IREE_VM_TYPE_DEF_H_
#define IREE_VM_TYPE_DEF_H_

#include <stdint.h>

#include "iree/vm/ref.h"
#include "iree/vm/value.h"

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

typedef struct iree_vm_type_def_t {
  uintptr_t value_type_bits : IREE_VM_REF_TYPE_TAG_BITS;
  uintptr_t ref_type_bits : sizeof(uintptr_t) * 8 - IREE_VM_REF_TYPE_TAG_BITS;
} iree_vm_type_def_t;
static_assert(sizeof(iree_vm_type_def_t) == sizeof(uintptr_t), "one machine word");

#define iree_vm_type_def_as_value(v) ((iree_vm_value_type_t)(v).value_type_bits)
// Without the counter position that a complete iree_vm_ref_type_t has in its low bits.
#define iree_vm_type_def_as_ref(v) (((iree_vm_ref_type_t)(v).ref_type_bits) << IREE_VM_REF_TYPE_TAG_BITS)

#define iree_vm_type_def_is_value(v) (iree_vm_type_def_as_value(v) != IREE_VM_VALUE_TYPE_NONE)
#define iree_vm_type_def_is_ref(v) (iree_vm_type_def_as_ref(v) != IREE_VM_REF_TYPE_NULL)
#define iree_vm_type_def_is_variant(v) (!iree_vm_type_def_is_value(v) && !iree_vm_type_def_is_ref(v))
#define iree_vm_type_def_is_undefined(v) iree_vm_type_def_is_variant(v)

static inline bool iree_vm_type_def_equal(iree_vm_type_def_t a, iree_vm_type_def_t b) {
  return a.value_type_bits == b.value_type_bits && a.ref_type_bits == b.ref_type_bits;
}

// Lists of this hold anything; a variant of this is empty.
static inline iree_vm_type_def_t iree_vm_make_undefined_type_def(void) {
  iree_vm_type_def_t result;
  result.value_type_bits = IREE_VM_VALUE_TYPE_NONE;
  result.ref_type_bits = 0;
  return result;
}

static inline iree_vm_type_def_t iree_vm_make_value_type_def(iree_vm_value_type_t value_type) {
  iree_vm_type_def_t result;
  result.value_type_bits = value_type;
  result.ref_type_bits = 0;
  return result;
}

static inline iree_vm_type_def_t iree_vm_make_ref_type_def(iree_vm_ref_type_t ref_type) {
  iree_vm_type_def_t result;
  result.value_type_bits = IREE_VM_VALUE_TYPE_NONE;
  result.ref_type_bits = ref_type >> IREE_VM_REF_TYPE_TAG_BITS;
  return result;
}

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  // IREE_VM_TYPE_DEF_H_
