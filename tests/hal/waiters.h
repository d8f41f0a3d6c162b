// Work over the queues of two GPUs that many wait for: callbacks of three semaphores at several values, and threads.
// What tests of a vendor's library that fails run: everybody is to be told once, of what the program was told.
#ifndef IREE_C_TESTS_HAL_WAITERS_H_
#define IREE_C_TESTS_HAL_WAITERS_H_

#include "iree/base/threading/thread.h"
#include "iree/hal/api.h"

enum { WAITERS_SEMAPHORES = 3, WAITERS_CALLBACKS = 6, WAITERS_LAST = 5 };

typedef struct waiter_t {
  iree_async_semaphore_timepoint_t timepoint;
  iree_atomic_int32_t count;  // how often it was told
  iree_atomic_int32_t code;
  // Of one that is a thread.
  iree_thread_t* thread;
  iree_hal_semaphore_t* semaphore;
  uint64_t value;
} waiter_t;

typedef struct waiters_t {
  iree_hal_device_t* device;
  iree_hal_command_buffer_t* commands;
  iree_hal_buffer_t* buffer;     // of 4096 bytes at least
  iree_hal_buffer_t* transient;  // the work's
  iree_hal_semaphore_t* semaphores[WAITERS_SEMAPHORES];
  waiter_t callbacks[WAITERS_CALLBACKS];
  waiter_t threads[WAITERS_SEMAPHORES];
  iree_atomic_int32_t calls;  // of the host
} waiters_t;

static inline void waiter_tell(waiter_t* waiter, iree_status_t status) {
  iree_atomic_store(&waiter->code, (int32_t)iree_status_consume_code(status), iree_memory_order_relaxed);
  iree_atomic_fetch_add(&waiter->count, 1, iree_memory_order_release);
}

static inline void waiter_reached(void* user_data, iree_async_semaphore_timepoint_t* timepoint, iree_status_t status) {
  waiter_tell((waiter_t*)user_data, status);
}

static inline int waiter_main(void* arg) {
  waiter_t* waiter = (waiter_t*)arg;
  waiter_tell(waiter, iree_hal_semaphore_wait(waiter->semaphore, waiter->value, iree_infinite_timeout(),
                                              IREE_ASYNC_WAIT_FLAG_NONE));
  return 0;
}

static inline bool waiter_is_told(waiter_t* waiter) {
  return iree_atomic_load(&waiter->count, iree_memory_order_acquire) != 0;
}

static inline iree_status_t waiters_count_call(void* user_data, const uint64_t args[4],
                                               iree_hal_host_call_context_t* context) {
  iree_atomic_fetch_add((iree_atomic_int32_t*)user_data, 1, iree_memory_order_relaxed);
  return iree_ok_status();
}

// Operations of every sort, each after the one before; the device has two GPUs with two queues each.
static inline iree_status_t waiters_submit(waiters_t* w) {
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                     .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
  const uint64_t arguments[4] = {0};
  const uint32_t pattern = 7;
  uint64_t values[] = {0, 1, 2, 3, 4, WAITERS_LAST}, both_values[] = {2, 1};
  iree_hal_semaphore_t **s = w->semaphores, *both[] = {s[0], s[1]};
  iree_hal_semaphore_list_t points[WAITERS_LAST + 1], called = {1, &s[2], &values[1]};
  for (int i = 0; i <= WAITERS_LAST; ++i) points[i] = (iree_hal_semaphore_list_t){1, &s[0], &values[i]};
  IREE_RETURN_IF_ERROR(iree_hal_device_queue_alloca(w->device, 1, points[0], points[1], NULL, params, 1 << 20,
                                                    IREE_HAL_ALLOCA_FLAG_NONE, &w->transient));
  IREE_RETURN_IF_ERROR(iree_hal_device_queue_fill(w->device, 4, points[1],
                                                  (iree_hal_semaphore_list_t){2, both, both_values}, w->transient, 0,
                                                  4096, &pattern, 4, IREE_HAL_FILL_FLAG_NONE));
  IREE_RETURN_IF_ERROR(iree_hal_device_queue_execute(w->device, 2, points[2], points[3], w->commands,
                                                     iree_hal_buffer_binding_table_empty(),
                                                     IREE_HAL_EXECUTE_FLAG_NONE));
  IREE_RETURN_IF_ERROR(iree_hal_device_queue_host_call(w->device, IREE_HAL_QUEUE_AFFINITY_ANY, points[3], called,
                                                       iree_hal_make_host_call(waiters_count_call, &w->calls),
                                                       arguments, IREE_HAL_HOST_CALL_FLAG_NONE));
  IREE_RETURN_IF_ERROR(iree_hal_device_queue_copy(w->device, 8, called, points[4], w->transient, 0, w->buffer, 0, 4096,
                                                  IREE_HAL_COPY_FLAG_NONE));
  return iree_hal_device_queue_dealloca(w->device, 1, points[4], points[5], w->transient, IREE_HAL_DEALLOCA_FLAG_NONE);
}

