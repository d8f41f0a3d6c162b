// Operations: copies on the heap, waits, and their end.
//
// Waits are timepoints of semaphores; the thread that reaches the last one starts the operation. Chains of operations
// started this way are run from a list of the thread's, not by recursion.
#include "hal/queued_device.h"
#include "iree/base/threading/thread.h"

enum { DEFAULT_POOLED_SIZE = 1024 };

// Bytes of the operations in a list of free ones.
static size_t pooled_size(const hal_queued_device_t* device, uint32_t size_class) {
  size_t smallest = device->pooled_operation_size ? device->pooled_operation_size : DEFAULT_POOLED_SIZE;
  return smallest << size_class;
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory
//===----------------------------------------------------------------------------------------------------------------===

// Operations stay in the device's list as long as their memory is there, so that those that wait can be found and
// nothing is locked when one begins to.
static void link_operation(hal_queued_device_t* device, hal_operation_t* op) {
  iree_atomic_store(&op->pending, 0u, iree_memory_order_relaxed);
  iree_slim_mutex_lock(&device->mutex);
  op->prev_allocated = NULL;
  op->next_allocated = device->allocated;
  if (op->next_allocated) op->next_allocated->prev_allocated = op;
  device->allocated = op;
  iree_slim_mutex_unlock(&device->mutex);
}

static void free_operation(hal_queued_device_t* device, hal_operation_t* op) {
  iree_slim_mutex_lock(&device->mutex);
  *(op->prev_allocated ? &op->prev_allocated->next_allocated : &device->allocated) = op->next_allocated;
  if (op->next_allocated) op->next_allocated->prev_allocated = op->prev_allocated;
  iree_slim_mutex_unlock(&device->mutex);
  iree_allocator_free(device->host_allocator, op);
}

//===----------------------------------------------------------------------------------------------------------------===
// The end
//===----------------------------------------------------------------------------------------------------------------===

static void visit_resources(const hal_operation_t* op, hal_visit_resource_fn_t visit) {
  switch (op->kind) {
    case HAL_OPERATION_WORK:
      op->device->interface->visit_work(op, visit);
      break;
    case HAL_OPERATION_ALLOCA:
    case HAL_OPERATION_DEALLOCA:
      visit(op->buffer);
      break;
    case HAL_OPERATION_READ:
    case HAL_OPERATION_WRITE:
      visit(op->file.file);
      visit(op->file.buffer);
      break;
    case HAL_OPERATION_HOST_CALL:
      break;
  }
}

// How deep this thread is in the end of operations, or in calls of theirs: where it runs what others have asked for.
static _Thread_local uint32_t end_depth;

static void let_go(hal_operation_t* op) {
  hal_queued_device_t* device = op->device;
  ++end_depth;
  visit_resources(op, iree_hal_resource_release);
  iree_hal_semaphore_list_release(op->waits);
  iree_hal_semaphore_list_release(op->signals);
  if (op->size_class < HAL_OPERATION_CLASSES) {
    hal_idle_list_give(&device->free_operations[op->size_class], &op->idle);
  } else {
    free_operation(device, op);
  }
  --end_depth;
}

static void keep_ended(hal_queued_device_t* device, hal_operation_t* op) {
  intptr_t first = iree_atomic_load(&device->ended, iree_memory_order_relaxed);
  do {
    op->next = (hal_operation_t*)first;
  } while (!iree_atomic_compare_exchange_weak(&device->ended, &first, (intptr_t)op, iree_memory_order_release,
                                              iree_memory_order_relaxed));
}

void hal_operation_release(hal_operation_t* op) {
  hal_queued_device_t* device = op->device;
  if (iree_atomic_load(&device->is_closing, iree_memory_order_acquire)) {
    keep_ended(device, op);
  } else {
    let_go(op);
  }
  // The device may go from here on.
  iree_atomic_fetch_sub(&device->outstanding, 1, iree_memory_order_release);
}

static void signal_list(const hal_queued_device_t* device, iree_hal_semaphore_list_t signals, iree_status_t status) {
  if (iree_status_is_ok(status)) {
    iree_status_free(iree_hal_semaphore_list_signal(signals, NULL));
    return;
  }
  if (device->aborts_on_failure) iree_status_abort(status);
  iree_hal_semaphore_list_fail(signals, status);
}

void hal_operation_signal(const hal_operation_t* op, iree_status_t status) {
  if (op->kind == HAL_OPERATION_HOST_CALL && iree_status_is_deferred(status)) {
    if (op->profile) hal_profile_end_operation(op->profile, iree_ok_status());
    iree_status_free(status);  // the callee signals
    return;
  }
  // Who waits for it may end the profile then.
  if (op->profile) hal_profile_end_operation(op->profile, status);
  ++end_depth;
  signal_list(op->device, op->signals, status);
  --end_depth;
}

void hal_operation_finish(hal_operation_t* op, iree_status_t status) {
  hal_operation_signal(op, status);
  hal_operation_release(op);
}

//===----------------------------------------------------------------------------------------------------------------===
// Waiting
//===----------------------------------------------------------------------------------------------------------------===

// Operations that became ready on this thread while it was starting another one.
static _Thread_local struct {
  bool is_starting;
  hal_operation_t* head;
  hal_operation_t* tail;
} ready;

void hal_operation_start_in_turn(hal_operation_t* op) {
  op->next = NULL;
  if (ready.head) {
    ready.tail->next = op;
  } else {
    ready.head = op;
  }
  ready.tail = op;
  if (ready.is_starting) return;
  ready.is_starting = true;
  while (ready.head) {
    hal_operation_t* next = ready.head;
    ready.head = next->next;
    next->device->interface->start(next);
  }
  ready.is_starting = false;
}

// One wait, or hold, is over.
static void drop_pending(hal_operation_t* op) {
  if (iree_atomic_fetch_sub(&op->pending, 1, iree_memory_order_acq_rel) != 1) return;
  hal_operation_start_in_turn(op);
}

static void fail_wait(hal_operation_t* op, iree_status_t status) {
  intptr_t expected = 0;
  if (!iree_atomic_compare_exchange_strong(&op->failure, &expected, (intptr_t)status, iree_memory_order_acq_rel,
                                           iree_memory_order_relaxed)) {
    iree_status_free(status);
  }
}

iree_status_t hal_operation_take_failure(hal_operation_t* op) {
  return (iree_status_t)iree_atomic_exchange(&op->failure, 0, iree_memory_order_acquire);
}

static void wait_reached(void* user_data, iree_async_semaphore_timepoint_t* timepoint, iree_status_t status) {
  hal_operation_t* op = (hal_operation_t*)user_data;
  if (!iree_status_is_ok(status)) fail_wait(op, status);
  drop_pending(op);
}

void hal_operation_watch(hal_operation_t* op, const hal_profile_work_t* work) {
  static const iree_hal_profile_queue_event_type_t types[] = {
      [HAL_OPERATION_ALLOCA] = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_ALLOCA,
      [HAL_OPERATION_DEALLOCA] = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_DEALLOCA,
      [HAL_OPERATION_HOST_CALL] = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_HOST_CALL,
      [HAL_OPERATION_READ] = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_READ,
      [HAL_OPERATION_WRITE] = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_WRITE,
  };
  hal_profile_submission_t submission = {
      .type = types[op->kind],
      .queue_affinity = op->queue_affinity,
      .waits = op->waits,
      .signals = op->signals,
  };
  if (op->kind == HAL_OPERATION_WORK) {
    submission.type = work->type;
    submission.payload_length = work->payload_length;
    submission.program = work->program;
  } else if (op->kind == HAL_OPERATION_ALLOCA || op->kind == HAL_OPERATION_DEALLOCA) {
    submission.buffer = op->buffer;
    submission.payload_length = iree_hal_buffer_byte_length(op->buffer);
  } else if (op->kind != HAL_OPERATION_HOST_CALL) {
    submission.payload_length = op->file.length;
  }
  op->profile = hal_profile_submit_watched(op->device, &submission);
}

void hal_operation_defer(hal_operation_t* op) {
  if (op->profile) hal_profile_defer(op->profile);
  iree_host_size_t count = op->waits.count;
  for (iree_host_size_t i = 0; i < count; ++i) {
    op->timepoints[i] = (iree_async_semaphore_timepoint_t){.callback = wait_reached, .user_data = op};
  }
  iree_atomic_store(&op->pending, (uint32_t)count + 1, iree_memory_order_release);
  for (iree_host_size_t i = 0; i < count; ++i) {
    // The hold keeps the operation here until all are asked for.
    IREE_IGNORE_ERROR(iree_async_semaphore_acquire_timepoint(op->waits.semaphores[i], op->waits.payload_values[i],
                                                             &op->timepoints[i]));
  }
  drop_pending(op);
}

static void cancel(hal_operation_t* op) {
  for (iree_host_size_t i = 0; i < op->waits.count; ++i) {
    if (!iree_async_semaphore_cancel_timepoint(op->waits.semaphores[i], &op->timepoints[i])) continue;
    fail_wait(op, iree_make_status(IREE_STATUS_CANCELLED, "the device was released while work waited"));
    iree_atomic_fetch_sub(&op->pending, 1, iree_memory_order_acq_rel);  // never the last: the caller holds one
  }
  drop_pending(op);
}

static int destroy_main(void* arg) {
  hal_queued_device_t* device = (hal_queued_device_t*)arg;
  intptr_t thread = 0;
  while (!(thread = iree_atomic_load(&device->destroyer, iree_memory_order_acquire))) iree_thread_yield();
  device->destroy((iree_hal_device_t*)device);
  iree_thread_release((iree_thread_t*)thread);
  return 0;
}

// The thread is nobody's: it lets go of itself. Where there is no thread to be had the device stays for ever.
bool hal_queued_destroy_elsewhere(hal_queued_device_t* device, void (*destroy)(iree_hal_device_t* device)) {
  if (end_depth == 0) return false;
  iree_thread_create_params_t params = {.name = IREE_SV("hal-destroy")};
  iree_thread_t* thread = NULL;
  device->destroy = destroy;
  iree_status_t status = iree_thread_create(destroy_main, device, params, iree_allocator_system(), &thread);
  if (iree_status_is_ok(status)) iree_atomic_store(&device->destroyer, (intptr_t)thread, iree_memory_order_release);
  iree_status_free(status);
  return true;
}

// An operation that waits, held so that it stays; NULL when there is none.
static hal_operation_t* hold_waiting(hal_queued_device_t* device) {
  hal_operation_t* found = NULL;
  iree_slim_mutex_lock(&device->mutex);
  for (hal_operation_t* op = device->allocated; op && !found; op = op->next_allocated) {
    uint32_t pending = iree_atomic_load(&op->pending, iree_memory_order_acquire);
    // One whose last wait is just over is on its way already.
    while (pending && !iree_atomic_compare_exchange_weak(&op->pending, &pending, pending + 1, iree_memory_order_acq_rel,
                                                         iree_memory_order_relaxed)) {
    }
    if (pending) found = op;
  }
  iree_slim_mutex_unlock(&device->mutex);
  return found;
}

void hal_queued_close(hal_queued_device_t* device) {
  iree_atomic_store(&device->is_closing, 1u, iree_memory_order_release);
  for (;;) {
    hal_operation_t* op = hold_waiting(device);
    if (op) {
      cancel(op);
    } else if (iree_atomic_load(&device->outstanding, iree_memory_order_acquire) == 0) {
      break;
    } else {
      iree_wait_until(iree_time_now() + 20000);
    }
  }
  hal_operation_t* next = (hal_operation_t*)iree_atomic_load(&device->ended, iree_memory_order_acquire);
  while (next) {
    hal_operation_t* op = next;
    next = op->next;
    let_go(op);
  }
}

void hal_operation_trim(hal_queued_device_t* device) {
  for (uint32_t i = 0; i < HAL_OPERATION_CLASSES; ++i) {
    for (hal_idle_t* idle; (idle = hal_idle_list_take(&device->free_operations[i])) != NULL;) {
      free_operation(device, (hal_operation_t*)hal_idle_object(idle, offsetof(hal_operation_t, idle)));
    }
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// To the heap
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t allocate(hal_queued_device_t* device, size_t size, hal_operation_t** out_op) {
  uint32_t size_class = 0;
  while (size_class < HAL_OPERATION_CLASSES && pooled_size(device, size_class) < size) ++size_class;
  bool is_pooled = size_class < HAL_OPERATION_CLASSES;
  hal_idle_t* idle = is_pooled ? hal_idle_list_take(&device->free_operations[size_class]) : NULL;
  *out_op = (hal_operation_t*)hal_idle_object(idle, offsetof(hal_operation_t, idle));
  if (!*out_op) {
    if (is_pooled) size = pooled_size(device, size_class);
    IREE_RETURN_IF_ERROR(iree_allocator_malloc_uninitialized(device->host_allocator, size, (void**)out_op));
    link_operation(device, *out_op);
  }
  (*out_op)->size_class = size_class;
  return iree_ok_status();
}

static void copy_list(iree_hal_semaphore_list_t* list, uint8_t** storage) {
  if (list->count == 0) return;
  uint64_t* values = (uint64_t*)*storage;
  iree_hal_semaphore_t** semaphores = (iree_hal_semaphore_t**)(values + list->count);
  memcpy(values, list->payload_values, list->count * sizeof(*values));
  memcpy(semaphores, list->semaphores, list->count * sizeof(*semaphores));
  *storage = (uint8_t*)(semaphores + list->count);
  list->payload_values = values;
  list->semaphores = semaphores;
  iree_hal_semaphore_list_retain(*list);
}

iree_status_t hal_operation_move(const hal_operation_move_t* move, hal_operation_t** out_op, uint8_t** out_extra) {
  const size_t list_entry = sizeof(uint64_t) + sizeof(iree_hal_semaphore_t*);
  const hal_operation_t* source = move->source;
  iree_host_size_t wait_count = source->waits.count;
  size_t begin = iree_host_align(move->size, 8);
  size_t size = begin + wait_count * (list_entry + sizeof(iree_async_semaphore_timepoint_t)) +
                source->signals.count * list_entry + move->extra_size;
  hal_operation_t* op = NULL;
  IREE_RETURN_IF_ERROR(allocate(source->device, size, &op));
  const size_t kept = offsetof(hal_operation_t, kind);
  memcpy((uint8_t*)op + kept, (const uint8_t*)source + kept, move->size - kept);
  uint8_t* storage = (uint8_t*)op + begin;
  op->timepoints = (iree_async_semaphore_timepoint_t*)storage;
  storage = (uint8_t*)(op->timepoints + wait_count);
  copy_list(&op->waits, &storage);
  copy_list(&op->signals, &storage);
  visit_resources(op, iree_hal_resource_retain);
  iree_atomic_fetch_add(&op->device->outstanding, 1, iree_memory_order_relaxed);
  *out_op = op;
  if (out_extra) *out_extra = storage;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Work of the host
//===----------------------------------------------------------------------------------------------------------------===

// DEFERRED when the signals are not the caller's business any more.
iree_status_t hal_operation_call_host(const hal_operation_t* op) {
  iree_hal_host_call_context_t context = {(iree_hal_device_t*)op->device, op->queue_affinity, op->signals};
  bool signals_first = op->host_call.flags & IREE_HAL_HOST_CALL_FLAG_NON_BLOCKING;
  if (signals_first) {
    signal_list(op->device, op->signals, iree_ok_status());
    context.signal_semaphore_list = iree_hal_semaphore_list_empty();
  }
  ++end_depth;
  iree_status_t status = op->host_call.call.fn(op->host_call.call.user_data, op->host_call.args, &context);
  --end_depth;
  if (!signals_first) return status;
  iree_status_free(status);
  return iree_status_from_code(IREE_STATUS_DEFERRED);
}

iree_status_t hal_operation_transfer_file(const hal_operation_t* op) {
  const hal_file_transfer_t* t = &op->file;
  return (op->kind == HAL_OPERATION_READ ? iree_hal_file_read : iree_hal_file_write)(t->file, t->file_offset, t->buffer,
                                                                                     t->buffer_offset, t->length);
}

iree_status_t hal_operation_run(const hal_operation_t* op) {
  switch (op->kind) {
    case HAL_OPERATION_WORK:
      break;
    case HAL_OPERATION_ALLOCA:
      IREE_RETURN_IF_ERROR(hal_transient_stage(op->buffer, (hal_pool_taker_t){0}, &(hal_pool_frontier_t){0}));
      hal_transient_commit(op->buffer);
      break;
    case HAL_OPERATION_DEALLOCA:
      if (hal_transient_is(op->buffer)) hal_transient_decommit(op->buffer);
      break;
    case HAL_OPERATION_HOST_CALL:
      return hal_operation_call_host(op);
    case HAL_OPERATION_READ:
    case HAL_OPERATION_WRITE:
      return hal_operation_transfer_file(op);
  }
  return iree_ok_status();
}
