// Queues of GPUs: submission, completion, errors.
#include "hal/gpu/queue.h"

#include "iree/base/threading/thread.h"

// How long a completion thread sleeps at a time that nobody needs, and how often with nothing in flight.
enum { DOZE_NS = 1000000, MOST_DOZES = 32 };

//===----------------------------------------------------------------------------------------------------------------===
// Submission
//===----------------------------------------------------------------------------------------------------------------===

static bool is_failing(const gpu_operation_t* op) {
  return iree_atomic_load(&op->base.failure, iree_memory_order_relaxed) != 0;
}

// True when somebody waits who is to be woken.
static bool set_producers(const gpu_operation_t* op, gpu_producer_t producer) {
  bool is_awaited = false, fails_late = op->kept_count > 0 || op->batch || op->is_promised;
  for (iree_host_size_t i = 0; i < op->base.signals.count; ++i) {
    is_awaited |= gpu_semaphore_set_producer(op->base.signals.semaphores[i], gpu_operation_device(op), producer,
                                             op->base.signals.payload_values[i], fails_late);
  }
  return is_awaited;
}

// What is behind a batch is blocked until other ranks have joined in, but only by that: who comes behind it in the
// queue need not wait for it to be issued.
static void promise(gpu_queue_t* queue, gpu_operation_t* op, const gpu_operation_t* before) {
  if (op->is_promised || is_failing(op) || !(op->batch || (before && before->is_promised))) return;
  op->is_promised = true;
  set_producers(op, (gpu_producer_t){queue->id, GPU_EPOCH_PROMISED});
}

static void push_blocked(gpu_queue_t* queue, gpu_operation_t* op, bool to_front) {
  promise(queue, op, to_front ? NULL : queue->blocked_tail);
  iree_atomic_store(&queue->has_blocked, 1u, iree_memory_order_seq_cst);
  if (to_front || !queue->blocked_head) {
    op->base.next = to_front && queue->blocked_head ? &queue->blocked_head->base : NULL;
    queue->blocked_head = op;
    if (!op->base.next) queue->blocked_tail = op;
    return;
  }
  op->base.next = NULL;
  queue->blocked_tail->base.next = &op->base;
  queue->blocked_tail = op;
}

static gpu_operation_t* pop_blocked(gpu_queue_t* queue) {
  gpu_operation_t* op = queue->blocked_head;
  if (op) queue->blocked_head = (gpu_operation_t*)op->base.next;
  if (!queue->blocked_head) {
    queue->blocked_tail = NULL;
    iree_atomic_store(&queue->has_blocked, 0u, iree_memory_order_seq_cst);
  }
  return op;
}

// Whether the completion thread must not doze.
static bool is_wanted(gpu_queue_t* queue) {
  return iree_atomic_load(&queue->wanted, iree_memory_order_seq_cst) > gpu_queue_tail(queue) ||
         iree_atomic_load(&queue->has_blocked, iree_memory_order_seq_cst) ||
         iree_atomic_load(&queue->is_woken, iree_memory_order_seq_cst);
}

// After a reason was given: who rests says so before it looks for one.
static void unpark(gpu_queue_t* queue) {
  uint32_t rest = iree_atomic_load(&queue->rest, iree_memory_order_seq_cst);
  if (rest == GPU_AWAKE || (rest == GPU_DOZING && !is_wanted(queue))) return;
  if (iree_atomic_exchange(&queue->rest, (uint32_t)GPU_AWAKE, iree_memory_order_seq_cst) != GPU_AWAKE) {
    iree_notification_post(&queue->unparked, 1);
  }
}

static void raise_wanted(gpu_queue_t* queue, uint64_t epoch) {
  uint64_t wanted = iree_atomic_load(&queue->wanted, iree_memory_order_relaxed);
  while (wanted < epoch && !iree_atomic_compare_exchange_weak(&queue->wanted, &wanted, epoch, iree_memory_order_seq_cst,
                                                              iree_memory_order_relaxed)) {
  }
}

void gpu_queue_want(gpu_queue_t* queue, uint64_t epoch) {
  if (!queue->backend->poll) return;
  raise_wanted(queue, epoch);
  unpark(queue);
}

