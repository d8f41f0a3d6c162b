// Keeps the present epoch of every axis and calls back when a frontier has been reached. Thread safe.
#ifndef IREE_ASYNC_FRONTIER_TRACKER_H_
#define IREE_ASYNC_FRONTIER_TRACKER_H_

#include "iree/async/frontier.h"
#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_async_frontier_tracker_t iree_async_frontier_tracker_t;

// Called once, on the thread that advanced the last axis or failed one, with no locks held. Owns `status`.
typedef void (*iree_async_frontier_waiter_fn_t)(void* user_data, iree_status_t status);

// A pending wait: storage of the caller's, which stays untouched until the callback or a successful cancel.
typedef struct iree_async_frontier_waiter_t {
  struct iree_async_frontier_waiter_t* next;
  const iree_async_frontier_t* frontier;
  iree_async_frontier_waiter_fn_t callback;
  void* user_data;
  iree_status_t dispatch_status;
} iree_async_frontier_waiter_t;

typedef struct iree_async_frontier_tracker_options_t {
  uint32_t axis_table_capacity;  // most axes registered at once
  uint8_t session_epoch;
  uint8_t machine_index;
} iree_async_frontier_tracker_options_t;
static inline iree_async_frontier_tracker_options_t iree_async_frontier_tracker_options_default(void) {
  iree_async_frontier_tracker_options_t options = {256, 1, 0};
  return options;
}

IREE_API_EXPORT iree_status_t iree_async_frontier_tracker_create(iree_async_frontier_tracker_options_t options,
                                                                 iree_allocator_t allocator,
                                                                 iree_async_frontier_tracker_t** out_tracker);
IREE_API_EXPORT void iree_async_frontier_tracker_retain(iree_async_frontier_tracker_t* tracker);
// The last release fails waits that are still pending with CANCELLED.
IREE_API_EXPORT void iree_async_frontier_tracker_release(iree_async_frontier_tracker_t* tracker);
IREE_API_EXPORT uint8_t iree_async_frontier_tracker_session_epoch(const iree_async_frontier_tracker_t* tracker);
IREE_API_EXPORT uint8_t iree_async_frontier_tracker_machine_index(const iree_async_frontier_tracker_t* tracker);

// Adds an axis at epoch 0. Errors: ALREADY_EXISTS, RESOURCE_EXHAUSTED.
IREE_API_EXPORT iree_status_t iree_async_frontier_tracker_register_axis(iree_async_frontier_tracker_t* tracker,
                                                                        iree_async_axis_t axis);
// Removes an axis; waits on it fail with `status`, which is consumed.
IREE_API_EXPORT void iree_async_frontier_tracker_retire_axis(iree_async_frontier_tracker_t* tracker,
                                                             iree_async_axis_t axis, iree_status_t status);
// As retire, but the axis stays and later waits on it fail too. The first failure stays.
IREE_API_EXPORT void iree_async_frontier_tracker_fail_axis(iree_async_frontier_tracker_t* tracker,
                                                           iree_async_axis_t axis, iree_status_t status);
// True when the axis is known, has not failed and has reached `epoch`.
IREE_API_EXPORT bool iree_async_frontier_tracker_query_epoch(const iree_async_frontier_tracker_t* tracker,
                                                             iree_async_axis_t axis, uint64_t epoch);
// Moves an axis forward (never back) and returns how many waits that completed.
IREE_API_EXPORT iree_host_size_t iree_async_frontier_tracker_advance(iree_async_frontier_tracker_t* tracker,
                                                                     iree_async_axis_t axis, uint64_t epoch);
// Waits for a frontier; the callback may run before this returns. `frontier` and `waiter` must live until then. Errors:
// NOT_FOUND for an unknown axis.
IREE_API_EXPORT iree_status_t iree_async_frontier_tracker_wait(iree_async_frontier_tracker_t* tracker,
                                                               const iree_async_frontier_t* frontier,
                                                               iree_async_frontier_waiter_fn_t callback,
                                                               void* user_data, iree_async_frontier_waiter_t* waiter);
// True when the wait was still pending and its callback will never run.
IREE_API_EXPORT bool iree_async_frontier_tracker_cancel_wait(iree_async_frontier_tracker_t* tracker,
                                                             iree_async_frontier_waiter_t* waiter);

#ifdef __cplusplus
}
#endif

#endif  // IREE_ASYNC_FRONTIER_TRACKER_H_
