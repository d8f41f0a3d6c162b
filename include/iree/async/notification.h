// Notifications: something has happened, look again. They are made by who notifies (a device's are in
// iree_hal_queue_pool_backend_t). Thread safe.
#ifndef IREE_ASYNC_NOTIFICATION_H_
#define IREE_ASYNC_NOTIFICATION_H_

#include <stdbool.h>
#include <stdint.h>

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_async_notification_t iree_async_notification_t;

IREE_API_EXPORT void iree_async_notification_retain(iree_async_notification_t* notification);
IREE_API_EXPORT void iree_async_notification_release(iree_async_notification_t* notification);
// Wakes up to `wake_count` of those that wait.
IREE_API_EXPORT void iree_async_notification_signal(iree_async_notification_t* notification, int32_t wake_count);
// Waits for a signal from now on; false at the timeout.
IREE_API_EXPORT bool iree_async_notification_wait(iree_async_notification_t* notification, iree_timeout_t timeout);

#ifdef __cplusplus
}
#endif

#endif  // IREE_ASYNC_NOTIFICATION_H_
