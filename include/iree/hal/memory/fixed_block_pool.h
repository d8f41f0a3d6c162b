// A pool of blocks of one size, all in one slab that it takes when it is made.
#ifndef IREE_HAL_MEMORY_FIXED_BLOCK_POOL_H_
#define IREE_HAL_MEMORY_FIXED_BLOCK_POOL_H_

#include "iree/async/notification.h"
#include "iree/hal/memory/slab_provider.h"
#include "iree/hal/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_MAX_BLOCKS 4096
#define IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_DEFAULT_FRONTIER_CAPACITY 4

typedef struct iree_hal_memory_fixed_block_allocator_options_t {
  iree_device_size_t
      block_size;              // bytes of a block, and of a reservation at most; they are aligned as its multiples are
  uint32_t block_count;        // at least 1, at most IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_MAX_BLOCKS
  uint16_t frontier_capacity;  // entries of death frontiers that are kept; 0: the default
} iree_hal_memory_fixed_block_allocator_options_t;

typedef struct iree_hal_fixed_block_pool_options_t {
  iree_hal_memory_fixed_block_allocator_options_t block_allocator_options;
  iree_device_size_t budget_limit;  // bytes asked for at a time; 0: no limit
  iree_string_view_t trace_name;    // not used: nothing is traced
} iree_hal_fixed_block_pool_options_t;

// `slab_provider` and `notification` are retained; the latter is signalled when a reservation is given back. What is
// given back with a death frontier is used again when `epoch_query` (its `fn` may be NULL) says that it is over, or for
// who asks after it; else, where a reservation allows it and no other block is free, with that frontier to wait for.
// Larger frontiers than are kept count as not over while the pool lives. Errors: INVALID_ARGUMENT, those of the
// provider.
IREE_API_EXPORT iree_status_t iree_hal_fixed_block_pool_create(iree_hal_fixed_block_pool_options_t options,
                                                               iree_hal_slab_provider_t* slab_provider,
                                                               iree_async_notification_t* notification,
                                                               iree_hal_pool_epoch_query_t epoch_query,
                                                               iree_allocator_t host_allocator,
                                                               iree_hal_pool_t** out_pool);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_MEMORY_FIXED_BLOCK_POOL_H_
