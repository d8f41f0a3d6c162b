// Epochs of axes, and callbacks for frontiers. One mutex; callbacks run with it released.
#include "iree/async/frontier_tracker.h"

#include "iree/base/internal/atomics.h"
#include "iree/base/threading/mutex.h"

typedef struct axis_row_t {
  iree_async_axis_t axis;
  uint64_t epoch;
  iree_status_t failure;
} axis_row_t;

struct iree_async_frontier_tracker_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t allocator;
  iree_async_frontier_tracker_options_t options;
  iree_slim_mutex_t mutex;
  iree_async_frontier_waiter_t* waiters;
  uint32_t axis_count;
  axis_row_t axes[];
};

iree_status_t iree_async_frontier_tracker_create(iree_async_frontier_tracker_options_t options,
                                                 iree_allocator_t allocator,
                                                 iree_async_frontier_tracker_t** out_tracker) {
  *out_tracker = NULL;
  iree_async_frontier_tracker_t* tracker = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(allocator, sizeof(*tracker), options.axis_table_capacity,
                                                          sizeof(axis_row_t), (void**)&tracker));
  iree_atomic_ref_count_init(&tracker->ref_count);
  tracker->allocator = allocator;
  tracker->options = options;
  iree_slim_mutex_initialize(&tracker->mutex);
  *out_tracker = tracker;
  return iree_ok_status();
}

void iree_async_frontier_tracker_retain(iree_async_frontier_tracker_t* tracker) {
  if (tracker) iree_atomic_ref_count_inc(&tracker->ref_count);
}

static void call_waiters(iree_async_frontier_waiter_t* waiters) {
  while (waiters) {
    iree_async_frontier_waiter_t* waiter = waiters;
    waiters = waiter->next;
    waiter->callback(waiter->user_data, waiter->dispatch_status);
  }
}

void iree_async_frontier_tracker_release(iree_async_frontier_tracker_t* tracker) {
  if (!tracker || iree_atomic_ref_count_dec(&tracker->ref_count) != 1) return;
  for (iree_async_frontier_waiter_t* waiter = tracker->waiters; waiter; waiter = waiter->next) {
    waiter->dispatch_status = iree_make_status(IREE_STATUS_CANCELLED, "the frontier tracker is gone");
  }
  call_waiters(tracker->waiters);
  for (uint32_t i = 0; i < tracker->axis_count; ++i) iree_status_free(tracker->axes[i].failure);
  iree_allocator_free(tracker->allocator, tracker);
}

uint8_t iree_async_frontier_tracker_session_epoch(const iree_async_frontier_tracker_t* tracker) {
  return tracker->options.session_epoch;
}

uint8_t iree_async_frontier_tracker_machine_index(const iree_async_frontier_tracker_t* tracker) {
  return tracker->options.machine_index;
}

static axis_row_t* find_axis(const iree_async_frontier_tracker_t* tracker, iree_async_axis_t axis) {
  for (uint32_t i = 0; i < tracker->axis_count; ++i) {
    if (tracker->axes[i].axis == axis) return (axis_row_t*)&tracker->axes[i];
  }
  return NULL;
}

iree_status_t iree_async_frontier_tracker_register_axis(iree_async_frontier_tracker_t* tracker,
                                                        iree_async_axis_t axis) {
  iree_status_t status = iree_ok_status();
  iree_slim_mutex_lock(&tracker->mutex);
  if (find_axis(tracker, axis)) {
    status = iree_make_status(IREE_STATUS_ALREADY_EXISTS, "axis %016" PRIx64 " is registered already", axis);
  } else if (tracker->axis_count == tracker->options.axis_table_capacity) {
    status = iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "all %u axes are in use", tracker->axis_count);
  } else {
    tracker->axes[tracker->axis_count++] = (axis_row_t){axis, 0, iree_ok_status()};
  }
  iree_slim_mutex_unlock(&tracker->mutex);
  return status;
}

// OK when the frontier is reached, DEFERRED when not yet, else the failure of an axis or NOT_FOUND.
static iree_status_t check_frontier(const iree_async_frontier_tracker_t* tracker,
                                    const iree_async_frontier_t* frontier) {
  bool reached = true;
  for (uint8_t i = 0; i < frontier->entry_count; ++i) {
    const axis_row_t* row = find_axis(tracker, frontier->entries[i].axis);
    if (!row) {
      return iree_make_status(IREE_STATUS_NOT_FOUND, "axis %016" PRIx64 " is not registered",
                              frontier->entries[i].axis);
    }
    if (!iree_status_is_ok(row->failure)) return iree_status_clone(row->failure);
    reached = reached && row->epoch >= frontier->entries[i].epoch;
  }
  return reached ? iree_ok_status() : iree_status_from_code(IREE_STATUS_DEFERRED);
}

