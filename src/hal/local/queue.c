// Queue operations of local devices.
//
// An operation whose waits are reached and that needs no other thread runs at once, from the stack of its submitter.
// Others move to the heap: with copies of their lists and references to what they use. There they wait on timepoints;
// the thread that reaches the last one starts the operation. Chains of operations started this way are run from a list
// of the thread's, not by recursion.
#include "hal/local/command_buffer.h"
#include "hal/local/device.h"
#include "iree/base/internal/cpu.h"
#include "iree/base/threading/api.h"

#define POOLED_OP_SIZE 1024

typedef enum { OP_EXECUTE, OP_HOST_CALL, OP_ALLOCA, OP_DEALLOCA, OP_READ, OP_WRITE } op_kind_t;

struct local_op_t {
  executor_job_t job;
  op_kind_t kind;
  local_device_t* device;
  iree_hal_queue_affinity_t queue_affinity;
  iree_task_executor_t* executor;  // NULL: runs on the thread that starts it
  iree_hal_semaphore_list_t waits;
  iree_hal_semaphore_list_t signals;
  union {
    struct {
      iree_hal_command_buffer_t* command_buffer;  // NULL: nothing to run
      iree_hal_buffer_binding_table_t binding_table;
      local_state_t* state;
    } execute;
    struct {
      iree_hal_host_call_t call;
      uint64_t args[4];
      iree_hal_host_call_flags_t flags;
    } host_call;
    struct {
      iree_hal_buffer_t* buffer;
    } memory;  // ALLOCA, DEALLOCA
    struct {
      iree_hal_file_t* file;
      uint64_t file_offset;
      iree_hal_buffer_t* buffer;
      iree_device_size_t buffer_offset;
      iree_device_size_t length;
    } file;  // READ, WRITE
  };
  // Of operations on the heap.
  bool is_pooled;
  bool has_run;                                  // the one chunk of operations that are not EXECUTE
  iree_status_t result;                          // of that chunk
  iree_atomic_uint32_t pending;                  // waits that are not reached, plus holds
  iree_atomic_intptr_t failure;                  // iree_status_t of a wait
  iree_async_semaphore_timepoint_t* timepoints;  // one per wait
  local_op_t* next;                              // among the device's deferred or free ones, or the thread's ready ones
  local_op_t* prev;
};

//===----------------------------------------------------------------------------------------------------------------===
// The end
//===----------------------------------------------------------------------------------------------------------------===

void local_queue_signal(local_device_t* device, iree_hal_semaphore_list_t signals, iree_status_t status) {
  if (iree_status_is_ok(status)) {
    iree_status_free(iree_hal_semaphore_list_signal(signals, NULL));
    return;
  }
  if (device->aborts_on_failure) iree_status_abort(status);
  iree_hal_semaphore_list_fail(signals, status);
}

static void op_signal(const local_op_t* op, iree_status_t status) {
  local_queue_signal(op->device, op->signals, status);
}

static void op_for_each_resource(local_op_t* op, void (*visit)(const void* resource)) {
  switch (op->kind) {
    case OP_EXECUTE:
      visit(op->execute.command_buffer);
      for (iree_host_size_t i = 0; i < op->execute.binding_table.count; ++i) {
        visit(op->execute.binding_table.bindings[i].buffer);
      }
      break;
    case OP_ALLOCA:
    case OP_DEALLOCA:
      visit(op->memory.buffer);
      break;
    case OP_READ:
    case OP_WRITE:
      visit(op->file.file);
      visit(op->file.buffer);
      break;
    case OP_HOST_CALL:
      break;
  }
}

static void op_free(local_op_t* op) {
  local_device_t* device = op->device;
  op_for_each_resource(op, iree_hal_resource_release);
  iree_hal_semaphore_list_release(op->waits);
  iree_hal_semaphore_list_release(op->signals);
  if (op->is_pooled) {
    iree_slim_mutex_lock(&device->mutex);
    op->next = device->free_ops;
    device->free_ops = op;
    iree_slim_mutex_unlock(&device->mutex);
  } else {
    iree_allocator_free(device->host_allocator, op);
  }
  // The device may go from here on.
  iree_atomic_fetch_sub(&device->outstanding, 1, iree_memory_order_release);
}

static void op_finish(local_op_t* op, iree_status_t status) {
  op_signal(op, status);
  op_free(op);
}

//===----------------------------------------------------------------------------------------------------------------===
// Running
//===----------------------------------------------------------------------------------------------------------------===

