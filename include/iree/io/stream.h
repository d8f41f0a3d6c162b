// Streams of bytes with a position: over memory, files, or blocks that grow. Thread-compatible; retain and release are
// thread safe. Positions are bytes from the stream's first one.
#ifndef IREE_IO_STREAM_H_
#define IREE_IO_STREAM_H_

#include <stdint.h>

#include "iree/base/api.h"
#include "iree/base/internal/atomics.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int64_t iree_io_stream_pos_t;

enum iree_io_stream_mode_bits_t {
  IREE_IO_STREAM_MODE_READABLE = 1u << 0,
  IREE_IO_STREAM_MODE_WRITABLE = 1u << 1,
  IREE_IO_STREAM_MODE_RESIZABLE = 1u << 2,
  IREE_IO_STREAM_MODE_SEEKABLE = 1u << 3,  // backwards and to the end
  IREE_IO_STREAM_MODE_MAPPABLE = 1u << 4,
};
typedef uint32_t iree_io_stream_mode_t;

typedef enum iree_io_stream_seek_mode_t {
  IREE_IO_STREAM_SEEK_SET = 0,
  IREE_IO_STREAM_SEEK_FROM_CURRENT,
  IREE_IO_STREAM_SEEK_FROM_END,  // offsets are 0 or negative
} iree_io_stream_seek_mode_t;

typedef struct iree_io_stream_t iree_io_stream_t;

IREE_API_EXPORT void iree_io_stream_retain(iree_io_stream_t* stream);
IREE_API_EXPORT void iree_io_stream_release(iree_io_stream_t* stream);
// At once, whoever holds it.
IREE_API_EXPORT void iree_io_stream_destroy(iree_io_stream_t* stream);
IREE_API_EXPORT iree_io_stream_mode_t iree_io_stream_mode(const iree_io_stream_t* stream);
IREE_API_EXPORT iree_io_stream_pos_t iree_io_stream_offset(iree_io_stream_t* stream);
IREE_API_EXPORT iree_io_stream_pos_t iree_io_stream_length(iree_io_stream_t* stream);
// Whether the position is the end: nothing can be read, and what is written is appended.
IREE_API_EXPORT bool iree_io_stream_is_eos(iree_io_stream_t* stream);

// Streams that are not SEEKABLE only go forward from where they are. Errors: PERMISSION_DENIED for another way,
// OUT_OF_RANGE outside of a stream that does not grow.
IREE_API_EXPORT iree_status_t iree_io_stream_seek(iree_io_stream_t* stream, iree_io_stream_seek_mode_t seek_mode,
                                                  iree_io_stream_pos_t seek_offset);
// Forward to the next multiple of `alignment`, a power of two.
IREE_API_EXPORT iree_status_t iree_io_stream_seek_to_alignment(iree_io_stream_t* stream,
                                                               iree_io_stream_pos_t alignment);
// Reads up to `buffer_capacity` bytes. Without `out_buffer_length` fewer are an error, OUT_OF_RANGE. Reading a stream
// that is not READABLE is PERMISSION_DENIED, as writing one that is not WRITABLE.
IREE_API_EXPORT iree_status_t iree_io_stream_read(iree_io_stream_t* stream, iree_host_size_t buffer_capacity,
                                                  void* buffer, iree_host_size_t* out_buffer_length);
IREE_API_EXPORT iree_status_t iree_io_stream_write(iree_io_stream_t* stream, iree_host_size_t buffer_length,
                                                   const void* buffer);
IREE_API_EXPORT iree_status_t iree_io_stream_write_char(iree_io_stream_t* stream, char c);
IREE_API_EXPORT iree_status_t iree_io_stream_write_string(iree_io_stream_t* stream, iree_string_view_t value);
// Writes the pattern `count` times.
IREE_API_EXPORT iree_status_t iree_io_stream_fill(iree_io_stream_t* stream, iree_io_stream_pos_t count,
                                                  const void* pattern, iree_host_size_t pattern_length);
// The next `length` bytes in place, for streams that are MAPPABLE; the position moves behind them. Valid as long as the
// stream. Errors: UNIMPLEMENTED for streams that have no memory.
IREE_API_EXPORT iree_status_t iree_io_stream_map_read(iree_io_stream_t* stream, iree_host_size_t length,
                                                      iree_const_byte_span_t* out_span);
IREE_API_EXPORT iree_status_t iree_io_stream_map_write(iree_io_stream_t* stream, iree_host_size_t length,
                                                       iree_byte_span_t* out_span);
IREE_API_EXPORT iree_status_t iree_io_stream_copy(iree_io_stream_t* source_stream, iree_io_stream_t* target_stream,
                                                  iree_io_stream_pos_t length);

//===----------------------------------------------------------------------------------------------------------------===
// For kinds of streams. Modes are checked before these are called; map_* may be NULL.
//===----------------------------------------------------------------------------------------------------------------===

typedef struct iree_io_stream_vtable_t {
  void(IREE_API_PTR* destroy)(iree_io_stream_t* IREE_RESTRICT stream);
  iree_io_stream_pos_t(IREE_API_PTR* offset)(iree_io_stream_t* stream);
  iree_io_stream_pos_t(IREE_API_PTR* length)(iree_io_stream_t* stream);
  iree_status_t(IREE_API_PTR* seek)(iree_io_stream_t* stream, iree_io_stream_seek_mode_t seek_mode,
                                    iree_io_stream_pos_t seek_offset);
  iree_status_t(IREE_API_PTR* read)(iree_io_stream_t* stream, iree_host_size_t buffer_capacity, void* buffer,
                                    iree_host_size_t* out_buffer_length);
  iree_status_t(IREE_API_PTR* write)(iree_io_stream_t* stream, iree_host_size_t buffer_length, const void* buffer);
  iree_status_t(IREE_API_PTR* fill)(iree_io_stream_t* stream, iree_io_stream_pos_t count, const void* pattern,
                                    iree_host_size_t pattern_length);
  iree_status_t(IREE_API_PTR* map_read)(iree_io_stream_t* stream, iree_host_size_t length,
                                        iree_const_byte_span_t* out_span);
  iree_status_t(IREE_API_PTR* map_write)(iree_io_stream_t* stream, iree_host_size_t length, iree_byte_span_t* out_span);
} iree_io_stream_vtable_t;

struct iree_io_stream_t {
  iree_atomic_ref_count_t ref_count;
  const iree_io_stream_vtable_t* vtable;
  iree_io_stream_mode_t mode;
};

#ifdef __cplusplus
}
#endif

#endif  // IREE_IO_STREAM_H_
