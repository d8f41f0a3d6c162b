// A pool of which each reservation is a slab of its own.
#ifndef IREE_HAL_MEMORY_PASSTHROUGH_POOL_H_
#define IREE_HAL_MEMORY_PASSTHROUGH_POOL_H_

#include "iree/async/notification.h"
#include "iree/hal/memory/slab_provider.h"
#include "iree/hal/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_passthrough_pool_options_t {
  iree_string_view_t trace_name;  // not used: nothing is traced
} iree_hal_passthrough_pool_options_t;

// `slab_provider` and `notification` are retained; the latter is signalled when a reservation is given back. Slabs go
// back at once, so that what uses them must be over: a reservation that is given back with a death frontier stays until
// the pool goes.
IREE_API_EXPORT iree_status_t iree_hal_passthrough_pool_create(iree_hal_passthrough_pool_options_t options,
                                                               iree_hal_slab_provider_t* slab_provider,
                                                               iree_async_notification_t* notification,
                                                               iree_allocator_t host_allocator,
                                                               iree_hal_pool_t** out_pool);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_MEMORY_PASSTHROUGH_POOL_H_