// Whether there is room for another part; and whether nothing is in flight, so that there will never be more.
static bool has_entry(gpu_queue_t* queue, bool* out_is_idle) {
  uint64_t head = gpu_queue_head(queue);
  queue->seen_tail = gpu_queue_tail(queue);
  queue->seen_retries = iree_atomic_load(&queue->retries, iree_memory_order_seq_cst);
  *out_is_idle = head == queue->seen_tail;
  return head - queue->seen_tail <= queue->entry_mask;
}

static void push_entry(gpu_queue_t* queue, const gpu_part_t* part) {
  queue->entries[(part->epoch - 1) & queue->entry_mask] = *part;
  part->operation->next = part->next;
  iree_atomic_fetch_add(&queue->publishers, 1, iree_memory_order_relaxed);
  iree_atomic_store(&queue->epoch_head, part->epoch, iree_memory_order_seq_cst);
}

// The operation may be gone when this returns.
static void publish(gpu_queue_t* queue, const gpu_part_t* part) {
  queue->backend->publish(queue, part);
  unpark(queue);
  iree_atomic_fetch_sub(&queue->publishers, 1, iree_memory_order_release);
}

static void await_publishers(gpu_queue_t* queue) {
  while (iree_atomic_load(&queue->publishers, iree_memory_order_acquire)) iree_thread_yield();
}

// Whether another of its barriers makes one of an operation's unnecessary.
static bool is_covered(const gpu_operation_t* op, uint32_t index) {
  const gpu_barrier_t* barrier = &op->barriers[index];
  for (uint32_t i = 0; i < op->barrier_count; ++i) {
    const gpu_barrier_t* other = &op->barriers[i];
    if (i == index || other->is_implied || other->gate || barrier->gate) continue;
    if (gpu_waited_implies(&other->queue->waited, other->epoch, barrier->queue->bit, barrier->epoch)) return true;
  }
  return false;
}

// A queue is one chain: what a part of it waited for, all later ones have, and with it what that had waited for. An
// operation that fails has nothing to wait for on the GPU, where what failed may never end.
static void find_implied_barriers(const gpu_queue_t* queue, gpu_operation_t* op) {
  bool fails = is_failing(op);
  for (uint32_t i = 0; i < op->barrier_count; ++i) {
    gpu_barrier_t* barrier = &op->barriers[i];
    barrier->is_implied =
        fails || (!barrier->gate && gpu_waited_covers(&queue->waited, barrier->queue->bit, barrier->epoch));
  }
  for (uint32_t i = 0; i < op->barrier_count && op->barrier_count > 1; ++i) {
    if (!op->barriers[i].is_implied) op->barriers[i].is_implied = is_covered(op, i);
  }
}

static void note_barriers(gpu_queue_t* queue, const gpu_operation_t* op, uint64_t epoch) {
  for (uint32_t i = 0; i < op->barrier_count && !is_failing(op); ++i) {
    const gpu_barrier_t* barrier = &op->barriers[i];
    if (barrier->gate) continue;  // bits are of this device's queues
    gpu_waited_wait_t wait = {epoch, queue->bit, barrier->queue->bit, barrier->epoch};
    gpu_waited_note(&queue->waited, &wait, &barrier->queue->waited);
  }
}

typedef enum { ISSUE_DONE, ISSUE_PART, ISSUE_FULL } issue_t;

// Takes the place of what fits of an operation, which is to be published then. An error leaves nothing behind of this
// attempt.
static iree_status_t issue(gpu_queue_t* queue, gpu_operation_t* op, gpu_part_t* part, issue_t* out_result) {
  *out_result = ISSUE_FULL;
  bool is_idle = false;
  if (!has_entry(queue, &is_idle)) return iree_ok_status();
  uint64_t epoch = gpu_queue_head(queue) + 1;
  *part = (gpu_part_t){.operation = op, .epoch = epoch, .first = op->next, .next = op->next};
  if (part->first == 0) find_implied_barriers(queue, op);
  IREE_RETURN_IF_ERROR(queue->backend->write(queue, op, part));
  part->is_final = part->next == op->work.count;
  if (!part->is_written) {
    if (!is_idle || part->is_held) return iree_ok_status();
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "a command needs more kernel arguments than the queue has");
  }
  if (!iree_status_is_ok(part->failure)) {
    iree_atomic_store(&op->base.failure, (intptr_t)part->failure, iree_memory_order_relaxed);
  }
  // Nobody may rely on the queue for an operation that is going to fail.
  bool is_awaited = true;
  if (part->is_final && !is_failing(op)) {
    is_awaited = set_producers(op, (gpu_producer_t){queue->id, epoch});
    gpu_operation_release_memory(op, (hal_pool_point_t){queue->id, epoch});
  }
  if (is_awaited || epoch - queue->seen_tail > queue->entry_mask / 2) raise_wanted(queue, epoch);
  if (part->first == 0) note_barriers(queue, op, epoch);
  push_entry(queue, part);
  *out_result = part->is_final ? ISSUE_DONE : ISSUE_PART;
  return iree_ok_status();
}

