// What the tools for archives of parameters share.
#ifndef TOOLING_PARAMETER_ARCHIVE_H_
#define TOOLING_PARAMETER_ARCHIVE_H_

#include "base/progress.h"
#include "base/whole_file.h"
#include "iree/hal/api.h"
#include "iree/io/formats/irpa/irpa_builder.h"

// An archive that is being written, which takes its place when it is whole.
typedef struct archive_output_t {
  whole_file_t file;
  bool is_open;
  iree_allocator_t allocator;
  const char* path;
  bool quiet;  // no progress
  progress_file_t progress;
} archive_output_t;

// Errors: INVALID_ARGUMENT without a path.
iree_status_t archive_output_check(const char* path);
// An iree_io_parameter_archive_file_open_fn_t; `user_data` is an archive_output_t with allocator and path.
iree_status_t archive_output_open(void* user_data, iree_io_physical_offset_t archive_offset,
                                  iree_io_physical_size_t archive_length, iree_io_file_handle_t** out_file_handle);
// Ends writing: with a failure what was there before stays. Returns the failure, this one's or `status`.
iree_status_t archive_output_close(archive_output_t* output, iree_status_t status);

// A pattern from `type` and a `value` of it; an empty value is zeros.
iree_status_t archive_parse_pattern(iree_string_view_t type, iree_string_view_t value, uint8_t* out_length,
                                    uint8_t out_pattern[IREE_IO_PARAMETER_MAX_SPLAT_PATTERN_LENGTH]);

// Ends a tool: flushes and prints a failure; the exit code.
int archive_tool_finish(iree_status_t status);

#endif  // TOOLING_PARAMETER_ARCHIVE_H_