static inline bool waiters_are_told(waiters_t* w) {
  for (int i = 0; i < WAITERS_CALLBACKS; ++i) {
    if (!waiter_is_told(&w->callbacks[i])) return false;
  }
  for (int i = 0; i < WAITERS_SEMAPHORES; ++i) {
    if (!waiter_is_told(&w->threads[i])) return false;
  }
  return true;
}

static inline iree_status_t waiters_await(waiters_t* w) {
  static const struct {
    int semaphore;
    uint64_t value;
  } rows[WAITERS_CALLBACKS] = {{0, 1}, {0, 3}, {0, WAITERS_LAST}, {0, WAITERS_LAST}, {1, 1}, {2, 1}};
  for (int i = 0; i < WAITERS_CALLBACKS; ++i) {
    waiter_t* waiter = &w->callbacks[i];
    waiter->timepoint.callback = waiter_reached;
    waiter->timepoint.user_data = waiter;
    IREE_RETURN_IF_ERROR(
        iree_async_semaphore_acquire_timepoint(w->semaphores[rows[i].semaphore], rows[i].value, &waiter->timepoint));
  }
  for (int i = 0; i < WAITERS_SEMAPHORES; ++i) {
    waiter_t* waiter = &w->threads[i];
    waiter->semaphore = w->semaphores[i];
    waiter->value = i ? 1 : WAITERS_LAST;
    IREE_RETURN_IF_ERROR(iree_thread_create(waiter_main, waiter, (iree_thread_create_params_t){0},
                                            iree_allocator_system(), &waiter->thread));
  }
  return iree_ok_status();
}

// Makes semaphores and runs it all, until everybody was told; what cannot be submitted fails everybody, as programs do.
// Whoever is not told within 20 seconds is told so.
static inline iree_status_t waiters_run(waiters_t* w) {
  for (int i = 0; i < WAITERS_SEMAPHORES; ++i) {
    IREE_RETURN_IF_ERROR(iree_hal_semaphore_create(w->device, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                                   IREE_HAL_SEMAPHORE_FLAG_NONE, &w->semaphores[i]));
  }
  IREE_CHECK_OK(waiters_await(w));
  iree_status_t status = waiters_submit(w);
  for (int i = 0; i < WAITERS_SEMAPHORES && !iree_status_is_ok(status); ++i) {
    iree_hal_semaphore_fail(w->semaphores[i], iree_status_clone(status));
  }
  iree_time_t deadline = iree_time_now() + 20 * (iree_time_t)1000000000;
  while (!waiters_are_told(w) && iree_time_now() < deadline) iree_wait_until(iree_time_now() + 20000);
  if (!waiters_are_told(w)) {
    for (int i = 0; i < WAITERS_SEMAPHORES; ++i) {
      iree_hal_semaphore_fail(w->semaphores[i], iree_make_status(IREE_STATUS_UNKNOWN, "nobody told the waiters"));
    }
  }
  for (int i = 0; i < WAITERS_SEMAPHORES; ++i) iree_thread_release(w->threads[i].thread);
  if (!iree_status_is_ok(status)) return status;
  return iree_hal_semaphore_wait(w->semaphores[0], WAITERS_LAST, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
}

static inline const char* waiter_check(waiter_t* waiter, int32_t expected_count, iree_status_code_t code) {
  int32_t told = iree_atomic_load(&waiter->code, iree_memory_order_acquire);
  int32_t count = iree_atomic_load(&waiter->count, iree_memory_order_acquire);
  if (count != expected_count || count > 1) return "waiters were told more than once, or only some were";
  return told == IREE_STATUS_OK || told == (int32_t)code ? NULL : "a waiter was told another status";
}

// What is wrong, or NULL: each was told once, if ever, and what the program was, or that all is well; and the host was
// called once, unless it came to nothing.
static inline const char* waiters_check(waiters_t* w, iree_status_code_t code) {
  int32_t count = iree_atomic_load(&w->callbacks[0].count, iree_memory_order_acquire);
  const char* wrong = NULL;
  for (int i = 0; i < WAITERS_CALLBACKS && !wrong; ++i) wrong = waiter_check(&w->callbacks[i], count, code);
  for (int i = 0; i < WAITERS_SEMAPHORES && !wrong; ++i) wrong = waiter_check(&w->threads[i], count, code);
  if (wrong) return wrong;
  int32_t calls = iree_atomic_load(&w->calls, iree_memory_order_relaxed);
  return calls == 1 || (calls == 0 && code != IREE_STATUS_OK) ? NULL : "the host was not called, or too often";
}

static inline void waiters_release(waiters_t* w) {
  for (int i = 0; i < WAITERS_SEMAPHORES; ++i) iree_hal_semaphore_release(w->semaphores[i]);
  iree_hal_buffer_release(w->transient);
}

#endif  // IREE_C_TESTS_HAL_WAITERS_H_
