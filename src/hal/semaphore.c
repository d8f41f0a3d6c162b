// Timeline semaphores: the timeline on the host that all drivers share.
//
// The value is one atomic word. A signal stores it and is done when nobody waits; `waiters` says so. A waiter counts
// itself before it reads the value and a signaller stores the value before it reads the count, both sequentially
// consistent: one of them sees the other. The slow path, under the mutex, takes due timepoints off the list, which is
// ordered by values, and calls them with the mutex released. A thread that sleeps is a timepoint too, so that a signal
// wakes only whom it concerns.
#include "iree/hal/semaphore.h"

#include "base/trace.h"
#include "hal/detail.h"
#include "iree/base/threading/notification.h"

#define SPIN_NS 20000  // how long a thread polls before it sleeps

HAL_DEFINE_LIFETIME(semaphore)

void iree_hal_semaphore_initialize(const iree_hal_semaphore_vtable_t* vtable, uint64_t initial_value,
                                   iree_hal_semaphore_t* out_semaphore) {
  memset(out_semaphore, 0, sizeof(*out_semaphore));
  iree_hal_resource_initialize(vtable, &out_semaphore->resource);
  iree_slim_mutex_initialize(&out_semaphore->mutex);
  iree_atomic_store(&out_semaphore->value, initial_value, iree_memory_order_relaxed);
}

iree_status_t iree_hal_semaphore_clone_failure(iree_hal_semaphore_t* semaphore) {
  iree_slim_mutex_lock(&semaphore->mutex);
  iree_status_t status = iree_status_clone(semaphore->failure);
  iree_slim_mutex_unlock(&semaphore->mutex);
  return status;
}

static uint64_t load_value(iree_hal_semaphore_t* semaphore) {
  return iree_atomic_load(&semaphore->value, iree_memory_order_seq_cst);
}

static bool has_waiters(iree_hal_semaphore_t* semaphore) {
  return iree_atomic_load(&semaphore->waiters, iree_memory_order_seq_cst) != 0;
}

static void add_waiter(iree_hal_semaphore_t* semaphore) {
  iree_atomic_fetch_add(&semaphore->waiters, 1, iree_memory_order_seq_cst);
}

static void remove_waiter(iree_hal_semaphore_t* semaphore) {
  iree_atomic_fetch_sub(&semaphore->waiters, 1, iree_memory_order_seq_cst);
}

// OK when `value` is at or above `minimum`; the failure when there is one; DEFERRED when not yet.
static iree_status_t check_value(iree_hal_semaphore_t* semaphore, uint64_t value, uint64_t minimum) {
  if (value == IREE_HAL_SEMAPHORE_FAILURE_VALUE) return iree_hal_semaphore_clone_failure(semaphore);
  return value >= minimum ? iree_ok_status() : iree_status_from_code(IREE_STATUS_DEFERRED);
}

