// Lists of semaphores with values.
#include "iree/base/threading/api.h"
#include "iree/hal/semaphore.h"

void iree_hal_semaphore_list_retain(iree_hal_semaphore_list_t semaphore_list) {
  for (iree_host_size_t i = 0; i < semaphore_list.count; ++i) {
    iree_hal_semaphore_retain(semaphore_list.semaphores[i]);
  }
}

void iree_hal_semaphore_list_release(iree_hal_semaphore_list_t semaphore_list) {
  for (iree_host_size_t i = 0; i < semaphore_list.count; ++i) {
    iree_hal_semaphore_release(semaphore_list.semaphores[i]);
  }
}

// One block: the semaphores, then their values.
iree_status_t iree_hal_semaphore_list_clone(const iree_hal_semaphore_list_t* source_list,
                                            iree_allocator_t host_allocator, iree_hal_semaphore_list_t* out_list) {
  *out_list = iree_hal_semaphore_list_empty();
  iree_host_size_t count = source_list->count;
  if (count == 0) return iree_ok_status();
  void* block = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array_uninitialized(
      host_allocator, count, sizeof(iree_hal_semaphore_t*) + sizeof(uint64_t), &block));
  out_list->count = count;
  out_list->payload_values = (uint64_t*)block;
  out_list->semaphores = (iree_hal_semaphore_t**)(out_list->payload_values + count);
  memcpy(out_list->payload_values, source_list->payload_values, count * sizeof(uint64_t));
  memcpy(out_list->semaphores, source_list->semaphores, count * sizeof(iree_hal_semaphore_t*));
  iree_hal_semaphore_list_retain(*out_list);
  return iree_ok_status();
}

void iree_hal_semaphore_list_free(iree_hal_semaphore_list_t list, iree_allocator_t host_allocator) {
  iree_hal_semaphore_list_release(list);
  iree_allocator_free(host_allocator, list.payload_values);
}

void iree_hal_semaphore_list_erase(iree_hal_semaphore_list_t* semaphore_list, iree_host_size_t i) {
  iree_host_size_t last = --semaphore_list->count;
  semaphore_list->semaphores[i] = semaphore_list->semaphores[last];
  semaphore_list->payload_values[i] = semaphore_list->payload_values[last];
}

bool iree_hal_semaphore_list_poll(iree_hal_semaphore_list_t semaphore_list) {
  for (iree_host_size_t i = 0; i < semaphore_list.count; ++i) {
    uint64_t value = iree_atomic_load(&semaphore_list.semaphores[i]->value, iree_memory_order_seq_cst);
    if (value == IREE_HAL_SEMAPHORE_FAILURE_VALUE || value < semaphore_list.payload_values[i]) return false;
  }
  return true;
}

iree_status_t iree_hal_semaphore_list_signal(iree_hal_semaphore_list_t semaphore_list,
                                             const iree_async_frontier_t* frontier) {
  for (iree_host_size_t i = 0; i < semaphore_list.count; ++i) {
    iree_status_t status =
        iree_hal_semaphore_signal(semaphore_list.semaphores[i], semaphore_list.payload_values[i], frontier);
    if (iree_status_is_ok(status)) continue;
    iree_hal_semaphore_list_t rest = {semaphore_list.count - i - 1, semaphore_list.semaphores + i + 1,
                                      semaphore_list.payload_values + i + 1};
    iree_hal_semaphore_list_fail(rest, iree_status_clone(status));
    return status;
  }
  return iree_ok_status();
}

void iree_hal_semaphore_list_fail(iree_hal_semaphore_list_t semaphore_list, iree_status_t signal_status) {
  for (iree_host_size_t i = 0; i < semaphore_list.count; ++i) {
    iree_hal_semaphore_fail(semaphore_list.semaphores[i], iree_status_clone(signal_status));
  }
  iree_status_free(signal_status);
}

