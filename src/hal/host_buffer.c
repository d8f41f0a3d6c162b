// Calls of buffers in host memory.
#include "hal/host_buffer.h"

iree_status_t hal_host_buffer_map_range(iree_hal_buffer_t* base, iree_hal_mapping_mode_t mapping_mode,
                                        iree_hal_memory_access_t memory_access, iree_device_size_t local_byte_offset,
                                        iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping) {
  mapping->contents = iree_make_byte_span(((hal_host_buffer_t*)base)->data + local_byte_offset, local_byte_length);
  return iree_ok_status();
}

iree_status_t hal_host_buffer_unmap_range(iree_hal_buffer_t* base, iree_device_size_t local_byte_offset,
                                          iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping) {
  return iree_ok_status();
}

iree_status_t hal_host_buffer_sync_range(iree_hal_buffer_t* base, iree_device_size_t local_byte_offset,
                                         iree_device_size_t local_byte_length) {
  return iree_ok_status();  // coherent
}