iree_status_t iree_hal_semaphore_query(iree_hal_semaphore_t* semaphore, uint64_t* out_value) {
  *out_value = load_value(semaphore);
  return check_value(semaphore, *out_value, 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Signalling
//===----------------------------------------------------------------------------------------------------------------===

// The mutex is held.
static void unlink_timepoint(iree_hal_semaphore_t* semaphore, iree_async_semaphore_timepoint_t* timepoint) {
  *(timepoint->prev ? &timepoint->prev->next : &semaphore->timepoints) = timepoint->next;
  *(timepoint->next ? &timepoint->next->prev : &semaphore->last_timepoint) = timepoint->prev;
  timepoint->next = timepoint->prev = NULL;
  timepoint->semaphore = NULL;
  remove_waiter(semaphore);
}

void iree_hal_semaphore_deinitialize(iree_hal_semaphore_t* semaphore) {
  while (semaphore->timepoints) {
    iree_async_semaphore_timepoint_t* timepoint = semaphore->timepoints;
    unlink_timepoint(semaphore, timepoint);
    timepoint->callback(timepoint->user_data, timepoint,
                        iree_make_status(IREE_STATUS_ABORTED, "the semaphore went before it reached the value"));
  }
  iree_status_free(semaphore->failure);
  iree_slim_mutex_deinitialize(&semaphore->mutex);
}

// Behind all of the same value or a lower one; values mostly grow. The mutex is held.
static void link_timepoint(iree_hal_semaphore_t* semaphore, iree_async_semaphore_timepoint_t* timepoint) {
  iree_async_semaphore_timepoint_t* before = semaphore->last_timepoint;
  while (before && before->minimum_value > timepoint->minimum_value) before = before->prev;
  timepoint->prev = before;
  timepoint->next = before ? before->next : semaphore->timepoints;
  *(before ? &before->next : &semaphore->timepoints) = timepoint;
  *(timepoint->next ? &timepoint->next->prev : &semaphore->last_timepoint) = timepoint;
}

static void call_timepoint(iree_hal_semaphore_t* semaphore, iree_async_semaphore_timepoint_t* timepoint) {
  // Due: reached, or failed.
  iree_status_t status = check_value(semaphore, load_value(semaphore), 0);
  timepoint->callback(timepoint->user_data, timepoint, status);
}

// Calls timepoints that are due.
static void notify_waiters(iree_hal_semaphore_t* semaphore) {
  iree_async_semaphore_timepoint_t *due = NULL, **end = &due;
  iree_slim_mutex_lock(&semaphore->mutex);
  uint64_t value = load_value(semaphore);
  while (semaphore->timepoints && semaphore->timepoints->minimum_value <= value) {
    iree_async_semaphore_timepoint_t* timepoint = semaphore->timepoints;
    unlink_timepoint(semaphore, timepoint);
    *end = timepoint;
    end = &timepoint->next;
  }
  iree_slim_mutex_unlock(&semaphore->mutex);
  while (due) {
    iree_async_semaphore_timepoint_t* timepoint = due;
    due = timepoint->next;
    timepoint->next = NULL;
    call_timepoint(semaphore, timepoint);
  }
}

static void after_change(iree_hal_semaphore_t* semaphore) {
  if (has_waiters(semaphore)) notify_waiters(semaphore);
  const iree_hal_semaphore_vtable_t* vtable = IREE_HAL_VTABLE(semaphore, iree_hal_semaphore);
  if (vtable->changed) vtable->changed(semaphore);
}

iree_status_t iree_hal_semaphore_signal(iree_hal_semaphore_t* semaphore, uint64_t new_value,
                                        const iree_async_frontier_t* frontier) {
  if (new_value > IREE_HAL_SEMAPHORE_MAX_VALUE) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "semaphore value %" PRIu64 " is above the maximum", new_value);
  }
  uint64_t value = iree_atomic_load(&semaphore->value, iree_memory_order_relaxed);
  do {
    if (value == IREE_HAL_SEMAPHORE_FAILURE_VALUE) return iree_hal_semaphore_clone_failure(semaphore);
    if (value >= new_value) return iree_ok_status();
  } while (!iree_atomic_compare_exchange_weak(&semaphore->value, &value, new_value, iree_memory_order_seq_cst,
                                              iree_memory_order_relaxed));
  after_change(semaphore);
  return iree_ok_status();
}

