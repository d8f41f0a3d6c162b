// Streams: what all kinds share, and those over memory.
#include "iree/io/stream.h"

#include "iree/io/memory_stream.h"

void iree_io_stream_retain(iree_io_stream_t* stream) {
  if (stream) iree_atomic_ref_count_inc(&stream->ref_count);
}

void iree_io_stream_release(iree_io_stream_t* stream) {
  if (stream && iree_atomic_ref_count_dec(&stream->ref_count) == 1) stream->vtable->destroy(stream);
}

void iree_io_stream_destroy(iree_io_stream_t* stream) {
  if (stream) stream->vtable->destroy(stream);
}

iree_io_stream_mode_t iree_io_stream_mode(const iree_io_stream_t* stream) { return stream->mode; }
iree_io_stream_pos_t iree_io_stream_offset(iree_io_stream_t* stream) { return stream->vtable->offset(stream); }
iree_io_stream_pos_t iree_io_stream_length(iree_io_stream_t* stream) { return stream->vtable->length(stream); }
bool iree_io_stream_is_eos(iree_io_stream_t* stream) {
  return iree_io_stream_offset(stream) == iree_io_stream_length(stream);
}

static iree_status_t check_mode(const iree_io_stream_t* stream, iree_io_stream_mode_t needed, const char* what) {
  if (iree_all_bits_set(stream->mode, needed)) return iree_ok_status();
  return iree_make_status(IREE_STATUS_PERMISSION_DENIED, "the stream was not opened to be %s", what);
}

iree_status_t iree_io_stream_seek(iree_io_stream_t* stream, iree_io_stream_seek_mode_t seek_mode,
                                  iree_io_stream_pos_t seek_offset) {
  bool forward = seek_mode == IREE_IO_STREAM_SEEK_FROM_CURRENT && seek_offset >= 0;
  if (!forward) IREE_RETURN_IF_ERROR(check_mode(stream, IREE_IO_STREAM_MODE_SEEKABLE, "moved back in"));
  return stream->vtable->seek(stream, seek_mode, seek_offset);
}

iree_status_t iree_io_stream_seek_to_alignment(iree_io_stream_t* stream, iree_io_stream_pos_t alignment) {
  if (alignment < 0 || !iree_host_size_is_valid_alignment((iree_host_size_t)alignment)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "alignment %" PRId64 " is no power of two", alignment);
  }
  iree_io_stream_pos_t rest = alignment ? iree_io_stream_offset(stream) & (alignment - 1) : 0;
  return rest ? iree_io_stream_seek(stream, IREE_IO_STREAM_SEEK_FROM_CURRENT, alignment - rest) : iree_ok_status();
}

iree_status_t iree_io_stream_read(iree_io_stream_t* stream, iree_host_size_t buffer_capacity, void* buffer,
                                  iree_host_size_t* out_buffer_length) {
  iree_host_size_t length = 0;
  if (out_buffer_length) *out_buffer_length = 0;
  IREE_RETURN_IF_ERROR(check_mode(stream, IREE_IO_STREAM_MODE_READABLE, "read"));
  IREE_RETURN_IF_ERROR(stream->vtable->read(stream, buffer_capacity, buffer, &length));
  if (out_buffer_length) {
    *out_buffer_length = length;
  } else if (length < buffer_capacity) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "the stream ends after %" PRIhsz " of %" PRIhsz " bytes", length,
                            buffer_capacity);
  }
  return iree_ok_status();
}

iree_status_t iree_io_stream_write(iree_io_stream_t* stream, iree_host_size_t buffer_length, const void* buffer) {
  IREE_RETURN_IF_ERROR(check_mode(stream, IREE_IO_STREAM_MODE_WRITABLE, "written"));
  return buffer_length ? stream->vtable->write(stream, buffer_length, buffer) : iree_ok_status();
}

iree_status_t iree_io_stream_write_char(iree_io_stream_t* stream, char c) {
  return iree_io_stream_write(stream, 1, &c);
}

iree_status_t iree_io_stream_write_string(iree_io_stream_t* stream, iree_string_view_t value) {
  return iree_io_stream_write(stream, value.size, value.data);
}

