// See iree/tooling/function_io.h and numpy_io.h: function_io.h of this folder on lists, streams and builders.
#include "iree/tooling/function_io.h"
#include "iree/tooling/numpy_io.h"
#include "tooling/function_io.h"
#include "tooling/npy.h"
#include "tooling/stream_file.h"

iree_status_t iree_tooling_parse_variants(iree_string_view_t cconv, iree_string_view_list_t specs,
                                          iree_hal_device_t* device, iree_hal_allocator_t* device_allocator,
                                          iree_allocator_t host_allocator, iree_vm_list_t** out_list) {
  *out_list = NULL;
  return tooling_inputs_parse(cconv, specs, (tooling_device_t){device, device_allocator}, out_list);
}

iree_status_t iree_tooling_format_variants(iree_string_view_t list_name, iree_vm_list_t* list,
                                           iree_host_size_t max_element_count, iree_string_builder_t* builder) {
  char* text = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&text, &size);
  if (!file) return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "out of memory");
  iree_status_t status =
      tooling_outputs_print(list, list_name, (tooling_device_t){NULL, NULL}, max_element_count, file);
  fclose(file);
  if (iree_status_is_ok(status)) {
    status = iree_string_builder_append_string(builder, iree_make_string_view(text, size));
  }
  free(text);
  return status;
}

iree_status_t iree_tooling_print_variants(iree_string_view_t list_name, iree_vm_list_t* list,
                                          iree_host_size_t max_element_count, iree_io_stream_t* stream,
                                          iree_allocator_t host_allocator) {
  stream_file_t file;
  IREE_RETURN_IF_ERROR(stream_file_open(stream, &file));
  iree_status_t status =
      tooling_outputs_print(list, list_name, (tooling_device_t){NULL, NULL}, max_element_count, file.file);
  return stream_file_close(&file, status);
}

iree_status_t iree_tooling_write_variants(iree_vm_list_t* list, iree_string_view_list_t specs,
                                          iree_host_size_t max_element_count, iree_io_stream_t* default_stream,
                                          iree_allocator_t host_allocator) {
  stream_file_t file;
  IREE_RETURN_IF_ERROR(stream_file_open(default_stream, &file));
  iree_status_t status =
      tooling_outputs_write(list, specs, (tooling_device_t){NULL, NULL}, max_element_count, file.file);
  return stream_file_close(&file, status);
}

//===----------------------------------------------------------------------------------------------------------------===
// NumPy
//===----------------------------------------------------------------------------------------------------------------===

// The reader makes buffers for all that functions do; what goes beyond needs a copy.
static iree_status_t meet_params(iree_hal_buffer_params_t params, iree_hal_device_t* device,
                                 iree_hal_allocator_t* allocator, iree_hal_buffer_view_t** view) {
  iree_hal_buffer_t* buffer = iree_hal_buffer_view_buffer(*view);
  if (!(params.usage & ~iree_hal_buffer_allowed_usage(buffer))) return iree_ok_status();
  iree_byte_span_t data;
  iree_hal_buffer_view_t* copy = NULL;
  tooling_device_t from = {device, allocator};
  IREE_RETURN_IF_ERROR(tooling_view_read(*view, from, iree_allocator_system(), &data));
  iree_status_t status = iree_hal_buffer_view_allocate_buffer_copy(
      device, allocator, iree_hal_buffer_view_shape_rank(*view), iree_hal_buffer_view_shape_dims(*view),
      iree_hal_buffer_view_element_type(*view), iree_hal_buffer_view_encoding_type(*view), params,
      iree_const_cast_byte_span(data), &copy);
  iree_allocator_free(iree_allocator_system(), data.data);
  IREE_RETURN_IF_ERROR(status);
  iree_hal_buffer_view_release(*view);
  *view = copy;
  return iree_ok_status();
}

iree_status_t iree_numpy_npy_load_ndarray(iree_io_stream_t* stream, iree_numpy_npy_load_options_t options,
                                          iree_hal_buffer_params_t buffer_params, iree_hal_device_t* device,
                                          iree_hal_allocator_t* device_allocator,
                                          iree_hal_buffer_view_t** out_buffer_view) {
  *out_buffer_view = NULL;
  stream_file_t file;
  IREE_RETURN_IF_ERROR(stream_file_open(stream, &file));
  iree_status_t status =
      stream_file_close(&file, npy_view_read(file.file, device, device_allocator, NULL, out_buffer_view));
  if (iree_status_is_ok(status)) status = meet_params(buffer_params, device, device_allocator, out_buffer_view);
  if (iree_status_is_ok(status)) return status;
  iree_hal_buffer_view_release(*out_buffer_view);
  *out_buffer_view = NULL;
  return status;
}

iree_status_t iree_numpy_npy_save_ndarray(iree_io_stream_t* stream, iree_numpy_npy_save_options_t options,
                                          iree_hal_buffer_view_t* buffer_view, iree_allocator_t host_allocator) {
  iree_byte_span_t data;
  stream_file_t file;
  IREE_RETURN_IF_ERROR(tooling_view_read(buffer_view, (tooling_device_t){NULL, NULL}, host_allocator, &data));
  iree_status_t status = stream_file_open(stream, &file);
  if (iree_status_is_ok(status)) {
    status = stream_file_close(&file, npy_array_write(file.file, buffer_view, iree_const_cast_byte_span(data)));
  }
  iree_allocator_free(host_allocator, data.data);
  return status;
}
