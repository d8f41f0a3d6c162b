// Queue operations of local devices.
//
// An operation whose waits are reached and that needs no other thread runs at once, from the stack of its submitter.
// Others move to the heap, wait there, and run as jobs of an executor.
#include "hal/local/device.h"
#include "iree/base/internal/cpu.h"
#include "iree/base/threading/api.h"

typedef struct local_op_t {
  hal_operation_t base;
  executor_job_t job;
  iree_task_executor_t* executor;  // NULL: runs on the thread that starts it
  struct {
    iree_hal_command_buffer_t* command_buffer;  // NULL: nothing to run
    iree_hal_buffer_binding_table_t binding_table;
    bool borrows_bindings;  // which are not kept alive
    local_state_t* state;
    iree_hal_profile_queue_event_type_t single;  // the command that it is; NONE: a command buffer, or a barrier
    uint64_t length;                             // bytes that it moves
  } execute;                                     // WORK
  // Of operations on the heap that are not WORK, which have one chunk.
  bool has_run;
  iree_status_t result;
} local_op_t;

static local_device_t* op_device(const local_op_t* op) { return (local_device_t*)op->base.device; }

static local_op_t* op_of_job(executor_job_t* job) { return (local_op_t*)((uint8_t*)job - offsetof(local_op_t, job)); }

static void op_visit_work(const hal_operation_t* base, hal_visit_resource_fn_t visit) {
  const local_op_t* op = (const local_op_t*)base;
  visit(op->execute.command_buffer);
  if (op->execute.borrows_bindings) return;
  for (iree_host_size_t i = 0; i < op->execute.binding_table.count; ++i) {
    visit(op->execute.binding_table.bindings[i].buffer);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Running
//===----------------------------------------------------------------------------------------------------------------===

typedef struct idle_worker_t {
  local_worker_t base;
  hal_idle_t idle;
} idle_worker_t;

static idle_worker_t* take_idle_worker(local_device_t* device) {
  return (idle_worker_t*)hal_idle_object(hal_idle_list_take(&device->idle_workers), offsetof(idle_worker_t, idle));
}

static iree_status_t take_worker(local_device_t* device, idle_worker_t** out_worker) {
  *out_worker = take_idle_worker(device);
  if (*out_worker) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->base.host_allocator, sizeof(**out_worker), (void**)out_worker));
  (*out_worker)->base.processor_id = iree_cpu_query_processor_id();
  return iree_ok_status();
}

void local_device_free_workers(local_device_t* device) {
  for (idle_worker_t* worker; (worker = take_idle_worker(device)) != NULL;) {
    local_worker_finish(&worker->base);
    iree_allocator_free(device->base.host_allocator, worker);
  }
}

// Makes the operation's state. OK with a NULL state when there is nothing to run.
static iree_status_t execute_prepare(local_op_t* op) {
  op->execute.state = NULL;
  if (!op->execute.command_buffer) return iree_ok_status();
  local_state_t* state = NULL;
  IREE_RETURN_IF_ERROR(local_state_acquire(local_program_of(op->execute.command_buffer), op->base.profile, &state));
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
  idle_worker_t* worker = NULL;
  iree_status_t status = take_worker(op_device(op), &worker);
  if (!iree_status_is_ok(status)) {
    local_state_release(op->execute.state);
    return status;
  }
  local_state_run(op->execute.state, &worker->base);
  hal_idle_list_give(&op_device(op)->idle_workers, &worker->idle);
  return execute_complete(op);
}

// Runs an operation on this thread to its end.
static iree_status_t op_run(local_op_t* op) {
  if (op->base.profile) hal_profile_start(op->base.profile);
  return op->base.kind == HAL_OPERATION_WORK ? execute_run(op) : hal_operation_run(&op->base);
}

// As jobs of an executor: WORK is its program's regions, everything else one chunk.
static uint32_t op_next_region(executor_job_t* job) {
  local_op_t* op = op_of_job(job);
  if (op->base.profile) hal_profile_start(op->base.profile);
  if (op->base.kind == HAL_OPERATION_WORK) return local_state_next_region(op->execute.state);
  return op->has_run ? 0 : 1;
}

static void op_run_chunk(executor_job_t* job, uint32_t chunk, local_worker_t* worker) {
  local_op_t* op = op_of_job(job);
  if (op->base.kind == HAL_OPERATION_WORK) {
    local_state_run_chunk(op->execute.state, chunk, worker);
    return;
  }
  op->result = op_run(op);
  op->has_run = true;
}

static void op_complete(executor_job_t* job) {
  local_op_t* op = op_of_job(job);
  hal_operation_finish(&op->base, op->base.kind == HAL_OPERATION_WORK ? execute_complete(op) : op->result);
}

// Operations that take no time are not worth another thread.
static bool runs_here(const local_op_t* op) {
  if (!op->executor) return true;
  return op->base.kind == HAL_OPERATION_ALLOCA || op->base.kind == HAL_OPERATION_DEALLOCA ||
         (op->base.kind == HAL_OPERATION_WORK && !op->execute.command_buffer);
}

