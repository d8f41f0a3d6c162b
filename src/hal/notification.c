// Notifications.
#include "hal/notification.h"

#include "iree/base/internal/atomics.h"

struct iree_async_notification_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  iree_notification_t event;
};

iree_status_t hal_notification_create(iree_allocator_t host_allocator, iree_async_notification_t** out_notification) {
  iree_async_notification_t* notification = NULL;
  *out_notification = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*notification), (void**)&notification));
  iree_atomic_ref_count_init(&notification->ref_count);
  notification->host_allocator = host_allocator;
  iree_notification_initialize(&notification->event);
  *out_notification = notification;
  return iree_ok_status();
}

iree_notification_t* hal_notification_event(iree_async_notification_t* notification) { return &notification->event; }

void iree_async_notification_retain(iree_async_notification_t* notification) {
  if (notification) iree_atomic_ref_count_inc(&notification->ref_count);
}

void iree_async_notification_release(iree_async_notification_t* notification) {
  if (!notification || iree_atomic_ref_count_dec(&notification->ref_count) != 1) return;
  iree_notification_deinitialize(&notification->event);
  iree_allocator_free(notification->host_allocator, notification);
}

void iree_async_notification_signal(iree_async_notification_t* notification, int32_t wake_count) {
  iree_notification_post(&notification->event, wake_count);
}

bool iree_async_notification_wait(iree_async_notification_t* notification, iree_timeout_t timeout) {
  iree_wait_token_t token = iree_notification_prepare_wait(&notification->event);
  return iree_notification_commit_wait(&notification->event, token, 0, iree_timeout_as_deadline_ns(timeout));
}
