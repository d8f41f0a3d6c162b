// File handles and mappings over file descriptors and memory.
#include "iree/io/file_handle.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iree/base/internal/atomics.h"
#include "iree/io/file_contents.h"

struct iree_io_file_handle_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  iree_io_file_access_t access;
  iree_io_file_handle_primitive_t primitive;
  iree_io_file_handle_release_callback_t release_callback;
};

iree_status_t iree_io_file_handle_wrap(iree_io_file_access_t allowed_access, iree_io_file_mode_t mode,
                                       iree_io_file_handle_primitive_t handle_primitive,
                                       iree_io_file_handle_release_callback_t release_callback,
                                       iree_allocator_t host_allocator, iree_io_file_handle_t** out_handle) {
  *out_handle = NULL;
  iree_io_file_handle_t* handle = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*handle), (void**)&handle));
  iree_atomic_ref_count_init(&handle->ref_count);
  handle->host_allocator = host_allocator;
  handle->access = allowed_access;
  handle->primitive = handle_primitive;
  handle->release_callback = release_callback;
  *out_handle = handle;
  return iree_ok_status();
}

iree_status_t iree_io_file_handle_wrap_host_allocation(iree_io_file_access_t allowed_access,
                                                       iree_byte_span_t host_allocation,
                                                       iree_io_file_handle_release_callback_t release_callback,
                                                       iree_allocator_t host_allocator,
                                                       iree_io_file_handle_t** out_handle) {
  iree_io_file_handle_primitive_t primitive = {IREE_IO_FILE_HANDLE_TYPE_HOST_ALLOCATION,
                                               {.host_allocation = host_allocation}};
  return iree_io_file_handle_wrap(allowed_access, IREE_IO_FILE_MODE_NONE, primitive, release_callback, host_allocator,
                                  out_handle);
}

void iree_io_file_handle_retain(iree_io_file_handle_t* handle) {
  if (handle) iree_atomic_ref_count_inc(&handle->ref_count);
}

void iree_io_file_handle_release(iree_io_file_handle_t* handle) {
  if (!handle || iree_atomic_ref_count_dec(&handle->ref_count) != 1) return;
  if (handle->release_callback.fn) handle->release_callback.fn(handle->release_callback.user_data, handle->primitive);
  iree_allocator_free(handle->host_allocator, handle);
}

bool iree_io_file_handle_uses_async_io(const iree_io_file_handle_t* handle) { return false; }

iree_io_file_access_t iree_io_file_handle_access(const iree_io_file_handle_t* handle) { return handle->access; }

iree_io_file_handle_primitive_t iree_io_file_handle_primitive(const iree_io_file_handle_t* handle) {
  return handle->primitive;
}

iree_status_t iree_io_file_handle_flush(iree_io_file_handle_t* handle) {
  if (handle->primitive.type == IREE_IO_FILE_HANDLE_TYPE_FD && fsync(handle->primitive.value.fd) != 0) {
    return iree_make_status(iree_status_code_from_errno(errno), "flushing a file failed: %s", strerror(errno));
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Opening
//===----------------------------------------------------------------------------------------------------------------===

static void close_primitive(void* user_data, iree_io_file_handle_primitive_t primitive) { close(primitive.value.fd); }

static iree_status_t open_path(iree_string_view_t path, int flags, int* out_fd) {
  char text[IREE_MAX_PATH + 1];
  if (path.size > IREE_MAX_PATH) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "path of %" PRIhsz " bytes is too long", path.size);
  }
  iree_string_view_to_cstring(path, text, sizeof(text));
  *out_fd = open(text, flags | O_CLOEXEC, 0666);
  if (*out_fd >= 0) return iree_ok_status();
  return iree_make_status(iree_status_code_from_errno(errno), "failed to open file '%s': %s", text, strerror(errno));
}

static int open_flags(iree_io_file_mode_t mode) {
  bool reads = mode & IREE_IO_FILE_MODE_READ, writes = mode & IREE_IO_FILE_MODE_WRITE;
  return writes ? (reads ? O_RDWR : O_WRONLY) : O_RDONLY;
}

static iree_status_t wrap_fd(iree_io_file_mode_t mode, int fd, iree_allocator_t host_allocator,
                             iree_io_file_handle_t** out_handle) {
  iree_io_file_access_t access = 0;
  if (mode & IREE_IO_FILE_MODE_READ) access |= IREE_IO_FILE_ACCESS_READ;
  if (mode & IREE_IO_FILE_MODE_WRITE) access |= IREE_IO_FILE_ACCESS_WRITE;
  iree_io_file_handle_primitive_t primitive = {IREE_IO_FILE_HANDLE_TYPE_FD, {.fd = fd}};
  iree_io_file_handle_release_callback_t release = {close_primitive, NULL};
  iree_status_t status = iree_io_file_handle_wrap(access, mode, primitive, release, host_allocator, out_handle);
  if (!iree_status_is_ok(status)) close(fd);
  return status;
}

