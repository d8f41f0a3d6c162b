// Instructions on buffer views: what comes in is checked against the program's shapes, what goes out gets one.

#include "iree/modules/hal/types.h"
#include "vm/bytecode/machine.h"

enum { SHAPE_TEXT_SIZE = 512 };

// An opaque view passes as anything, integers of one width as each other.
static bool types_fit(iree_hal_element_type_t actual, iree_hal_element_type_t expected) {
  if (actual == expected || iree_hal_element_numerical_type_is_opaque(actual)) return true;
  return iree_hal_element_numerical_type_is_integer(actual) && iree_hal_element_numerical_type_is_integer(expected) &&
         iree_hal_element_bit_count(actual) == iree_hal_element_bit_count(expected);
}

static iree_status_t fail_type(iree_string_view_t name, iree_hal_element_type_t actual,
                               iree_hal_element_type_t expected) {
  char actual_text[32] = "?", expected_text[32] = "?";
  iree_host_size_t length = 0;
  IREE_IGNORE_ERROR(iree_hal_format_element_type(actual, sizeof(actual_text), actual_text, &length));
  IREE_IGNORE_ERROR(iree_hal_format_element_type(expected, sizeof(expected_text), expected_text, &length));
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "%.*s element type mismatch; expected %s (%08X) but have %s (%08X)", (int)name.size,
                          name.data, expected_text, expected, actual_text, actual);
}

static void format_expected(const module_image_t* image, const module_shape_row_t* shape, char* text) {
  size_t used = 0;
  text[0] = 0;
  for (uint32_t i = 0; i < shape->rank && used < SHAPE_TEXT_SIZE; ++i) {
    int64_t dim = image->dims[shape->dim_first + i];
    const char* separator = i ? "x" : "";
    used += dim == MODULE_DIM_DYNAMIC
                ? (size_t)snprintf(text + used, SHAPE_TEXT_SIZE - used, "%s?", separator)
                : (size_t)snprintf(text + used, SHAPE_TEXT_SIZE - used, "%s%" PRId64, separator, dim);
  }
}

static iree_status_t annotate_shapes(const module_image_t* image, const module_shape_row_t* shape,
                                     const iree_hal_buffer_view_t* view, iree_status_t status) {
  char expected[SHAPE_TEXT_SIZE], actual[SHAPE_TEXT_SIZE] = "?";
  iree_host_size_t length = 0;
  format_expected(image, shape, expected);
  IREE_IGNORE_ERROR(iree_hal_format_shape(iree_hal_buffer_view_shape_rank(view), iree_hal_buffer_view_shape_dims(view),
                                          sizeof(actual), actual, &length));
  return iree_status_annotate_f(status, "expected shape `%s`, actual shape `%s`", expected, actual);
}

static iree_status_t fail_rank(iree_string_view_t name, iree_host_size_t actual, iree_host_size_t expected) {
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "%.*s shape rank mismatch; expected %" PRIhsz "%s but have %" PRIhsz "%s", (int)name.size,
                          name.data, expected, expected ? "" : " (scalar)", actual, actual ? "" : " (scalar)");
}

static iree_status_t check_shape(const module_image_t* image, const module_shape_row_t* shape,
                                 const iree_hal_buffer_view_t* view) {
  iree_string_view_t name = module_image_string(image, shape->name);
  iree_host_size_t rank = iree_hal_buffer_view_shape_rank(view);
  const iree_hal_dim_t* dims = iree_hal_buffer_view_shape_dims(view);
  iree_status_t status = rank == shape->rank ? iree_ok_status() : fail_rank(name, rank, shape->rank);
  for (uint32_t i = 0; i < shape->rank && iree_status_is_ok(status); ++i) {
    int64_t expected = image->dims[shape->dim_first + i];
    if (expected == MODULE_DIM_DYNAMIC || (iree_hal_dim_t)expected == dims[i]) continue;
    status = iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "%.*s shape dimension %u mismatch; expected %" PRId64 " but have %" PRIdim,
                              (int)name.size, name.data, i, expected, dims[i]);
  }
  return iree_status_is_ok(status) ? status : annotate_shapes(image, shape, view, status);
}

// Shapes say how much is read and written, whatever the view's own type says.
static iree_status_t check_storage(const module_image_t* image, const module_shape_row_t* shape,
                                   const iree_hal_buffer_view_t* view) {
  iree_string_view_t name = module_image_string(image, shape->name);
  iree_device_size_t needed = 0;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_compute_view_size(shape->rank, iree_hal_buffer_view_shape_dims(view),
                                                         shape->element_type, IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR,
                                                         &needed));
  iree_device_size_t actual = iree_hal_buffer_byte_length(iree_hal_buffer_view_buffer(view));
  if (actual >= needed) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "%.*s buffer byte length %" PRIdsz " less than expected minimum %" PRIdsz, (int)name.size,
                          name.data, actual, needed);
}

static iree_status_t check_view(const module_image_t* image, const module_shape_row_t* shape,
                                const iree_hal_buffer_view_t* view) {
  iree_hal_encoding_type_t encoding = iree_hal_buffer_view_encoding_type(view);
  if (encoding != IREE_HAL_ENCODING_TYPE_OPAQUE && encoding != shape->encoding_type) {
    iree_string_view_t name = module_image_string(image, shape->name);
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%.*s encoding mismatch; expected %08X but have %08X",
                            (int)name.size, name.data, shape->encoding_type, encoding);
  }
  iree_hal_element_type_t type = iree_hal_buffer_view_element_type(view);
  if (!types_fit(type, shape->element_type)) {
    return fail_type(module_image_string(image, shape->name), type, shape->element_type);
  }
  IREE_RETURN_IF_ERROR(check_shape(image, shape, view));
  return check_storage(image, shape, view);
}

