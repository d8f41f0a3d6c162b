// Operations: copies on the heap, waits, and their end.
//
// A wait is dropped when it is reached, or when the operation goes to the very queue whose work reaches it: all work of
// a queue is one chain. Other waits are timepoints; the thread that reaches the last one starts the operation. Chains
// of operations that end at once (because of failures) are run from a list of the thread's, not by recursion.
#include "hal/amdgpu/operation.h"

#define POOLED_SIZE 1024

//===----------------------------------------------------------------------------------------------------------------===
// The end
//===----------------------------------------------------------------------------------------------------------------===

static void for_each_resource(operation_t* op, void (*visit)(const void* resource)) {
  for (int i = 0; i < OPERATION_MAX_RESOURCES; ++i) visit(op->resources[i]);
  if (op->kind != OPERATION_COMMANDS || op->commands.borrows_bindings) return;
  for (iree_host_size_t i = 0; i < op->commands.bindings.count; ++i) visit(op->commands.bindings.bindings[i].buffer);
}

void operation_free(operation_t* op) {
  amdgpu_device_t* device = op->device;
  for_each_resource(op, iree_hal_resource_release);
  iree_hal_semaphore_list_release(op->waits);
  iree_hal_semaphore_list_release(op->signals);
  if (op->is_pooled) {
    iree_slim_mutex_lock(&device->mutex);
    op->next = device->free_operations;
    device->free_operations = op;
    iree_slim_mutex_unlock(&device->mutex);
  } else {
    iree_allocator_free(device->host_allocator, op);
  }
  // The device may go from here on.
  iree_atomic_fetch_sub(&device->outstanding, 1, iree_memory_order_release);
}

static void signal_list(iree_hal_semaphore_list_t signals, iree_status_t status) {
  if (iree_status_is_ok(status)) {
    iree_status_free(iree_hal_semaphore_list_signal(signals, NULL));
  } else {
    iree_hal_semaphore_list_fail(signals, status);
  }
}

// What happens to an operation's memory when it is over, before anybody is told.
static void apply_memory(const operation_t* op) {
  if (op->kind == OPERATION_ALLOCA) amdgpu_transient_commit(op->memory.buffer);
  if (op->kind == OPERATION_DEALLOCA && amdgpu_transient_is(op->memory.buffer)) {
    amdgpu_transient_decommit(op->memory.buffer);
  }
}

void operation_finish(operation_t* op, iree_status_t status) {
  if (iree_status_is_ok(status)) apply_memory(op);
  signal_list(op->signals, status);
  operation_free(op);
}

//===----------------------------------------------------------------------------------------------------------------===
// Starting
//===----------------------------------------------------------------------------------------------------------------===

static bool is_host_kind(operation_kind_t kind) { return kind >= OPERATION_HOST_CALL; }

static void push_host(operation_t* op) {
  amdgpu_device_t* device = op->device;
  iree_slim_mutex_lock(&device->mutex);
  op->next = NULL;
  if (device->host_tail) {
    device->host_tail->next = op;
  } else {
    device->host_head = op;
  }
  device->host_tail = op;
  iree_slim_mutex_unlock(&device->mutex);
  iree_notification_post(&device->host_ready, 1);
}

// Memory that was not to be had at submission.
static iree_status_t stage_memory(operation_t* op) {
  if (op->kind != OPERATION_ALLOCA || op->memory.is_staged) return iree_ok_status();
  op->memory.is_staged = true;
  return amdgpu_transient_stage(op->memory.buffer);
}

static void start(operation_t* op) {
  iree_status_t status = (iree_status_t)iree_atomic_exchange(&op->failure, 0, iree_memory_order_acquire);
  if (iree_status_is_ok(status)) status = stage_memory(op);
  if (!iree_status_is_ok(status)) {
    operation_finish(op, status);
  } else if (is_host_kind(op->kind)) {
    push_host(op);
  } else {
    op->physical->queue->vtable->submit(op->physical->queue, op);
  }
}

// Operations that became ready on this thread while it was starting another one.
static _Thread_local struct {
  bool is_starting;
  operation_t* head;
  operation_t* tail;
} ready;

static void start_in_turn(operation_t* op) {
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
    operation_t* next = ready.head;
    ready.head = next->next;
    start(next);
  }
  ready.is_starting = false;
}

//===----------------------------------------------------------------------------------------------------------------===
// Waiting
//===----------------------------------------------------------------------------------------------------------------===

