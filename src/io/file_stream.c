// Streams over file handles: memory as such, descriptors by a duplicate that has a position of its own.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iree/io/file_handle.h"
#include "iree/io/memory_stream.h"

typedef struct file_stream_t {
  iree_io_stream_t base;
  iree_allocator_t host_allocator;
  iree_io_file_handle_t* handle;
  uint64_t start, offset;  // in the file; from the start
} file_stream_t;

static int fd_of(const file_stream_t* stream) { return iree_io_file_handle_value(stream->handle).fd; }

static void file_destroy(iree_io_stream_t* IREE_RESTRICT base) {
  file_stream_t* stream = (file_stream_t*)base;
  iree_io_file_handle_release(stream->handle);
  iree_allocator_free(stream->host_allocator, stream);
}

static iree_io_stream_pos_t file_offset(iree_io_stream_t* base) {
  return (iree_io_stream_pos_t)((file_stream_t*)base)->offset;
}

static iree_io_stream_pos_t file_length(iree_io_stream_t* base) {
  file_stream_t* stream = (file_stream_t*)base;
  struct stat info;
  if (fstat(fd_of(stream), &info) != 0 || (uint64_t)info.st_size < stream->start) return 0;
  return info.st_size - (iree_io_stream_pos_t)stream->start;
}

static iree_status_t file_seek(iree_io_stream_t* base, iree_io_stream_seek_mode_t seek_mode,
                               iree_io_stream_pos_t seek_offset) {
  file_stream_t* stream = (file_stream_t*)base;
  iree_io_stream_pos_t length = file_length(base), origin = 0;
  if (seek_mode == IREE_IO_STREAM_SEEK_FROM_CURRENT) origin = file_offset(base);
  if (seek_mode == IREE_IO_STREAM_SEEK_FROM_END) origin = length;
  bool beyond = seek_offset > length - origin;
  if (seek_offset < -origin || (beyond && !(base->mode & IREE_IO_STREAM_MODE_WRITABLE))) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "a file of %" PRId64 " bytes has no position %" PRId64, length,
                            seek_offset);
  }
  stream->offset = (uint64_t)(origin + seek_offset);
  return iree_ok_status();
}

static iree_status_t file_read(iree_io_stream_t* base, iree_host_size_t buffer_capacity, void* buffer,
                               iree_host_size_t* out_buffer_length) {
  file_stream_t* stream = (file_stream_t*)base;
  for (iree_host_size_t done = 0; done < buffer_capacity;) {
    ssize_t got =
        pread(fd_of(stream), (uint8_t*)buffer + done, buffer_capacity - done, (off_t)(stream->start + stream->offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return iree_make_status(iree_status_code_from_errno(errno), "reading failed: %s", strerror(errno));
    if (got == 0) break;
    done += (iree_host_size_t)got;
    stream->offset += (uint64_t)got;
    *out_buffer_length = done;
  }
  return iree_ok_status();
}

static iree_status_t file_write(iree_io_stream_t* base, iree_host_size_t buffer_length, const void* buffer) {
  file_stream_t* stream = (file_stream_t*)base;
  for (iree_host_size_t done = 0; done < buffer_length;) {
    ssize_t put = pwrite(fd_of(stream), (const uint8_t*)buffer + done, buffer_length - done,
                         (off_t)(stream->start + stream->offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return iree_make_status(iree_status_code_from_errno(errno), "writing failed: %s", strerror(errno));
    done += (iree_host_size_t)put;
    stream->offset += (uint64_t)put;
  }
  return iree_ok_status();
}

static const iree_io_stream_vtable_t file_vtable = {
    .destroy = file_destroy,
    .offset = file_offset,
    .length = file_length,
    .seek = file_seek,
    .read = file_read,
    .write = file_write,
};

static void release_handle(void* user_data, iree_io_stream_t* stream) { iree_io_file_handle_release(user_data); }

static iree_status_t open_memory(iree_io_stream_mode_t mode, iree_io_file_handle_t* handle, uint64_t offset,
                                 iree_allocator_t host_allocator, iree_io_stream_t** out_stream) {
  iree_byte_span_t contents = iree_io_file_handle_value(handle).host_allocation;
  if (offset > contents.data_length) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "a file of %" PRIhsz " bytes has no position %" PRIu64,
                            contents.data_length, offset);
  }
  iree_io_memory_stream_release_callback_t release = {release_handle, handle};
  contents = iree_make_byte_span(contents.data + offset, contents.data_length - (iree_host_size_t)offset);
  IREE_RETURN_IF_ERROR(iree_io_memory_stream_wrap(mode, contents, release, host_allocator, out_stream));
  iree_io_file_handle_retain(handle);
  return iree_ok_status();
}

iree_status_t iree_io_stream_open(iree_io_stream_mode_t mode, iree_io_file_handle_t* file_handle, uint64_t file_offset,
                                  iree_allocator_t host_allocator, iree_io_stream_t** out_stream) {
  *out_stream = NULL;
  iree_io_file_access_t access = iree_io_file_handle_access(file_handle);
  if (((mode & IREE_IO_STREAM_MODE_READABLE) && !(access & IREE_IO_FILE_ACCESS_READ)) ||
      ((mode & IREE_IO_STREAM_MODE_WRITABLE) && !(access & IREE_IO_FILE_ACCESS_WRITE))) {
    return iree_make_status(IREE_STATUS_PERMISSION_DENIED, "the file was not opened for this access");
  }
  mode |= IREE_IO_STREAM_MODE_SEEKABLE;
  if (iree_io_file_handle_type(file_handle) == IREE_IO_FILE_HANDLE_TYPE_HOST_ALLOCATION) {
    return open_memory(mode | IREE_IO_STREAM_MODE_MAPPABLE, file_handle, file_offset, host_allocator, out_stream);
  }
  if (file_offset > INT64_MAX) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "no file has this position");
  file_stream_t* stream = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*stream), (void**)&stream));
  iree_atomic_ref_count_init(&stream->base.ref_count);
  stream->base.vtable = &file_vtable;
  stream->base.mode = mode;
  stream->host_allocator = host_allocator;
  stream->handle = file_handle;
  stream->start = file_offset;
  iree_io_file_handle_retain(file_handle);
  *out_stream = &stream->base;
  return iree_ok_status();
}

iree_status_t iree_io_stream_write_file(iree_io_stream_t* stream, iree_io_file_handle_t* source_file_handle,
                                        uint64_t source_file_offset, iree_host_size_t length,
                                        iree_allocator_t host_allocator) {
  iree_io_stream_t* source = NULL;
  IREE_RETURN_IF_ERROR(iree_io_stream_open(IREE_IO_STREAM_MODE_READABLE, source_file_handle, source_file_offset,
                                           host_allocator, &source));
  iree_status_t status = iree_io_stream_copy(source, stream, (iree_io_stream_pos_t)length);
  iree_io_stream_release(source);
  return status;
}
