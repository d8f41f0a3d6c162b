// Several pools, of which the fitting one is chosen by what a buffer is to be. Not thread safe while pools are
// registered.
#ifndef IREE_HAL_POOL_SET_H_
#define IREE_HAL_POOL_SET_H_

#include "iree/hal/buffer.h"
#include "iree/hal/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_pool_set_t {
  iree_host_size_t entry_count;
  iree_host_size_t entry_capacity;
  struct iree_hal_pool_set_entry_t* entries;
  iree_allocator_t host_allocator;
} iree_hal_pool_set_t;

// An empty set with room for `initial_capacity` pools (0: some); it grows.
IREE_API_EXPORT iree_status_t iree_hal_pool_set_initialize(iree_host_size_t initial_capacity,
                                                           iree_allocator_t host_allocator,
                                                           iree_hal_pool_set_t* out_pool_set);
IREE_API_EXPORT void iree_hal_pool_set_deinitialize(iree_hal_pool_set_t* pool_set);
// Adds a pool, which is retained; what it can do is asked now. Of those that fit the one of the highest priority is
// taken, the first of equal ones.
IREE_API_EXPORT iree_status_t iree_hal_pool_set_register(iree_hal_pool_set_t* pool_set, int32_t priority,
                                                         iree_hal_pool_t* pool);
// The pool for such a buffer, the set's; NULL when none fits. IREE_HAL_MEMORY_TYPE_OPTIMAL is a wish, no condition.
IREE_API_EXPORT iree_hal_pool_t* iree_hal_pool_set_select(const iree_hal_pool_set_t* pool_set,
                                                          iree_hal_buffer_params_t params,
                                                          iree_device_size_t allocation_size);
// iree_hal_pool_allocate_buffer on that pool. Errors: NOT_FOUND when none fits.
IREE_API_EXPORT iree_status_t iree_hal_pool_set_allocate_buffer(iree_hal_pool_set_t* pool_set,
                                                                iree_hal_buffer_params_t params,
                                                                iree_device_size_t allocation_size,
                                                                const iree_async_frontier_t* requester_frontier,
                                                                iree_timeout_t timeout, iree_hal_buffer_t** out_buffer);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_POOL_SET_H_