// Starts an operation on the heap whose waits are reached.
static void op_start(hal_operation_t* base) {
  local_op_t* op = (local_op_t*)base;
  if (base->profile) hal_profile_ready(base->profile, /*on_device=*/false);
  iree_status_t failure = hal_operation_take_failure(base);
  if (!iree_status_is_ok(failure)) {
    hal_operation_finish(base, failure);
    return;
  }
  if (runs_here(op)) {
    hal_operation_finish(base, op_run(op));
    return;
  }
  if (base->kind == HAL_OPERATION_WORK) {
    iree_status_t status = execute_prepare(op);
    if (!iree_status_is_ok(status)) {
      hal_operation_finish(base, status);
      return;
    }
  }
  op->job.next_region = op_next_region;
  op->job.run_chunk = op_run_chunk;
  op->job.complete = op_complete;
  executor_submit(op->executor, &op->job);
}

//===----------------------------------------------------------------------------------------------------------------===
// Submitting
//===----------------------------------------------------------------------------------------------------------------===

// Moves an operation from the stack to the heap, with everything it points to.
static iree_status_t op_move_to_heap(const local_op_t* source, hal_operation_t** out_op) {
  size_t binding_count = source->execute.binding_table.count;
  hal_operation_move_t move = {&source->base, sizeof(*source), binding_count * sizeof(iree_hal_buffer_binding_t)};
  uint8_t* bindings = NULL;
  IREE_RETURN_IF_ERROR(hal_operation_move(&move, out_op, &bindings));
  if (binding_count == 0) return iree_ok_status();
  memcpy(bindings, source->execute.binding_table.bindings, move.extra_size);
  ((local_op_t*)*out_op)->execute.binding_table.bindings = (const iree_hal_buffer_binding_t*)bindings;
  return iree_ok_status();
}

static void op_watch(local_op_t* op) {
  hal_profile_work_t work = {.type = op->execute.single, .payload_length = op->execute.length};
  iree_hal_command_buffer_t* command_buffer = op->execute.command_buffer;
  if (!work.type) {
    work.type = command_buffer ? IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_EXECUTE : IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_BARRIER;
  }
  if (command_buffer) {
    work.program = local_program_profile(local_program_of(command_buffer), op->execute.single ? NULL : command_buffer);
  }
  hal_operation_watch(&op->base, &work);
}

// `op` is on the caller's stack with the lists and tables of the caller.
static iree_status_t op_submit(local_op_t* op) {
  if (hal_profile_is_on(op->base.device)) op_watch(op);
  op->executor = local_device_executor(op_device(op), op->base.queue_affinity);
  bool is_ready = iree_hal_semaphore_list_poll(op->base.waits);
  if (is_ready && op->base.profile) hal_profile_ready(op->base.profile, /*on_device=*/false);
  if (is_ready && runs_here(op)) {
    hal_operation_signal(&op->base, op_run(op));
    return iree_ok_status();
  }
  hal_operation_t* heap_op = NULL;
  iree_status_t status = op_move_to_heap(op, &heap_op);
  if (!iree_status_is_ok(status)) {
    hal_profile_drop_operation(op->base.profile);
    return status;
  }
  if (is_ready) {
    op_start(heap_op);
  } else {
    hal_operation_defer(heap_op);
  }
  return iree_ok_status();
}

static iree_status_t op_submit_shared(const hal_operation_t* base) {
  local_op_t op;
  memset(&op, 0, sizeof(op));
  op.base = *base;
  return op_submit(&op);
}

const hal_operation_interface_t local_operation_interface = {
    .submit = op_submit_shared,
    .start = op_start,
    .visit_work = op_visit_work,
};

iree_status_t local_queue_submit(iree_hal_device_t* device, const local_work_t* work) {
  if (work->command_buffer && !local_program_of(work->command_buffer)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the command buffer was not made by a local device");
  }
  local_op_t op;
  memset(&op, 0, sizeof(op));
  op.base.device = (hal_queued_device_t*)device;
  op.base.queue_affinity = work->queue_affinity;
  op.base.waits = work->waits;
  op.base.signals = work->signals;
  op.execute.command_buffer = work->command_buffer;
  op.execute.binding_table = work->binding_table;
  op.execute.borrows_bindings = work->flags & IREE_HAL_EXECUTE_FLAG_BORROW_BINDING_TABLE_LIFETIME;
  op.execute.single = work->single;
  op.execute.length = work->length;
  return op_submit(&op);
}

iree_status_t local_queue_execute(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                  const iree_hal_semaphore_list_t wait_semaphore_list,
                                  const iree_hal_semaphore_list_t signal_semaphore_list,
                                  iree_hal_command_buffer_t* command_buffer,
                                  iree_hal_buffer_binding_table_t binding_table, iree_hal_execute_flags_t flags) {
  local_work_t work = {
      .queue_affinity = queue_affinity,
      .waits = wait_semaphore_list,
      .signals = signal_semaphore_list,
      .command_buffer = command_buffer,
      .binding_table = binding_table,
      .flags = flags,
  };
  return local_queue_submit(device, &work);
}
