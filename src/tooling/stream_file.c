// See stream_file.h.
#include "tooling/stream_file.h"

#include <errno.h>

static bool failed(stream_file_t* file, iree_status_t status) {
  if (iree_status_is_ok(status)) return false;
  if (iree_status_is_ok(file->status)) {
    file->status = status;
  } else {
    iree_status_ignore(status);
  }
  errno = EIO;
  return true;
}

static ssize_t read_stream(void* cookie, char* buffer, size_t size) {
  stream_file_t* file = cookie;
  iree_host_size_t length = 0;
  return failed(file, iree_io_stream_read(file->stream, size, buffer, &length)) ? -1 : (ssize_t)length;
}

static ssize_t write_stream(void* cookie, const char* buffer, size_t size) {
  stream_file_t* file = cookie;
  return failed(file, iree_io_stream_write(file->stream, size, buffer)) ? 0 : (ssize_t)size;
}

static int seek_stream(void* cookie, off64_t* offset, int whence) {
  stream_file_t* file = cookie;
  iree_io_stream_seek_mode_t mode = whence == SEEK_SET   ? IREE_IO_STREAM_SEEK_SET
                                    : whence == SEEK_CUR ? IREE_IO_STREAM_SEEK_FROM_CURRENT
                                                         : IREE_IO_STREAM_SEEK_FROM_END;
  bool in_place = whence == SEEK_CUR && *offset == 0;
  if (!in_place && !(iree_io_stream_mode(file->stream) & IREE_IO_STREAM_MODE_SEEKABLE)) return -1;
  if (!in_place && failed(file, iree_io_stream_seek(file->stream, mode, *offset))) return -1;
  *offset = iree_io_stream_offset(file->stream);
  return 0;
}

iree_status_t stream_file_open(iree_io_stream_t* stream, stream_file_t* out_file) {
  iree_io_stream_mode_t mode = iree_io_stream_mode(stream);
  bool writes = mode & IREE_IO_STREAM_MODE_WRITABLE, reads = mode & IREE_IO_STREAM_MODE_READABLE;
  cookie_io_functions_t functions = {.read = read_stream, .write = write_stream, .seek = seek_stream};
  *out_file = (stream_file_t){.stream = stream};
  out_file->file = fopencookie(out_file, !writes ? "r" : reads ? "r+" : "w", functions);
  if (!out_file->file) return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "opening a stream failed");
  setvbuf(out_file->file, NULL, _IONBF, 0);
  return iree_ok_status();
}

iree_status_t stream_file_close(stream_file_t* file, iree_status_t status) {
  fclose(file->file);
  if (iree_status_is_ok(file->status)) return status;
  iree_status_ignore(status);
  return file->status;
}