static local_worker_t* take_worker(local_device_t* device) {
  local_worker_t* worker = __atomic_exchange_n(&device->idle_worker, NULL, __ATOMIC_ACQUIRE);
  if (worker) return worker;
  iree_status_t status = iree_allocator_malloc(device->host_allocator, sizeof(*worker), (void**)&worker);
  if (!iree_status_is_ok(status)) {
    iree_status_free(status);
    return NULL;
  }
  worker->processor_id = iree_cpu_query_processor_id();
  return worker;
}

static void give_worker(local_device_t* device, local_worker_t* worker) {
  local_worker_t* expected = NULL;
  if (__atomic_compare_exchange_n(&device->idle_worker, &expected, worker, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    return;
  }
  local_worker_finish(worker);
  iree_allocator_free(device->host_allocator, worker);
}

// Makes the operation's state. OK with a NULL state when there is nothing to run.
static iree_status_t execute_prepare(local_op_t* op) {
  op->execute.state = NULL;
  if (!op->execute.command_buffer) return iree_ok_status();
  local_state_t* state = NULL;
  IREE_RETURN_IF_ERROR(local_state_acquire(local_command_buffer_program(op->execute.command_buffer), &state));
  iree_status_t status = local_state_bind(state, op->execute.binding_table);
  if (!iree_status_is_ok(status)) {
    local_state_release(state);
    return status;
  }
  op->execute.state = state;
  return iree_ok_status();
}

static iree_status_t execute_complete(local_op_t* op) {
  iree_status_t status = local_state_take_failure(op->execute.state);
  local_state_release(op->execute.state);
  return status;
}

static iree_status_t execute_run(local_op_t* op) {
  IREE_RETURN_IF_ERROR(execute_prepare(op));
  if (!op->execute.state) return iree_ok_status();
  local_worker_t* worker = take_worker(op->device);
  if (!worker) {
    local_state_release(op->execute.state);
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "out of memory");
  }
  local_state_run(op->execute.state, worker);
  give_worker(op->device, worker);
  return execute_complete(op);
}

// DEFERRED when the callee signals by itself.
static iree_status_t host_call_run(local_op_t* op) {
  iree_hal_host_call_context_t context = {(iree_hal_device_t*)op->device, op->queue_affinity, op->signals};
  bool signals_first = op->host_call.flags & IREE_HAL_HOST_CALL_FLAG_NON_BLOCKING;
  if (signals_first) {
    op_signal(op, iree_ok_status());
    context.signal_semaphore_list = iree_hal_semaphore_list_empty();
  }
  iree_status_t status = op->host_call.call.fn(op->host_call.call.user_data, op->host_call.args, &context);
  if (!signals_first) return status;
  iree_status_free(status);
  return iree_status_from_code(IREE_STATUS_DEFERRED);
}

// Runs an operation on this thread to its end.
static iree_status_t op_run(local_op_t* op) {
  switch (op->kind) {
    case OP_EXECUTE:
      return execute_run(op);
    case OP_HOST_CALL:
      return host_call_run(op);
    case OP_ALLOCA:
      return local_transient_commit(op->memory.buffer);
    case OP_DEALLOCA:
      if (local_transient_is(op->memory.buffer)) local_transient_decommit(op->memory.buffer);
      return iree_ok_status();
    case OP_READ:
      return iree_hal_file_read(op->file.file, op->file.file_offset, op->file.buffer, op->file.buffer_offset,
                                op->file.length);
    case OP_WRITE:
      return iree_hal_file_write(op->file.file, op->file.file_offset, op->file.buffer, op->file.buffer_offset,
                                 op->file.length);
  }
  return iree_make_status(IREE_STATUS_INTERNAL, "operation %d", (int)op->kind);
}

static bool is_deferred_host_call(const local_op_t* op, iree_status_t status) {
  return op->kind == OP_HOST_CALL && iree_status_is_deferred(status);
}

static void op_run_and_finish(local_op_t* op) {
  iree_status_t status = op_run(op);
  if (is_deferred_host_call(op, status)) {
    iree_status_free(status);
    op_free(op);
  } else {
    op_finish(op, status);
  }
}

// As jobs of an executor: EXECUTE is its program's regions, everything else one chunk.
static uint32_t op_next_region(executor_job_t* job) {
  local_op_t* op = (local_op_t*)job;
  if (op->kind == OP_EXECUTE) return local_state_next_region(op->execute.state);
  return op->has_run ? 0 : 1;
}

