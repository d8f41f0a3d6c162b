// Files for iree_hal_device_queue_read and _write. Thread safe.
#ifndef IREE_HAL_FILE_H_
#define IREE_HAL_FILE_H_

#include <stdbool.h>
#include <stdint.h>

#include "iree/base/api.h"
#include "iree/hal/buffer.h"
#include "iree/io/file_handle.h"

#ifdef __cplusplus
extern "C" {
#endif

enum iree_hal_external_file_flag_bits_t {
  IREE_HAL_EXTERNAL_FILE_FLAG_NONE = 0u,
};
typedef uint32_t iree_hal_external_file_flags_t;

typedef struct iree_hal_file_t iree_hal_file_t;

// A file for work on `device`, which keeps `handle` alive. Errors: PERMISSION_DENIED when the handle allows less than
// `access`.
IREE_API_EXPORT iree_status_t iree_hal_file_import(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                                   iree_hal_memory_access_t access, iree_io_file_handle_t* handle,
                                                   iree_hal_external_file_flags_t flags, iree_hal_file_t** out_file);
IREE_API_EXPORT void iree_hal_file_retain(iree_hal_file_t* file);
IREE_API_EXPORT void iree_hal_file_release(iree_hal_file_t* file);
IREE_API_EXPORT void iree_hal_file_destroy(iree_hal_file_t* file);

IREE_API_EXPORT iree_hal_memory_access_t iree_hal_file_allowed_access(iree_hal_file_t* file);
// Bytes.
IREE_API_EXPORT uint64_t iree_hal_file_length(iree_hal_file_t* file);
// The contents as a buffer, when the file is memory; else NULL. Not retained.
IREE_API_EXPORT iree_hal_buffer_t* iree_hal_file_storage_buffer(iree_hal_file_t* file);
// Whether iree_hal_file_read and _write take it: all files do.
IREE_API_EXPORT bool iree_hal_file_supports_synchronous_io(iree_hal_file_t* file);
// Errors: PERMISSION_DENIED.
IREE_API_EXPORT iree_status_t iree_hal_file_validate_access(iree_hal_file_t* file,
                                                            iree_hal_memory_access_t required_access);
// Blocking copies between the file and a mappable buffer. Errors: OUT_OF_RANGE, PERMISSION_DENIED, UNKNOWN and others
// from the system.
IREE_API_EXPORT iree_status_t iree_hal_file_read(iree_hal_file_t* file, uint64_t file_offset, iree_hal_buffer_t* buffer,
                                                 iree_device_size_t buffer_offset, iree_device_size_t length);
IREE_API_EXPORT iree_status_t iree_hal_file_write(iree_hal_file_t* file, uint64_t file_offset,
                                                  iree_hal_buffer_t* buffer, iree_device_size_t buffer_offset,
                                                  iree_device_size_t length);

// For drivers: a file over a handle, by memory or pread/pwrite.
IREE_API_EXPORT iree_status_t iree_hal_file_from_handle(iree_hal_memory_access_t access, iree_io_file_handle_t* handle,
                                                        iree_allocator_t host_allocator, iree_hal_file_t** out_file);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_FILE_H_