// An operation that fails when parts of it run already ends when they have.
static bool fail_late(gpu_operation_t* op, iree_status_t status) {
  bool has_parts = op->next > 0;
  if (!has_parts || is_failing(op)) return false;
  iree_atomic_store(&op->base.failure, (intptr_t)status, iree_memory_order_relaxed);
  op->next = op->work.count;
  return true;
}

// Issues an operation until it is all in, or nothing more fits. The status is its failure. The last part is the
// caller's to publish, without the lock; it is none where its operation is NULL.
static iree_status_t issue_all(gpu_queue_t* queue, gpu_operation_t* op, gpu_part_t* out_last, bool* out_is_full) {
  issue_t result = ISSUE_PART;
  while (result == ISSUE_PART) {
    gpu_part_t part = {0};
    iree_status_t status = issue(queue, op, &part, &result);
    if (!iree_status_is_ok(status)) {
      if (!fail_late(op, status)) return status;
      result = ISSUE_PART;
    } else if (result == ISSUE_PART) {
      publish(queue, &part);
    } else if (result == ISSUE_DONE) {
      *out_last = part;
    }
  }
  *out_is_full = result == ISSUE_FULL;
  return iree_ok_status();
}

static iree_status_t clone_error(gpu_queue_t* queue) {
  return iree_status_clone((iree_status_t)iree_atomic_load(&queue->error, iree_memory_order_acquire));
}

// Ends an operation that is not in the queue, whose own failure, if any, comes too late.
static void finish_outside(gpu_operation_t* op, iree_status_t status) {
  iree_status_free(hal_operation_take_failure(&op->base));
  gpu_operation_finish(op, status);
}

// Whether something has ended, or was let go, since the last try. The submission's mutex is held.
static bool has_moved(gpu_queue_t* queue) {
  return gpu_queue_tail(queue) != queue->seen_tail ||
         iree_atomic_load(&queue->retries, iree_memory_order_seq_cst) != queue->seen_retries;
}

// Issues what was blocked as far as there is room. Who blocks an operation looks afterwards whether anything has ended;
// who sees an end looks afterwards whether anything is blocked.
static void issue_blocked(gpu_queue_t* queue) {
  bool goes_on = iree_atomic_load(&queue->has_blocked, iree_memory_order_seq_cst);
  while (goes_on) {
    bool is_full = false;
    gpu_part_t last = {0};
    iree_slim_mutex_lock(&queue->submission);
    gpu_operation_t* op = pop_blocked(queue);
    iree_status_t status = op ? issue_all(queue, op, &last, &is_full) : iree_ok_status();
    if (iree_status_is_ok(status) && is_full) push_blocked(queue, op, /*to_front=*/true);
    goes_on = op && (!is_full || has_moved(queue));
    iree_slim_mutex_unlock(&queue->submission);
    if (last.operation) publish(queue, &last);
    if (!iree_status_is_ok(status)) finish_outside(op, status);
  }
}

void gpu_queue_retry(gpu_queue_t* queue) {
  iree_atomic_fetch_add(&queue->retries, 1, iree_memory_order_seq_cst);
  issue_blocked(queue);
}

void gpu_queue_submit(gpu_queue_t* queue, gpu_operation_t* op) {
  iree_status_t status = iree_ok_status();
  gpu_part_t last = {0};
  iree_slim_mutex_lock(&queue->submission);
  bool is_full = queue->blocked_head != NULL;
  if (queue->has_failed) {
    status = clone_error(queue);
  } else if (!is_full) {
    status = issue_all(queue, op, &last, &is_full);
  }
  bool is_blocked = iree_status_is_ok(status) && is_full;
  if (is_blocked) push_blocked(queue, op, /*to_front=*/false);
  bool tries_again = is_blocked && has_moved(queue);
  iree_slim_mutex_unlock(&queue->submission);
  if (last.operation) publish(queue, &last);
  if (!iree_status_is_ok(status)) finish_outside(op, status);
  if (is_blocked) unpark(queue);
  if (tries_again) issue_blocked(queue);
}

