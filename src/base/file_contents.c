// Whole files in memory.
#include "iree/io/file_contents.h"

#include <errno.h>
#include <stdio.h>

#include "base/whole_file.h"

#define READ_ALIGNMENT 64  // of the first byte: what modules want

void iree_io_file_contents_free(iree_io_file_contents_t* contents) {
  if (!contents) return;
  if (contents->mapping) {
    iree_io_file_mapping_release(contents->mapping);
  } else {
    iree_allocator_free_aligned(contents->allocator, contents->buffer.data);
  }
  iree_allocator_free(contents->allocator, contents);
}

static iree_status_t deallocator_ctl(void* self, iree_allocator_command_t command, const void* params,
                                     void** inout_ptr) {
  if (command != IREE_ALLOCATOR_COMMAND_FREE) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "this allocator only frees");
  }
  iree_io_file_contents_free((iree_io_file_contents_t*)self);
  return iree_ok_status();
}

iree_allocator_t iree_io_file_contents_deallocator(iree_io_file_contents_t* contents) {
  iree_allocator_t allocator = {contents, deallocator_ctl};
  return allocator;
}

// Moves the bytes read so far into a block of `capacity`.
static iree_status_t contents_grow(iree_io_file_contents_t* contents, iree_host_size_t capacity) {
  void* block = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_aligned(contents->allocator, capacity + 1, READ_ALIGNMENT, 0, &block));
  if (contents->buffer.data_length) memcpy(block, contents->buffer.data, contents->buffer.data_length);
  iree_allocator_free_aligned(contents->allocator, contents->buffer.data);
  contents->buffer.data = (uint8_t*)block;
  return iree_ok_status();
}

static iree_status_t read_stream(FILE* file, iree_host_size_t capacity, iree_io_file_contents_t* contents) {
  for (;;) {
    IREE_RETURN_IF_ERROR(contents_grow(contents, capacity));
    size_t room = capacity - contents->buffer.data_length;
    size_t got = fread(contents->buffer.data + contents->buffer.data_length, 1, room, file);
    contents->buffer.data_length += got;
    contents->buffer.data[contents->buffer.data_length] = 0;
    if (ferror(file))
      return iree_make_status(iree_status_code_from_errno(errno), "reading failed: %s", strerror(errno));
    if (got < room) return iree_ok_status();
    capacity *= 2;
  }
}

static iree_status_t contents_from_stream(FILE* file, iree_host_size_t size_hint, iree_allocator_t host_allocator,
                                          iree_io_file_contents_t** out_contents) {
  *out_contents = NULL;
  iree_io_file_contents_t* contents = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*contents), (void**)&contents));
  contents->allocator = host_allocator;
  iree_status_t status = read_stream(file, size_hint + 1, contents);
  if (!iree_status_is_ok(status)) {
    iree_io_file_contents_free(contents);
    return status;
  }
  *out_contents = contents;
  return iree_ok_status();
}

iree_status_t iree_io_file_contents_read_stdin(iree_allocator_t host_allocator,
                                               iree_io_file_contents_t** out_contents) {
  return contents_from_stream(stdin, 64 * 1024, host_allocator, out_contents);
}

static iree_status_t path_text(iree_string_view_t path, char text[IREE_MAX_PATH + 1]) {
  if (path.size > IREE_MAX_PATH) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "path of %" PRIhsz " bytes is too long", path.size);
  }
  iree_string_view_to_cstring(path, text, IREE_MAX_PATH + 1);
  return iree_ok_status();
}

static iree_status_t open_error(const char* path) {
  return iree_make_status(iree_status_code_from_errno(errno), "failed to open file '%s': %s", path, strerror(errno));
}

static iree_status_t open_stream(iree_string_view_t path, const char* mode, FILE** out_file) {
  char text[IREE_MAX_PATH + 1];
  IREE_RETURN_IF_ERROR(path_text(path, text));
  *out_file = fopen(text, mode);
  return *out_file ? iree_ok_status() : open_error(text);
}

iree_status_t iree_io_file_contents_read(iree_string_view_t path, iree_allocator_t host_allocator,
                                         iree_io_file_contents_t** out_contents) {
  *out_contents = NULL;
  FILE* file = NULL;
  IREE_RETURN_IF_ERROR(open_stream(path, "rbe", &file));
  // Pipes have no size; they are read until they end.
  iree_host_size_t size_hint = 64 * 1024;
  if (fseeko(file, 0, SEEK_END) == 0) {
    off_t size = ftello(file);
    if (size >= 0) size_hint = (iree_host_size_t)size;
    rewind(file);
  }
  iree_status_t status = size_hint >= INT64_MAX ? iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "is a directory")
                                                : contents_from_stream(file, size_hint, host_allocator, out_contents);
  fclose(file);
  return iree_status_is_ok(status) ? status
                                   : iree_status_annotate_f(status, "reading file '%.*s'", (int)path.size, path.data);
}

iree_status_t iree_io_file_contents_map(iree_string_view_t path, iree_io_file_access_t access,
                                        iree_allocator_t host_allocator, iree_io_file_contents_t** out_contents) {
  *out_contents = NULL;
  iree_io_file_mode_t mode = IREE_IO_FILE_MODE_READ;
  if (access & IREE_IO_FILE_ACCESS_WRITE) mode |= IREE_IO_FILE_MODE_WRITE;
  iree_io_file_handle_t* handle = NULL;
  IREE_RETURN_IF_ERROR(iree_io_file_handle_open(mode, path, host_allocator, &handle));
  iree_io_file_mapping_t* mapping = NULL;
  iree_status_t status = iree_io_file_map_view(handle, access, 0, IREE_HOST_SIZE_MAX, IREE_IO_FILE_MAPPING_FLAG_NONE,
                                               host_allocator, &mapping);
  iree_io_file_handle_release(handle);
  IREE_RETURN_IF_ERROR(status, "mapping file '%.*s'", (int)path.size, path.data);
  iree_io_file_contents_t* contents = NULL;
  status = iree_allocator_malloc(host_allocator, sizeof(*contents), (void**)&contents);
  if (!iree_status_is_ok(status)) {
    iree_io_file_mapping_release(mapping);
    return status;
  }
  contents->allocator = host_allocator;
  contents->const_buffer = iree_io_file_mapping_contents_ro(mapping);
  contents->mapping = mapping;
  *out_contents = contents;
  return iree_ok_status();
}

iree_status_t iree_io_file_contents_write(iree_string_view_t path, iree_const_byte_span_t contents,
                                          iree_allocator_t host_allocator) {
  char text[IREE_MAX_PATH + 1];
  whole_file_t file;
  IREE_RETURN_IF_ERROR(path_text(path, text));
  if (!whole_file_open(text, &file)) return open_error(text);
  bool written = fwrite(contents.data, 1, contents.data_length, file.file) == contents.data_length;
  if (whole_file_close(&file, written)) return iree_ok_status();
  return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "writing file '%s' failed: %s", text, strerror(errno));
}
