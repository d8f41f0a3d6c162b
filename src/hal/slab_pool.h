// What pools over slab providers share.
#ifndef IREE_C_HAL_SLAB_POOL_H_
#define IREE_C_HAL_SLAB_POOL_H_

#include "iree/async/notification.h"
#include "iree/base/threading/mutex.h"
#include "iree/hal/memory/slab_provider.h"
#include "iree/hal/pool.h"

// A pool's first member.
typedef struct hal_slab_pool_t {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  iree_hal_slab_provider_t* provider;
  iree_async_notification_t* notification;
  iree_device_size_t max_size;  // bytes of a reservation; 0: no limit
  iree_slim_mutex_t mutex;      // guards what follows, and what is the pool's own
  iree_hal_pool_stats_t stats;
} hal_slab_pool_t;

void hal_slab_pool_initialize(hal_slab_pool_t* pool, const iree_hal_pool_vtable_t* vtable,
                              iree_hal_slab_provider_t* provider, iree_async_notification_t* notification,
                              iree_allocator_t host_allocator);
void hal_slab_pool_deinitialize(hal_slab_pool_t* pool);

// Counts, the mutex being held.
void hal_slab_pool_note_acquired(hal_slab_pool_t* pool, iree_device_size_t length);
void hal_slab_pool_note_released(hal_slab_pool_t* pool, iree_device_size_t length);

// Whether all of `death` is over, by the query, or before what `requester` (may be NULL) comes after.
bool hal_slab_pool_is_over(const iree_hal_pool_epoch_query_t* query, const iree_async_frontier_t* death,
                           const iree_async_frontier_t* requester);

// A buffer over a reservation that is `offset` into a slab.
iree_status_t hal_slab_pool_wrap(hal_slab_pool_t* pool, const iree_hal_slab_t* slab, iree_device_size_t offset,
                                 iree_hal_buffer_params_t params, const iree_hal_pool_reservation_t* reservation,
                                 iree_hal_pool_materialize_flags_t flags, iree_hal_buffer_t** out_buffer);

// For vtables.
void hal_slab_pool_query_capabilities(const iree_hal_pool_t* pool, iree_hal_pool_capabilities_t* out_capabilities);
void hal_slab_pool_query_stats(const iree_hal_pool_t* pool, iree_hal_pool_stats_t* out_stats);
iree_async_notification_t* hal_slab_pool_notification(iree_hal_pool_t* pool);

#endif  // IREE_C_HAL_SLAB_POOL_H_
