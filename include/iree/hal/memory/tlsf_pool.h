// A pool that cuts reservations out of slabs (two-level segregated fit), and takes another slab when none has room.
#ifndef IREE_HAL_MEMORY_TLSF_POOL_H_
#define IREE_HAL_MEMORY_TLSF_POOL_H_

#include "iree/async/notification.h"
#include "iree/hal/memory/slab_provider.h"
#include "iree/hal/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IREE_HAL_MEMORY_TLSF_MIN_ALIGNMENT 64
#define IREE_HAL_MEMORY_TLSF_DEFAULT_FRONTIER_CAPACITY 4

typedef struct iree_hal_memory_tlsf_options_t {
  iree_device_size_t range_length;  // bytes of a slab, and of a reservation at most
  iree_device_size_t alignment;     // of all reservations, a power of two; 0: the least
  uint8_t frontier_capacity;        // entries of death frontiers that are kept; 0: the default
} iree_hal_memory_tlsf_options_t;

typedef struct iree_hal_tlsf_pool_options_t {
  iree_hal_memory_tlsf_options_t tlsf_options;
  iree_device_size_t budget_limit;  // bytes reserved at a time; 0: no limit
  iree_string_view_t trace_name;    // not used: nothing is traced
} iree_hal_tlsf_pool_options_t;

// `slab_provider` and `notification` are retained; the latter is signalled when a reservation is given back. What is
// given back with a death frontier is used again when `epoch_query` (its `fn` may be NULL) says that it is over, or for
// who asks after it; larger frontiers than are kept count as not over while the pool lives. Errors: INVALID_ARGUMENT.
IREE_API_EXPORT iree_status_t iree_hal_tlsf_pool_create(iree_hal_tlsf_pool_options_t options,
                                                        iree_hal_slab_provider_t* slab_provider,
                                                        iree_async_notification_t* notification,
                                                        iree_hal_pool_epoch_query_t epoch_query,
                                                        iree_allocator_t host_allocator, iree_hal_pool_t** out_pool);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_MEMORY_TLSF_POOL_H_
