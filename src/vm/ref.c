// Reference counting by type: the counter's position comes out of the type's low bits.

#include "iree/vm/ref.h"

static iree_atomic_ref_count_t* counter_of(void* ptr, iree_vm_ref_type_t type) {
  return (iree_atomic_ref_count_t*)ptr + (type & IREE_VM_REF_TYPE_TAG_BIT_MASK);
}

iree_string_view_t iree_vm_ref_type_name(iree_vm_ref_type_t type) {
  return type == IREE_VM_REF_TYPE_NULL ? iree_string_view_empty() : iree_vm_ref_type_descriptor(type)->type_name;
}

void iree_vm_ref_object_retain(void* ptr, iree_vm_ref_type_t type) {
  if (ptr) iree_atomic_ref_count_inc(counter_of(ptr, type));
}

void iree_vm_ref_object_release(void* ptr, iree_vm_ref_type_t type) {
  if (ptr && iree_atomic_ref_count_dec(counter_of(ptr, type)) == 1) iree_vm_ref_type_descriptor(type)->destroy(ptr);
}

// Puts an owned reference into `out_ref`, releasing what was there.
static void replace(iree_vm_ref_t* out_ref, iree_vm_ref_t value) {
  iree_vm_ref_t old = *out_ref;
  *out_ref = value;
  iree_vm_ref_object_release(old.ptr, old.type);
}

iree_status_t iree_vm_ref_wrap_assign(void* ptr, iree_vm_ref_type_t type, iree_vm_ref_t* out_ref) {
  if (ptr && type == IREE_VM_REF_TYPE_NULL) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the type of the reference is not registered");
  }
  replace(out_ref, ptr ? (iree_vm_ref_t){ptr, type} : iree_vm_ref_null());
  return iree_ok_status();
}

iree_status_t iree_vm_ref_wrap_retain(void* ptr, iree_vm_ref_type_t type, iree_vm_ref_t* out_ref) {
  // Before what out_ref holds is released, which may be the last other reference to the same object.
  if (type != IREE_VM_REF_TYPE_NULL) iree_vm_ref_object_retain(ptr, type);
  return iree_vm_ref_wrap_assign(ptr, type, out_ref);
}

void iree_vm_ref_retain_inplace(iree_vm_ref_t* ref) { iree_vm_ref_object_retain(ref->ptr, ref->type); }

void iree_vm_ref_retain(iree_vm_ref_t* ref, iree_vm_ref_t* out_ref) {
  iree_vm_ref_object_retain(ref->ptr, ref->type);
  replace(out_ref, *ref);
}

iree_status_t iree_vm_ref_retain_checked(iree_vm_ref_t* ref, iree_vm_ref_type_t type, iree_vm_ref_t* out_ref) {
  if (ref->type != IREE_VM_REF_TYPE_NULL) IREE_RETURN_IF_ERROR(iree_vm_ref_check(*ref, type));
  iree_vm_ref_retain(ref, out_ref);
  return iree_ok_status();
}

void iree_vm_ref_retain_or_move(int is_move, iree_vm_ref_t* ref, iree_vm_ref_t* out_ref) {
  if (is_move) {
    iree_vm_ref_move(ref, out_ref);
  } else {
    iree_vm_ref_retain(ref, out_ref);
  }
}

iree_status_t iree_vm_ref_retain_or_move_checked(int is_move, iree_vm_ref_t* ref, iree_vm_ref_type_t type,
                                                 iree_vm_ref_t* out_ref) {
  if (ref->type != IREE_VM_REF_TYPE_NULL) IREE_RETURN_IF_ERROR(iree_vm_ref_check(*ref, type));
  iree_vm_ref_retain_or_move(is_move, ref, out_ref);
  return iree_ok_status();
}

void iree_vm_ref_release(iree_vm_ref_t* ref) { replace(ref, iree_vm_ref_null()); }

void iree_vm_ref_assign(iree_vm_ref_t* ref, iree_vm_ref_t* out_ref) { replace(out_ref, *ref); }

void iree_vm_ref_move(iree_vm_ref_t* ref, iree_vm_ref_t* out_ref) {
  if (ref == out_ref) return;
  iree_vm_ref_t value = *ref;
  *ref = iree_vm_ref_null();
  replace(out_ref, value);
}

bool iree_vm_ref_is_null(const iree_vm_ref_t* ref) { return ref->type == IREE_VM_REF_TYPE_NULL; }

bool iree_vm_ref_equal(const iree_vm_ref_t* lhs, const iree_vm_ref_t* rhs) {
  return lhs->ptr == rhs->ptr && lhs->type == rhs->type;
}
