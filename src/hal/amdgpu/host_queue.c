// Host queues: submission, completion, errors.
#include "hal/amdgpu/fault.h"

enum { DEFAULT_EPOCH_COUNT = 1024, MAX_QUEUE_SIZE = 64 * 1024, DEFAULT_KERNARG_SIZE = 16 << 20 };
// How long the completion thread waits at the signal before it parks, in HSA's ticks: some milliseconds.
enum { PARK_TICKS = 2000000 };

//===----------------------------------------------------------------------------------------------------------------===
// Submission
//===----------------------------------------------------------------------------------------------------------------===

static void push_blocked(host_queue_t* queue, operation_t* op, bool to_front) {
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

static operation_t* pop_blocked(host_queue_t* queue) {
  operation_t* op = queue->blocked_head;
  if (op) queue->blocked_head = (operation_t*)op->base.next;
  if (!queue->blocked_head) {
    queue->blocked_tail = NULL;
    iree_atomic_store(&queue->has_blocked, 0u, iree_memory_order_seq_cst);
  }
  return op;
}

static void unpark(host_queue_t* queue) {
  if (iree_atomic_exchange(&queue->is_parked, 0u, iree_memory_order_acq_rel))
    iree_notification_post(&queue->unparked, 1);
}

static void publish(host_queue_t* queue, const emitter_t* e) {
  uint64_t mask = queue->aql->size - 1;
  uint32_t* slots = (uint32_t*)queue->aql->base_address;
  uint64_t first = queue->packet_head;
  queue->packet_head = e->packet;
  queue->hsa->hsa_queue_store_write_index_relaxed(queue->aql, e->packet);
  for (uint64_t i = first; i < e->packet; ++i) {
    uint32_t header = queue->headers[i & mask];
    // Invalid ones are, and the device makes them valid.
    if (header == HSA_PACKET_TYPE_INVALID) continue;
    iree_atomic_store(&slots[(i & mask) * 16], header, iree_memory_order_release);
  }
  queue->hsa->hsa_signal_store_screlease(queue->aql->doorbell_signal, (hsa_signal_value_t)(e->packet - 1));
  unpark(queue);
}

static void set_producers(const host_queue_t* queue, const operation_t* op) {
  semaphore_producer_t producer = {queue->base.id, queue->epoch_head + 1};
  for (iree_host_size_t i = 0; i < op->base.signals.count; ++i) {
    amdgpu_semaphore_set_producer(op->base.signals.semaphores[i], producer, op->base.signals.payload_values[i]);
  }
}

typedef enum { ISSUE_DONE, ISSUE_PART, ISSUE_FULL } issue_t;

// Whether everything of the operation is in the emitter.
static bool is_complete(const emitter_t* e) { return e->next_command == e->operation->commands.count; }

static void push_entry(host_queue_t* queue, const emitter_t* e, bool is_final) {
  iree_slim_mutex_lock(&queue->mutex);
  host_queue_entry_t* entry = &queue->entries[queue->epoch_head++ & queue->entry_mask];
  operation_t* op = e->operation;
  *entry = (host_queue_entry_t){
      .operation = op,
      .is_final = is_final,
      .packet_end = e->packet,
      .kernarg_end = e->kernarg,
  };
  op->commands.next = e->next_command;
  ring_commit(&queue->kernargs, e->kernarg);
  iree_slim_mutex_unlock(&queue->mutex);
}

// Begins to write an operation, unless all entries are taken.
static bool begin_issue(host_queue_t* queue, operation_t* op, emitter_t* out_emitter, bool* out_is_idle) {
  iree_slim_mutex_lock(&queue->mutex);
  queue->seen_tail = queue->epoch_tail;
  *out_is_idle = queue->epoch_head == queue->epoch_tail;
  if (*out_is_idle) ring_reset(&queue->kernargs);
  bool has_entry = queue->epoch_head - queue->epoch_tail <= queue->entry_mask;
  if (has_entry) emit_begin(queue, op, out_emitter);
  iree_slim_mutex_unlock(&queue->mutex);
  return has_entry;
}

// Writes and publishes what fits of an operation. An error leaves nothing behind of this attempt.
static iree_status_t issue(host_queue_t* queue, operation_t* op, issue_t* out_result) {
  *out_result = ISSUE_FULL;
  bool is_idle = false;
  emitter_t e;
  if (!begin_issue(queue, op, &e, &is_idle)) return iree_ok_status();
  IREE_RETURN_IF_ERROR(emit_operation(&e));
  bool is_final = is_complete(&e);
  bool has_progress = e.packet != queue->packet_head || is_final;
  if (!has_progress || e.packet + 1 > e.packet_limit) {
    if (!is_idle) return iree_ok_status();
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "a command needs more kernel arguments than the queue has");
  }
  emit_end(&e);
  // Nobody may rely on the queue for an operation that is going to fail.
  if (is_final && !iree_atomic_load(&op->base.failure, iree_memory_order_relaxed)) {
    set_producers(queue, op);
    operation_release_memory(op, (hal_pool_point_t){queue->base.id, queue->epoch_head + 1});
  }
  push_entry(queue, &e, is_final);
  publish(queue, &e);
  *out_result = is_final ? ISSUE_DONE : ISSUE_PART;
  return iree_ok_status();
}