//===----------------------------------------------------------------------------------------------------------------===
// Ends, for others
//===----------------------------------------------------------------------------------------------------------------===

typedef struct end_t {
  gpu_queue_t* queue;
  uint64_t epoch;
} end_t;

static bool is_ended(void* arg) {
  const end_t* end = (const end_t*)arg;
  return iree_atomic_load(&end->queue->ended_epochs, iree_memory_order_acquire) >= end->epoch;
}

static bool has_final(void* arg) {
  return iree_atomic_load(&((gpu_queue_t*)arg)->has_final, iree_memory_order_acquire);
}

static bool is_ended_or_lost(void* arg) { return is_ended(arg) || has_final(((const end_t*)arg)->queue); }

iree_status_t gpu_queue_await_end(gpu_queue_t* queue, uint64_t epoch) {
  end_t end = {queue, epoch};
  gpu_queue_help(queue, epoch, IREE_TIME_INFINITE_PAST, /*may_sleep=*/false);
  if (!is_ended(&end)) gpu_queue_want(queue, epoch);
  iree_notification_await(&queue->ended, is_ended_or_lost, &end, iree_infinite_timeout());
  if (is_ended(&end)) return iree_ok_status();
  // What came before the error is told yet.
  if (iree_atomic_load(&queue->final_epoch, iree_memory_order_relaxed) < epoch) return clone_error(queue);
  iree_notification_await(&queue->ended, is_ended, &end, iree_infinite_timeout());
  return iree_ok_status();
}

bool gpu_queue_has_ended(gpu_queue_t* queue, uint64_t epoch) {
  return iree_atomic_load(&queue->ended_epochs, iree_memory_order_acquire) >= epoch ||
         iree_atomic_load(&queue->error, iree_memory_order_acquire) != 0;
}

bool gpu_queue_is_busy(gpu_queue_t* queue) { return gpu_queue_head(queue) != gpu_queue_tail(queue); }

//===----------------------------------------------------------------------------------------------------------------===
// Completion
//===----------------------------------------------------------------------------------------------------------------===

// After what the operation waited for in other queues has ended for everybody, so that ends are seen in order. What was
// lost there is lost here.
static iree_status_t await_barriers(const gpu_operation_t* op) {
  for (uint32_t i = 0; i < op->barrier_count; ++i) {
    IREE_RETURN_IF_ERROR(gpu_queue_await_end(op->barriers[i].queue, op->barriers[i].epoch));
  }
  return iree_ok_status();
}

static iree_status_t end_operation(gpu_operation_t* op) {
  IREE_RETURN_IF_ERROR(hal_operation_take_failure(&op->base));
  IREE_RETURN_IF_ERROR(await_barriers(op));
  IREE_RETURN_IF_ERROR(gpu_operation_await_kept(op));
  if (op->batch) IREE_RETURN_IF_ERROR(hal_collective_batch_await(op->batch));
  // What it came after in a queue may have been lost.
  return op->relies_on_order ? gpu_device_clone_failure(gpu_operation_device(op)) : iree_ok_status();
}

// The end of one part. Who drains comes here, one thread at a time, so entries are popped in order.
static void retire(gpu_queue_t* queue) {
  uint64_t epoch = gpu_queue_tail(queue) + 1;
  while (gpu_queue_head(queue) < epoch) iree_thread_yield();  // never: it was there before it could end
  iree_slim_mutex_lock(&queue->mutex);
  gpu_part_t part = *gpu_queue_part(queue, epoch);
  iree_status_t failure = queue->backend->retire(queue, epoch, &part);
  iree_atomic_store(&queue->epoch_tail, epoch, iree_memory_order_seq_cst);
  iree_slim_mutex_unlock(&queue->mutex);
  if (!iree_status_is_ok(failure)) {
    // As with any fault of a kernel, what came after it was wrong.
    part.operation->relies_on_order = true;
    gpu_queue_fail(queue, failure);
  }
  if (part.is_final) gpu_operation_signal(part.operation, end_operation(part.operation));
  iree_atomic_store(&queue->ended_epochs, epoch, iree_memory_order_release);
  iree_notification_post(&queue->ended, IREE_ALL_WAITERS);
  // Last, since it runs what others have asked for, which may wait for this end.
  if (part.is_final) hal_operation_release(&part.operation->base);
}

