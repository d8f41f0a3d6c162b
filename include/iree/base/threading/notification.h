// Notifications: sleep until something changed, without missing the change.
//
//   token = prepare_wait(n); if (condition) cancel_wait(n); else commit_wait(n, token, ...);
//   ... elsewhere: change the condition; post(n, IREE_ALL_WAITERS);
//
// Posting with nobody waiting costs one atomic. Thread safe.
#ifndef IREE_BASE_THREADING_NOTIFICATION_H_
#define IREE_BASE_THREADING_NOTIFICATION_H_

#include <stdbool.h>

#include "iree/base/internal/atomics.h"
#include "iree/base/threading/futex.h"
#include "iree/base/time.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_notification_t {
  iree_atomic_uint32_t epoch;    // grows with every post
  iree_atomic_uint32_t waiters;  // prepared and not yet cancelled or committed to the end
} iree_notification_t;

IREE_API_EXPORT void iree_notification_initialize(iree_notification_t* out_notification);
IREE_API_EXPORT void iree_notification_deinitialize(iree_notification_t* notification);
// Wakes up to `count` waiters.
IREE_API_EXPORT void iree_notification_post(iree_notification_t* notification, int32_t count);

typedef uint32_t iree_wait_token_t;
IREE_API_EXPORT iree_wait_token_t iree_notification_prepare_wait(iree_notification_t* notification);
// Waits for a post after the token was taken, spinning `spin_ns` first. False at the deadline.
IREE_API_EXPORT bool iree_notification_commit_wait(iree_notification_t* notification, iree_wait_token_t wait_token,
                                                   iree_duration_t spin_ns, iree_time_t deadline_ns);
IREE_API_EXPORT void iree_notification_cancel_wait(iree_notification_t* notification);

typedef bool (*iree_condition_fn_t)(void* arg);
// Waits until `condition_fn` is true; false at the timeout.
IREE_API_EXPORT bool iree_notification_await(iree_notification_t* notification, iree_condition_fn_t condition_fn,
                                             void* condition_arg, iree_timeout_t timeout);

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_THREADING_NOTIFICATION_H_