// An operation that fails when parts of it run already ends when they have.
static bool fail_late(operation_t* op, iree_status_t status) {
  bool has_parts = op->commands.next > 0;
  if (!has_parts || iree_atomic_load(&op->base.failure, iree_memory_order_relaxed)) return false;
  iree_atomic_store(&op->base.failure, (intptr_t)status, iree_memory_order_relaxed);
  op->commands.next = op->commands.count;
  return true;
}

// Issues an operation until it is all in, or nothing more fits. The status is its failure.
static iree_status_t issue_all(host_queue_t* queue, operation_t* op, bool* out_is_full) {
  issue_t result = ISSUE_PART;
  while (result == ISSUE_PART) {
    iree_status_t status = issue(queue, op, &result);
    if (iree_status_is_ok(status)) continue;
    if (!fail_late(op, status)) return status;
    result = ISSUE_PART;
  }
  *out_is_full = result == ISSUE_FULL;
  return iree_ok_status();
}

static iree_status_t clone_error(host_queue_t* queue) {
  return iree_status_clone((iree_status_t)iree_atomic_load(&queue->error, iree_memory_order_acquire));
}

typedef struct end_t {
  host_queue_t* queue;
  uint64_t epoch;
} end_t;

static bool is_ended(void* arg) {
  const end_t* end = (const end_t*)arg;
  return iree_atomic_load(&end->queue->ended_epochs, iree_memory_order_acquire) >= end->epoch;
}

static bool has_final(void* arg) {
  return iree_atomic_load(&((host_queue_t*)arg)->has_final, iree_memory_order_acquire);
}

static bool is_ended_or_lost(void* arg) { return is_ended(arg) || has_final(((const end_t*)arg)->queue); }

static iree_status_t host_queue_await_end(virtual_queue_t* base, uint64_t epoch) {
  host_queue_t* queue = (host_queue_t*)base;
  end_t end = {queue, epoch};
  iree_notification_await(&queue->ended, is_ended_or_lost, &end, iree_infinite_timeout());
  if (is_ended(&end)) return iree_ok_status();
  // What came before the error is told yet.
  int64_t value = iree_atomic_load(&queue->final_value, iree_memory_order_relaxed);
  if ((uint64_t)(HOST_QUEUE_EPOCH_INITIAL - value) < epoch) return clone_error(queue);
  iree_notification_await(&queue->ended, is_ended, &end, iree_infinite_timeout());
  return iree_ok_status();
}

static bool host_queue_has_ended(virtual_queue_t* base, uint64_t epoch) {
  host_queue_t* queue = (host_queue_t*)base;
  return iree_atomic_load(&queue->ended_epochs, iree_memory_order_acquire) >= epoch ||
         iree_atomic_load(&queue->error, iree_memory_order_acquire) != 0;
}

// Whether something has ended since the last try. The submission's mutex is held.
static bool has_moved(host_queue_t* queue) {
  iree_slim_mutex_lock(&queue->mutex);
  bool result = queue->epoch_tail != queue->seen_tail;
  iree_slim_mutex_unlock(&queue->mutex);
  return result;
}

// Issues what was blocked as far as there is room. Who blocks an operation looks afterwards whether anything has ended;
// who sees an end looks afterwards whether anything is blocked.
static void issue_blocked(host_queue_t* queue) {
  bool goes_on = iree_atomic_load(&queue->has_blocked, iree_memory_order_seq_cst);
  while (goes_on) {
    bool is_full = false;
    iree_slim_mutex_lock(&queue->submission);
    operation_t* op = pop_blocked(queue);
    iree_status_t status = op ? issue_all(queue, op, &is_full) : iree_ok_status();
    if (iree_status_is_ok(status) && is_full) push_blocked(queue, op, /*to_front=*/true);
    goes_on = op && (!is_full || has_moved(queue));
    iree_slim_mutex_unlock(&queue->submission);
    if (!iree_status_is_ok(status)) operation_finish(op, status);
  }
}