static void op_run_chunk(executor_job_t* job, uint32_t chunk, local_worker_t* worker) {
  local_op_t* op = (local_op_t*)job;
  if (op->kind == OP_EXECUTE) {
    local_state_run_chunk(op->execute.state, chunk, worker);
    return;
  }
  op->result = op_run(op);
  op->has_run = true;
}

static void op_complete(executor_job_t* job) {
  local_op_t* op = (local_op_t*)job;
  iree_status_t status = op->kind == OP_EXECUTE ? execute_complete(op) : op->result;
  if (is_deferred_host_call(op, status)) {
    iree_status_free(status);
    op_free(op);
  } else {
    op_finish(op, status);
  }
}

// Operations that take no time are not worth another thread.
static bool runs_here(const local_op_t* op) {
  if (!op->executor) return true;
  return op->kind == OP_ALLOCA || op->kind == OP_DEALLOCA || (op->kind == OP_EXECUTE && !op->execute.command_buffer);
}

// Starts an operation on the heap whose waits are reached.
static void op_start(local_op_t* op) {
  iree_status_t failure = (iree_status_t)iree_atomic_exchange(&op->failure, 0, iree_memory_order_acquire);
  if (!iree_status_is_ok(failure)) {
    op_finish(op, failure);
    return;
  }
  if (runs_here(op)) {
    op_run_and_finish(op);
    return;
  }
  if (op->kind == OP_EXECUTE) {
    iree_status_t status = execute_prepare(op);
    if (!iree_status_is_ok(status)) {
      op_finish(op, status);
      return;
    }
  }
  op->job.next_region = op_next_region;
  op->job.run_chunk = op_run_chunk;
  op->job.complete = op_complete;
  executor_submit(op->executor, &op->job);
}

//===----------------------------------------------------------------------------------------------------------------===
// Waiting
//===----------------------------------------------------------------------------------------------------------------===

// Operations that became ready on this thread while it was starting another one.
static _Thread_local struct {
  bool is_starting;
  local_op_t* head;
  local_op_t* tail;
} ready_ops;

static void op_ready(local_op_t* op) {
  op->next = NULL;
  if (ready_ops.head) {
    ready_ops.tail->next = op;
  } else {
    ready_ops.head = op;
  }
  ready_ops.tail = op;
  if (ready_ops.is_starting) return;
  ready_ops.is_starting = true;
  while (ready_ops.head) {
    local_op_t* next = ready_ops.head;
    ready_ops.head = next->next;
    op_start(next);
  }
  ready_ops.is_starting = false;
}

static void deferred_link(local_op_t* op) {
  local_device_t* device = op->device;
  iree_slim_mutex_lock(&device->mutex);
  op->prev = NULL;
  op->next = device->deferred;
  if (op->next) op->next->prev = op;
  device->deferred = op;
  iree_slim_mutex_unlock(&device->mutex);
}

static void deferred_unlink(local_op_t* op) {
  local_device_t* device = op->device;
  iree_slim_mutex_lock(&device->mutex);
  if (op->prev) {
    op->prev->next = op->next;
  } else {
    device->deferred = op->next;
  }
  if (op->next) op->next->prev = op->prev;
  iree_slim_mutex_unlock(&device->mutex);
}

// One wait, or hold, is over.
static void op_drop_pending(local_op_t* op) {
  if (iree_atomic_fetch_sub(&op->pending, 1, iree_memory_order_acq_rel) != 1) return;
  deferred_unlink(op);
  op_ready(op);
}

static void op_fail_wait(local_op_t* op, iree_status_t status) {
  intptr_t expected = 0;
  if (!iree_atomic_compare_exchange_strong(&op->failure, &expected, (intptr_t)status, iree_memory_order_acq_rel,
                                           iree_memory_order_relaxed)) {
    iree_status_free(status);
  }
}

static void op_wait_reached(void* user_data, iree_async_semaphore_timepoint_t* timepoint, iree_status_t status) {
  local_op_t* op = (local_op_t*)user_data;
  if (!iree_status_is_ok(status)) op_fail_wait(op, status);
  op_drop_pending(op);
}

// Waits for the semaphores, then starts. The operation may be gone when this returns.
static void op_defer(local_op_t* op) {
  iree_host_size_t count = op->waits.count;
  iree_atomic_store(&op->pending, (uint32_t)count + 1, iree_memory_order_relaxed);
  deferred_link(op);
  for (iree_host_size_t i = 0; i < count; ++i) {
    op->timepoints[i].callback = op_wait_reached;
    op->timepoints[i].user_data = op;
    // The hold keeps the operation here until all are asked for.
    IREE_IGNORE_ERROR(iree_async_semaphore_acquire_timepoint(op->waits.semaphores[i], op->waits.payload_values[i],
                                                             &op->timepoints[i]));
  }
  op_drop_pending(op);
}

