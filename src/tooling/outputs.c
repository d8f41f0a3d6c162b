// Prints and writes function results.

#include "base/whole_file.h"
#include "iree/modules/hal/types.h"
#include "tooling/function_io.h"
#include "tooling/npy.h"

//===----------------------------------------------------------------------------------------------------------------===
// Views
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t read_buffer(iree_hal_buffer_t* buffer, iree_device_size_t length, tooling_device_t device,
                                 void* target) {
  if (!length) return iree_ok_status();
  if (!device.device) return iree_hal_buffer_map_read(buffer, 0, target, length);
  return iree_hal_device_transfer_d2h(device.device, buffer, 0, target, length, IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT,
                                      iree_infinite_timeout());
}

iree_status_t tooling_view_read(const iree_hal_buffer_view_t* view, tooling_device_t device, iree_allocator_t allocator,
                                iree_byte_span_t* out_data) {
  *out_data = iree_byte_span_empty();
  iree_host_size_t length = iree_hal_buffer_view_byte_length(view);
  uint8_t* data = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_uninitialized(allocator, length + 1, (void**)&data));
  iree_status_t status = read_buffer(iree_hal_buffer_view_buffer(view), length, device, data);
  if (iree_status_is_ok(status)) {
    *out_data = iree_make_byte_span(data, length);
  } else {
    iree_allocator_free(allocator, data);
  }
  return status;
}

static iree_status_t format_elements(const iree_hal_buffer_view_t* view, iree_const_byte_span_t data,
                                     iree_host_size_t max_element_count, iree_string_builder_t* builder) {
  iree_host_size_t rank = iree_hal_buffer_view_shape_rank(view);
  const iree_hal_dim_t* dims = iree_hal_buffer_view_shape_dims(view);
  iree_hal_element_type_t type = iree_hal_buffer_view_element_type(view);
  IREE_RETURN_IF_ERROR(iree_hal_append_shape_and_element_type_string(rank, dims, type, builder));
  IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, "="));
  iree_host_size_t length = 0;
  iree_status_t status = iree_hal_format_buffer_elements(data, rank, dims, type, max_element_count, 0, NULL, &length);
  if (!iree_status_is_out_of_range(status)) IREE_RETURN_IF_ERROR(status);
  iree_status_ignore(status);
  char* text = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(builder->allocator, length + 1, (void**)&text));
  status = iree_hal_format_buffer_elements(data, rank, dims, type, max_element_count, length + 1, text, &length);
  if (iree_status_is_ok(status)) {
    status = iree_string_builder_append_string(builder, iree_make_string_view(text, length));
  }
  iree_allocator_free(builder->allocator, text);
  return status;
}