static void host_queue_submit(virtual_queue_t* base, operation_t* op) {
  host_queue_t* queue = (host_queue_t*)base;
  iree_status_t status = iree_ok_status();
  iree_slim_mutex_lock(&queue->submission);
  bool is_full = queue->blocked_head != NULL;
  if (queue->has_failed) {
    status = clone_error(queue);
  } else if (!is_full) {
    status = issue_all(queue, op, &is_full);
  }
  bool is_blocked = iree_status_is_ok(status) && is_full;
  if (is_blocked) push_blocked(queue, op, /*to_front=*/false);
  bool tries_again = is_blocked && has_moved(queue);
  iree_slim_mutex_unlock(&queue->submission);
  if (!iree_status_is_ok(status)) operation_finish(op, status);
  if (tries_again) issue_blocked(queue);
}

//===----------------------------------------------------------------------------------------------------------------===
// Completion
//===----------------------------------------------------------------------------------------------------------------===

// After what the operation's packets waited for has ended for everybody, so that ends are seen in order. What was lost
// there is lost here.
static iree_status_t await_barriers(const operation_t* op) {
  for (uint32_t i = 0; i < op->barrier_count; ++i) {
    const operation_barrier_t* barrier = &op->barriers[i];
    IREE_RETURN_IF_ERROR(barrier->queue->vtable->await_end(barrier->queue, barrier->epoch));
  }
  return iree_ok_status();
}

static iree_status_t end_operation(operation_t* op) {
  IREE_RETURN_IF_ERROR(hal_operation_take_failure(&op->base));
  IREE_RETURN_IF_ERROR(await_barriers(op));
  // What it came after in a queue may have been lost.
  return op->relies_on_order ? logical_device_clone_failure(operation_device(op)) : iree_ok_status();
}

// As with any fault of a kernel, what came after it was wrong.
static void fail_grid(host_queue_t* queue, operation_t* op) {
  op->relies_on_order = true;
  host_queue_fail(queue, iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                                          "workgroup counts in memory make a grid of more than 2^32 work-items along "
                                          "an axis"));
}

// The end of one submission. Only the completion thread comes here, so entries are popped in order.
static void retire(host_queue_t* queue) {
  iree_slim_mutex_lock(&queue->mutex);
  host_queue_entry_t entry = queue->entries[queue->epoch_tail & queue->entry_mask];
  bool is_bad =
      iree_atomic_load(&queue->verdicts[queue->epoch_tail & queue->entry_mask], iree_memory_order_relaxed) != 0;
  queue->packet_tail = entry.packet_end;
  ring_reclaim(&queue->kernargs, entry.kernarg_end);
  ++queue->epoch_tail;
  iree_slim_mutex_unlock(&queue->mutex);
  if (is_bad) fail_grid(queue, entry.operation);
  if (entry.is_final) operation_signal(entry.operation, end_operation(entry.operation));
  iree_atomic_store(&queue->ended_epochs, queue->epoch_tail, iree_memory_order_release);
  iree_notification_post(&queue->ended, IREE_ALL_WAITERS);
  // Last, since it runs what others have asked for, which may wait for this end.
  if (entry.is_final) hal_operation_release(&entry.operation->base);
}

static void drain(host_queue_t* queue, int64_t value) {
  uint64_t done = (uint64_t)(HOST_QUEUE_EPOCH_INITIAL - value);
  while (queue->epoch_tail < done) retire(queue);  // only this thread changes it
}

// After an error: what ended before it is done, everything else fails.
static void fail_all(host_queue_t* queue) {
  iree_notification_await(&queue->ended, has_final, queue, iree_infinite_timeout());
  queue->hsa->hsa_queue_inactivate(queue->aql);  // nothing may run whose memory goes
  drain(queue, iree_atomic_load(&queue->final_value, iree_memory_order_relaxed));
  iree_slim_mutex_lock(&queue->submission);
  iree_slim_mutex_lock(&queue->mutex);
  queue->has_failed = true;
  operation_t* failed = queue->blocked_head;
  queue->blocked_head = queue->blocked_tail = NULL;
  while (queue->epoch_tail != queue->epoch_head) {
    const host_queue_entry_t* entry = &queue->entries[queue->epoch_tail++ & queue->entry_mask];
    operation_t* op = entry->operation;
    // A part: the rest is blocked, or follows.
    if (!entry->is_final) continue;
    op->base.next = failed ? &failed->base : NULL;
    failed = op;
  }
  iree_slim_mutex_unlock(&queue->mutex);
  iree_slim_mutex_unlock(&queue->submission);
  while (failed) {
    operation_t* op = failed;
    failed = (operation_t*)op->base.next;
    iree_status_free((iree_status_t)iree_atomic_exchange(&op->base.failure, 0, iree_memory_order_relaxed));
    operation_finish(op, clone_error(queue));
  }
}

