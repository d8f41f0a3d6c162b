// Streams over C's FILE.
#ifndef IREE_IO_STDIO_STREAM_H_
#define IREE_IO_STDIO_STREAM_H_

#include <stdio.h>

#include "iree/base/api.h"
#include "iree/io/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

// READ: an existing file. WRITE: an existing file, from its first byte. With DISCARD: a new or emptied file. With
// APPEND: an existing or new file, from its end.
enum iree_io_stdio_stream_mode_bits_t {
  IREE_IO_STDIO_STREAM_MODE_DISCARD = 1u << 0,
  IREE_IO_STDIO_STREAM_MODE_READ = 1u << 1,
  IREE_IO_STDIO_STREAM_MODE_WRITE = 1u << 2,
  IREE_IO_STDIO_STREAM_MODE_APPEND = 1u << 3,
};
typedef uint32_t iree_io_stdio_stream_mode_t;

// Over an open file, which is closed at the end with `owns_handle`. Position 0 is the file's first byte.
IREE_API_EXPORT iree_status_t iree_io_stdio_stream_wrap(iree_io_stream_mode_t mode, FILE* handle, bool owns_handle,
                                                        iree_allocator_t host_allocator, iree_io_stream_t** out_stream);
// Opens a file. Errors: NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT for modes that make no sense together.
IREE_API_EXPORT iree_status_t iree_io_stdio_stream_open(iree_io_stdio_stream_mode_t mode, iree_string_view_t path,
                                                        iree_allocator_t host_allocator, iree_io_stream_t** out_stream);
// The same of a descriptor, which is duplicated; the file's position is shared with it.
IREE_API_EXPORT iree_status_t iree_io_stdio_stream_open_fd(iree_io_stdio_stream_mode_t mode, int fd,
                                                           iree_allocator_t host_allocator,
                                                           iree_io_stream_t** out_stream);

#ifdef __cplusplus
}
#endif

#endif  // IREE_IO_STDIO_STREAM_H_
