// Lists: arrays of variants.

#include "iree/vm/list.h"

IREE_VM_DEFINE_TYPE_ADAPTERS(iree_vm_list, iree_vm_list_t);

struct iree_vm_list_t {
  iree_vm_ref_object_t ref_object;
  iree_vm_type_def_t element_type;
  iree_allocator_t allocator;
  iree_vm_variant_t* elements;
  iree_host_size_t size;
  iree_host_size_t capacity;
  bool fixed;            // in the caller's storage
  bool is_held;          // has been in a list
  iree_vm_list_t* next;  // while it is destroyed
};

//===----------------------------------------------------------------------------------------------------------------===
// Life
//===----------------------------------------------------------------------------------------------------------------===

static iree_host_size_t header_size(void) { return iree_sizeof_struct(iree_vm_list_t); }

iree_host_size_t iree_vm_list_storage_size(const iree_vm_type_def_t* element_type, iree_host_size_t capacity) {
  return header_size() + capacity * sizeof(iree_vm_variant_t);
}

iree_status_t iree_vm_list_initialize(iree_byte_span_t storage, const iree_vm_type_def_t* element_type,
                                      iree_host_size_t capacity, iree_vm_list_t** out_list) {
  *out_list = NULL;
  if (capacity > (IREE_HOST_SIZE_MAX - header_size()) / sizeof(iree_vm_variant_t) ||
      storage.data_length < iree_vm_list_storage_size(element_type, capacity)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "%zu bytes of storage for a list of %zu elements",
                            storage.data_length, capacity);
  }
  iree_vm_list_t* list = (iree_vm_list_t*)storage.data;
  memset(list, 0, sizeof(*list));
  iree_atomic_ref_count_init(&list->ref_object.counter);
  list->element_type = element_type ? *element_type : iree_vm_make_undefined_type_def();
  list->elements = (iree_vm_variant_t*)(storage.data + header_size());
  list->capacity = capacity;
  list->fixed = true;
  *out_list = list;
  return iree_ok_status();
}

void iree_vm_list_deinitialize(iree_vm_list_t* list) {
  iree_atomic_ref_count_abort_if_uses(&list->ref_object.counter);
  iree_vm_list_clear(list);
}

iree_status_t iree_vm_list_create(const iree_vm_type_def_t element_type, iree_host_size_t initial_capacity,
                                  iree_allocator_t allocator, iree_vm_list_t** out_list) {
  *out_list = NULL;
  iree_vm_list_t* list = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, sizeof(*list), (void**)&list));
  iree_atomic_ref_count_init(&list->ref_object.counter);
  list->element_type = element_type;
  list->allocator = allocator;
  iree_status_t status = iree_vm_list_reserve(list, initial_capacity);
  if (iree_status_is_ok(status)) {
    *out_list = list;
  } else {
    iree_vm_list_release(list);
  }
  return status;
}

iree_status_t iree_vm_list_clone(iree_vm_list_t* source, iree_allocator_t host_allocator, iree_vm_list_t** out_target) {
  IREE_RETURN_IF_ERROR(iree_vm_list_create(source->element_type, source->size, host_allocator, out_target));
  (*out_target)->size = source->size;
  for (iree_host_size_t i = 0; i < source->size; ++i) {
    (*out_target)->elements[i] = source->elements[i];
    if (iree_vm_variant_is_ref(source->elements[i])) iree_vm_ref_retain_inplace(&source->elements[i].ref);
  }
  return iree_ok_status();
}

void iree_vm_list_retain(iree_vm_list_t* list) {
  if (list) iree_atomic_ref_count_inc(&list->ref_object.counter);
}

// Lists in it that nobody else holds come next, one after the other: programs nest them as deep as they like.
static void release_elements(iree_vm_list_t* list, iree_vm_list_t** pending) {
  for (iree_host_size_t i = 0; i < list->size; ++i) {
    iree_vm_variant_t* element = &list->elements[i];
    iree_vm_list_t* inner = iree_vm_variant_is_ref(*element) ? iree_vm_list_deref(element->ref) : NULL;
    if (!inner) {
      iree_vm_variant_reset(element);
    } else if (iree_atomic_ref_count_dec(&inner->ref_object.counter) == 1) {
      inner->next = *pending;
      *pending = inner;
    }
  }
  list->size = 0;
}

