// Whole files in memory. Any thread; one object by one at a time.
#ifndef IREE_IO_FILE_CONTENTS_H_
#define IREE_IO_FILE_CONTENTS_H_

#include "iree/base/api.h"
#include "iree/io/file_handle.h"

#ifdef __cplusplus
extern "C" {
#endif

// The bytes of a file, read or mapped. Followed by at least one NUL byte when read (not when mapped).
typedef struct iree_io_file_contents_t {
  iree_allocator_t allocator;
  union {
    iree_byte_span_t buffer;  // read, or mapped writable
    iree_const_byte_span_t const_buffer;
  };
  iree_io_file_mapping_t* mapping;  // NULL when read
} iree_io_file_contents_t;

// Frees or unmaps. Accepts NULL.
IREE_API_EXPORT void iree_io_file_contents_free(iree_io_file_contents_t* contents);
// An allocator whose free() frees `contents`: for APIs that take bytes and an allocator to free them with. The pointer
// passed to free is not looked at.
IREE_API_EXPORT iree_allocator_t iree_io_file_contents_deallocator(iree_io_file_contents_t* contents);

// Reads standard input to its end.
IREE_API_EXPORT iree_status_t iree_io_file_contents_read_stdin(iree_allocator_t host_allocator,
                                                               iree_io_file_contents_t** out_contents);
// Reads a file. Errors: NOT_FOUND, PERMISSION_DENIED, RESOURCE_EXHAUSTED, ...; the path is in the message.
IREE_API_EXPORT iree_status_t iree_io_file_contents_read(iree_string_view_t path, iree_allocator_t host_allocator,
                                                         iree_io_file_contents_t** out_contents);
// Maps a file; the bytes are page-aligned. Others changing the file change the bytes.
IREE_API_EXPORT iree_status_t iree_io_file_contents_map(iree_string_view_t path, iree_io_file_access_t access,
                                                        iree_allocator_t host_allocator,
                                                        iree_io_file_contents_t** out_contents);
// Replaces the file. On error nothing is left behind; a device or a link is not removed.
IREE_API_EXPORT iree_status_t iree_io_file_contents_write(iree_string_view_t path, iree_const_byte_span_t contents,
                                                          iree_allocator_t host_allocator);

#ifdef __cplusplus
}
#endif

#endif  // IREE_IO_FILE_CONTENTS_H_
