// Blocking copies between host memory and device buffers. Convenient, and slow next to queue operations: each call
// waits. Data that is in use by the device must have been waited for before. Any thread.
#ifndef IREE_HAL_BUFFER_TRANSFER_H_
#define IREE_HAL_BUFFER_TRANSFER_H_

#include "iree/base/api.h"
#include "iree/hal/buffer.h"
#include "iree/hal/device.h"

#ifdef __cplusplus
extern "C" {
#endif

// One end of a copy: host memory or a device buffer.
typedef struct iree_hal_transfer_buffer_t {
  iree_byte_span_t host_buffer;
  iree_hal_buffer_t* device_buffer;  // NULL for host memory
} iree_hal_transfer_buffer_t;
static inline iree_hal_transfer_buffer_t iree_hal_make_host_transfer_buffer(iree_byte_span_t host_buffer) {
  iree_hal_transfer_buffer_t v = {host_buffer, NULL};
  return v;
}
static inline iree_hal_transfer_buffer_t iree_hal_make_host_transfer_buffer_span(void* ptr, iree_host_size_t length) {
  return iree_hal_make_host_transfer_buffer(iree_make_byte_span(ptr, length));
}
static inline iree_hal_transfer_buffer_t iree_hal_make_device_transfer_buffer(iree_hal_buffer_t* device_buffer) {
  iree_hal_transfer_buffer_t v = {{NULL, 0}, device_buffer};
  return v;
}

// Copies `data_length` bytes (IREE_HAL_WHOLE_BUFFER: what is left of the source, or of the target if shorter) and
// waits up to `timeout`. Errors: OUT_OF_RANGE, PERMISSION_DENIED, DEADLINE_EXCEEDED, device failures.
IREE_API_EXPORT iree_status_t iree_hal_device_transfer_range(
    iree_hal_device_t* device, iree_hal_transfer_buffer_t source, iree_device_size_t source_offset,
    iree_hal_transfer_buffer_t target, iree_device_size_t target_offset, iree_device_size_t data_length,
    iree_hal_transfer_buffer_flags_t flags, iree_timeout_t timeout);
IREE_API_EXPORT iree_status_t iree_hal_device_transfer_h2d(iree_hal_device_t* device, const void* source,
                                                           iree_hal_buffer_t* target, iree_device_size_t target_offset,
                                                           iree_device_size_t data_length,
                                                           iree_hal_transfer_buffer_flags_t flags,
                                                           iree_timeout_t timeout);
IREE_API_EXPORT iree_status_t iree_hal_device_transfer_d2h(iree_hal_device_t* device, iree_hal_buffer_t* source,
                                                           iree_device_size_t source_offset, void* target,
                                                           iree_device_size_t data_length,
                                                           iree_hal_transfer_buffer_flags_t flags,
                                                           iree_timeout_t timeout);
IREE_API_EXPORT iree_status_t iree_hal_device_transfer_d2d(iree_hal_device_t* device, iree_hal_buffer_t* source,
                                                           iree_device_size_t source_offset, iree_hal_buffer_t* target,
                                                           iree_device_size_t target_offset,
                                                           iree_device_size_t data_length,
                                                           iree_hal_transfer_buffer_flags_t flags,
                                                           iree_timeout_t timeout);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_BUFFER_TRANSFER_H_
