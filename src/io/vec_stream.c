// Streams in memory that grow: an array of blocks, of which each but the last is full.
#include "iree/io/vec_stream.h"

typedef struct vec_stream_t {
  iree_io_stream_t base;
  iree_allocator_t host_allocator;
  iree_host_size_t block_size, block_count, block_capacity;
  uint8_t** blocks;
  uint64_t offset, length;
} vec_stream_t;

static void vec_destroy(iree_io_stream_t* IREE_RESTRICT base) {
  vec_stream_t* stream = (vec_stream_t*)base;
  for (iree_host_size_t i = 0; i < stream->block_count; ++i) {
    iree_allocator_free(stream->host_allocator, stream->blocks[i]);
  }
  iree_allocator_free(stream->host_allocator, stream->blocks);
  iree_allocator_free(stream->host_allocator, stream);
}

static iree_io_stream_pos_t vec_offset(iree_io_stream_t* base) {
  return (iree_io_stream_pos_t)((vec_stream_t*)base)->offset;
}
static iree_io_stream_pos_t vec_length(iree_io_stream_t* base) {
  return (iree_io_stream_pos_t)((vec_stream_t*)base)->length;
}

// Makes blocks (of zeros) for `length` bytes.
static iree_status_t vec_reserve(vec_stream_t* stream, uint64_t length) {
  if (length > INT64_MAX) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "the stream would be too long");
  while (stream->block_count * (uint64_t)stream->block_size < length) {
    if (stream->block_count == stream->block_capacity) {
      IREE_RETURN_IF_ERROR(iree_allocator_grow_array(stream->host_allocator, stream->block_count + 1,
                                                     sizeof(*stream->blocks), &stream->block_capacity,
                                                     (void**)&stream->blocks));
    }
    IREE_RETURN_IF_ERROR(iree_allocator_malloc(stream->host_allocator, stream->block_size,
                                               (void**)&stream->blocks[stream->block_count]));
    ++stream->block_count;
  }
  return iree_ok_status();
}

// The piece of the block at the position, of at most `length` bytes; the position moves behind it.
static iree_byte_span_t vec_take(vec_stream_t* stream, uint64_t length) {
  iree_host_size_t in_block = (iree_host_size_t)(stream->offset % stream->block_size);
  uint8_t* block = stream->blocks[stream->offset / stream->block_size];
  iree_host_size_t size = (iree_host_size_t)iree_min(length, stream->block_size - in_block);
  stream->offset += size;
  return iree_make_byte_span(block + in_block, size);
}

static iree_status_t vec_seek(iree_io_stream_t* base, iree_io_stream_seek_mode_t seek_mode,
                              iree_io_stream_pos_t seek_offset) {
  vec_stream_t* stream = (vec_stream_t*)base;
  uint64_t origin = 0;
  if (seek_mode == IREE_IO_STREAM_SEEK_FROM_CURRENT) origin = stream->offset;
  if (seek_mode == IREE_IO_STREAM_SEEK_FROM_END) origin = stream->length;
  uint64_t target = origin + (uint64_t)seek_offset;
  bool grows = target > stream->length && target <= INT64_MAX;
  if (target > INT64_MAX || (grows && !(base->mode & IREE_IO_STREAM_MODE_WRITABLE))) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "a stream of %" PRIu64 " bytes has no position %" PRId64,
                            stream->length, seek_offset);
  }
  if (grows) {
    IREE_RETURN_IF_ERROR(vec_reserve(stream, target));
    stream->length = target;
  }
  stream->offset = target;
  return iree_ok_status();
}

static iree_status_t vec_read(iree_io_stream_t* base, iree_host_size_t buffer_capacity, void* buffer,
                              iree_host_size_t* out_buffer_length) {
  vec_stream_t* stream = (vec_stream_t*)base;
  uint64_t length = iree_min((uint64_t)buffer_capacity, stream->length - stream->offset);
  *out_buffer_length = (iree_host_size_t)length;
  for (uint8_t* at = buffer; length > 0;) {
    iree_byte_span_t piece = vec_take(stream, length);
    memcpy(at, piece.data, piece.data_length);
    at += piece.data_length;
    length -= piece.data_length;
  }
  return iree_ok_status();
}

static iree_status_t vec_write(iree_io_stream_t* base, iree_host_size_t buffer_length, const void* buffer) {
  vec_stream_t* stream = (vec_stream_t*)base;
  if (buffer_length > UINT64_MAX - stream->offset) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "the stream would be too long");
  }
  IREE_RETURN_IF_ERROR(vec_reserve(stream, stream->offset + buffer_length));
  for (const uint8_t* at = buffer; buffer_length > 0;) {
    iree_byte_span_t piece = vec_take(stream, buffer_length);
    memcpy(piece.data, at, piece.data_length);
    at += piece.data_length;
    buffer_length -= piece.data_length;
  }
  stream->length = iree_max(stream->length, stream->offset);
  return iree_ok_status();
}

static const iree_io_stream_vtable_t vec_vtable = {
    .destroy = vec_destroy,
    .offset = vec_offset,
    .length = vec_length,
    .seek = vec_seek,
    .read = vec_read,
    .write = vec_write,
};

iree_status_t iree_io_vec_stream_create(iree_io_stream_mode_t mode, iree_host_size_t block_size,
                                        iree_allocator_t host_allocator, iree_io_stream_t** out_stream) {
  *out_stream = NULL;
  if (!block_size || block_size > IREE_HOST_SIZE_MAX / 2) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "blocks of %" PRIhsz " bytes", block_size);
  }
  vec_stream_t* stream = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*stream), (void**)&stream));
  iree_atomic_ref_count_init(&stream->base.ref_count);
  stream->base.vtable = &vec_vtable;
  stream->base.mode = mode;
  stream->host_allocator = host_allocator;
  stream->block_size = iree_host_align(block_size, 16);
  *out_stream = &stream->base;
  return iree_ok_status();
}

iree_status_t iree_io_vec_stream_enumerate_blocks(iree_io_stream_t* base, iree_io_vec_stream_callback_fn_t callback,
                                                  void* user_data) {
  vec_stream_t* stream = (vec_stream_t*)base;
  if (base->vtable != &vec_vtable) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the stream has no blocks; iree_io_vec_stream_create's have");
  }
  uint64_t left = stream->length;
  for (iree_host_size_t i = 0; left > 0; ++i) {
    iree_host_size_t size = (iree_host_size_t)iree_min(left, stream->block_size);
    IREE_RETURN_IF_ERROR(callback(user_data, iree_make_const_byte_span(stream->blocks[i], size)));
    left -= size;
  }
  return iree_ok_status();
}