void iree_hal_semaphore_fail(iree_hal_semaphore_t* semaphore, iree_status_t status) {
  if (iree_status_is_ok(status)) status = iree_make_status(IREE_STATUS_INTERNAL, "failed without a status");
  iree_slim_mutex_lock(&semaphore->mutex);
  bool is_first = iree_status_is_ok(semaphore->failure);
  if (is_first) {
    semaphore->failure = status;
    iree_atomic_store(&semaphore->value, IREE_HAL_SEMAPHORE_FAILURE_VALUE, iree_memory_order_seq_cst);
  }
  iree_slim_mutex_unlock(&semaphore->mutex);
  if (is_first) {
    after_change(semaphore);
  } else {
    iree_status_free(status);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Timepoints
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t iree_async_semaphore_acquire_timepoint(iree_async_semaphore_t* semaphore, uint64_t minimum_value,
                                                     iree_async_semaphore_timepoint_t* timepoint) {
  timepoint->semaphore = semaphore;
  timepoint->minimum_value = iree_min(minimum_value, IREE_HAL_SEMAPHORE_FAILURE_VALUE);  // a failure reaches all
  timepoint->next = timepoint->prev = NULL;
  iree_slim_mutex_lock(&semaphore->mutex);
  add_waiter(semaphore);
  bool is_due = load_value(semaphore) >= minimum_value;
  if (is_due) {
    remove_waiter(semaphore);
    timepoint->semaphore = NULL;
  } else {
    link_timepoint(semaphore, timepoint);
  }
  iree_slim_mutex_unlock(&semaphore->mutex);
  if (is_due) {
    call_timepoint(semaphore, timepoint);
  } else {
    const iree_hal_semaphore_vtable_t* vtable = IREE_HAL_VTABLE(semaphore, iree_hal_semaphore);
    if (vtable->watched) vtable->watched(semaphore, minimum_value);
  }
  return iree_ok_status();
}

bool iree_async_semaphore_cancel_timepoint(iree_async_semaphore_t* semaphore,
                                           iree_async_semaphore_timepoint_t* timepoint) {
  iree_slim_mutex_lock(&semaphore->mutex);
  bool is_pending = timepoint->semaphore == semaphore;
  if (is_pending) unlink_timepoint(semaphore, timepoint);
  iree_slim_mutex_unlock(&semaphore->mutex);
  return is_pending;
}

//===----------------------------------------------------------------------------------------------------------------===
// Waiting
//===----------------------------------------------------------------------------------------------------------------===

// A thread that sleeps until a timepoint is due.
typedef struct sleeper_t {
  iree_async_semaphore_timepoint_t timepoint;
  iree_atomic_uint32_t is_due;
} sleeper_t;

static void wake_sleeper(void* user_data, iree_async_semaphore_timepoint_t* timepoint, iree_status_t status) {
  iree_atomic_uint32_t* is_due = &((sleeper_t*)user_data)->is_due;
  iree_status_free(status);
  iree_atomic_store(is_due, 1u, iree_memory_order_release);
  iree_futex_wake(is_due, 1);  // by its address: the sleeper may be gone
}

static bool is_awake(sleeper_t* sleeper) { return iree_atomic_load(&sleeper->is_due, iree_memory_order_acquire); }

static void sleep_until(iree_hal_semaphore_t* semaphore, uint64_t value, iree_time_t deadline_ns) {
  sleeper_t sleeper = {.timepoint = {.callback = wake_sleeper}};
  sleeper.timepoint.user_data = &sleeper;
  IREE_IGNORE_ERROR(iree_async_semaphore_acquire_timepoint(semaphore, value, &sleeper.timepoint));
  while (!is_awake(&sleeper)) {
    if (iree_futex_wait(&sleeper.is_due, 0, deadline_ns) != IREE_STATUS_DEADLINE_EXCEEDED) continue;
    if (iree_async_semaphore_cancel_timepoint(semaphore, &sleeper.timepoint)) return;
    deadline_ns = IREE_TIME_INFINITE_FUTURE;  // it is being called
  }
}

iree_status_t iree_hal_semaphore_wait_default(iree_hal_semaphore_t* semaphore, uint64_t value, iree_time_t deadline_ns,
                                              iree_async_wait_flags_t flags) {
  iree_time_t spin_end = flags & IREE_ASYNC_WAIT_FLAG_YIELD    ? IREE_TIME_INFINITE_PAST
                         : flags & IREE_ASYNC_WAIT_FLAG_ACTIVE ? deadline_ns
                                                               : iree_min(iree_time_now() + SPIN_NS, deadline_ns);
  bool reached = load_value(semaphore) >= value;
  while (!reached && iree_time_now() < spin_end) {
    for (int i = 0; i < 16 && !reached; ++i) {
      iree_processor_yield();
      reached = load_value(semaphore) >= value;
    }
  }
  if (!reached) sleep_until(semaphore, value, deadline_ns);
  iree_status_t status = check_value(semaphore, load_value(semaphore), value);
  return iree_status_is_deferred(status) ? iree_status_from_code(IREE_STATUS_DEADLINE_EXCEEDED) : status;
}

iree_status_t iree_hal_semaphore_wait(iree_hal_semaphore_t* semaphore, uint64_t value, iree_timeout_t timeout,
                                      iree_async_wait_flags_t flags) {
  iree_status_t status = check_value(semaphore, load_value(semaphore), value);
  if (!iree_status_is_deferred(status)) return status;
  if (iree_timeout_is_immediate(timeout)) return iree_status_from_code(IREE_STATUS_DEADLINE_EXCEEDED);
  TRACE_SCOPE("semaphore_wait");
  return HAL_CALL(semaphore, iree_hal_semaphore, wait)(semaphore, value, iree_timeout_as_deadline_ns(timeout), flags);
}

typedef struct await_callback_t {
  iree_async_semaphore_timepoint_t timepoint;
  iree_wait_source_resolve_callback_t callback;
  void* user_data;
} await_callback_t;

static void await_reached(void* user_data, iree_async_semaphore_timepoint_t* timepoint, iree_status_t status) {
  await_callback_t* await = (await_callback_t*)user_data;
  iree_wait_source_resolve_callback_t callback = await->callback;
  void* callback_data = await->user_data;
  iree_allocator_free(iree_allocator_system(), await);
  callback(callback_data, status);
}

static iree_status_t await_resolve(iree_wait_source_t wait_source, iree_timeout_t timeout,
                                   iree_wait_source_resolve_callback_t callback, void* user_data) {
  iree_hal_semaphore_t* semaphore = (iree_hal_semaphore_t*)wait_source.self;
  if (!callback) return iree_hal_semaphore_wait(semaphore, wait_source.data, timeout, IREE_ASYNC_WAIT_FLAG_NONE);
  await_callback_t* await = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(iree_allocator_system(), sizeof(*await), (void**)&await));
  await->timepoint.callback = await_reached;
  await->timepoint.user_data = await;
  await->callback = callback;
  await->user_data = user_data;
  return iree_async_semaphore_acquire_timepoint(semaphore, wait_source.data, &await->timepoint);
}

iree_wait_source_t iree_hal_semaphore_await(iree_hal_semaphore_t* semaphore, uint64_t value) {
  iree_wait_source_t wait_source = {semaphore, value, await_resolve};
  return wait_source;
}
