// Fences: a set of points on timelines, as one object. Waiting waits for all, signalling signals all. Insertion is for
// one thread; everything else is thread safe.
#ifndef IREE_HAL_FENCE_H_
#define IREE_HAL_FENCE_H_

#include <stdint.h>

#include "iree/base/api.h"
#include "iree/hal/semaphore.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_fence_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  uint16_t capacity;
  uint16_t count;
  // Followed by the semaphores and their values.
} iree_hal_fence_t;

// An empty fence with room for `capacity` timelines. Errors: INVALID_ARGUMENT for more than 65535.
IREE_API_EXPORT iree_status_t iree_hal_fence_create(iree_host_size_t capacity, iree_allocator_t host_allocator,
                                                    iree_hal_fence_t** out_fence);
IREE_API_EXPORT iree_status_t iree_hal_fence_create_at(iree_hal_semaphore_t* semaphore, uint64_t value,
                                                       iree_allocator_t host_allocator, iree_hal_fence_t** out_fence);
// One fence for all of `fences` (NULL entries are skipped); NULL when there is nothing to wait for.
IREE_API_EXPORT iree_status_t iree_hal_fence_join(iree_host_size_t fence_count, iree_hal_fence_t** fences,
                                                  iree_allocator_t host_allocator, iree_hal_fence_t** out_fence);
IREE_API_EXPORT void iree_hal_fence_retain(iree_hal_fence_t* fence);
IREE_API_EXPORT void iree_hal_fence_release(iree_hal_fence_t* fence);
IREE_API_EXPORT void iree_hal_fence_destroy(iree_hal_fence_t* fence);

// The points, alive as long as the fence. NULL gives the empty list.
IREE_API_EXPORT iree_hal_semaphore_list_t iree_hal_fence_semaphore_list(iree_hal_fence_t* fence);
IREE_API_EXPORT iree_host_size_t iree_hal_fence_timepoint_count(const iree_hal_fence_t* fence);
// Adds a point; of two points on one timeline the later one stays. Errors: RESOURCE_EXHAUSTED when full.
IREE_API_EXPORT iree_status_t iree_hal_fence_insert(iree_hal_fence_t* fence, iree_hal_semaphore_t* semaphore,
                                                    uint64_t value);
// Adds all points of `from_fence`.
IREE_API_EXPORT iree_status_t iree_hal_fence_extend(iree_hal_fence_t* into_fence, iree_hal_fence_t* from_fence);
// OK when all are reached, DEFERRED when not yet, else the failure. All of these accept NULL: reached already.
IREE_API_EXPORT iree_status_t iree_hal_fence_query(iree_hal_fence_t* fence);
IREE_API_EXPORT iree_status_t iree_hal_fence_signal(iree_hal_fence_t* fence);
// Consumes `signal_status`.
IREE_API_EXPORT void iree_hal_fence_fail(iree_hal_fence_t* fence, iree_status_t signal_status);
IREE_API_EXPORT iree_status_t iree_hal_fence_wait(iree_hal_fence_t* fence, iree_timeout_t timeout,
                                                  iree_async_wait_flags_t flags);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_FENCE_H_
