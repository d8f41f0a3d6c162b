// Operations: which waits they need, and where they go.
//
// A wait is dropped when it is reached, or when the operation goes to the very queue whose work reaches it: all work of
// a queue is one chain. Where the work is in another queue of the device, a packet of the operation's waits for it.
// What was issued depends only on what was issued before, so that queues never wait in a circle.
#include "hal/gpu/command.h"
#include "hal/gpu/queue.h"

static void visit_work(const hal_operation_t* base, hal_visit_resource_fn_t visit) {
  const gpu_operation_t* op = (const gpu_operation_t*)base;
  for (int i = 0; i < GPU_MAX_RESOURCES; ++i) visit(op->resources[i]);
  if (op->borrows_bindings) return;
  for (iree_host_size_t i = 0; i < op->bindings.count; ++i) visit(op->bindings.bindings[i].buffer);
  for (iree_host_size_t i = 0; i < op->refs.count; ++i) visit(op->refs.values[i].buffer);
}

// What happens to an operation's memory when it is over, before anybody is told.
static void apply_memory(const gpu_operation_t* op) {
  if (op->base.kind == HAL_OPERATION_ALLOCA) hal_transient_commit(op->base.buffer);
  if (op->base.kind == HAL_OPERATION_DEALLOCA && hal_transient_is(op->base.buffer)) {
    hal_transient_decommit(op->base.buffer);
  }
}

static void drop_kept_waits(gpu_operation_t* op) {
  for (uint32_t i = 0; i < op->kept_count; ++i) {
    gpu_gate_release(op->kept_waits[i].far.gate);
    iree_hal_semaphore_release(op->kept_waits[i].semaphore);
  }
  op->kept_count = 0;
  for (uint32_t i = 0; i < op->barrier_count; ++i) {
    gpu_gate_t* gate = op->barriers[i].gate;
    op->barriers[i].gate = NULL;
    if (gate) gpu_gate_leave(gate);
    gpu_gate_release(gate);
  }
}

void gpu_operation_signal(gpu_operation_t* op, iree_status_t status) {
  drop_kept_waits(op);
  if (iree_status_is_ok(status)) apply_memory(op);
  hal_operation_signal(&op->base, status);
}

void gpu_operation_finish(gpu_operation_t* op, iree_status_t status) {
  gpu_operation_signal(op, status);
  hal_operation_release(&op->base);
}

//===----------------------------------------------------------------------------------------------------------------===
// Packets that wait
//===----------------------------------------------------------------------------------------------------------------===

// For one more, also when what is kept becomes some.
static bool has_room(const gpu_operation_t* op) { return op->barrier_count + op->kept_count < GPU_MAX_BARRIERS; }

// Lets a packet wait for a submission of another queue. False when that is not possible.
static bool add_barrier(gpu_operation_t* op, const gpu_producer_t* producer) {
  gpu_queue_t* queue =
      op->queue->waits_for_queues ? gpu_device_find_queue(gpu_operation_device(op), producer->queue_id) : NULL;
  if (!queue) return false;
  for (uint32_t i = 0; i < op->barrier_count; ++i) {
    gpu_barrier_t* barrier = &op->barriers[i];
    if (barrier->queue != queue) continue;
    barrier->epoch = iree_max(barrier->epoch, producer->epoch);
    return true;
  }
  if (!has_room(op)) return false;
  op->barriers[op->barrier_count++] = (gpu_barrier_t){.queue = queue, .epoch = producer->epoch};
  return true;
}

static void keep_wait(gpu_operation_t* op, const gpu_kept_wait_t* wait) {
  iree_hal_semaphore_retain(wait->semaphore);
  op->kept_waits[op->kept_count++] = *wait;
}

// The same for one of another device's, of the same library, which may go before the operation starts.
static bool add_far_wait(gpu_operation_t* op, iree_hal_semaphore_t* semaphore, uint64_t value) {
  gpu_kept_wait_t wait = {.semaphore = semaphore, .value = value};
  if (!op->queue->waits_for_queues || !has_room(op)) return false;
  if (!gpu_semaphore_find_far_producer(semaphore, value, &wait.far)) return false;
  gpu_queue_t* queue = gpu_far_producer_enter(&wait.far);
  bool is_alike = queue && queue->backend == op->queue->backend;
  if (queue) gpu_gate_leave(wait.far.gate);
  if (is_alike) {
    op->acquires_agent = false;
    keep_wait(op, &wait);
  } else {
    gpu_gate_release(wait.far.gate);
  }
  return is_alike;
}