// Repeats the pattern in a block of at most `size` bytes; how many are whole patterns.
static iree_host_size_t repeat_pattern(uint8_t* block, iree_host_size_t size, const void* pattern,
                                       iree_host_size_t length) {
  iree_host_size_t count = size / length;
  for (iree_host_size_t i = 0; i < count; ++i) memcpy(block + i * length, pattern, length);
  return count;
}

iree_status_t iree_io_stream_fill(iree_io_stream_t* stream, iree_io_stream_pos_t count, const void* pattern,
                                  iree_host_size_t pattern_length) {
  IREE_RETURN_IF_ERROR(check_mode(stream, IREE_IO_STREAM_MODE_WRITABLE, "written"));
  if (count < 0 || !pattern_length) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no pattern to fill with");
  if (stream->vtable->fill) return stream->vtable->fill(stream, count, pattern, pattern_length);
  uint8_t block[4096];
  if (pattern_length > sizeof(block)) {
    for (; count > 0; --count) IREE_RETURN_IF_ERROR(stream->vtable->write(stream, pattern_length, pattern));
    return iree_ok_status();
  }
  iree_host_size_t in_block = repeat_pattern(block, sizeof(block), pattern, pattern_length);
  while (count > 0) {
    iree_host_size_t now = iree_min((uint64_t)count, in_block);
    IREE_RETURN_IF_ERROR(stream->vtable->write(stream, now * pattern_length, block));
    count -= (iree_io_stream_pos_t)now;
  }
  return iree_ok_status();
}

iree_status_t iree_io_stream_map_read(iree_io_stream_t* stream, iree_host_size_t length,
                                      iree_const_byte_span_t* out_span) {
  *out_span = iree_const_byte_span_empty();
  IREE_RETURN_IF_ERROR(
      check_mode(stream, IREE_IO_STREAM_MODE_READABLE | IREE_IO_STREAM_MODE_MAPPABLE, "mapped and read"));
  if (stream->vtable->map_read) return stream->vtable->map_read(stream, length, out_span);
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "the stream has no memory to map; read it");
}

iree_status_t iree_io_stream_map_write(iree_io_stream_t* stream, iree_host_size_t length, iree_byte_span_t* out_span) {
  *out_span = iree_byte_span_empty();
  IREE_RETURN_IF_ERROR(
      check_mode(stream, IREE_IO_STREAM_MODE_WRITABLE | IREE_IO_STREAM_MODE_MAPPABLE, "mapped and written"));
  if (stream->vtable->map_write) return stream->vtable->map_write(stream, length, out_span);
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "the stream has no memory to map; write it");
}

iree_status_t iree_io_stream_copy(iree_io_stream_t* source_stream, iree_io_stream_t* target_stream,
                                  iree_io_stream_pos_t length) {
  uint8_t block[16 * 1024];
  while (length > 0) {
    iree_host_size_t now = iree_min((uint64_t)length, sizeof(block));
    IREE_RETURN_IF_ERROR(iree_io_stream_read(source_stream, now, block, NULL));
    IREE_RETURN_IF_ERROR(iree_io_stream_write(target_stream, now, block));
    length -= (iree_io_stream_pos_t)now;
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory
//===----------------------------------------------------------------------------------------------------------------===

typedef struct memory_stream_t {
  iree_io_stream_t base;
  iree_allocator_t host_allocator;
  iree_byte_span_t contents;
  iree_host_size_t offset;  // at most contents.data_length
  iree_io_memory_stream_release_callback_t release_callback;
} memory_stream_t;

static void memory_destroy(iree_io_stream_t* IREE_RESTRICT base) {
  memory_stream_t* stream = (memory_stream_t*)base;
  if (stream->release_callback.fn) stream->release_callback.fn(stream->release_callback.user_data, base);
  iree_allocator_free(stream->host_allocator, stream);
}

static iree_io_stream_pos_t memory_offset(iree_io_stream_t* base) {
  return (iree_io_stream_pos_t)((memory_stream_t*)base)->offset;
}
static iree_io_stream_pos_t memory_length(iree_io_stream_t* base) {
  return (iree_io_stream_pos_t)((memory_stream_t*)base)->contents.data_length;
}

static iree_status_t memory_seek(iree_io_stream_t* base, iree_io_stream_seek_mode_t seek_mode,
                                 iree_io_stream_pos_t seek_offset) {
  memory_stream_t* stream = (memory_stream_t*)base;
  iree_io_stream_pos_t length = memory_length(base), origin = 0;
  if (seek_mode == IREE_IO_STREAM_SEEK_FROM_CURRENT) origin = memory_offset(base);
  if (seek_mode == IREE_IO_STREAM_SEEK_FROM_END) origin = length;
  if (seek_offset < -origin || seek_offset > length - origin) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "a stream of %" PRId64 " bytes has no position %" PRId64, length,
                            seek_offset);
  }
  stream->offset = (iree_host_size_t)(origin + seek_offset);
  return iree_ok_status();
}