void iree_vm_list_release(iree_vm_list_t* list) {
  if (!list || iree_atomic_ref_count_dec(&list->ref_object.counter) != 1) return;
  list->next = NULL;
  for (iree_vm_list_t* pending = list; pending;) {
    list = pending;
    pending = list->next;
    release_elements(list, &pending);
    if (list->fixed) continue;
    iree_allocator_t allocator = list->allocator;
    iree_allocator_free(allocator, list->elements);
    iree_allocator_free(allocator, list);
  }
}

enum { NESTING_LIMIT = 1000, SEARCH_LIMIT = 1 << 16 };

static bool reaches(const iree_vm_list_t* list, const iree_vm_list_t* target, uint32_t depth, uint32_t* visits) {
  if (list == target || depth == NESTING_LIMIT || ++*visits == SEARCH_LIMIT) return true;
  if (iree_vm_type_def_is_value(list->element_type)) return false;
  for (iree_host_size_t i = 0; i < list->size; ++i) {
    const iree_vm_variant_t* element = &list->elements[i];
    const iree_vm_list_t* inner = iree_vm_variant_is_ref(*element) ? iree_vm_list_deref(element->ref) : NULL;
    if (inner && reaches(inner, target, depth + 1, visits)) return true;
  }
  return false;
}

bool iree_vm_list_may_hold(const iree_vm_list_t* list, iree_vm_ref_t ref) {
  const iree_vm_list_t* inner = iree_vm_list_deref(ref);
  uint32_t visits = 0;
  if (!inner) return true;
  // Nothing reaches what no list holds.
  return list->is_held ? !reaches(inner, list, 0, &visits) : inner != list;
}

iree_vm_type_def_t iree_vm_list_element_type(const iree_vm_list_t* list) { return list->element_type; }
iree_host_size_t iree_vm_list_capacity(const iree_vm_list_t* list) { return list->capacity; }
iree_host_size_t iree_vm_list_size(const iree_vm_list_t* list) { return list->size; }

iree_status_t iree_vm_list_reserve(iree_vm_list_t* list, iree_host_size_t minimum_capacity) {
  if (minimum_capacity <= list->capacity) return iree_ok_status();
  if (list->fixed) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "list is limited to %zu elements", list->capacity);
  }
  return iree_allocator_grow_array(list->allocator, minimum_capacity, sizeof(*list->elements), &list->capacity,
                                   (void**)&list->elements);
}

static iree_vm_variant_t default_element(const iree_vm_list_t* list) {
  iree_vm_variant_t element = iree_vm_variant_empty();
  if (iree_vm_type_def_is_value(list->element_type)) element.type = list->element_type;
  return element;
}

iree_status_t iree_vm_list_resize(iree_vm_list_t* list, iree_host_size_t new_size) {
  IREE_RETURN_IF_ERROR(iree_vm_list_reserve(list, new_size));
  for (iree_host_size_t i = new_size; i < list->size; ++i) iree_vm_variant_reset(&list->elements[i]);
  for (iree_host_size_t i = list->size; i < new_size; ++i) list->elements[i] = default_element(list);
  list->size = new_size;
  return iree_ok_status();
}

void iree_vm_list_clear(iree_vm_list_t* list) {
  for (iree_host_size_t i = 0; i < list->size; ++i) iree_vm_variant_reset(&list->elements[i]);
  list->size = 0;
}

void iree_vm_list_swap_storage(iree_vm_list_t* list_a, iree_vm_list_t* list_b) {
  if (list_a == list_b) return;
  iree_vm_list_t a = *list_a, b = *list_b;
  b.ref_object = list_a->ref_object;
  a.ref_object = list_b->ref_object;
  *list_a = b;
  *list_b = a;
}

//===----------------------------------------------------------------------------------------------------------------===
// Elements
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t check_index(const iree_vm_list_t* list, iree_host_size_t i) {
  if (IREE_LIKELY(i < list->size)) return iree_ok_status();
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "list index %zu out of bounds (%zu)", i, list->size);
}

static int64_t saturate(double value) {
  if (value != value) return 0;
  if (value >= 9223372036854775808.0) return INT64_MAX;
  return value <= -9223372036854775808.0 ? INT64_MIN : (int64_t)value;
}