iree_status_t tooling_view_print(const iree_hal_buffer_view_t* view, tooling_device_t device,
                                 iree_host_size_t max_element_count, FILE* file) {
  iree_allocator_t allocator = iree_allocator_system();
  iree_byte_span_t data;
  IREE_RETURN_IF_ERROR(tooling_view_read(view, device, allocator, &data));
  iree_string_builder_t builder;
  iree_string_builder_initialize(allocator, &builder);
  iree_status_t status = format_elements(view, iree_const_cast_byte_span(data), max_element_count, &builder);
  if (iree_status_is_ok(status)) {
    fwrite(iree_string_builder_buffer(&builder), 1, iree_string_builder_size(&builder), file);
  }
  iree_string_builder_deinitialize(&builder);
  iree_allocator_free(allocator, data.data);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Printing
//===----------------------------------------------------------------------------------------------------------------===

typedef struct printer_t {
  tooling_device_t device;
  iree_host_size_t max_element_count;
  FILE* file;
} printer_t;

static iree_status_t print_list(const printer_t* printer, const iree_vm_list_t* list, iree_string_view_t name);

static void print_value(iree_vm_value_t value, FILE* file) {
  switch (value.type) {
    case IREE_VM_VALUE_TYPE_I8:
      fprintf(file, "i8=%" PRIi8 "\n", value.i8);
      break;
    case IREE_VM_VALUE_TYPE_I16:
      fprintf(file, "i16=%" PRIi16 "\n", value.i16);
      break;
    case IREE_VM_VALUE_TYPE_I32:
      fprintf(file, "i32=%" PRIi32 "\n", value.i32);
      break;
    case IREE_VM_VALUE_TYPE_I64:
      fprintf(file, "i64=%" PRIi64 "\n", value.i64);
      break;
    case IREE_VM_VALUE_TYPE_F32:
      fprintf(file, "f32=%g\n", value.f32);
      break;
    case IREE_VM_VALUE_TYPE_F64:
      fprintf(file, "f64=%g\n", value.f64);
      break;
    default:
      fprintf(file, "?\n");
      break;
  }
}

static iree_status_t print_variant(const printer_t* printer, iree_vm_variant_t variant) {
  if (iree_vm_variant_is_empty(variant)) {
    fprintf(printer->file, "(null)\n");
    return iree_ok_status();
  }
  if (iree_vm_variant_is_value(variant)) {
    print_value(iree_vm_variant_value(variant), printer->file);
    return iree_ok_status();
  }
  iree_string_view_t type = iree_vm_ref_type_name(variant.ref.type);
  fprintf(printer->file, "%.*s\n", (int)type.size, type.data);
  if (iree_hal_buffer_view_isa(variant.ref)) {
    IREE_RETURN_IF_ERROR(tooling_view_print(iree_hal_buffer_view_deref(variant.ref), printer->device,
                                            printer->max_element_count, printer->file));
    fputc('\n', printer->file);
    return iree_ok_status();
  }
  if (iree_vm_list_isa(variant.ref)) {
    return print_list(printer, iree_vm_list_deref(variant.ref), IREE_SV("child_list"));
  }
  fprintf(printer->file, "(no printer)\n");
  return iree_ok_status();
}

static iree_status_t print_list(const printer_t* printer, const iree_vm_list_t* list, iree_string_view_t name) {
  for (iree_host_size_t i = 0; i < iree_vm_list_size(list); ++i) {
    iree_vm_variant_t variant;
    IREE_RETURN_IF_ERROR(iree_vm_list_get_variant_assign(list, i, &variant));
    fprintf(printer->file, "%.*s[%" PRIhsz "]: ", (int)name.size, name.data, i);
    IREE_RETURN_IF_ERROR(print_variant(printer, variant), "printing result %zu", i);
  }
  fflush(printer->file);
  return iree_ok_status();
}

iree_status_t tooling_outputs_print(const iree_vm_list_t* list, iree_string_view_t name, tooling_device_t device,
                                    iree_host_size_t max_element_count, FILE* file) {
  return print_list(&(printer_t){device, max_element_count, file}, list, name);
}

//===----------------------------------------------------------------------------------------------------------------===
// Files
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t write_bytes(FILE* file, iree_const_byte_span_t data) {
  if (!data.data_length || fwrite(data.data, 1, data.data_length, file) == data.data_length) return iree_ok_status();
  return iree_make_status(iree_status_code_from_errno(errno), "write failed: %s", strerror(errno));
}

static iree_status_t write_view(FILE* file, const iree_hal_buffer_view_t* view, tooling_device_t device, bool npy) {
  iree_byte_span_t data;
  IREE_RETURN_IF_ERROR(tooling_view_read(view, device, iree_allocator_system(), &data));
  iree_const_byte_span_t bytes = iree_const_cast_byte_span(data);
  iree_status_t status = npy ? npy_array_write(file, view, bytes) : write_bytes(file, bytes);
  iree_allocator_free(iree_allocator_system(), data.data);
  return status;
}

static iree_status_t write_value(FILE* file, iree_vm_value_t value, bool npy) {
  if (npy) return npy_value_write(file, value);
  bool wide = value.type == IREE_VM_VALUE_TYPE_I64 || value.type == IREE_VM_VALUE_TYPE_F64;
  return write_bytes(file, iree_make_const_byte_span(value.value_storage, wide ? 8 : 4));
}

static iree_status_t write_variant(FILE* file, iree_vm_variant_t variant, tooling_device_t device, bool npy) {
  if (iree_vm_variant_is_value(variant)) return write_value(file, iree_vm_variant_value(variant), npy);
  if (iree_vm_variant_is_ref(variant) && iree_hal_buffer_view_isa(variant.ref)) {
    return write_view(file, iree_hal_buffer_view_deref(variant.ref), device, npy);
  }
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "only tensors and numbers can be written to files");
}

// `@path` or `+path`.
static iree_status_t write_file(iree_string_view_t spec, iree_vm_variant_t variant, tooling_device_t device) {
  iree_string_view_t path = iree_string_view_remove_prefix(spec, 1);
  char text[IREE_MAX_PATH + 1];
  if (path.size > IREE_MAX_PATH) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "path too long");
  iree_string_view_to_cstring(path, text, sizeof(text));
  whole_file_t file;
  if (spec.data[0] == '+' ? !whole_file_append(text, &file) : !whole_file_open(text, &file)) {
    return iree_make_status(iree_status_code_from_errno(errno), "unable to open file `%s`: %s", text, strerror(errno));
  }
  bool npy = iree_string_view_ends_with(path, IREE_SV(".npy"));
  iree_status_t status = write_variant(file.file, variant, device, npy);
  if (!whole_file_close(&file, iree_status_is_ok(status)) && iree_status_is_ok(status)) {
    status = iree_make_status(iree_status_code_from_errno(errno), "writing `%s` failed: %s", text, strerror(errno));
  }
  return status;
}

static iree_status_t write_output(iree_string_view_t spec, iree_vm_variant_t variant, const printer_t* printer) {
  if (!spec.size) return iree_ok_status();
  if (iree_string_view_equal(spec, IREE_SV("-"))) return print_variant(printer, variant);
  if (spec.data[0] == '@' || spec.data[0] == '+') return write_file(spec, variant, printer->device);
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                          "unsupported output mode specification '%.*s'; expected `-`, `@file` or `+file`",
                          (int)spec.size, spec.data);
}

iree_status_t tooling_outputs_write(const iree_vm_list_t* list, iree_string_view_list_t specs, tooling_device_t device,
                                    iree_host_size_t max_element_count, FILE* file) {
  if (specs.count != iree_vm_list_size(list)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "%" PRIhsz " outputs specified but the provided variant list only has %" PRIhsz " elements",
                            specs.count, iree_vm_list_size(list));
  }
  printer_t printer = {device, max_element_count, file};
  for (iree_host_size_t i = 0; i < specs.count; ++i) {
    iree_vm_variant_t variant;
    IREE_RETURN_IF_ERROR(iree_vm_list_get_variant_assign(list, i, &variant));
    IREE_RETURN_IF_ERROR(write_output(iree_string_view_trim(specs.values[i]), variant, &printer), "writing output %zu",
                         i);
  }
  fflush(file);
  return iree_ok_status();
}
