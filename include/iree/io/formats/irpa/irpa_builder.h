// Writes .irpa archives: entries are declared first, then the file's size is known, then the tables are written; the
// contents are the caller's. Thread-compatible.
//
//   iree_io_parameter_archive_builder_initialize(allocator, &builder);
//   iree_io_parameter_archive_builder_add_data_entry(&builder, ...);
//   size = iree_io_parameter_archive_builder_total_size(&builder);   ... a file of that size, and a stream into it ...
//   iree_io_parameter_archive_builder_write(&builder, file, 0, stream, index);   ... contents where `index` says ...
//   iree_io_parameter_archive_builder_deinitialize(&builder);
#ifndef IREE_IO_FORMATS_IRPA_IRPA_BUILDER_H_
#define IREE_IO_FORMATS_IRPA_IRPA_BUILDER_H_

#include "iree/base/api.h"
#include "iree/io/file_handle.h"
#include "iree/io/parameter_index.h"
#include "iree/io/stream.h"
#include "iree/schemas/parameter_archive.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_io_parameter_archive_builder_t {
  iree_allocator_t host_allocator;
  iree_io_parameter_index_t* index;
  iree_io_physical_size_t file_alignment;
  iree_io_physical_size_t entry_segment_size;
  iree_io_physical_size_t metadata_segment_size;
  iree_io_physical_size_t storage_segment_size;
  iree_io_physical_size_t storage_alignment;
} iree_io_parameter_archive_builder_t;

IREE_API_EXPORT iree_status_t iree_io_parameter_archive_builder_initialize(
    iree_allocator_t host_allocator, iree_io_parameter_archive_builder_t* out_builder);
IREE_API_EXPORT void iree_io_parameter_archive_builder_deinitialize(iree_io_parameter_archive_builder_t* builder);
IREE_API_EXPORT bool iree_io_parameter_archive_builder_is_empty(const iree_io_parameter_archive_builder_t* builder);
// Bytes of everything before the contents, and of all of the archive; for the entries so far.
IREE_API_EXPORT iree_io_physical_size_t
iree_io_parameter_archive_builder_header_size(const iree_io_parameter_archive_builder_t* builder);
IREE_API_EXPORT iree_io_physical_size_t
iree_io_parameter_archive_builder_total_size(const iree_io_parameter_archive_builder_t* builder);

// Writes header, entries and names at the stream's position, which is `file_offset` of the file, a multiple of 16.
// `target_index` (may be NULL) gets an entry for each one with its place in `file_handle`.
IREE_API_EXPORT iree_status_t iree_io_parameter_archive_builder_write(
    const iree_io_parameter_archive_builder_t* builder, iree_io_file_handle_t* file_handle,
    iree_io_physical_offset_t file_offset, iree_io_stream_t* stream, iree_io_parameter_index_t* target_index);

// A pattern of 1, 2, 4, 8 or 16 bytes that fills `data_length` bytes without any in the file. Errors: INVALID_ARGUMENT
// for other lengths, ALREADY_EXISTS for a name that there is already.
IREE_API_EXPORT iree_status_t iree_io_parameter_archive_builder_add_splat_entry(
    iree_io_parameter_archive_builder_t* builder, iree_string_view_t name, iree_const_byte_span_t metadata,
    const void* pattern, uint8_t pattern_length, iree_io_physical_size_t data_length);
// Room for `data_length` bytes at a multiple of `minimum_alignment`, a power of two or 0.
IREE_API_EXPORT iree_status_t iree_io_parameter_archive_builder_add_data_entry(
    iree_io_parameter_archive_builder_t* builder, iree_string_view_t name, iree_const_byte_span_t metadata,
    iree_io_physical_size_t minimum_alignment, iree_io_physical_size_t data_length);

// Opens a file to write, with `archive_length` bytes from `archive_offset` on.
typedef iree_status_t(IREE_API_PTR* iree_io_parameter_archive_file_open_fn_t)(void* user_data,
                                                                              iree_io_physical_offset_t archive_offset,
                                                                              iree_io_physical_size_t archive_length,
                                                                              iree_io_file_handle_t** out_file_handle);
typedef struct {
  iree_io_parameter_archive_file_open_fn_t fn;
  void* user_data;
} iree_io_parameter_archive_file_open_callback_t;

// Writes an archive with all entries of `source_index` and their contents, which are copied from their files.
// `target_index` gets their new places.
IREE_API_EXPORT iree_status_t
iree_io_build_parameter_archive(iree_io_parameter_index_t* source_index, iree_io_parameter_index_t* target_index,
                                iree_io_parameter_archive_file_open_callback_t target_file_open,
                                iree_io_physical_offset_t target_file_offset, iree_allocator_t host_allocator);

#ifdef __cplusplus
}
#endif

#endif  // IREE_IO_FORMATS_IRPA_IRPA_BUILDER_H_
