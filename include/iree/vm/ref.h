// Typed references: a pointer to any reference-counted object and the type it has.
//
// A type is its descriptor's address with the position of the object's counter in the low bits, so that retaining
// needs no look-up. Refs are plain structs: a copy does not retain.

#ifndef IREE_VM_REF_H_
#define IREE_VM_REF_H_

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iree/base/api.h"
#include "iree/base/internal/atomics.h"

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

typedef struct iree_vm_instance_t iree_vm_instance_t;

#define IREE_VM_REF_TYPE_TAG_BITS 3
#define IREE_VM_REF_TYPE_TAG_BIT_MASK 0x7
#define IREE_VM_REF_TYPE_PTR_BITS (sizeof(uintptr_t) * 8 - IREE_VM_REF_TYPE_TAG_BITS)
#define IREE_VM_REF_TYPE_PTR_BIT_MASK (~(uintptr_t)IREE_VM_REF_TYPE_TAG_BIT_MASK)
#define IREE_VM_REF_TYPE_DESCRIPTOR_ALIGNMENT 8

// Counters lie at a multiple of this from the start of their object, at most seven times it.
#define IREE_VM_REF_COUNTER_ALIGNMENT sizeof(iree_atomic_ref_count_t)

typedef uintptr_t iree_vm_ref_type_t;
#define IREE_VM_REF_TYPE_NULL ((iree_vm_ref_type_t)0)
#define IREE_VM_REF_TYPE_ANY ((iree_vm_ref_type_t)(UINTPTR_MAX ^ IREE_VM_REF_TYPE_TAG_BIT_MASK))

// Frees an object whose counter reached zero.
typedef void(IREE_API_PTR* iree_vm_ref_destroy_t)(void* ptr);

// A type, registered with iree_vm_instance_register_type; lives as long as the registration.
typedef struct iree_alignas(IREE_VM_REF_TYPE_DESCRIPTOR_ALIGNMENT) iree_vm_ref_type_descriptor_t {
  iree_vm_ref_destroy_t destroy;
  iree_string_view_t type_name;                            // "module.type", without the `!`
  uintptr_t offsetof_counter : IREE_VM_REF_TYPE_TAG_BITS;  // in IREE_VM_REF_COUNTER_ALIGNMENT units
  uintptr_t reserved : sizeof(uintptr_t) * 8 - IREE_VM_REF_TYPE_TAG_BITS;
} iree_vm_ref_type_descriptor_t;

static inline iree_vm_ref_type_t iree_vm_make_ref_type(const iree_vm_ref_type_descriptor_t* descriptor) {
  return (iree_vm_ref_type_t)descriptor | (iree_vm_ref_type_t)descriptor->offsetof_counter;
}
static inline const iree_vm_ref_type_descriptor_t* iree_vm_ref_type_descriptor(iree_vm_ref_type_t type) {
  return (const iree_vm_ref_type_descriptor_t*)(type & IREE_VM_REF_TYPE_PTR_BIT_MASK);
}

// "module.type" of a registered type; empty for null.
IREE_API_EXPORT iree_string_view_t iree_vm_ref_type_name(iree_vm_ref_type_t type);

// What reference-counted objects that the VM knows embed, usually first.
typedef struct iree_vm_ref_object_t {
  iree_atomic_ref_count_t counter;
} iree_vm_ref_object_t;

typedef struct iree_vm_ref_t {
  void* ptr;
  iree_vm_ref_type_t type;
} iree_vm_ref_t;
static_assert(sizeof(iree_vm_ref_t) <= sizeof(void*) * 2, "refs fill the stack and must stay small");

// Retain and release of an object by type; NULL is accepted.
IREE_API_EXPORT void iree_vm_ref_object_retain(void* ptr, iree_vm_ref_type_t type);
IREE_API_EXPORT void iree_vm_ref_object_release(void* ptr, iree_vm_ref_type_t type);

static inline iree_vm_ref_t iree_vm_ref_null(void) {
  iree_vm_ref_t ref = {NULL, IREE_VM_REF_TYPE_NULL};
  return ref;
}

// Makes a ref of a pointer: `assign` takes over the caller's reference, `retain` adds one. What `out_ref` held is
// released first.
IREE_API_EXPORT iree_status_t iree_vm_ref_wrap_assign(void* ptr, iree_vm_ref_type_t type, iree_vm_ref_t* out_ref);
IREE_API_EXPORT iree_status_t iree_vm_ref_wrap_retain(void* ptr, iree_vm_ref_type_t type, iree_vm_ref_t* out_ref);

// INVALID_ARGUMENT unless the ref has the type.
static inline iree_status_t iree_vm_ref_check(const iree_vm_ref_t ref, iree_vm_ref_type_t type) {
  if (IREE_LIKELY(ref.type == type)) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          ref.type == IREE_VM_REF_TYPE_NULL ? "ref is null" : "ref type mismatch");
}