static void op_cancel(local_op_t* op) {
  for (iree_host_size_t i = 0; i < op->waits.count; ++i) {
    if (!iree_async_semaphore_cancel_timepoint(op->waits.semaphores[i], &op->timepoints[i])) continue;
    op_fail_wait(op, iree_make_status(IREE_STATUS_CANCELLED, "the device was released while work waited"));
    iree_atomic_fetch_sub(&op->pending, 1, iree_memory_order_acq_rel);  // never the last: the caller holds one
  }
  op_drop_pending(op);
}

void local_queue_close(local_device_t* device) {
  for (;;) {
    iree_slim_mutex_lock(&device->mutex);
    local_op_t* op = device->deferred;
    // Held, so that it stays; one whose last wait is just over is on its way already.
    uint32_t pending = op ? iree_atomic_load(&op->pending, iree_memory_order_relaxed) : 0;
    while (pending && !iree_atomic_compare_exchange_weak(&op->pending, &pending, pending + 1, iree_memory_order_acq_rel,
                                                         iree_memory_order_relaxed)) {
    }
    iree_slim_mutex_unlock(&device->mutex);
    if (pending) op_cancel(op);
    if (!op && iree_atomic_load(&device->outstanding, iree_memory_order_acquire) == 0) break;
    if (!pending) iree_wait_until(iree_time_now() + 20000);
  }
  while (device->free_ops) {
    local_op_t* op = device->free_ops;
    device->free_ops = op->next;
    iree_allocator_free(device->host_allocator, op);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Submitting
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t allocate_op(local_device_t* device, size_t size, local_op_t** out_op) {
  bool is_pooled = size <= POOLED_OP_SIZE;
  local_op_t* op = NULL;
  if (is_pooled) {
    iree_slim_mutex_lock(&device->mutex);
    op = device->free_ops;
    if (op) device->free_ops = op->next;
    iree_slim_mutex_unlock(&device->mutex);
  }
  if (!op) {
    IREE_RETURN_IF_ERROR(
        iree_allocator_malloc_uninitialized(device->host_allocator, iree_max(size, POOLED_OP_SIZE), (void**)&op));
  }
  *out_op = op;
  op->is_pooled = is_pooled;
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

// Moves an operation from the stack to the heap, with everything it points to.
static iree_status_t op_move_to_heap(const local_op_t* source, local_op_t** out_op) {
  const size_t list_entry = sizeof(uint64_t) + sizeof(iree_hal_semaphore_t*);
  size_t wait_count = source->waits.count;
  size_t binding_count = source->kind == OP_EXECUTE ? source->execute.binding_table.count : 0;
  size_t size = sizeof(*source) + wait_count * (list_entry + sizeof(iree_async_semaphore_timepoint_t)) +
                source->signals.count * list_entry + binding_count * sizeof(iree_hal_buffer_binding_t);
  local_op_t* op = NULL;
  IREE_RETURN_IF_ERROR(allocate_op(source->device, size, &op));
  bool is_pooled = op->is_pooled;
  *op = *source;
  op->is_pooled = is_pooled;
  uint8_t* storage = (uint8_t*)(op + 1);
  op->timepoints = (iree_async_semaphore_timepoint_t*)storage;
  storage = (uint8_t*)(op->timepoints + wait_count);
  copy_list(&op->waits, &storage);
  copy_list(&op->signals, &storage);
  if (binding_count) {
    memcpy(storage, source->execute.binding_table.bindings, binding_count * sizeof(iree_hal_buffer_binding_t));
    op->execute.binding_table.bindings = (const iree_hal_buffer_binding_t*)storage;
  }
  op_for_each_resource(op, iree_hal_resource_retain);
  iree_atomic_fetch_add(&op->device->outstanding, 1, iree_memory_order_relaxed);
  *out_op = op;
  return iree_ok_status();
}

// `op` is on the caller's stack with the lists and tables of the caller.
static iree_status_t op_submit(local_op_t* op) {
  bool is_ready = iree_hal_semaphore_list_poll(op->waits);
  if (is_ready && runs_here(op)) {
    iree_status_t status = op_run(op);
    if (is_deferred_host_call(op, status)) {
      iree_status_free(status);
    } else {
      op_signal(op, status);
    }
    return iree_ok_status();
  }
  local_op_t* heap_op = NULL;
  IREE_RETURN_IF_ERROR(op_move_to_heap(op, &heap_op));
  if (is_ready) {
    op_start(heap_op);
  } else {
    op_defer(heap_op);
  }
  return iree_ok_status();
}

static local_op_t op_make(op_kind_t kind, iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                          iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals) {
  local_device_t* device = (local_device_t*)base;
  local_op_t op;
  memset(&op, 0, sizeof(op));
  op.kind = kind;
  op.device = device;
  op.queue_affinity = queue_affinity;
  op.executor = local_device_executor(device, queue_affinity);
  op.waits = waits;
  op.signals = signals;
  return op;
}

//===----------------------------------------------------------------------------------------------------------------===
// The calls
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t local_queue_execute(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                  const iree_hal_semaphore_list_t wait_semaphore_list,
                                  const iree_hal_semaphore_list_t signal_semaphore_list,
                                  iree_hal_command_buffer_t* command_buffer,
                                  iree_hal_buffer_binding_table_t binding_table, iree_hal_execute_flags_t flags) {
  if (command_buffer && !local_command_buffer_program(command_buffer)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the command buffer was not made by a local device");
  }
  local_op_t op = op_make(OP_EXECUTE, device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  op.execute.command_buffer = command_buffer;
  op.execute.binding_table = binding_table;
  return op_submit(&op);
}

iree_status_t local_queue_host_call(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                    const iree_hal_semaphore_list_t wait_semaphore_list,
                                    const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_host_call_t call,
                                    const uint64_t args[4], iree_hal_host_call_flags_t flags) {
  local_op_t op = op_make(OP_HOST_CALL, device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  op.host_call.call = call;
  op.host_call.flags = flags;
  memcpy(op.host_call.args, args, sizeof(op.host_call.args));
  return op_submit(&op);
}

iree_status_t local_queue_alloca(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                 const iree_hal_semaphore_list_t wait_semaphore_list,
                                 const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_pool_t* pool,
                                 iree_hal_buffer_params_t params, iree_device_size_t allocation_size,
                                 iree_hal_alloca_flags_t flags, iree_hal_buffer_t** out_buffer) {
  local_op_t op = op_make(OP_ALLOCA, device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  IREE_RETURN_IF_ERROR(local_transient_create((local_device_t*)device, queue_affinity, &params, allocation_size, flags,
                                              &op.memory.buffer));
  iree_status_t status = op_submit(&op);
  if (!iree_status_is_ok(status)) {
    iree_hal_buffer_release(op.memory.buffer);
    return status;
  }
  *out_buffer = op.memory.buffer;
  return iree_ok_status();
}

iree_status_t local_queue_dealloca(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                   const iree_hal_semaphore_list_t wait_semaphore_list,
                                   const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_buffer_t* buffer,
                                   iree_hal_dealloca_flags_t flags) {
  local_op_t op = op_make(OP_DEALLOCA, device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  op.memory.buffer = iree_hal_buffer_allocated_buffer(buffer);
  return op_submit(&op);
}

static iree_status_t submit_file(local_op_t* op, iree_hal_file_t* file, uint64_t file_offset, iree_hal_buffer_t* buffer,
                                 iree_device_size_t buffer_offset) {
  op->file.file = file;
  op->file.file_offset = file_offset;
  op->file.buffer = buffer;
  op->file.buffer_offset = buffer_offset;
  return op_submit(op);
}

iree_status_t local_queue_read(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                               const iree_hal_semaphore_list_t wait_semaphore_list,
                               const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_file_t* source_file,
                               uint64_t source_offset, iree_hal_buffer_t* target_buffer,
                               iree_device_size_t target_offset, iree_device_size_t length,
                               iree_hal_read_flags_t flags) {
  local_op_t op = op_make(OP_READ, device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  op.file.length = length;
  return submit_file(&op, source_file, source_offset, target_buffer, target_offset);
}

iree_status_t local_queue_write(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                const iree_hal_semaphore_list_t wait_semaphore_list,
                                const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_buffer_t* source_buffer,
                                iree_device_size_t source_offset, iree_hal_file_t* target_file, uint64_t target_offset,
                                iree_device_size_t length, iree_hal_write_flags_t flags) {
  local_op_t op = op_make(OP_WRITE, device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  op.file.length = length;
  return submit_file(&op, target_file, target_offset, source_buffer, source_offset);
}

iree_status_t local_queue_flush(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity) {
  return iree_ok_status();  // nothing is held back
}