// Takes the waiters that are done off the list, with their statuses.
static iree_async_frontier_waiter_t* take_done(iree_async_frontier_tracker_t* tracker, iree_host_size_t* out_count) {
  iree_async_frontier_waiter_t* done = NULL;
  iree_async_frontier_waiter_t** link = &tracker->waiters;
  *out_count = 0;
  while (*link) {
    iree_async_frontier_waiter_t* waiter = *link;
    waiter->dispatch_status = check_frontier(tracker, waiter->frontier);
    if (iree_status_is_deferred(waiter->dispatch_status)) {
      link = &waiter->next;
      continue;
    }
    *link = waiter->next;
    waiter->next = done;
    done = waiter;
    ++*out_count;
  }
  return done;
}

static void end_axis(iree_async_frontier_tracker_t* tracker, iree_async_axis_t axis, iree_status_t status,
                     bool remove) {
  iree_host_size_t count = 0;
  iree_slim_mutex_lock(&tracker->mutex);
  axis_row_t* row = find_axis(tracker, axis);
  if (row && iree_status_is_ok(row->failure)) {
    row->failure = status;
  } else {
    iree_status_free(status);
  }
  iree_async_frontier_waiter_t* done = take_done(tracker, &count);
  if (row && remove) {
    iree_status_free(row->failure);
    *row = tracker->axes[--tracker->axis_count];
  }
  iree_slim_mutex_unlock(&tracker->mutex);
  call_waiters(done);
}

void iree_async_frontier_tracker_retire_axis(iree_async_frontier_tracker_t* tracker, iree_async_axis_t axis,
                                             iree_status_t status) {
  end_axis(tracker, axis, status, /*remove=*/true);
}

void iree_async_frontier_tracker_fail_axis(iree_async_frontier_tracker_t* tracker, iree_async_axis_t axis,
                                           iree_status_t status) {
  end_axis(tracker, axis, status, /*remove=*/false);
}

bool iree_async_frontier_tracker_query_epoch(const iree_async_frontier_tracker_t* tracker, iree_async_axis_t axis,
                                             uint64_t epoch) {
  iree_slim_mutex_t* mutex = (iree_slim_mutex_t*)&tracker->mutex;
  iree_slim_mutex_lock(mutex);
  const axis_row_t* row = find_axis(tracker, axis);
  bool reached = row && iree_status_is_ok(row->failure) && row->epoch >= epoch;
  iree_slim_mutex_unlock(mutex);
  return reached;
}

iree_host_size_t iree_async_frontier_tracker_advance(iree_async_frontier_tracker_t* tracker, iree_async_axis_t axis,
                                                     uint64_t epoch) {
  iree_host_size_t count = 0;
  iree_async_frontier_waiter_t* done = NULL;
  iree_slim_mutex_lock(&tracker->mutex);
  axis_row_t* row = find_axis(tracker, axis);
  if (row && row->epoch < epoch) {
    row->epoch = epoch;
    done = take_done(tracker, &count);
  }
  iree_slim_mutex_unlock(&tracker->mutex);
  call_waiters(done);
  return count;
}

iree_status_t iree_async_frontier_tracker_wait(iree_async_frontier_tracker_t* tracker,
                                               const iree_async_frontier_t* frontier,
                                               iree_async_frontier_waiter_fn_t callback, void* user_data,
                                               iree_async_frontier_waiter_t* waiter) {
  *waiter = (iree_async_frontier_waiter_t){NULL, frontier, callback, user_data, iree_ok_status()};
  iree_slim_mutex_lock(&tracker->mutex);
  iree_status_t status = check_frontier(tracker, frontier);
  if (iree_status_is_deferred(status)) {
    waiter->next = tracker->waiters;
    tracker->waiters = waiter;
  }
  iree_slim_mutex_unlock(&tracker->mutex);
  if (iree_status_is_deferred(status)) return iree_ok_status();
  if (iree_status_is_not_found(status)) return status;
  callback(user_data, status);
  return iree_ok_status();
}

bool iree_async_frontier_tracker_cancel_wait(iree_async_frontier_tracker_t* tracker,
                                             iree_async_frontier_waiter_t* waiter) {
  iree_slim_mutex_lock(&tracker->mutex);
  iree_async_frontier_waiter_t** link = &tracker->waiters;
  while (*link && *link != waiter) link = &(*link)->next;
  bool found = *link != NULL;
  if (found) *link = waiter->next;
  iree_slim_mutex_unlock(&tracker->mutex);
  return found;
}
