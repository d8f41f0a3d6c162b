// Buffers that are memory of the host, which needs nothing to be mapped or made coherent.
#ifndef IREE_C_HAL_HOST_BUFFER_H_
#define IREE_C_HAL_HOST_BUFFER_H_

#include "iree/hal/buffer.h"

typedef struct hal_host_buffer_t {
  iree_hal_buffer_t base;
  uint8_t* data;
} hal_host_buffer_t;

// For the vtables of objects that begin with a hal_host_buffer_t.
iree_status_t hal_host_buffer_map_range(iree_hal_buffer_t* base, iree_hal_mapping_mode_t mapping_mode,
                                        iree_hal_memory_access_t memory_access, iree_device_size_t local_byte_offset,
                                        iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping);
iree_status_t hal_host_buffer_unmap_range(iree_hal_buffer_t* base, iree_device_size_t local_byte_offset,
                                          iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping);
iree_status_t hal_host_buffer_sync_range(iree_hal_buffer_t* base, iree_device_size_t local_byte_offset,
                                         iree_device_size_t local_byte_length);

#define HAL_HOST_BUFFER_CALLS                                                         \
  .map_range = hal_host_buffer_map_range, .unmap_range = hal_host_buffer_unmap_range, \
  .invalidate_range = hal_host_buffer_sync_range, .flush_range = hal_host_buffer_sync_range

#endif  // IREE_C_HAL_HOST_BUFFER_H_
