// Streams over FILE, which has the position.
#include "iree/io/stdio_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

typedef struct stdio_stream_t {
  iree_io_stream_t base;
  iree_allocator_t host_allocator;
  FILE* file;
  bool owns_file;
} stdio_stream_t;

static FILE* file_of(iree_io_stream_t* base) { return ((stdio_stream_t*)base)->file; }

static iree_status_t failed(const char* what) {
  int error = errno;
  return iree_make_status(error ? iree_status_code_from_errno(error) : IREE_STATUS_DATA_LOSS, "%s a file failed: %s",
                          what, strerror(error));
}

static void stdio_destroy(iree_io_stream_t* IREE_RESTRICT base) {
  stdio_stream_t* stream = (stdio_stream_t*)base;
  if (stream->owns_file) {
    fclose(stream->file);
  } else {
    fflush(stream->file);
  }
  iree_allocator_free(stream->host_allocator, stream);
}

static iree_io_stream_pos_t stdio_offset(iree_io_stream_t* base) {
  off_t offset = ftello(file_of(base));
  return offset < 0 ? 0 : offset;
}

static iree_io_stream_pos_t stdio_length(iree_io_stream_t* base) {
  FILE* file = file_of(base);
  off_t at = ftello(file), length = 0;
  if (at < 0 || fseeko(file, 0, SEEK_END) != 0) return 0;
  length = ftello(file);
  fseeko(file, at, SEEK_SET);
  return length < 0 ? 0 : length;
}

// What cannot be skipped is read.
static iree_status_t skip(iree_io_stream_t* base, iree_io_stream_pos_t count) {
  char block[4096];
  while (count > 0) {
    size_t got = fread(block, 1, (size_t)iree_min((uint64_t)count, sizeof(block)), file_of(base));
    if (!got) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "the file ends before the position");
    count -= (iree_io_stream_pos_t)got;
  }
  return iree_ok_status();
}

// Files that are written may grow.
static iree_status_t stdio_seek(iree_io_stream_t* base, iree_io_stream_seek_mode_t seek_mode,
                                iree_io_stream_pos_t seek_offset) {
  FILE* file = file_of(base);
  if (ftello(file) < 0 && seek_mode == IREE_IO_STREAM_SEEK_FROM_CURRENT) return skip(base, seek_offset);
  iree_io_stream_pos_t length = stdio_length(base), origin = 0;
  if (seek_mode == IREE_IO_STREAM_SEEK_FROM_CURRENT) origin = stdio_offset(base);
  if (seek_mode == IREE_IO_STREAM_SEEK_FROM_END) origin = length;
  bool beyond = seek_offset > length - origin;
  if (seek_offset < -origin || (beyond && !(base->mode & IREE_IO_STREAM_MODE_WRITABLE))) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "a file of %" PRId64 " bytes has no position %" PRId64, length,
                            seek_offset);
  }
  errno = 0;
  return fseeko(file, origin + seek_offset, SEEK_SET) == 0 ? iree_ok_status() : failed("moving in");
}

static iree_status_t stdio_read(iree_io_stream_t* base, iree_host_size_t buffer_capacity, void* buffer,
                                iree_host_size_t* out_buffer_length) {
  errno = 0;
  *out_buffer_length = fread(buffer, 1, buffer_capacity, file_of(base));
  return ferror(file_of(base)) ? failed("reading") : iree_ok_status();
}

static iree_status_t stdio_write(iree_io_stream_t* base, iree_host_size_t buffer_length, const void* buffer) {
  errno = 0;
  return fwrite(buffer, 1, buffer_length, file_of(base)) == buffer_length ? iree_ok_status() : failed("writing");
}

static const iree_io_stream_vtable_t stdio_vtable = {
    .destroy = stdio_destroy,
    .offset = stdio_offset,
    .length = stdio_length,
    .seek = stdio_seek,
    .read = stdio_read,
    .write = stdio_write,
};

