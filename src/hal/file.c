// Files for queue reads and writes: memory, or a descriptor through pread and pwrite.
#include "iree/hal/file.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hal/detail.h"
#include "iree/hal/device.h"

struct iree_hal_file_t {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  iree_hal_memory_access_t access;
  iree_io_file_handle_t* handle;
  uint64_t length;
  iree_hal_buffer_t* storage;  // memory that is aligned well enough to be a buffer, else NULL
};

HAL_DEFINE_LIFETIME(file)

static void file_free(iree_hal_resource_t* resource) {
  iree_hal_file_t* file = (iree_hal_file_t*)resource;
  iree_hal_buffer_release(file->storage);
  iree_io_file_handle_release(file->handle);
  iree_allocator_free(file->host_allocator, file);
}

static const iree_hal_resource_vtable_t file_vtable = {.destroy = file_free};

static void release_handle(void* user_data, iree_hal_buffer_t* buffer) {
  iree_io_file_handle_release((iree_io_file_handle_t*)user_data);
}

// Wraps a memory file's contents; the buffer keeps the handle alive by itself.
static iree_status_t wrap_storage(iree_hal_file_t* file, iree_byte_span_t contents) {
  if (!contents.data_length || !iree_host_ptr_has_alignment(contents.data, IREE_HAL_HEAP_BUFFER_ALIGNMENT)) {
    return iree_ok_status();
  }
  iree_hal_buffer_release_callback_t release = {release_handle, file->handle};
  IREE_RETURN_IF_ERROR(iree_hal_heap_buffer_wrap(
      iree_hal_buffer_placement_undefined(), IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
      file->access, IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING, contents.data_length, contents,
      release, file->host_allocator, &file->storage));
  iree_io_file_handle_retain(file->handle);
  return iree_ok_status();
}

static iree_status_t file_initialize(iree_hal_file_t* file) {
  iree_io_file_handle_primitive_value_t value = iree_io_file_handle_value(file->handle);
  if (iree_io_file_handle_type(file->handle) == IREE_IO_FILE_HANDLE_TYPE_HOST_ALLOCATION) {
    file->length = value.host_allocation.data_length;
    return wrap_storage(file, value.host_allocation);
  }
  struct stat info;
  if (fstat(value.fd, &info) != 0) {
    return iree_make_status(iree_status_code_from_errno(errno), "querying a file's size failed (%d)", errno);
  }
  file->length = (uint64_t)info.st_size;
  return iree_ok_status();
}

iree_status_t iree_hal_file_from_handle(iree_hal_memory_access_t access, iree_io_file_handle_t* handle,
                                        iree_allocator_t host_allocator, iree_hal_file_t** out_file) {
  *out_file = NULL;
  iree_io_file_access_t allowed = iree_io_file_handle_access(handle);
  if ((access & IREE_HAL_MEMORY_ACCESS_READ && !(allowed & IREE_IO_FILE_ACCESS_READ)) ||
      (access & IREE_HAL_MEMORY_ACCESS_WRITE && !(allowed & IREE_IO_FILE_ACCESS_WRITE))) {
    return iree_make_status(IREE_STATUS_PERMISSION_DENIED, "the file handle does not allow the requested access");
  }
  iree_hal_file_t* file = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*file), (void**)&file));
  iree_hal_resource_initialize(&file_vtable, &file->resource);
  file->host_allocator = host_allocator;
  file->access = access;
  file->handle = handle;
  iree_io_file_handle_retain(handle);
  iree_status_t status = file_initialize(file);
  if (!iree_status_is_ok(status)) {
    iree_hal_file_release(file);
    return status;
  }
  *out_file = file;
  return iree_ok_status();
}

iree_status_t iree_hal_file_import(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                   iree_hal_memory_access_t access, iree_io_file_handle_t* handle,
                                   iree_hal_external_file_flags_t flags, iree_hal_file_t** out_file) {
  *out_file = NULL;
  return HAL_CALL(device, iree_hal_device, import_file)(device, queue_affinity, access, handle, flags, out_file);
}

iree_hal_memory_access_t iree_hal_file_allowed_access(iree_hal_file_t* file) { return file->access; }
uint64_t iree_hal_file_length(iree_hal_file_t* file) { return file->length; }
iree_hal_buffer_t* iree_hal_file_storage_buffer(iree_hal_file_t* file) { return file->storage; }
bool iree_hal_file_supports_synchronous_io(iree_hal_file_t* file) { return true; }

