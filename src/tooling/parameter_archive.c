// See parameter_archive.h.
#include "tooling/parameter_archive.h"

#include <errno.h>
#include <unistd.h>

iree_status_t archive_output_check(const char* path) {
  if (path[0]) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no output; --output=file.irpa names it");
}

iree_status_t archive_output_open(void* user_data, iree_io_physical_offset_t archive_offset,
                                  iree_io_physical_size_t archive_length, iree_io_file_handle_t** out_file_handle) {
  archive_output_t* output = user_data;
  if (!whole_file_open(output->path, &output->file)) {
    return iree_make_status(iree_status_code_from_errno(errno), "failed to open file '%s': %s", output->path,
                            strerror(errno));
  }
  output->is_open = true;
  uint64_t size = archive_offset + archive_length;
  if (size > INT64_MAX || ftruncate(fileno(output->file.file), (off_t)size) != 0) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "sizing '%s' to %" PRIu64 " bytes failed: %s", output->path,
                            size, strerror(errno));
  }
  progress_file_begin(&output->progress, "writing parameters", fileno(output->file.file), size, output->quiet);
  return iree_io_file_handle_open_fd(IREE_IO_FILE_MODE_WRITE, fileno(output->file.file), output->allocator,
                                     out_file_handle);
}

iree_status_t archive_output_close(archive_output_t* output, iree_status_t status) {
  if (!output->is_open) return status;
  output->is_open = false;
  progress_file_end(&output->progress);
  if (whole_file_close(&output->file, iree_status_is_ok(status)) || !iree_status_is_ok(status)) return status;
  return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "writing file '%s' failed: %s", output->path,
                          strerror(errno));
}

iree_status_t archive_parse_pattern(iree_string_view_t type, iree_string_view_t value, uint8_t* out_length,
                                    uint8_t out_pattern[IREE_IO_PARAMETER_MAX_SPLAT_PATTERN_LENGTH]) {
  iree_hal_element_type_t element_type = IREE_HAL_ELEMENT_TYPE_NONE;
  memset(out_pattern, 0, IREE_IO_PARAMETER_MAX_SPLAT_PATTERN_LENGTH);
  *out_length = 1;
  if (!value.size) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_hal_parse_element_type(type, &element_type));
  if (!iree_hal_element_bit_count(element_type) || !iree_hal_element_is_byte_aligned(element_type)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "elements of type '%.*s' are no whole bytes; use one that is as long (1xi8 for 2xi4)",
                            (int)type.size, type.data);
  }
  iree_device_size_t size = iree_hal_element_dense_byte_count(element_type);
  if (size > IREE_IO_PARAMETER_MAX_SPLAT_PATTERN_LENGTH || !iree_is_power_of_two_uint64(size)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "elements of type '%.*s' have %" PRIdsz
                            " bytes; patterns have "
                            "1, 2, 4, 8 or 16",
                            (int)type.size, type.data, size);
  }
  *out_length = (uint8_t)size;
  return iree_hal_parse_element(value, element_type, iree_make_byte_span(out_pattern, (iree_host_size_t)size));
}

int archive_tool_finish(iree_status_t status) {
  if (iree_status_is_ok(status) && (fflush(stdout) != 0 || ferror(stdout))) {
    status = iree_make_status(IREE_STATUS_DATA_LOSS, "cannot write to standard output");
  }
  if (iree_status_is_ok(status)) return EXIT_SUCCESS;
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return EXIT_FAILURE;
}