iree_status_t iree_io_file_handle_create(iree_io_file_mode_t mode, iree_string_view_t path, uint64_t initial_size,
                                         iree_allocator_t host_allocator, iree_io_file_handle_t** out_handle) {
  *out_handle = NULL;
  mode |= IREE_IO_FILE_MODE_WRITE;
  int fd = -1;
  int flags = O_RDWR | O_CREAT | (mode & IREE_IO_FILE_MODE_OVERWRITE ? O_TRUNC : O_EXCL);
  IREE_RETURN_IF_ERROR(open_path(path, flags, &fd));
  if (initial_size > INT64_MAX || ftruncate(fd, (off_t)initial_size) != 0) {
    close(fd);
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "sizing '%.*s' to %" PRIu64 " bytes failed", (int)path.size,
                            path.data, initial_size);
  }
  return wrap_fd(mode, fd, host_allocator, out_handle);
}

iree_status_t iree_io_file_handle_open(iree_io_file_mode_t mode, iree_string_view_t path,
                                       iree_allocator_t host_allocator, iree_io_file_handle_t** out_handle) {
  *out_handle = NULL;
  int fd = -1;
  IREE_RETURN_IF_ERROR(open_path(path, open_flags(mode), &fd));
  return wrap_fd(mode, fd, host_allocator, out_handle);
}

iree_status_t iree_io_file_handle_open_fd(iree_io_file_mode_t mode, int fd, iree_allocator_t host_allocator,
                                          iree_io_file_handle_t** out_handle) {
  *out_handle = NULL;
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy >= 0) return wrap_fd(mode, copy, host_allocator, out_handle);
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%d is no file descriptor: %s", fd, strerror(errno));
}

static void free_contents(void* user_data, iree_io_file_handle_primitive_t primitive) {
  iree_io_file_contents_free((iree_io_file_contents_t*)user_data);
}

iree_status_t iree_io_file_handle_preload(iree_io_file_mode_t mode, iree_string_view_t path,
                                          iree_allocator_t host_allocator, iree_io_file_handle_t** out_handle) {
  *out_handle = NULL;
  iree_io_file_contents_t* contents = NULL;
  IREE_RETURN_IF_ERROR(iree_io_file_contents_read(path, host_allocator, &contents));
  iree_io_file_access_t access = IREE_IO_FILE_ACCESS_READ;
  if (mode & IREE_IO_FILE_MODE_WRITE) access |= IREE_IO_FILE_ACCESS_WRITE;
  iree_io_file_handle_release_callback_t release = {free_contents, contents};
  iree_status_t status =
      iree_io_file_handle_wrap_host_allocation(access, contents->buffer, release, host_allocator, out_handle);
  if (!iree_status_is_ok(status)) iree_io_file_contents_free(contents);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Mappings
//===----------------------------------------------------------------------------------------------------------------===

struct iree_io_file_mapping_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  iree_io_file_handle_t* handle;
  bool writable;
  iree_byte_span_t contents;
  void* map_base;  // NULL for a handle on memory
  size_t map_size;
};

static iree_status_t map_fd(int fd, iree_io_file_access_t access, uint64_t offset, iree_io_file_mapping_flags_t flags,
                            iree_io_file_mapping_t* mapping) {
  uint64_t page_offset = offset % (uint64_t)sysconf(_SC_PAGESIZE);
  mapping->map_size = mapping->contents.data_length + page_offset;
  if (mapping->contents.data_length == 0) return iree_ok_status();
  int protection = PROT_READ | (access & IREE_IO_FILE_ACCESS_WRITE ? PROT_WRITE : 0);
  bool private_writes = flags & IREE_IO_FILE_MAPPING_FLAG_PRIVATE;
  void* base = mmap(NULL, mapping->map_size, protection, private_writes ? MAP_PRIVATE : MAP_SHARED, fd,
                    (off_t)(offset - page_offset));
  if (base == MAP_FAILED) {
    return iree_make_status(iree_status_code_from_errno(errno), "mapping %" PRIhsz " bytes of a file failed: %s",
                            mapping->contents.data_length, strerror(errno));
  }
  if (flags & IREE_IO_FILE_MAPPING_FLAG_SEQUENTIAL_ACCESS) madvise(base, mapping->map_size, MADV_SEQUENTIAL);
  if (flags & IREE_IO_FILE_MAPPING_FLAG_LARGE_PAGES) madvise(base, mapping->map_size, MADV_HUGEPAGE);
  if (flags & IREE_IO_FILE_MAPPING_FLAG_EXCLUDE_FROM_DUMPS) madvise(base, mapping->map_size, MADV_DONTDUMP);
  mapping->map_base = base;
  mapping->contents.data = (uint8_t*)base + page_offset;
  return iree_ok_status();
}