// The next `length` bytes; the position moves behind them.
static iree_status_t memory_take(memory_stream_t* stream, iree_host_size_t length, uint8_t** out_data) {
  iree_host_size_t left = stream->contents.data_length - stream->offset;
  if (length > left) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "%" PRIhsz " bytes do not fit in the stream's last %" PRIhsz,
                            length, left);
  }
  *out_data = stream->contents.data + stream->offset;
  stream->offset += length;
  return iree_ok_status();
}

static iree_status_t memory_read(iree_io_stream_t* base, iree_host_size_t buffer_capacity, void* buffer,
                                 iree_host_size_t* out_buffer_length) {
  memory_stream_t* stream = (memory_stream_t*)base;
  uint8_t* data = NULL;
  iree_host_size_t length = iree_min(buffer_capacity, stream->contents.data_length - stream->offset);
  IREE_RETURN_IF_ERROR(memory_take(stream, length, &data));
  if (length) memcpy(buffer, data, length);
  *out_buffer_length = length;
  return iree_ok_status();
}

static iree_status_t memory_write(iree_io_stream_t* base, iree_host_size_t buffer_length, const void* buffer) {
  uint8_t* data = NULL;
  IREE_RETURN_IF_ERROR(memory_take((memory_stream_t*)base, buffer_length, &data));
  memcpy(data, buffer, buffer_length);
  return iree_ok_status();
}

static iree_status_t memory_map_read(iree_io_stream_t* base, iree_host_size_t length,
                                     iree_const_byte_span_t* out_span) {
  uint8_t* data = NULL;
  IREE_RETURN_IF_ERROR(memory_take((memory_stream_t*)base, length, &data));
  *out_span = iree_make_const_byte_span(data, length);
  return iree_ok_status();
}

static iree_status_t memory_map_write(iree_io_stream_t* base, iree_host_size_t length, iree_byte_span_t* out_span) {
  uint8_t* data = NULL;
  IREE_RETURN_IF_ERROR(memory_take((memory_stream_t*)base, length, &data));
  *out_span = iree_make_byte_span(data, length);
  return iree_ok_status();
}

static const iree_io_stream_vtable_t memory_vtable = {
    .destroy = memory_destroy,
    .offset = memory_offset,
    .length = memory_length,
    .seek = memory_seek,
    .read = memory_read,
    .write = memory_write,
    .map_read = memory_map_read,
    .map_write = memory_map_write,
};

iree_status_t iree_io_memory_stream_wrap(iree_io_stream_mode_t mode, iree_byte_span_t contents,
                                         iree_io_memory_stream_release_callback_t release_callback,
                                         iree_allocator_t host_allocator, iree_io_stream_t** out_stream) {
  *out_stream = NULL;
  memory_stream_t* stream = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*stream), (void**)&stream));
  iree_atomic_ref_count_init(&stream->base.ref_count);
  stream->base.vtable = &memory_vtable;
  stream->base.mode = mode;
  stream->host_allocator = host_allocator;
  stream->contents = contents;
  stream->release_callback = release_callback;
  *out_stream = &stream->base;
  return iree_ok_status();
}