// Of an operation that starts: packets wait for what other devices are still at, which stay from now on until it ends.
// Nothing that it waits for is the host's any more.
static void add_far_barriers(gpu_operation_t* op) {
  for (uint32_t i = 0; i < op->kept_count && !op->queue->forgets_queues; ++i) {
    gpu_far_producer_t* far = &op->kept_waits[i].far;
    gpu_queue_t* queue = far->gate ? gpu_far_producer_enter(far) : NULL;
    if (!queue) continue;
    op->barriers[op->barrier_count++] =
        (gpu_barrier_t){.queue = queue, .epoch = far->producer.epoch, .gate = far->gate};
    far->gate = NULL;
  }
}

// Until that very part, no later one, is told: this thread may be the one that ends what those wait for.
static iree_status_t await_far(const gpu_far_producer_t* far) {
  gpu_queue_t* queue = far->gate ? gpu_far_producer_enter(far) : NULL;
  if (!queue) return iree_ok_status();
  iree_status_t status = gpu_queue_await_end(queue, far->producer.epoch);
  gpu_gate_leave(far->gate);
  return status;
}

iree_status_t gpu_operation_await_kept(const gpu_operation_t* op) {
  for (uint32_t i = 0; i < op->kept_count; ++i) {
    uint64_t now = 0;
    IREE_RETURN_IF_ERROR(await_far(&op->kept_waits[i].far));
    IREE_RETURN_IF_ERROR(iree_hal_semaphore_query(op->kept_waits[i].semaphore, &now));
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory
//===----------------------------------------------------------------------------------------------------------------===

void gpu_operation_release_memory(const gpu_operation_t* op, hal_pool_point_t point) {
  if (op->base.kind != HAL_OPERATION_DEALLOCA || !hal_transient_is(op->base.buffer)) return;
  hal_transient_release_after(op->base.buffer, point);
}

// Memory for an allocation. Work that still uses it is waited for by the queue's order and, at submission, by packets.
static iree_status_t stage_memory(gpu_operation_t* op, bool can_wait) {
  if (op->base.kind != HAL_OPERATION_ALLOCA || op->is_staged) return iree_ok_status();
  hal_pool_taker_t taker = {.queue_id = op->queue->id, .can_wait = can_wait && op->queue->waits_for_queues};
  hal_pool_frontier_t frontier;
  IREE_RETURN_IF_ERROR(hal_transient_stage(op->base.buffer, taker, &frontier));
  op->is_staged = true;
  op->relies_on_order = op->relies_on_order || frontier.count;
  for (uint32_t i = 0; i < frontier.count; ++i) {
    gpu_producer_t producer = {frontier.points[i].queue_id, frontier.points[i].epoch};
    if (producer.queue_id == op->queue->id) continue;
    bool has_room = add_barrier(op, &producer);  // the first ones of the operation
    IREE_ASSERT(has_room);
    (void)has_room;
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Starting
//===----------------------------------------------------------------------------------------------------------------===

// Ends an operation without its work. What it was to follow in its queue goes on, and may use what its semaphores stand
// for: it ends after that.
static void fail(gpu_operation_t* op, iree_status_t status) {
  if (!op->relies_on_order || hal_operation_is_for_host(&op->base)) {
    gpu_operation_finish(op, status);
    return;
  }
  op->work = (gpu_work_t){.backend = op->work.backend};
  iree_atomic_store(&op->base.failure, (intptr_t)status, iree_memory_order_relaxed);
  gpu_queue_submit(op->queue, op);
}

static void start(hal_operation_t* base) {
  gpu_operation_t* op = (gpu_operation_t*)base;
  if (base->profile) hal_profile_ready(base->profile, op->relies_on_order);
  iree_status_t status = hal_operation_take_failure(base);
  if (iree_status_is_ok(status)) status = gpu_device_clone_failure(gpu_operation_device(op));
  if (iree_status_is_ok(status)) status = stage_memory(op, /*can_wait=*/false);
  if (!iree_status_is_ok(status)) {
    fail(op, status);
  } else if (hal_operation_is_for_host(base)) {
    gpu_device_push_host(gpu_operation_device(op), op);
  } else {
    status = gpu_work_resolve(&op->work, op->bindings, op->ranges);
    if (iree_status_is_ok(status)) {
      add_far_barriers(op);
      gpu_queue_submit(op->queue, op);
    } else {
      fail(op, status);
    }
  }
}

static bool is_mappable(iree_hal_buffer_t* buffer) {
  return iree_all_bits_set(buffer->memory_type, IREE_HAL_MEMORY_TYPE_HOST_VISIBLE) &&
         iree_all_bits_set(buffer->allowed_usage, IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED);
}

void gpu_operation_run_on_host(gpu_operation_t* op) {
  if (op->base.kind == HAL_OPERATION_HOST_CALL) {
    gpu_operation_finish(op, hal_operation_call_host(&op->base));
  } else if (is_mappable(op->base.file.buffer)) {
    gpu_operation_finish(op, hal_operation_transfer_file(&op->base));
  } else {
    bool is_submitted = false;
    iree_status_t status = hal_operation_stage_file(&op->base, &is_submitted);
    if (!is_submitted) {
      gpu_operation_signal(op, status);
    } else if (op->base.profile) {
      hal_profile_end_operation(op->base.profile, iree_ok_status());
    }
    hal_operation_release(&op->base);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Submission
//===----------------------------------------------------------------------------------------------------------------===

static bool is_reached(iree_hal_semaphore_t* semaphore, uint64_t value) {
  uint64_t now = 0;
  return iree_status_consume_code(iree_hal_semaphore_query(semaphore, &now)) == IREE_STATUS_OK && now >= value;
}

// Whether the order of queues, or a packet, takes care of a wait.
static bool leave_to_queue(gpu_operation_t* op, iree_hal_semaphore_t* semaphore, uint64_t value) {
  if (hal_operation_is_for_host(&op->base) || gpu_operation_device(op)->defers_waits) return false;
  if (op->kept_count == GPU_MAX_KEPT_WAITS) return false;
  if (!gpu_semaphore_is_promised(semaphore, value, op->queue->id)) {
    gpu_producer_t producer;
    if (!gpu_semaphore_find_producer(semaphore, value, &producer)) return false;
    if (!add_barrier(op, &producer)) return add_far_wait(op, semaphore, value);
  }
  if (gpu_semaphore_fails_late(semaphore)) keep_wait(op, &(gpu_kept_wait_t){.semaphore = semaphore, .value = value});
  return true;
}

// Drops waits of an operation on the heap that need no timepoint.
static void drop_waits(gpu_operation_t* op) {
  iree_hal_semaphore_list_t* waits = &op->base.waits;
  iree_host_size_t kept = 0;
  for (iree_host_size_t i = 0; i < waits->count; ++i) {
    iree_hal_semaphore_t* semaphore = waits->semaphores[i];
    uint64_t value = waits->payload_values[i];
    bool is_over = is_reached(semaphore, value);
    if (!is_over && leave_to_queue(op, semaphore, value)) op->relies_on_order = is_over = true;
    if (is_over) {
      iree_hal_semaphore_release(semaphore);
      continue;
    }
    waits->semaphores[kept] = semaphore;
    waits->payload_values[kept++] = value;
  }
  waits->count = kept;
}

// The memory of an operation on the heap: its slots' ranges, its command, its table, what it refers to.
static iree_status_t move_to_heap(const gpu_operation_t* source, gpu_operation_t** out_op) {
  uint32_t slot_count = source->command ? (uint32_t)source->refs.count + GPU_MAX_RESOURCES : source->work.slot_count;
  size_t ranges_size = slot_count * sizeof(gpu_range_t);
  size_t bindings_size = source->bindings.count * sizeof(iree_hal_buffer_binding_t);
  size_t refs_size = source->refs.count * sizeof(iree_hal_buffer_ref_t);
  hal_operation_move_t move = {&source->base, sizeof(*source),
                               ranges_size + source->command_size + bindings_size + refs_size};
  hal_operation_t* base = NULL;
  uint8_t* storage = NULL;
  IREE_RETURN_IF_ERROR(hal_operation_move(&move, &base, &storage));
  gpu_operation_t* op = (gpu_operation_t*)base;
  op->ranges = (gpu_range_t*)storage;
  storage += ranges_size;
  if (source->command) {
    op->work = gpu_command_lower(gpu_operation_device(op)->backend, source->command, storage);
    op->command = NULL;
    storage += source->command_size;
  }
  if (bindings_size) {
    op->bindings.bindings = (const iree_hal_buffer_binding_t*)memcpy(storage, source->bindings.bindings, bindings_size);
  }
  if (refs_size) {
    op->refs.values = (const iree_hal_buffer_ref_t*)memcpy(storage + bindings_size, source->refs.values, refs_size);
  }
  *out_op = op;
  return iree_ok_status();
}

static bool has_work(const gpu_operation_t* op) {
  return hal_operation_is_for_host(&op->base) || (op->command || op->work.count > 0);
}

// Whether there are semaphores, all of them of the operation's GPU alone.
static bool are_local(const gpu_operation_t* op, iree_hal_semaphore_list_t list) {
  for (iree_host_size_t i = 0; i < list.count; ++i) {
    if (!gpu_semaphore_is_local(list.semaphores[i], op->queue->physical)) return false;
  }
  return list.count > 0;
}

iree_status_t gpu_operation_submit(gpu_operation_t* op) {
  op->acquires_agent = are_local(op, op->base.waits);
  // Freed memory may be used by anybody.
  op->releases_agent = op->base.kind == HAL_OPERATION_WORK && are_local(op, op->base.signals);
  bool is_lost = gpu_device_has_failed(gpu_operation_device(op));
  if (!is_lost && !op->relies_on_order && !has_work(op) && iree_hal_semaphore_list_poll(op->base.waits)) {
    // Nothing to wait for and nothing to run.
    iree_status_t status = stage_memory(op, /*can_wait=*/false);
    if (!op->relies_on_order) {
      if (hal_profile_is_on(op->base.device)) gpu_profile_watch(op, op);
      gpu_operation_signal(op, status);
      return iree_ok_status();
    }
  }
  gpu_operation_t* heap_op = NULL;
  IREE_RETURN_IF_ERROR(move_to_heap(op, &heap_op));
  if (hal_profile_is_on(op->base.device)) gpu_profile_watch(heap_op, op);
  drop_waits(heap_op);
  heap_op->relies_on_order |= is_lost;  // another queue's loss: this one may still be at what its waits stand for
  if (heap_op->base.waits.count && !is_lost) {
    hal_operation_defer(&heap_op->base);
  } else {
    hal_operation_start_in_turn(&heap_op->base);
  }
  return iree_ok_status();
}

static gpu_operation_t make(const hal_operation_t* base) {
  gpu_operation_t op;
  memset(&op, 0, sizeof(op));
  op.base = *base;
  gpu_device_t* device = gpu_operation_device(&op);
  op.queue = device->queues[gpu_domain_first(device->domain, base->queue_affinity)];
  return op;
}

gpu_operation_t gpu_operation_make(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                   iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals) {
  hal_operation_t base;
  memset(&base, 0, sizeof(base));
  base.kind = HAL_OPERATION_WORK;
  base.device = (hal_queued_device_t*)device;
  base.queue_affinity = queue_affinity;
  base.waits = waits;
  base.signals = signals;
  return make(&base);
}

// Memory is staged at once where it is to be had: otherwise there may be some when the waits are over.
static iree_status_t submit_shared(const hal_operation_t* base) {
  gpu_operation_t op = make(base);
  if (base->kind == HAL_OPERATION_ALLOCA) {
    iree_status_t status = stage_memory(&op, base->alloca_flags & IREE_HAL_ALLOCA_FLAG_ALLOW_POOL_WAIT_FRONTIER);
    if (iree_status_is_resource_exhausted(status)) status = iree_status_ignore(status);
    IREE_RETURN_IF_ERROR(status);
  }
  return gpu_operation_submit(&op);
}

static hal_pool_t* pool_of(hal_queued_device_t* base, iree_hal_queue_affinity_t queue_affinity) {
  gpu_device_t* device = (gpu_device_t*)base;
  return device->queues[gpu_domain_first(device->domain, queue_affinity)]->pool;
}

static void trim_pools(hal_queued_device_t* base) {
  gpu_device_t* device = (gpu_device_t*)base;
  for (uint32_t i = 0; i < GPU_MAX_QUEUES && device->queues[i]; i += device->domain.queue_count) {
    if (device->queues[i]->pool) hal_pool_trim(device->queues[i]->pool);
  }
}

const hal_operation_interface_t gpu_operation_interface = {
    .pool = pool_of,
    .trim = trim_pools,
    .submit = submit_shared,
    .start = start,
    .visit_work = visit_work,
};
