// Primitive values of the VM.

#ifndef IREE_VM_VALUE_H_
#define IREE_VM_VALUE_H_

#include <assert.h>
#include <stdint.h>

#include "iree/vm/ref.h"

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

typedef int32_t iree_vm_size_t;

// One row per type: IREE_VM_VALUE_ROW(NAME, number, field, C type).
#define IREE_VM_VALUE_TYPES(IREE_VM_VALUE_ROW) \
  IREE_VM_VALUE_ROW(I8, 1, i8, int8_t)         \
  IREE_VM_VALUE_ROW(I16, 2, i16, int16_t)      \
  IREE_VM_VALUE_ROW(I32, 3, i32, int32_t)      \
  IREE_VM_VALUE_ROW(I64, 4, i64, int64_t)      \
  IREE_VM_VALUE_ROW(F32, 5, f32, float)        \
  IREE_VM_VALUE_ROW(F64, 6, f64, double)

typedef enum iree_vm_value_type_e {
  IREE_VM_VALUE_TYPE_NONE = 0,
#define IREE_VM_VALUE_ROW_(NAME, number, field, ctype) IREE_VM_VALUE_TYPE_##NAME = number,
  IREE_VM_VALUE_TYPES(IREE_VM_VALUE_ROW_)
#undef IREE_VM_VALUE_ROW_
      IREE_VM_VALUE_TYPE_MAX = IREE_VM_VALUE_TYPE_F64,
  IREE_VM_VALUE_TYPE_COUNT = IREE_VM_VALUE_TYPE_MAX + 1,
} iree_vm_value_type_t;
static_assert(IREE_VM_VALUE_TYPE_MAX < (1 << IREE_VM_REF_TYPE_TAG_BITS), "value types share a word with ref types");

#define IREE_VM_VALUE_STORAGE_SIZE 8

typedef struct iree_vm_value_t {
  iree_vm_value_type_t type;
  union {
#define IREE_VM_VALUE_ROW_(NAME, number, field, ctype) ctype field;
    IREE_VM_VALUE_TYPES(IREE_VM_VALUE_ROW_)
#undef IREE_VM_VALUE_ROW_
    uint8_t value_storage[IREE_VM_VALUE_STORAGE_SIZE];
  };
} iree_vm_value_t;

static inline iree_vm_value_t iree_vm_value_make_none(void) {
  iree_vm_value_t result;
  memset(&result, 0, sizeof(result));
  return result;
}

// iree_vm_value_make_i32(5) and iree_vm_value_get_i32(&value), for each type. Getters do not convert.
#define IREE_VM_VALUE_ROW_(NAME, number, field, ctype)                    \
  static inline iree_vm_value_t iree_vm_value_make_##field(ctype value) { \
    iree_vm_value_t result = iree_vm_value_make_none();                   \
    result.type = IREE_VM_VALUE_TYPE_##NAME;                              \
    result.field = value;                                                 \
    return result;                                                        \
  }                                                                       \
  static inline ctype iree_vm_value_get_##field(iree_vm_value_t* value) { return value->field; }
IREE_VM_VALUE_TYPES(IREE_VM_VALUE_ROW_)
#undef IREE_VM_VALUE_ROW_

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  // IREE_VM_VALUE_H_
