// Growable lists of values and refs (`!vm.list`): inputs and outputs of invocations. A list of one value type converts
// what is put in; a list of the undefined type takes anything. Thread-compatible.

#ifndef IREE_VM_LIST_H_
#define IREE_VM_LIST_H_

#include <stdbool.h>
#include <stdint.h>

#include "iree/base/api.h"
#include "iree/vm/ref.h"
#include "iree/vm/type_def.h"
#include "iree/vm/value.h"
#include "iree/vm/variant.h"

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

typedef struct iree_vm_list_t iree_vm_list_t;

// A list in the caller's storage of at least storage_size bytes; it can not grow beyond `capacity`.
IREE_API_EXPORT iree_host_size_t iree_vm_list_storage_size(const iree_vm_type_def_t* element_type,
                                                           iree_host_size_t capacity);
IREE_API_EXPORT iree_status_t iree_vm_list_initialize(iree_byte_span_t storage, const iree_vm_type_def_t* element_type,
                                                      iree_host_size_t capacity, iree_vm_list_t** out_list);
IREE_API_EXPORT void iree_vm_list_deinitialize(iree_vm_list_t* list);

// An empty list with room for `initial_capacity` elements.
IREE_API_EXPORT iree_status_t iree_vm_list_create(const iree_vm_type_def_t element_type,
                                                  iree_host_size_t initial_capacity, iree_allocator_t allocator,
                                                  iree_vm_list_t** out_list);
// A shallow copy: refs are retained.
IREE_API_EXPORT iree_status_t iree_vm_list_clone(iree_vm_list_t* source, iree_allocator_t host_allocator,
                                                 iree_vm_list_t** out_target);
IREE_API_EXPORT void iree_vm_list_retain(iree_vm_list_t* list);
IREE_API_EXPORT void iree_vm_list_release(iree_vm_list_t* list);
// False for what would make the list hold itself, so that it was never freed, or is too deep to tell. Not part of
// IREE's API.
IREE_API_EXPORT bool iree_vm_list_may_hold(const iree_vm_list_t* list, iree_vm_ref_t ref);

IREE_API_EXPORT iree_vm_type_def_t iree_vm_list_element_type(const iree_vm_list_t* list);
IREE_API_EXPORT iree_host_size_t iree_vm_list_capacity(const iree_vm_list_t* list);
IREE_API_EXPORT iree_status_t iree_vm_list_reserve(iree_vm_list_t* list, iree_host_size_t minimum_capacity);
IREE_API_EXPORT iree_host_size_t iree_vm_list_size(const iree_vm_list_t* list);
// New elements are zero, null or empty; refs that fall off are released.
IREE_API_EXPORT iree_status_t iree_vm_list_resize(iree_vm_list_t* list, iree_host_size_t new_size);
IREE_API_EXPORT void iree_vm_list_clear(iree_vm_list_t* list);
// Exchanges the contents of two lists made by iree_vm_list_create.
IREE_API_EXPORT void iree_vm_list_swap_storage(iree_vm_list_t* list_a, iree_vm_list_t* list_b);
// All elements or, after an error, none; their types must be the destination's. OUT_OF_RANGE outside of a list;
// INVALID_ARGUMENT for other types, and for ranges of one list that overlap.
IREE_API_EXPORT iree_status_t iree_vm_list_copy(iree_vm_list_t* src_list, iree_host_size_t src_i,
                                                iree_vm_list_t* dst_list, iree_host_size_t dst_i,
                                                iree_host_size_t count);

// Values. OUT_OF_RANGE past the end; INVALID_ARGUMENT when the element is no value. `_as` converts like C does.
IREE_API_EXPORT iree_status_t iree_vm_list_get_value(const iree_vm_list_t* list, iree_host_size_t i,
                                                     iree_vm_value_t* out_value);
IREE_API_EXPORT iree_status_t iree_vm_list_get_value_as(const iree_vm_list_t* list, iree_host_size_t i,
                                                        iree_vm_value_type_t value_type, iree_vm_value_t* out_value);
IREE_API_EXPORT iree_status_t iree_vm_list_set_value(iree_vm_list_t* list, iree_host_size_t i,
                                                     const iree_vm_value_t* value);
IREE_API_EXPORT iree_status_t iree_vm_list_push_value(iree_vm_list_t* list, const iree_vm_value_t* value);

// Refs. `deref` is NULL unless element `i` has the type; `assign` does not retain, `move` empties the source.
IREE_API_EXPORT void* iree_vm_list_get_ref_deref(const iree_vm_list_t* list, iree_host_size_t i,
                                                 iree_vm_ref_type_t type);
IREE_API_EXPORT iree_status_t iree_vm_list_get_ref_assign(const iree_vm_list_t* list, iree_host_size_t i,
                                                          iree_vm_ref_t* out_value);
IREE_API_EXPORT iree_status_t iree_vm_list_get_ref_retain(const iree_vm_list_t* list, iree_host_size_t i,
                                                          iree_vm_ref_t* out_value);
IREE_API_EXPORT iree_status_t iree_vm_list_get_ref_retain_or_move(iree_vm_list_t* list, iree_host_size_t i,
                                                                  bool is_move, iree_vm_ref_t* out_value);
IREE_API_EXPORT iree_status_t iree_vm_list_get_ref_move(iree_vm_list_t* list, iree_host_size_t i,
                                                        iree_vm_ref_t* out_value);
IREE_API_EXPORT iree_status_t iree_vm_list_set_ref_retain(iree_vm_list_t* list, iree_host_size_t i,
                                                          const iree_vm_ref_t* value);
IREE_API_EXPORT iree_status_t iree_vm_list_push_ref_retain(iree_vm_list_t* list, const iree_vm_ref_t* value);
IREE_API_EXPORT iree_status_t iree_vm_list_set_ref_move(iree_vm_list_t* list, iree_host_size_t i, iree_vm_ref_t* value);
IREE_API_EXPORT iree_status_t iree_vm_list_push_ref_move(iree_vm_list_t* list, iree_vm_ref_t* value);
IREE_API_EXPORT iree_status_t iree_vm_list_pop_front_ref_move(iree_vm_list_t* list, iree_vm_ref_t* out_value);

// Either.
IREE_API_EXPORT iree_status_t iree_vm_list_get_variant_assign(const iree_vm_list_t* list, iree_host_size_t i,
                                                              iree_vm_variant_t* out_variant);
IREE_API_EXPORT iree_status_t iree_vm_list_get_variant_retain(const iree_vm_list_t* list, iree_host_size_t i,
                                                              iree_vm_variant_t* out_variant);
IREE_API_EXPORT iree_status_t iree_vm_list_get_variant_move(const iree_vm_list_t* list, iree_host_size_t i,
                                                            iree_vm_variant_t* out_variant);
IREE_API_EXPORT iree_status_t iree_vm_list_set_variant_retain(iree_vm_list_t* list, iree_host_size_t i,
                                                              const iree_vm_variant_t* variant);
IREE_API_EXPORT iree_status_t iree_vm_list_set_variant_move(iree_vm_list_t* list, iree_host_size_t i,
                                                            iree_vm_variant_t* variant);
IREE_API_EXPORT iree_status_t iree_vm_list_push_variant_retain(iree_vm_list_t* list, const iree_vm_variant_t* variant);
IREE_API_EXPORT iree_status_t iree_vm_list_push_variant_move(iree_vm_list_t* list, iree_vm_variant_t* variant);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

IREE_VM_DECLARE_TYPE_ADAPTERS(iree_vm_list, iree_vm_list_t);

#endif  // IREE_VM_LIST_H_