// `retain*`: out_ref is another reference to the same object. `move`: the source becomes null. `assign`: a copy that
// owns nothing new. All release what out_ref held, and accept ref == out_ref.
IREE_API_EXPORT void iree_vm_ref_retain_inplace(iree_vm_ref_t* ref);
IREE_API_EXPORT void iree_vm_ref_retain(iree_vm_ref_t* ref, iree_vm_ref_t* out_ref);
IREE_API_EXPORT iree_status_t iree_vm_ref_retain_checked(iree_vm_ref_t* ref, iree_vm_ref_type_t type,
                                                         iree_vm_ref_t* out_ref);
IREE_API_EXPORT void iree_vm_ref_retain_or_move(int is_move, iree_vm_ref_t* ref, iree_vm_ref_t* out_ref);
IREE_API_EXPORT iree_status_t iree_vm_ref_retain_or_move_checked(int is_move, iree_vm_ref_t* ref,
                                                                 iree_vm_ref_type_t type, iree_vm_ref_t* out_ref);
IREE_API_EXPORT void iree_vm_ref_release(iree_vm_ref_t* ref);
IREE_API_EXPORT void iree_vm_ref_assign(iree_vm_ref_t* ref, iree_vm_ref_t* out_ref);
IREE_API_EXPORT void iree_vm_ref_move(iree_vm_ref_t* ref, iree_vm_ref_t* out_ref);
IREE_API_EXPORT bool iree_vm_ref_is_null(const iree_vm_ref_t* ref);
IREE_API_EXPORT bool iree_vm_ref_equal(const iree_vm_ref_t* lhs, const iree_vm_ref_t* rhs);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#if !defined(IREE_API_EXPORT_VARIABLE)
#ifdef __cplusplus
#define IREE_API_EXPORT_VARIABLE extern "C"
#else
#define IREE_API_EXPORT_VARIABLE extern
#endif  // __cplusplus
#endif  // !IREE_API_EXPORT_VARIABLE

// For a registered type T: NAME_registration (set by registering or resolving it), NAME_type, NAME_isa, NAME_retain_ref
// and NAME_move_ref (pointer to ref), NAME_deref (NULL for other types), NAME_check_deref (error for other types),
// NAME_check_deref_or_null.
#define IREE_VM_DECLARE_TYPE_ADAPTERS(name, T)                                                             \
  IREE_API_EXPORT_VARIABLE iree_vm_ref_type_t name##_registration;                                         \
  IREE_ATTRIBUTE_UNUSED static inline iree_vm_ref_type_t name##_type(void) { return name##_registration; } \
  IREE_ATTRIBUTE_UNUSED static inline bool name##_isa(const iree_vm_ref_t ref) {                           \
    return name##_registration == ref.type;                                                                \
  }                                                                                                        \
  IREE_API_EXPORT iree_vm_ref_t name##_retain_ref(T* value);                                               \
  IREE_API_EXPORT iree_vm_ref_t name##_move_ref(T* value);                                                 \
  IREE_ATTRIBUTE_UNUSED static inline T* name##_deref(const iree_vm_ref_t ref) {                           \
    return IREE_LIKELY(name##_isa(ref)) ? (T*)ref.ptr : NULL;                                              \
  }                                                                                                        \
  IREE_API_EXPORT iree_status_t name##_check_deref(const iree_vm_ref_t ref, T** out_ptr);                  \
  IREE_API_EXPORT iree_status_t name##_check_deref_or_null(const iree_vm_ref_t ref, T** out_ptr);          \
  IREE_VM_DECLARE_CC_TYPE_LOOKUP(name, T)

#define IREE_VM_DEFINE_TYPE_ADAPTERS(name, T)                                                      \
  iree_vm_ref_type_t name##_registration = 0;                                                      \
  IREE_API_EXPORT iree_vm_ref_t name##_retain_ref(T* value) {                                      \
    iree_vm_ref_t ref = {0};                                                                       \
    IREE_IGNORE_ERROR(iree_vm_ref_wrap_retain(value, name##_type(), &ref));                        \
    return ref;                                                                                    \
  }                                                                                                \
  IREE_API_EXPORT iree_vm_ref_t name##_move_ref(T* value) {                                        \
    iree_vm_ref_t ref = {0};                                                                       \
    IREE_IGNORE_ERROR(iree_vm_ref_wrap_assign(value, name##_type(), &ref));                        \
    return ref;                                                                                    \
  }                                                                                                \
  IREE_API_EXPORT iree_status_t name##_check_deref(const iree_vm_ref_t ref, T** out_ptr) {         \
    IREE_RETURN_IF_ERROR(iree_vm_ref_check(ref, name##_type()));                                   \
    *out_ptr = (T*)ref.ptr;                                                                        \
    return iree_ok_status();                                                                       \
  }                                                                                                \
  IREE_API_EXPORT iree_status_t name##_check_deref_or_null(const iree_vm_ref_t ref, T** out_ptr) { \
    *out_ptr = NULL;                                                                               \
    if (ref.type == IREE_VM_REF_TYPE_NULL) return iree_ok_status();                                \
    return name##_check_deref(ref, out_ptr);                                                       \
  }

#ifdef __cplusplus
#include "iree/vm/ref_cc.h"
#else
#define IREE_VM_DECLARE_CC_TYPE_LOOKUP(name, T)
#define IREE_VM_DECLARE_CC_TYPE_ADAPTERS(name, T)
#endif  // __cplusplus

#endif  // IREE_VM_REF_H_