static bool is_unparked(void* arg) {
  return !iree_atomic_load(&((host_queue_t*)arg)->is_parked, iree_memory_order_acquire);
}

// With nothing in flight the thread sleeps here until something is, not at the signal, where every other queue's signal
// may wake it.
static void park(host_queue_t* queue) {
  iree_slim_mutex_lock(&queue->mutex);
  bool is_idle = queue->epoch_head == queue->epoch_tail &&
                 !HOST_QUEUE_EPOCH_IS_WAKE(queue->hsa->hsa_signal_load_scacquire(queue->epoch_signal));
  if (is_idle) iree_atomic_store(&queue->is_parked, 1u, iree_memory_order_release);
  iree_slim_mutex_unlock(&queue->mutex);
  if (is_idle) iree_notification_await(&queue->unparked, is_unparked, queue, iree_infinite_timeout());
}

int64_t host_queue_wake(host_queue_t* queue) {
  int64_t value = queue->hsa->hsa_signal_exchange_scacq_screl(queue->epoch_signal, HOST_QUEUE_EPOCH_WAKE);
  // Either the thread has parked, or it finds the value.
  iree_slim_mutex_lock(&queue->mutex);
  unpark(queue);
  iree_slim_mutex_unlock(&queue->mutex);
  return value;
}