iree_status_t vm_do_hal_view_unwrap(vm_machine_t* m) {
  iree_vm_ref_t* result = vm_next_ref(m);
  const vm_word_t* dims = m->pc;  // count, registers
  m->pc += 1 + *dims;
  const iree_vm_ref_t* ref = vm_next_ref(m);
  const module_shape_row_t* shape = &m->image->shapes[vm_next_word(m)];
  iree_hal_buffer_view_t* view = iree_hal_buffer_view_deref(*ref);
  if (IREE_UNLIKELY(!view)) {
    iree_string_view_t name = module_image_string(m->image, shape->name);
    iree_string_view_t type = iree_vm_ref_type_name(ref->type);
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%.*s is %s%.*s; expected a !hal.buffer_view", (int)name.size,
                            name.data, ref->ptr ? "a !" : "null", (int)type.size, type.data);
  }
  IREE_RETURN_IF_ERROR(check_view(m->image, shape, view));
  const iree_hal_dim_t* actual = iree_hal_buffer_view_shape_dims(view);
  for (uint32_t i = 0; i < shape->rank; ++i) {
    if (m->image->dims[shape->dim_first + i] == MODULE_DIM_DYNAMIC) m->values[*++dims].I = (int64_t)actual[i];
  }
  return iree_vm_ref_wrap_retain(iree_hal_buffer_view_buffer(view), iree_hal_buffer_type(), result);
}

iree_status_t vm_do_hal_view_create(vm_machine_t* m) {
  iree_vm_ref_t* result = vm_next_ref(m);
  VM_NEXT_OBJECT(m, iree_hal_buffer, buffer);
  const module_shape_row_t* shape = &m->image->shapes[vm_next_word(m)];
  ++m->pc;  // the count is the shape's
  iree_hal_dim_t dims[32];
  for (uint32_t i = 0; i < shape->rank; ++i) {
    int64_t dim = m->image->dims[shape->dim_first + i];
    if (dim == MODULE_DIM_DYNAMIC) dim = vm_next_value(m)->I;
    if (dim < 0) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "dimension %u of a result is negative", i);
    dims[i] = (iree_hal_dim_t)dim;
  }
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_view_create(buffer, shape->rank, dims, shape->element_type, shape->encoding_type,
                                                   m->state->allocator, &view));
  return iree_vm_ref_wrap_assign(view, iree_hal_buffer_view_type(), result);
}

iree_status_t vm_do_hal_view_buffer(vm_machine_t* m) {
  iree_vm_ref_t* result = vm_next_ref(m);
  VM_NEXT_OBJECT(m, iree_hal_buffer_view, view);
  return iree_vm_ref_wrap_retain(iree_hal_buffer_view_buffer(view), iree_hal_buffer_type(), result);
}

iree_status_t vm_do_hal_view_rank(vm_machine_t* m) {
  vm_cell_t* result = vm_next_value(m);
  VM_NEXT_OBJECT(m, iree_hal_buffer_view, view);
  result->i = (int32_t)iree_hal_buffer_view_shape_rank(view);
  return iree_ok_status();
}

iree_status_t vm_do_hal_view_dim(vm_machine_t* m) {
  vm_cell_t* result = vm_next_value(m);
  VM_NEXT_OBJECT(m, iree_hal_buffer_view, view);
  uint32_t index = vm_next_word(m);
  if (index >= iree_hal_buffer_view_shape_rank(view)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "a buffer view of rank %" PRIhsz " has no dimension %u",
                            iree_hal_buffer_view_shape_rank(view), index);
  }
  result->I = (int64_t)iree_hal_buffer_view_shape_dim(view, index);
  return iree_ok_status();
}

// Packs `0rCrD_v`: the key, a count, the views.
iree_status_t vm_do_hal_view_trace(vm_machine_t* m) {
  iree_string_view_t key = module_image_string(m->image, vm_next_word(m));
  uint32_t count = vm_next_word(m);
  const vm_import_t* import = &m->state->imports[m->image->imports_count + VM_IMPLICIT_VIEW_TRACE];
  if (!vm_module_uses_hal(m->state->module) || iree_vm_function_is_null(import->function)) {
    m->pc += count;
    return iree_ok_status();
  }
  struct {
    iree_vm_ref_t key;
    int32_t count;
    iree_vm_ref_t views[];
  }* packed = NULL;
  vm_scratch_t scratch;
  iree_host_size_t size = sizeof(*packed) + count * sizeof(iree_vm_ref_t);
  IREE_RETURN_IF_ERROR(vm_scratch_allocate(&scratch, m, size, 1, (void**)&packed));
  iree_vm_buffer_t text;
  iree_vm_buffer_initialize(IREE_VM_BUFFER_ACCESS_ORIGIN_MODULE,
                            iree_make_byte_span((void*)(uintptr_t)key.data, key.size), iree_allocator_null(), &text);
  packed->key = (iree_vm_ref_t){&text, iree_vm_buffer_type()};
  packed->count = (int32_t)count;
  for (uint32_t i = 0; i < count; ++i) packed->views[i] = *vm_next_ref(m);
  iree_status_t status = vm_import_call(import, m->stack, iree_make_byte_span(packed, size), iree_byte_span_empty());
  vm_scratch_free(&scratch);
  return status;
}