iree_status_t iree_hal_file_validate_access(iree_hal_file_t* file, iree_hal_memory_access_t required_access) {
  if (iree_all_bits_set(file->access, required_access)) return iree_ok_status();
  iree_bitfield_string_temp_t allowed, required;
  iree_hal_memory_access_format(file->access, &allowed);
  iree_hal_memory_access_format(required_access, &required);
  return iree_make_status(IREE_STATUS_PERMISSION_DENIED, "file allows %s, operation requires %s", allowed.buffer,
                          required.buffer);
}

//===----------------------------------------------------------------------------------------------------------------===
// Copies
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t transfer_fd(int fd, bool is_read, uint64_t offset, iree_byte_span_t contents) {
  iree_host_size_t done = 0;
  while (done < contents.data_length) {
    void* data = contents.data + done;
    iree_host_size_t left = contents.data_length - done;
    ssize_t count =
        is_read ? pread(fd, data, left, (off_t)(offset + done)) : pwrite(fd, data, left, (off_t)(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return iree_make_status(iree_status_code_from_errno(errno), "file %s failed (%d)", is_read ? "read" : "write",
                              errno);
    }
    if (count == 0) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "the file ended early");
    done += (iree_host_size_t)count;
  }
  return iree_ok_status();
}

static iree_status_t transfer(iree_hal_file_t* file, bool is_read, uint64_t offset, iree_byte_span_t contents) {
  iree_io_file_handle_primitive_value_t value = iree_io_file_handle_value(file->handle);
  if (iree_io_file_handle_type(file->handle) == IREE_IO_FILE_HANDLE_TYPE_FD) {
    return transfer_fd(value.fd, is_read, offset, contents);
  }
  uint8_t* memory = value.host_allocation.data + offset;
  memcpy(is_read ? contents.data : memory, is_read ? memory : contents.data, contents.data_length);
  return iree_ok_status();
}

static iree_status_t transfer_range(iree_hal_file_t* file, bool is_read, uint64_t file_offset,
                                    iree_hal_buffer_t* buffer, iree_device_size_t buffer_offset,
                                    iree_device_size_t length) {
  if (length == 0) return iree_ok_status();
  IREE_RETURN_IF_ERROR(
      iree_hal_file_validate_access(file, is_read ? IREE_HAL_MEMORY_ACCESS_READ : IREE_HAL_MEMORY_ACCESS_WRITE));
  bool may_grow = !is_read && iree_io_file_handle_type(file->handle) == IREE_IO_FILE_HANDLE_TYPE_FD;
  if (!may_grow && (file_offset > file->length || length > file->length - file_offset)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "range at %" PRIu64 " of %" PRIdsz " bytes is outside of the file's %" PRIu64 " bytes",
                            file_offset, length, file->length);
  }
  iree_hal_buffer_mapping_t mapping;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_map_range(
      buffer, IREE_HAL_MAPPING_MODE_SCOPED,
      is_read ? IREE_HAL_MEMORY_ACCESS_DISCARD_WRITE : IREE_HAL_MEMORY_ACCESS_READ, buffer_offset, length, &mapping));
  iree_status_t status = transfer(file, is_read, file_offset, mapping.contents);
  if (is_read && iree_status_is_ok(status)) {
    status = iree_hal_buffer_mapping_flush_range(&mapping, 0, IREE_HAL_WHOLE_BUFFER);
  }
  return iree_status_join(status, iree_hal_buffer_unmap_range(&mapping));
}

iree_status_t iree_hal_file_read(iree_hal_file_t* file, uint64_t file_offset, iree_hal_buffer_t* buffer,
                                 iree_device_size_t buffer_offset, iree_device_size_t length) {
  return transfer_range(file, /*is_read=*/true, file_offset, buffer, buffer_offset, length);
}

iree_status_t iree_hal_file_write(iree_hal_file_t* file, uint64_t file_offset, iree_hal_buffer_t* buffer,
                                  iree_device_size_t buffer_offset, iree_device_size_t length) {
  return transfer_range(file, /*is_read=*/false, file_offset, buffer, buffer_offset, length);
}