iree_status_t iree_io_stdio_stream_wrap(iree_io_stream_mode_t mode, FILE* handle, bool owns_handle,
                                        iree_allocator_t host_allocator, iree_io_stream_t** out_stream) {
  *out_stream = NULL;
  stdio_stream_t* stream = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*stream), (void**)&stream));
  iree_atomic_ref_count_init(&stream->base.ref_count);
  stream->base.vtable = &stdio_vtable;
  stream->base.mode = mode;
  stream->host_allocator = host_allocator;
  stream->file = handle;
  stream->owns_file = owns_handle;
  *out_stream = &stream->base;
  return iree_ok_status();
}

// fopen's mode; NULL when there is none. "a" writes at the end whatever the position is, so that APPEND of an existing
// file is "r+" from its end.
static const char* open_mode(iree_io_stdio_stream_mode_t mode, bool exists) {
  bool read = mode & IREE_IO_STDIO_STREAM_MODE_READ, write = mode & IREE_IO_STDIO_STREAM_MODE_WRITE;
  bool discard = mode & IREE_IO_STDIO_STREAM_MODE_DISCARD, append = mode & IREE_IO_STDIO_STREAM_MODE_APPEND;
  if ((discard && append) || ((discard || append) && !write)) return NULL;
  if (discard || (append && !exists)) return read ? "w+be" : "wbe";
  if (write) return "r+be";
  return read ? "rbe" : NULL;
}

// A stream that closes the file at its end.
static iree_status_t wrap_opened(iree_io_stdio_stream_mode_t mode, FILE* file, iree_allocator_t host_allocator,
                                 iree_io_stream_t** out_stream) {
  if (mode & IREE_IO_STDIO_STREAM_MODE_APPEND) fseeko(file, 0, SEEK_END);
  iree_io_stream_mode_t access_mode = ftello(file) >= 0 ? IREE_IO_STREAM_MODE_SEEKABLE : 0;
  if (mode & IREE_IO_STDIO_STREAM_MODE_READ) access_mode |= IREE_IO_STREAM_MODE_READABLE;
  if (mode & IREE_IO_STDIO_STREAM_MODE_WRITE) {
    access_mode |= IREE_IO_STREAM_MODE_WRITABLE | IREE_IO_STREAM_MODE_RESIZABLE;
  }
  iree_status_t status = iree_io_stdio_stream_wrap(access_mode, file, /*owns_handle=*/true, host_allocator, out_stream);
  if (!iree_status_is_ok(status)) fclose(file);
  return status;
}

iree_status_t iree_io_stdio_stream_open(iree_io_stdio_stream_mode_t mode, iree_string_view_t path,
                                        iree_allocator_t host_allocator, iree_io_stream_t** out_stream) {
  *out_stream = NULL;
  char text[IREE_MAX_PATH + 1];
  if (path.size > IREE_MAX_PATH) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the path is too long");
  iree_string_view_to_cstring(path, text, sizeof(text));
  const char* how = open_mode(mode, access(text, F_OK) == 0);
  if (!how) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "0x%x is no way to open a file", mode);
  FILE* file = fopen(text, how);
  if (!file) {
    return iree_make_status(iree_status_code_from_errno(errno), "failed to open file '%s': %s", text, strerror(errno));
  }
  return wrap_opened(mode, file, host_allocator, out_stream);
}

iree_status_t iree_io_stdio_stream_open_fd(iree_io_stdio_stream_mode_t mode, int fd, iree_allocator_t host_allocator,
                                           iree_io_stream_t** out_stream) {
  *out_stream = NULL;
  const char* how = open_mode(mode, /*exists=*/true);
  if (!how) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "0x%x is no way to open a file", mode);
  how = open_mode(mode & ~IREE_IO_STDIO_STREAM_MODE_DISCARD, /*exists=*/true);
  int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  FILE* file = own >= 0 ? fdopen(own, how) : NULL;
  if (!file) {
    int error = errno;
    if (own >= 0) close(own);
    return iree_make_status(iree_status_code_from_errno(error), "failed to open descriptor %d: %s", fd,
                            strerror(error));
  }
  if ((mode & IREE_IO_STDIO_STREAM_MODE_DISCARD) && ftruncate(own, 0) != 0) {
    int error = errno;
    fclose(file);
    return iree_make_status(iree_status_code_from_errno(error), "failed to empty descriptor %d: %s", fd,
                            strerror(error));
  }
  return wrap_opened(mode, file, host_allocator, out_stream);
}