// `draining` is held.
static void drain(gpu_queue_t* queue, uint64_t ended) {
  while (gpu_queue_tail(queue) < ended) retire(queue);  // only this thread changes it
}

void gpu_queue_help(gpu_queue_t* queue, uint64_t epoch, iree_time_t spin_until, bool may_sleep) {
  uint64_t ended = 0;
  if (!queue->backend->poll || gpu_queue_has_ended(queue, epoch)) return;
  // A backend that looks whether there is anything left to do would take a part that is not there yet for one that has
  // ended: who asks for the one behind the tail may find the tail moved.
  if (gpu_queue_head(queue) < epoch) return;
  if (!queue->backend->poll(queue, epoch, spin_until, may_sleep, &ended)) return;
  if (!iree_slim_mutex_try_lock(&queue->draining)) return;
  // No further: this may be the end of a part of another queue, which what comes later here may wait for.
  drain(queue, epoch);
  iree_slim_mutex_unlock(&queue->draining);
  issue_blocked(queue);
}

// After an error: what ended before it is done, everything else fails.
static void fail_all(gpu_queue_t* queue) {
  iree_notification_await(&queue->ended, has_final, queue, iree_infinite_timeout());
  queue->backend->stop(queue);  // nothing may run whose memory goes
  iree_slim_mutex_lock(&queue->draining);
  drain(queue, iree_atomic_load(&queue->final_epoch, iree_memory_order_relaxed));
  iree_slim_mutex_lock(&queue->submission);
  queue->has_failed = true;
  await_publishers(queue);  // who may still look at what is about to go
  iree_slim_mutex_lock(&queue->mutex);
  gpu_operation_t* failed = queue->blocked_head;
  queue->blocked_head = queue->blocked_tail = NULL;
  while (gpu_queue_is_busy(queue)) {
    uint64_t epoch = gpu_queue_tail(queue) + 1;
    const gpu_part_t* part = gpu_queue_part(queue, epoch);
    iree_atomic_store(&queue->epoch_tail, epoch, iree_memory_order_seq_cst);
    gpu_operation_t* op = part->operation;
    if (!part->is_final) continue;  // the rest is blocked, or follows
    op->base.next = failed ? &failed->base : NULL;
    failed = op;
  }
  iree_slim_mutex_unlock(&queue->mutex);
  iree_slim_mutex_unlock(&queue->submission);
  while (failed) {
    gpu_operation_t* op = failed;
    failed = (gpu_operation_t*)op->base.next;
    finish_outside(op, clone_error(queue));
  }
  iree_slim_mutex_unlock(&queue->draining);
}

static bool is_unparked(void* arg) {
  return iree_atomic_load(&((gpu_queue_t*)arg)->rest, iree_memory_order_acquire) == GPU_AWAKE;
}

static bool has_reason(gpu_queue_t* queue) {
  return gpu_queue_is_busy(queue) || iree_atomic_load(&queue->is_woken, iree_memory_order_seq_cst);
}

// With nothing in flight the thread sleeps here until something is, not in the vendor's library, where other queues'
// ends may wake it. It says so before it looks a last time; others look whether it sleeps after they gave it a reason.
static void park(gpu_queue_t* queue) {
  if (has_reason(queue)) return;
  iree_atomic_store(&queue->rest, (uint32_t)GPU_PARKED, iree_memory_order_seq_cst);
  if (has_reason(queue)) iree_atomic_store(&queue->rest, (uint32_t)GPU_AWAKE, iree_memory_order_seq_cst);
  iree_notification_await(&queue->unparked, is_unparked, queue, iree_infinite_timeout());
}

// A moment of sleep, shorter when somebody wants an end: nothing is to be done for work whose end the waiting threads
// see to, and a submission is to wake nobody for it.
static void doze(gpu_queue_t* queue) {
  iree_atomic_store(&queue->rest, (uint32_t)GPU_DOZING, iree_memory_order_seq_cst);
  if (!is_wanted(queue)) {
    iree_notification_await(&queue->unparked, is_unparked, queue, iree_make_timeout_ns(DOZE_NS));
  }
  iree_atomic_store(&queue->rest, (uint32_t)GPU_AWAKE, iree_memory_order_seq_cst);
}