static void deferred_link(operation_t* op) {
  amdgpu_device_t* device = op->device;
  iree_slim_mutex_lock(&device->mutex);
  op->prev = NULL;
  op->next = device->deferred;
  if (op->next) op->next->prev = op;
  device->deferred = op;
  iree_slim_mutex_unlock(&device->mutex);
}

static void deferred_unlink(operation_t* op) {
  amdgpu_device_t* device = op->device;
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
static void drop_pending(operation_t* op) {
  if (iree_atomic_fetch_sub(&op->pending, 1, iree_memory_order_acq_rel) != 1) return;
  deferred_unlink(op);
  start_in_turn(op);
}

static void fail_wait(operation_t* op, iree_status_t status) {
  intptr_t expected = 0;
  if (!iree_atomic_compare_exchange_strong(&op->failure, &expected, (intptr_t)status, iree_memory_order_acq_rel,
                                           iree_memory_order_relaxed)) {
    iree_status_free(status);
  }
}

static void wait_reached(void* user_data, iree_async_semaphore_timepoint_t* timepoint, iree_status_t status) {
  operation_t* op = (operation_t*)user_data;
  if (!iree_status_is_ok(status)) fail_wait(op, status);
  drop_pending(op);
}

// Waits for the semaphores, then starts. The operation may be gone when this returns.
static void defer(operation_t* op) {
  iree_host_size_t count = op->waits.count;
  iree_atomic_store(&op->pending, (uint32_t)count + 1, iree_memory_order_relaxed);
  deferred_link(op);
  for (iree_host_size_t i = 0; i < count; ++i) {
    op->timepoints[i].callback = wait_reached;
    op->timepoints[i].user_data = op;
    // The hold keeps the operation here until all are asked for.
    IREE_IGNORE_ERROR(iree_async_semaphore_acquire_timepoint(op->waits.semaphores[i], op->waits.payload_values[i],
                                                             &op->timepoints[i]));
  }
  drop_pending(op);
}

static void cancel(operation_t* op) {
  for (iree_host_size_t i = 0; i < op->waits.count; ++i) {
    if (!iree_async_semaphore_cancel_timepoint(op->waits.semaphores[i], &op->timepoints[i])) continue;
    fail_wait(op, iree_make_status(IREE_STATUS_CANCELLED, "the device was released while work waited"));
    iree_atomic_fetch_sub(&op->pending, 1, iree_memory_order_acq_rel);  // never the last: the caller holds one
  }
  drop_pending(op);
}

void operation_close_all(amdgpu_device_t* device) {
  for (;;) {
    iree_slim_mutex_lock(&device->mutex);
    operation_t* op = device->deferred;
    // Held, so that it stays; one whose last wait is just over is on its way already.
    uint32_t pending = op ? iree_atomic_load(&op->pending, iree_memory_order_relaxed) : 0;
    while (pending && !iree_atomic_compare_exchange_weak(&op->pending, &pending, pending + 1, iree_memory_order_acq_rel,
                                                         iree_memory_order_relaxed)) {
    }
    iree_slim_mutex_unlock(&device->mutex);
    if (pending) cancel(op);
    if (!op && iree_atomic_load(&device->outstanding, iree_memory_order_acquire) == 0) break;
    if (!pending) iree_wait_until(iree_time_now() + 20000);
  }
  while (device->free_operations) {
    operation_t* op = device->free_operations;
    device->free_operations = op->next;
    iree_allocator_free(device->host_allocator, op);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Submission
//===----------------------------------------------------------------------------------------------------------------===

static bool is_reached(iree_hal_semaphore_t* semaphore, uint64_t value) {
  uint64_t now = 0;
  return iree_status_consume_code(iree_hal_semaphore_query(semaphore, &now)) == IREE_STATUS_OK && now >= value;
}

// Drops waits that need no timepoint. `kept` has room for all.
static iree_hal_semaphore_list_t remaining_waits(const operation_t* op, iree_hal_semaphore_list_t kept,
                                                 bool* out_elided) {
  bool may_elide = !is_host_kind(op->kind) && !op->device->options.force_defer;
  kept.count = 0;
  *out_elided = false;
  for (iree_host_size_t i = 0; i < op->waits.count; ++i) {
    iree_hal_semaphore_t* semaphore = op->waits.semaphores[i];
    uint64_t value = op->waits.payload_values[i];
    if (is_reached(semaphore, value)) continue;
    if (may_elide && amdgpu_semaphore_is_produced(semaphore, op->physical->queue->id, value)) {
      *out_elided = true;
      continue;
    }
    kept.semaphores[kept.count] = semaphore;
    kept.payload_values[kept.count++] = value;
  }
  return kept;
}

static iree_status_t allocate(amdgpu_device_t* device, size_t size, operation_t** out_op) {
  bool is_pooled = size <= POOLED_SIZE;
  operation_t* op = NULL;
  if (is_pooled) {
    iree_slim_mutex_lock(&device->mutex);
    op = device->free_operations;
    if (op) device->free_operations = op->next;
    iree_slim_mutex_unlock(&device->mutex);
  }
  if (!op) {
    IREE_RETURN_IF_ERROR(
        iree_allocator_malloc_uninitialized(device->host_allocator, iree_max(size, POOLED_SIZE), (void**)&op));
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

// The operation's own command and what it points to.
static void copy_command(operation_t* op, const operation_t* source, uint8_t* storage) {
  if (source->commands.commands != &source->command) return;
  op->commands.commands = &op->command;
  if (!op->data.data_length) return;
  memcpy(storage, source->data.data, source->data.data_length);
  if (op->command.kind == COMMAND_UPDATE) op->command.data = storage;
  if (op->command.kind != COMMAND_DISPATCH) return;
  op->command.dispatch.arguments = storage;
  op->command.dispatch.patches = (const command_patch_t*)(storage + op->command.kernarg_size);
}

static iree_status_t move_to_heap(const operation_t* source, iree_hal_semaphore_list_t waits, operation_t** out_op) {
  const size_t list_entry = sizeof(uint64_t) + sizeof(iree_hal_semaphore_t*);
  size_t binding_count = source->kind == OPERATION_COMMANDS ? source->commands.bindings.count : 0;
  size_t size = sizeof(*source) + waits.count * (list_entry + sizeof(iree_async_semaphore_timepoint_t)) +
                source->signals.count * list_entry + binding_count * sizeof(iree_hal_buffer_binding_t) +
                source->data.data_length;
  operation_t* op = NULL;
  IREE_RETURN_IF_ERROR(allocate(source->device, size, &op));
  bool is_pooled = op->is_pooled;
  *op = *source;
  op->is_pooled = is_pooled;
  op->waits = waits;
  uint8_t* storage = (uint8_t*)(op + 1);
  op->timepoints = (iree_async_semaphore_timepoint_t*)storage;
  storage = (uint8_t*)(op->timepoints + waits.count);
  copy_list(&op->waits, &storage);
  copy_list(&op->signals, &storage);
  if (binding_count) {
    memcpy(storage, source->commands.bindings.bindings, binding_count * sizeof(iree_hal_buffer_binding_t));
    op->commands.bindings.bindings = (const iree_hal_buffer_binding_t*)storage;
    storage += binding_count * sizeof(iree_hal_buffer_binding_t);
  }
  if (op->kind == OPERATION_COMMANDS) copy_command(op, source, storage);
  for_each_resource(op, iree_hal_resource_retain);
  iree_atomic_fetch_add(&op->device->outstanding, 1, iree_memory_order_relaxed);
  *out_op = op;
  return iree_ok_status();
}

static bool has_work(const operation_t* op) {
  return is_host_kind(op->kind) || (op->kind == OPERATION_COMMANDS && op->commands.count > 0);
}

iree_status_t operation_submit(operation_t* op) {
  iree_hal_semaphore_list_t kept = {
      .semaphores = (iree_hal_semaphore_t**)iree_alloca((op->waits.count + 1) * sizeof(iree_hal_semaphore_t*)),
      .payload_values = (uint64_t*)iree_alloca((op->waits.count + 1) * sizeof(uint64_t)),
  };
  bool elided = false;
  iree_hal_semaphore_list_t waits = remaining_waits(op, kept, &elided);
  if (!waits.count && !elided && !has_work(op)) {
    // Nothing to wait for and nothing to run.
    iree_status_t status = stage_memory(op);
    if (iree_status_is_ok(status)) apply_memory(op);
    signal_list(op->signals, status);
    return iree_ok_status();
  }
  operation_t* heap_op = NULL;
  IREE_RETURN_IF_ERROR(move_to_heap(op, waits, &heap_op));
  if (waits.count) {
    defer(heap_op);
  } else {
    start_in_turn(heap_op);
  }
  return iree_ok_status();
}