iree_status_t iree_hal_semaphore_list_wait(iree_hal_semaphore_list_t semaphore_list, iree_timeout_t timeout,
                                           iree_async_wait_flags_t flags) {
  if (semaphore_list.count > 1) iree_convert_timeout_to_absolute(&timeout);
  for (iree_host_size_t i = 0; i < semaphore_list.count; ++i) {
    IREE_RETURN_IF_ERROR(
        iree_hal_semaphore_wait(semaphore_list.semaphores[i], semaphore_list.payload_values[i], timeout, flags));
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Waiting for any
//===----------------------------------------------------------------------------------------------------------------===

typedef struct any_wait_t {
  iree_notification_t notification;
  iree_slim_mutex_t mutex;
  bool resolved;         // by whichever came first
  iree_status_t status;  // of that one
  iree_atomic_int32_t callbacks_left;
} any_wait_t;

static void any_reached(void* user_data, iree_async_semaphore_timepoint_t* timepoint, iree_status_t status) {
  any_wait_t* wait = (any_wait_t*)user_data;
  iree_slim_mutex_lock(&wait->mutex);
  bool is_first = !wait->resolved;
  if (is_first) {
    wait->resolved = true;
    wait->status = status;
  }
  iree_slim_mutex_unlock(&wait->mutex);
  if (!is_first) iree_status_free(status);
  iree_notification_post(&wait->notification, IREE_ALL_WAITERS);
  iree_atomic_fetch_sub(&wait->callbacks_left, 1, iree_memory_order_release);
}

static bool any_is_resolved(void* arg) {
  any_wait_t* wait = (any_wait_t*)arg;
  iree_slim_mutex_lock(&wait->mutex);
  bool resolved = wait->resolved;
  iree_slim_mutex_unlock(&wait->mutex);
  return resolved;
}

// Takes back the timepoints that did not fire and waits out the callbacks that are running.
static void any_cancel(any_wait_t* wait, iree_hal_semaphore_list_t list, iree_async_semaphore_timepoint_t* timepoints) {
  for (iree_host_size_t i = 0; i < list.count; ++i) {
    if (iree_async_semaphore_cancel_timepoint(list.semaphores[i], &timepoints[i])) {
      iree_atomic_fetch_sub(&wait->callbacks_left, 1, iree_memory_order_release);
    }
  }
  while (iree_atomic_load(&wait->callbacks_left, iree_memory_order_acquire) > 0) iree_thread_yield();
}

iree_status_t iree_hal_semaphore_list_wait_any(iree_hal_semaphore_list_t semaphore_list, iree_timeout_t timeout,
                                               iree_async_wait_flags_t flags) {
  if (semaphore_list.count == 0) return iree_ok_status();
  if (semaphore_list.count == 1) return iree_hal_semaphore_list_wait(semaphore_list, timeout, flags);
  iree_async_semaphore_timepoint_t* timepoints = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(iree_allocator_system(), semaphore_list.count, sizeof(timepoints[0]),
                                                   (void**)&timepoints));
  any_wait_t wait = {.callbacks_left = (int32_t)semaphore_list.count};
  iree_notification_initialize(&wait.notification);
  iree_slim_mutex_initialize(&wait.mutex);
  for (iree_host_size_t i = 0; i < semaphore_list.count; ++i) {
    timepoints[i].callback = any_reached;
    timepoints[i].user_data = &wait;
    IREE_IGNORE_ERROR(iree_async_semaphore_acquire_timepoint(semaphore_list.semaphores[i],
                                                             semaphore_list.payload_values[i], &timepoints[i]));
  }
  iree_notification_await(&wait.notification, any_is_resolved, &wait, timeout);
  any_cancel(&wait, semaphore_list, timepoints);
  iree_allocator_free(iree_allocator_system(), timepoints);
  return wait.resolved ? wait.status : iree_status_from_code(IREE_STATUS_DEADLINE_EXCEEDED);
}