// A value as another type: integers wrap, floats to integers saturate (NaN: 0), as the VM's own conversions do.
static iree_status_t convert_value(const iree_vm_value_t* source, iree_vm_value_type_t type, iree_vm_value_t* out) {
  int64_t integer = 0;
  double real = 0;
  switch (source->type) {
#define READ(NAME, number, field, ctype)                                                                   \
  case IREE_VM_VALUE_TYPE_##NAME:                                                                          \
    integer = number <= IREE_VM_VALUE_TYPE_I64 ? (int64_t)source->field : saturate((double)source->field); \
    real = (double)source->field;                                                                          \
    break;
    IREE_VM_VALUE_TYPES(READ)
#undef READ
    default:
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "list element is not a value");
  }
  iree_vm_value_t result = iree_vm_value_make_none();
  result.type = type;
  bool is_integer = source->type <= IREE_VM_VALUE_TYPE_I64;
  switch (type) {
#define WRITE(NAME, number, field, ctype)                                                         \
  case IREE_VM_VALUE_TYPE_##NAME:                                                                 \
    result.field = is_integer || number <= IREE_VM_VALUE_TYPE_I64 ? (ctype)integer : (ctype)real; \
    break;
    IREE_VM_VALUE_TYPES(WRITE)
#undef WRITE
    default:
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no value type %d", (int)type);
  }
  *out = result;
  return iree_ok_status();
}

// Puts an owned variant into element `i` if the list's type allows it.
static iree_status_t store(iree_vm_list_t* list, iree_host_size_t i, iree_vm_variant_t variant) {
  IREE_RETURN_IF_ERROR(check_index(list, i));
  iree_vm_type_def_t type = list->element_type;
  if (iree_vm_type_def_is_value(type) && !iree_vm_type_def_equal(type, variant.type)) {
    iree_vm_value_t value = iree_vm_variant_value(variant);
    IREE_RETURN_IF_ERROR(convert_value(&value, iree_vm_type_def_as_value(type), &value));
    variant = iree_vm_make_variant_value(value);
  } else if (iree_vm_type_def_is_ref(type) && !iree_vm_variant_is_empty(variant) &&
             iree_vm_type_def_as_ref(type) != IREE_VM_REF_TYPE_ANY && !iree_vm_type_def_equal(type, variant.type)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "list does not take elements of this type");
  }
  iree_vm_list_t* inner = iree_vm_variant_is_ref(variant) ? iree_vm_list_deref(variant.ref) : NULL;
  if (inner && !inner->is_held) inner->is_held = true;
  iree_vm_variant_reset(&list->elements[i]);
  list->elements[i] = variant;
  return iree_ok_status();
}

static iree_status_t push(iree_vm_list_t* list, iree_vm_variant_t variant) {
  IREE_RETURN_IF_ERROR(iree_vm_list_resize(list, list->size + 1));
  iree_status_t status = store(list, list->size - 1, variant);
  if (!iree_status_is_ok(status)) --list->size;
  return status;
}

static iree_vm_variant_t variant_of_ref(const iree_vm_ref_t* ref) {
  return ref->type == IREE_VM_REF_TYPE_NULL ? iree_vm_variant_empty() : iree_vm_make_variant_ref_assign(*ref);
}

static iree_status_t retain_if_ok(iree_status_t status, const iree_vm_variant_t* variant) {
  iree_vm_ref_t ref = variant->ref;
  if (iree_status_is_ok(status) && iree_vm_variant_is_ref(*variant)) iree_vm_ref_retain_inplace(&ref);
  return status;
}

// Retaining comes first: storing may release the last other reference to the same object.
static iree_status_t store_retained(iree_vm_list_t* list, iree_host_size_t i, iree_vm_variant_t variant) {
  IREE_RETURN_IF_ERROR(retain_if_ok(check_index(list, i), &variant));
  iree_status_t status = store(list, i, variant);
  if (!iree_status_is_ok(status)) iree_vm_variant_reset(&variant);
  return status;
}