static iree_status_t handle_length(iree_io_file_handle_t* handle, uint64_t* out_length) {
  iree_io_file_handle_primitive_t primitive = handle->primitive;
  struct stat info;
  if (primitive.type == IREE_IO_FILE_HANDLE_TYPE_HOST_ALLOCATION) {
    *out_length = primitive.value.host_allocation.data_length;
  } else if (fstat(primitive.value.fd, &info) != 0) {
    return iree_make_status(iree_status_code_from_errno(errno), "querying a file's size failed: %s", strerror(errno));
  } else if (S_ISDIR(info.st_mode)) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "is a directory");
  } else {
    *out_length = (uint64_t)info.st_size;
  }
  return iree_ok_status();
}

static iree_status_t mapping_fill(iree_io_file_handle_t* handle, iree_io_file_access_t access, uint64_t offset,
                                  iree_host_size_t length, iree_io_file_mapping_flags_t flags,
                                  iree_io_file_mapping_t* mapping) {
  uint64_t file_length = 0;
  IREE_RETURN_IF_ERROR(handle_length(handle, &file_length));
  if (offset > file_length || (length != IREE_HOST_SIZE_MAX && length > file_length - offset)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "range at %" PRIu64 " of %" PRIhsz " bytes is outside of a file of %" PRIu64, offset,
                            length, file_length);
  }
  mapping->contents.data_length = length == IREE_HOST_SIZE_MAX ? (iree_host_size_t)(file_length - offset) : length;
  if (handle->primitive.type == IREE_IO_FILE_HANDLE_TYPE_FD) {
    return map_fd(handle->primitive.value.fd, access, offset, flags, mapping);
  }
  mapping->contents.data = handle->primitive.value.host_allocation.data + offset;
  return iree_ok_status();
}

iree_status_t iree_io_file_map_view(iree_io_file_handle_t* handle, iree_io_file_access_t access, uint64_t offset,
                                    iree_host_size_t length, iree_io_file_mapping_flags_t flags,
                                    iree_allocator_t host_allocator, iree_io_file_mapping_t** out_mapping) {
  *out_mapping = NULL;
  if (access & ~handle->access) {
    return iree_make_status(IREE_STATUS_PERMISSION_DENIED, "the file was not opened for this access");
  }
  iree_io_file_mapping_t* mapping = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*mapping), (void**)&mapping));
  iree_atomic_ref_count_init(&mapping->ref_count);
  mapping->host_allocator = host_allocator;
  mapping->handle = handle;
  iree_io_file_handle_retain(handle);
  mapping->writable = access & IREE_IO_FILE_ACCESS_WRITE;
  iree_status_t status = mapping_fill(handle, access, offset, length, flags, mapping);
  if (!iree_status_is_ok(status)) {
    iree_io_file_mapping_release(mapping);
    return status;
  }
  *out_mapping = mapping;
  return iree_ok_status();
}

void iree_io_file_mapping_retain(iree_io_file_mapping_t* mapping) {
  if (mapping) iree_atomic_ref_count_inc(&mapping->ref_count);
}

void iree_io_file_mapping_release(iree_io_file_mapping_t* mapping) {
  if (!mapping || iree_atomic_ref_count_dec(&mapping->ref_count) != 1) return;
  if (mapping->map_base) munmap(mapping->map_base, mapping->map_size);
  iree_io_file_handle_release(mapping->handle);
  iree_allocator_free(mapping->host_allocator, mapping);
}

iree_host_size_t iree_io_file_mapping_length(const iree_io_file_mapping_t* mapping) {
  return mapping->contents.data_length;
}

iree_const_byte_span_t iree_io_file_mapping_contents_ro(const iree_io_file_mapping_t* mapping) {
  return iree_const_cast_byte_span(mapping->contents);
}

iree_byte_span_t iree_io_file_mapping_contents_rw(iree_io_file_mapping_t* mapping) {
  return mapping->writable ? mapping->contents : iree_byte_span_empty();
}