// Until somebody wants an end, or nothing has been in flight for a while. What has ended meanwhile is told.
static void rest(gpu_queue_t* queue) {
  for (uint32_t idle = 0; idle < MOST_DOZES && !is_wanted(queue); ++idle) {
    doze(queue);
    if (!gpu_queue_is_busy(queue)) continue;
    idle = 0;
    gpu_queue_help(queue, gpu_queue_tail(queue) + 1, IREE_TIME_INFINITE_PAST, /*may_sleep=*/false);
  }
}

// Ends the completion thread's waits. Returns how many parts have ended.
static uint64_t wake(gpu_queue_t* queue) {
  iree_atomic_store(&queue->is_woken, 1u, iree_memory_order_seq_cst);
  uint64_t ended = queue->backend->wake(queue);
  unpark(queue);
  return ended;
}

void gpu_queue_fail(gpu_queue_t* queue, iree_status_t status) {
  // The device's first: who sees the queue's error finds it.
  gpu_device_fail(queue->device, iree_status_clone(status));
  intptr_t expected = 0;
  if (!iree_atomic_compare_exchange_strong(&queue->error, &expected, (intptr_t)status, iree_memory_order_acq_rel,
                                           iree_memory_order_relaxed)) {
    iree_status_free(status);
    return;
  }
  uint64_t ended = wake(queue);
  // Under the mutex, which the completion thread takes before the queue can go.
  iree_slim_mutex_lock(&queue->mutex);
  iree_atomic_store(&queue->final_epoch, ended, iree_memory_order_relaxed);
  iree_atomic_store(&queue->has_final, 1u, iree_memory_order_release);
  iree_notification_post(&queue->ended, IREE_ALL_WAITERS);
  iree_slim_mutex_unlock(&queue->mutex);
}

static int completion_main(void* arg) {
  gpu_queue_t* queue = (gpu_queue_t*)arg;
  for (;;) {
    if (queue->backend->poll) rest(queue);
    uint64_t seen = gpu_queue_tail(queue), ended = 0;
    if (!queue->backend->await(queue, seen, &ended)) break;
    if (ended <= seen) {
      park(queue);
      continue;
    }
    iree_slim_mutex_lock(&queue->draining);
    drain(queue, ended);
    iree_slim_mutex_unlock(&queue->draining);
    issue_blocked(queue);
  }
  if (iree_atomic_load(&queue->error, iree_memory_order_acquire)) fail_all(queue);
  return 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Life
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t gpu_queue_initialize(gpu_queue_t* queue, uint32_t depth) {
  static iree_atomic_uint64_t next_id;
  queue->id = iree_atomic_fetch_add(&next_id, 1, iree_memory_order_relaxed) + 1;
  queue->physical = gpu_domain_physical(queue->device->domain, queue->bit);
  queue->ordinal = gpu_domain_queue(queue->device->domain, queue->bit);
  queue->entry_mask = depth - 1;
  iree_slim_mutex_initialize(&queue->submission);
  iree_slim_mutex_initialize(&queue->draining);
  iree_slim_mutex_initialize(&queue->mutex);
  iree_notification_initialize(&queue->unparked);
  iree_notification_initialize(&queue->ended);
  return iree_allocator_malloc_array(queue->device->base.host_allocator, depth, sizeof(*queue->entries),
                                     (void**)&queue->entries);
}

iree_status_t gpu_queue_start(gpu_queue_t* queue) {
  iree_thread_create_params_t thread = {.name = IREE_SV("gpu-queue")};
  return iree_thread_create(completion_main, queue, thread, queue->device->base.host_allocator, &queue->thread);
}

void gpu_queue_destroy(gpu_queue_t* queue) {
  if (!queue) return;
  if (queue->thread) {
    if (!iree_atomic_load(&queue->error, iree_memory_order_acquire)) wake(queue);
    iree_thread_release(queue->thread);
  }
  await_publishers(queue);
  queue->backend->destroy(queue);
}

void gpu_queue_deinitialize(gpu_queue_t* queue) {
  iree_status_free((iree_status_t)queue->error);
  iree_notification_deinitialize(&queue->unparked);
  iree_notification_deinitialize(&queue->ended);
  iree_slim_mutex_deinitialize(&queue->mutex);
  iree_slim_mutex_deinitialize(&queue->submission);
  iree_slim_mutex_deinitialize(&queue->draining);
  iree_allocator_free(queue->device->base.host_allocator, queue->entries);
}