// Without a conversion.
static bool takes_as_is(const iree_vm_list_t* list, iree_vm_variant_t variant) {
  iree_vm_type_def_t type = list->element_type;
  if (iree_vm_type_def_is_value(type)) return iree_vm_type_def_equal(type, variant.type);
  if (!iree_vm_type_def_is_ref(type) || iree_vm_variant_is_empty(variant)) return true;
  return iree_vm_type_def_as_ref(type) == IREE_VM_REF_TYPE_ANY || iree_vm_type_def_equal(type, variant.type);
}

iree_status_t iree_vm_list_copy(iree_vm_list_t* src_list, iree_host_size_t src_i, iree_vm_list_t* dst_list,
                                iree_host_size_t dst_i, iree_host_size_t count) {
  if (src_i > src_list->size || count > src_list->size - src_i || dst_i > dst_list->size ||
      count > dst_list->size - dst_i) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "copy of %zu list elements out of bounds", count);
  }
  if (!count) return iree_ok_status();
  if (src_list == dst_list && src_i < dst_i + count && dst_i < src_i + count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "copy of %zu list elements overlaps itself", count);
  }
  for (iree_host_size_t k = 0; k < count; ++k) {
    if (takes_as_is(dst_list, src_list->elements[src_i + k])) continue;
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "list element %zu is not of the destination's type",
                            src_i + k);
  }
  iree_status_t status = iree_ok_status();
  for (iree_host_size_t k = 0; k < count && iree_status_is_ok(status); ++k) {
    status = store_retained(dst_list, dst_i + k, src_list->elements[src_i + k]);
  }
  return status;
}

iree_status_t iree_vm_list_get_value(const iree_vm_list_t* list, iree_host_size_t i, iree_vm_value_t* out_value) {
  IREE_RETURN_IF_ERROR(check_index(list, i));
  if (!iree_vm_variant_is_value(list->elements[i])) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "list element %zu is not a value", i);
  }
  *out_value = iree_vm_variant_value(list->elements[i]);
  return iree_ok_status();
}

iree_status_t iree_vm_list_get_value_as(const iree_vm_list_t* list, iree_host_size_t i, iree_vm_value_type_t value_type,
                                        iree_vm_value_t* out_value) {
  if (i < list->size && iree_vm_type_def_equal(list->elements[i].type, iree_vm_make_value_type_def(value_type))) {
    *out_value = iree_vm_variant_value(list->elements[i]);
    return iree_ok_status();
  }
  iree_vm_value_t value;
  IREE_RETURN_IF_ERROR(iree_vm_list_get_value(list, i, &value));
  return convert_value(&value, value_type, out_value);
}

iree_status_t iree_vm_list_set_value(iree_vm_list_t* list, iree_host_size_t i, const iree_vm_value_t* value) {
  return store(list, i, iree_vm_make_variant_value(*value));
}

iree_status_t iree_vm_list_push_value(iree_vm_list_t* list, const iree_vm_value_t* value) {
  return push(list, iree_vm_make_variant_value(*value));
}

void* iree_vm_list_get_ref_deref(const iree_vm_list_t* list, iree_host_size_t i, iree_vm_ref_type_t type) {
  if (i >= list->size || !iree_vm_variant_is_ref(list->elements[i])) return NULL;
  return list->elements[i].ref.type == type ? list->elements[i].ref.ptr : NULL;
}

static iree_status_t find_ref(const iree_vm_list_t* list, iree_host_size_t i, iree_vm_ref_t* out_ref) {
  IREE_RETURN_IF_ERROR(check_index(list, i));
  const iree_vm_variant_t* element = &list->elements[i];
  if (iree_vm_variant_is_value(*element)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "list element %zu is not a reference", i);
  }
  *out_ref = iree_vm_variant_is_ref(*element) ? element->ref : iree_vm_ref_null();
  return iree_ok_status();
}

iree_status_t iree_vm_list_get_ref_assign(const iree_vm_list_t* list, iree_host_size_t i, iree_vm_ref_t* out_value) {
  iree_vm_ref_t ref;
  IREE_RETURN_IF_ERROR(find_ref(list, i, &ref));
  iree_vm_ref_assign(&ref, out_value);
  return iree_ok_status();
}

iree_status_t iree_vm_list_get_ref_retain(const iree_vm_list_t* list, iree_host_size_t i, iree_vm_ref_t* out_value) {
  iree_vm_ref_t ref;
  IREE_RETURN_IF_ERROR(find_ref(list, i, &ref));
  iree_vm_ref_retain(&ref, out_value);
  return iree_ok_status();
}