static int completion_main(void* arg) {
  host_queue_t* queue = (host_queue_t*)arg;
  int64_t last = HOST_QUEUE_EPOCH_INITIAL;
  for (;;) {
    int64_t value = queue->hsa->hsa_signal_wait_scacquire(queue->epoch_signal, HSA_SIGNAL_CONDITION_LT, last,
                                                          PARK_TICKS, HSA_WAIT_STATE_BLOCKED);
    if (HOST_QUEUE_EPOCH_IS_WAKE(value)) break;
    if (value >= last) {
      park(queue);
      continue;
    }
    last = value;
    drain(queue, value);
    issue_blocked(queue);
  }
  if (iree_atomic_load(&queue->error, iree_memory_order_acquire)) fail_all(queue);
  return 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Creation
//===----------------------------------------------------------------------------------------------------------------===

// All operations have ended.
static void host_queue_destroy(virtual_queue_t* base) {
  host_queue_t* queue = (host_queue_t*)base;
  const libhsa_t* hsa = queue->hsa;
  fault_unwatch_queue(queue);
  if (queue->thread) {
    if (!iree_atomic_load(&queue->error, iree_memory_order_acquire)) host_queue_wake(queue);
    iree_thread_release(queue->thread);
  }
  if (queue->aql) hsa->hsa_queue_destroy(queue->aql);
  if (queue->epoch_signal.handle) hsa->hsa_signal_destroy(queue->epoch_signal);
  if (queue->kernargs.base) hsa->hsa_amd_memory_pool_free(queue->kernargs.base);
  if (queue->wait_commands) hsa->hsa_amd_memory_pool_free(queue->wait_commands);
  iree_status_free((iree_status_t)queue->error);
  iree_notification_deinitialize(&queue->unparked);
  iree_notification_deinitialize(&queue->ended);
  iree_slim_mutex_deinitialize(&queue->mutex);
  iree_slim_mutex_deinitialize(&queue->submission);
  iree_allocator_free(queue->host_allocator, queue->headers);
  iree_allocator_free(queue->host_allocator, queue->entries);
  iree_allocator_free(queue->host_allocator, queue);
}

static const virtual_queue_vtable_t host_queue_vtable = {
    .destroy = host_queue_destroy,
    .submit = host_queue_submit,
    .await_end = host_queue_await_end,
    .has_ended = host_queue_has_ended,
};

static iree_status_t create_kernargs(host_queue_t* queue, const logical_device_t* device, uint64_t size) {
  const system_gpu_t* gpu = queue->physical->gpu;
  hsa_amd_memory_pool_t pool = device->system->cpus[gpu->cpu].kernarg.handle;
  void* base = NULL;
  IREE_RETURN_IF_ERROR(LIBHSA_CALL(queue->hsa, hsa_amd_memory_pool_allocate, pool,
                                   size + (queue->entry_mask + 1) * sizeof(uint32_t), 0, &base));
  queue->kernargs = (ring_t){.base = (uint8_t*)base, .size = size};
  queue->verdicts = (uint32_t*)((uint8_t*)base + size);
  return LIBHSA_CALL(queue->hsa, hsa_amd_agents_allow_access, 1, &gpu->agent, NULL, base);
}

// GPUs execute them: libraries that know of that want to be told.
static iree_status_t create_wait_commands(host_queue_t* queue, const logical_device_t* device) {
  if (queue->physical->wait_packet != WAIT_PACKET_MEMORY) return iree_ok_status();
  const system_gpu_t* gpu = queue->physical->gpu;
  hsa_amd_memory_pool_t pool = device->system->cpus[gpu->cpu].fine.handle;
  size_t size = (queue->entry_mask + 1) * OPERATION_MAX_BARRIERS * sizeof(wait_commands_t);
  void* commands = NULL;
  hsa_status_t result =
      queue->hsa->hsa_amd_memory_pool_allocate(pool, size, HSA_AMD_MEMORY_POOL_EXECUTABLE_FLAG, &commands);
  if (result == HSA_STATUS_ERROR_INVALID_ARGUMENT) {
    result = queue->hsa->hsa_amd_memory_pool_allocate(pool, size, 0, &commands);
  }
  IREE_RETURN_IF_ERROR(libhsa_check(queue->hsa, result, "hsa_amd_memory_pool_allocate"));
  queue->wait_commands = (wait_commands_t*)commands;
  return LIBHSA_CALL(queue->hsa, hsa_amd_agents_allow_access, 1, &gpu->agent, NULL, commands);
}

static iree_status_t initialize(host_queue_t* queue, const logical_device_t* device) {
  const logical_device_options_t* options = &device->options;
  const system_gpu_t* gpu = queue->physical->gpu;
  uint32_t size = options->queue_size ? options->queue_size : MAX_QUEUE_SIZE;
  if (gpu->max_queue_size) size = iree_min(size, gpu->max_queue_size);
  uint32_t epochs = options->epoch_count ? options->epoch_count : DEFAULT_EPOCH_COUNT;
  queue->entry_mask = epochs - 1;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_array(queue->host_allocator, epochs, sizeof(*queue->entries), (void**)&queue->entries));
  IREE_RETURN_IF_ERROR(
      create_kernargs(queue, device, options->kernarg_size ? options->kernarg_size : DEFAULT_KERNARG_SIZE));
  IREE_RETURN_IF_ERROR(create_wait_commands(queue, device));
  IREE_RETURN_IF_ERROR(
      LIBHSA_CALL(queue->hsa, hsa_signal_create, HOST_QUEUE_EPOCH_INITIAL, 0, NULL, &queue->epoch_signal));
  IREE_RETURN_IF_ERROR(LIBHSA_CALL(queue->hsa, hsa_queue_create, gpu->agent, size, HSA_QUEUE_TYPE_SINGLE,
                                   fault_queue_error, queue, UINT32_MAX, UINT32_MAX, &queue->aql));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(queue->host_allocator, queue->aql->size, sizeof(*queue->headers),
                                                   (void**)&queue->headers));
  iree_thread_create_params_t thread = {.name = IREE_SV("amdgpu-queue")};
  IREE_RETURN_IF_ERROR(iree_thread_create(completion_main, queue, thread, queue->host_allocator, &queue->thread));
  fault_watch_queue(queue);
  return iree_ok_status();
}

iree_status_t host_queue_create(logical_device_t* device, physical_device_t* physical, uint32_t ordinal,
                                virtual_queue_t** out_queue) {
  static iree_atomic_uint64_t next_id;
  *out_queue = NULL;
  host_queue_t* queue = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->base.host_allocator, sizeof(*queue), (void**)&queue));
  queue->base.vtable = &host_queue_vtable;
  queue->base.id = iree_atomic_fetch_add(&next_id, 1, iree_memory_order_relaxed) + 1;
  queue->host_allocator = device->base.host_allocator;
  queue->hsa = device->system->hsa;
  queue->device = device;
  queue->physical = physical;
  queue->ordinal = ordinal;
  iree_slim_mutex_initialize(&queue->submission);
  iree_slim_mutex_initialize(&queue->mutex);
  iree_notification_initialize(&queue->unparked);
  iree_notification_initialize(&queue->ended);
  iree_status_t status = initialize(queue, device);
  if (!iree_status_is_ok(status)) {
    host_queue_destroy(&queue->base);
    return status;
  }
  *out_queue = &queue->base;
  return iree_ok_status();
}
