// Making of notifications, and waiting that misses no signal.
#ifndef IREE_C_HAL_NOTIFICATION_H_
#define IREE_C_HAL_NOTIFICATION_H_

#include "iree/async/notification.h"
#include "iree/base/threading/notification.h"

iree_status_t hal_notification_create(iree_allocator_t host_allocator, iree_async_notification_t** out_notification);
// What is signalled: to prepare a wait before something is tried.
iree_notification_t* hal_notification_event(iree_async_notification_t* notification);

#endif  // IREE_C_HAL_NOTIFICATION_H_