iree_status_t iree_vm_list_get_ref_retain_or_move(iree_vm_list_t* list, iree_host_size_t i, bool is_move,
                                                  iree_vm_ref_t* out_value) {
  return is_move ? iree_vm_list_get_ref_move(list, i, out_value) : iree_vm_list_get_ref_retain(list, i, out_value);
}

iree_status_t iree_vm_list_get_ref_move(iree_vm_list_t* list, iree_host_size_t i, iree_vm_ref_t* out_value) {
  iree_vm_ref_t ref;
  IREE_RETURN_IF_ERROR(find_ref(list, i, &ref));
  list->elements[i] = iree_vm_variant_empty();
  iree_vm_ref_move(&ref, out_value);
  return iree_ok_status();
}

iree_status_t iree_vm_list_set_ref_retain(iree_vm_list_t* list, iree_host_size_t i, const iree_vm_ref_t* value) {
  return store_retained(list, i, variant_of_ref(value));
}

iree_status_t iree_vm_list_push_ref_retain(iree_vm_list_t* list, const iree_vm_ref_t* value) {
  iree_vm_variant_t variant = variant_of_ref(value);
  return retain_if_ok(push(list, variant), &variant);
}

static iree_status_t null_if_ok(iree_status_t status, iree_vm_ref_t* ref) {
  if (iree_status_is_ok(status)) *ref = iree_vm_ref_null();
  return status;
}

iree_status_t iree_vm_list_set_ref_move(iree_vm_list_t* list, iree_host_size_t i, iree_vm_ref_t* value) {
  return null_if_ok(store(list, i, variant_of_ref(value)), value);
}

iree_status_t iree_vm_list_push_ref_move(iree_vm_list_t* list, iree_vm_ref_t* value) {
  return null_if_ok(push(list, variant_of_ref(value)), value);
}

iree_status_t iree_vm_list_pop_front_ref_move(iree_vm_list_t* list, iree_vm_ref_t* out_value) {
  IREE_RETURN_IF_ERROR(iree_vm_list_get_ref_move(list, 0, out_value));
  memmove(list->elements, list->elements + 1, (list->size - 1) * sizeof(*list->elements));
  --list->size;
  return iree_ok_status();
}

iree_status_t iree_vm_list_get_variant_assign(const iree_vm_list_t* list, iree_host_size_t i,
                                              iree_vm_variant_t* out_variant) {
  IREE_RETURN_IF_ERROR(check_index(list, i));
  *out_variant = list->elements[i];
  return iree_ok_status();
}

iree_status_t iree_vm_list_get_variant_retain(const iree_vm_list_t* list, iree_host_size_t i,
                                              iree_vm_variant_t* out_variant) {
  IREE_RETURN_IF_ERROR(check_index(list, i));
  *out_variant = list->elements[i];
  return retain_if_ok(iree_ok_status(), out_variant);
}

iree_status_t iree_vm_list_get_variant_move(const iree_vm_list_t* list, iree_host_size_t i,
                                            iree_vm_variant_t* out_variant) {
  IREE_RETURN_IF_ERROR(check_index(list, i));
  *out_variant = list->elements[i];
  list->elements[i] = iree_vm_variant_empty();
  return iree_ok_status();
}

iree_status_t iree_vm_list_set_variant_retain(iree_vm_list_t* list, iree_host_size_t i,
                                              const iree_vm_variant_t* variant) {
  return store_retained(list, i, *variant);
}

iree_status_t iree_vm_list_set_variant_move(iree_vm_list_t* list, iree_host_size_t i, iree_vm_variant_t* variant) {
  IREE_RETURN_IF_ERROR(store(list, i, *variant));
  *variant = iree_vm_variant_empty();
  return iree_ok_status();
}

iree_status_t iree_vm_list_push_variant_retain(iree_vm_list_t* list, const iree_vm_variant_t* variant) {
  return retain_if_ok(push(list, *variant), variant);
}

iree_status_t iree_vm_list_push_variant_move(iree_vm_list_t* list, iree_vm_variant_t* variant) {
  IREE_RETURN_IF_ERROR(push(list, *variant));
  *variant = iree_vm_variant_empty();
  return iree_ok_status();
}
