// Slabs that are buffers of an allocator.
#ifndef IREE_C_HAL_SLAB_PROVIDER_H_
#define IREE_C_HAL_SLAB_PROVIDER_H_

#include "iree/hal/allocator.h"
#include "iree/hal/memory/slab_provider.h"

// Memory for any use of the device: such as the host sees too where the allocator has it. `allocator` is retained.
iree_status_t hal_slab_provider_create(iree_hal_allocator_t* allocator, iree_hal_queue_affinity_t queue_affinity,
                                       iree_allocator_t host_allocator, iree_hal_slab_provider_t** out_provider);

#endif  // IREE_C_HAL_SLAB_PROVIDER_H_
