// Virtual memory of the host, for allocators whose buffers are host memory: reservations are address ranges without
// access, physical memory is a file without a name, and mapping puts pages of one into the other.
#ifndef IREE_C_HAL_VIRTUAL_MEMORY_H_
#define IREE_C_HAL_VIRTUAL_MEMORY_H_

#include "iree/hal/allocator.h"

// The calls of iree_hal_allocator_vtable_t.
bool hal_host_supports_virtual_memory(iree_hal_allocator_t* allocator);
iree_status_t hal_host_virtual_memory_query_granularity(iree_hal_allocator_t* allocator,
                                                        const iree_hal_buffer_params_t* params,
                                                        iree_device_size_t* out_minimum_page_size,
                                                        iree_device_size_t* out_recommended_page_size);
iree_status_t hal_host_virtual_memory_reserve(iree_hal_allocator_t* allocator, iree_hal_queue_affinity_t queue_affinity,
                                              iree_device_size_t size, iree_hal_buffer_t** out_virtual_buffer);
iree_status_t hal_host_virtual_memory_release(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer);
iree_status_t hal_host_physical_memory_allocate(iree_hal_allocator_t* allocator, const iree_hal_buffer_params_t* params,
                                                iree_device_size_t size, iree_allocator_t host_allocator,
                                                iree_hal_physical_memory_t** out_physical_memory);
iree_status_t hal_host_physical_memory_free(iree_hal_allocator_t* allocator,
                                            iree_hal_physical_memory_t* physical_memory);
iree_status_t hal_host_virtual_memory_map(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                          iree_device_size_t virtual_offset,
                                          iree_hal_physical_memory_t* physical_memory,
                                          iree_device_size_t physical_offset, iree_device_size_t size);
iree_status_t hal_host_virtual_memory_unmap(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                            iree_device_size_t virtual_offset, iree_device_size_t size);
iree_status_t hal_host_virtual_memory_protect(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                              iree_device_size_t virtual_offset, iree_device_size_t size,
                                              iree_hal_queue_affinity_t queue_affinity,
                                              iree_hal_memory_protection_t protection);
iree_status_t hal_host_virtual_memory_advise(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                             iree_device_size_t virtual_offset, iree_device_size_t size,
                                             iree_hal_queue_affinity_t queue_affinity, iree_hal_memory_advice_t advice);

#define HAL_HOST_VIRTUAL_MEMORY_CALLS                                                                               \
  .supports_virtual_memory = hal_host_supports_virtual_memory,                                                      \
  .virtual_memory_query_granularity = hal_host_virtual_memory_query_granularity,                                    \
  .virtual_memory_reserve = hal_host_virtual_memory_reserve,                                                        \
  .virtual_memory_release = hal_host_virtual_memory_release,                                                        \
  .physical_memory_allocate = hal_host_physical_memory_allocate,                                                    \
  .physical_memory_free = hal_host_physical_memory_free, .virtual_memory_map = hal_host_virtual_memory_map,         \
  .virtual_memory_unmap = hal_host_virtual_memory_unmap, .virtual_memory_protect = hal_host_virtual_memory_protect, \
  .virtual_memory_advise = hal_host_virtual_memory_advise

#endif  // IREE_C_HAL_VIRTUAL_MEMORY_H_
