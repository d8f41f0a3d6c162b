// Replays step by step: commands of a command buffer become operations of a queue, each of which ends before the next
// one begins, and who asked for it sees the memory of every dispatch before and after.
#include "hal/replay/executor.h"

typedef struct step_t {
  replay_executor_t* x;
  iree_hal_device_t* device;
  iree_hal_queue_affinity_t queue_affinity;
  iree_hal_buffer_ref_list_t table;  // of the submission
  iree_hal_semaphore_t* semaphore;
  uint64_t value;  // that it has reached
} step_t;

//===----------------------------------------------------------------------------------------------------------------===
// References
//===----------------------------------------------------------------------------------------------------------------===

// Gives a reference its buffer from the submission's table, and its length.
static iree_status_t resolve(const step_t* s, iree_hal_buffer_ref_t* ref) {
  iree_device_size_t offset = 0, length = 0;
  if (ref->buffer) {
    length = iree_hal_buffer_byte_length(ref->buffer);
  } else {
    if (ref->buffer_slot >= s->table.count || !s->table.values[ref->buffer_slot].buffer) {
      return iree_make_status(IREE_STATUS_DATA_LOSS, "a command names slot %u, for which its submission has no buffer",
                              (unsigned)ref->buffer_slot);
    }
    const iree_hal_buffer_ref_t* slot = &s->table.values[ref->buffer_slot];
    iree_device_size_t size = iree_hal_buffer_byte_length(slot->buffer);
    if (slot->offset > size) return iree_make_status(IREE_STATUS_DATA_LOSS, "a slot begins behind its buffer's end");
    ref->buffer = slot->buffer;
    ref->buffer_slot = 0;
    offset = slot->offset;
    length = slot->length == IREE_HAL_WHOLE_BUFFER ? size - offset : slot->length;
  }
  if (ref->offset > length) return iree_make_status(IREE_STATUS_DATA_LOSS, "a command begins behind its buffer's end");
  if (ref->length == IREE_HAL_WHOLE_BUFFER) ref->length = length - ref->offset;
  ref->offset += offset;
  return iree_ok_status();
}

static iree_status_t make_ref(const step_t* s, const replay_ref_t* captured, iree_hal_buffer_ref_t* out_ref) {
  IREE_RETURN_IF_ERROR(replay_make_ref(s->x, captured, out_ref));
  return resolve(s, out_ref);
}

//===----------------------------------------------------------------------------------------------------------------===
// Commands
//===----------------------------------------------------------------------------------------------------------------===

// Waits for what was submitted with `next` to signal.
static iree_status_t await(step_t* s, iree_status_t submitted) {
  IREE_RETURN_IF_ERROR(submitted);
  ++s->value;
  return iree_hal_semaphore_wait(s->semaphore, s->value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
}

static iree_status_t tell(const step_t* s, const plan_record_t* r, const replay_dispatch_call_t* call, bool has_run) {
  iree_hal_executable_function_info_t info;
  memset(&info, 0, sizeof(info));
  IREE_RETURN_IF_ERROR(iree_hal_executable_function_info(call->executable, call->function, &info));
  const iree_hal_replay_dispatch_event_callback_t* callback = &s->x->options->dispatch_event_callback;
  iree_hal_replay_dispatch_event_t event = {
      .index = s->x->stepped_count,
      .sequence_ordinal = r->record.header.sequence_ordinal,
      .has_run = has_run,
      .device = s->device,
      .function_name = info.name,
      .bindings = call->bindings,
  };
  return callback->fn(callback->user_data, &event);
}

static iree_status_t run_dispatch(step_t* s, const plan_record_t* r, replay_dispatch_call_t* call) {
  for (iree_host_size_t i = 0; i < call->bindings.count; ++i) {
    IREE_RETURN_IF_ERROR(resolve(s, &call->binding_storage[i]));
  }
  if (iree_hal_dispatch_uses_indirect_parameters(call->flags)) {
    IREE_RETURN_IF_ERROR(resolve(s, &call->config.workgroup_count_ref));
  }
  uint64_t next = s->value + 1;
  iree_hal_semaphore_list_t signals = {1, &s->semaphore, &next};
  IREE_RETURN_IF_ERROR(tell(s, r, call, /*has_run=*/false));
  IREE_RETURN_IF_ERROR(
      await(s, iree_hal_device_queue_dispatch(s->device, s->queue_affinity, iree_hal_semaphore_list_empty(), signals,
                                              call->executable, call->function, call->config, call->constants,
                                              call->bindings, call->flags)));
  IREE_RETURN_IF_ERROR(tell(s, r, call, /*has_run=*/true));
  ++s->x->stepped_count;
  return iree_ok_status();
}

static iree_status_t step_dispatch(step_t* s, const plan_record_t* r) {
  replay_dispatch_call_t call;
  IREE_RETURN_IF_ERROR(replay_make_dispatch(s->x, r, &call));
  iree_status_t status = run_dispatch(s, r, &call);
  replay_free_dispatch(s->x, &call);
  return status;
}

static iree_status_t step_fill(step_t* s, const plan_record_t* r) {
  REPLAY_FIELDS(r, command_buffer_fill_buffer, p);
  iree_hal_buffer_ref_t target;
  IREE_RETURN_IF_ERROR(make_ref(s, &p.target_ref, &target));
  iree_const_byte_span_t pattern = replay_part(r, 0);
  uint64_t next = s->value + 1;
  iree_hal_semaphore_list_t signals = {1, &s->semaphore, &next};
  return await(s, iree_hal_device_queue_fill(s->device, s->queue_affinity, iree_hal_semaphore_list_empty(), signals,
                                             target.buffer, target.offset, target.length, pattern.data,
                                             pattern.data_length, p.flags));
}

static iree_status_t step_update(step_t* s, const plan_record_t* r) {
  REPLAY_FIELDS(r, command_buffer_update_buffer, p);
  iree_hal_buffer_ref_t target;
  IREE_RETURN_IF_ERROR(make_ref(s, &p.target_ref, &target));
  IREE_RETURN_IF_ERROR(replay_check_update(&target, p.data_length));
  uint64_t next = s->value + 1;
  iree_hal_semaphore_list_t signals = {1, &s->semaphore, &next};
  return await(
      s, iree_hal_device_queue_update(s->device, s->queue_affinity, iree_hal_semaphore_list_empty(), signals,
                                      replay_part(r, 0).data, 0, target.buffer, target.offset, target.length, p.flags));
}

static iree_status_t step_copy(step_t* s, const plan_record_t* r) {
  REPLAY_FIELDS(r, command_buffer_copy_buffer, p);
  iree_hal_buffer_ref_t source, target;
  IREE_RETURN_IF_ERROR(make_ref(s, &p.source_ref, &source));
  IREE_RETURN_IF_ERROR(make_ref(s, &p.target_ref, &target));
  uint64_t next = s->value + 1;
  iree_hal_semaphore_list_t signals = {1, &s->semaphore, &next};
  return await(s, iree_hal_device_queue_copy(s->device, s->queue_affinity, iree_hal_semaphore_list_empty(), signals,
                                             source.buffer, source.offset, target.buffer, target.offset, target.length,
                                             p.flags));
}

// What only orders commands is of no consequence: they run one after the other.
static iree_status_t step_command(step_t* s, const plan_record_t* r) {
  switch (r->record.header.operation_code) {
    case REPLAY_COMMAND_BUFFER_FILL_BUFFER:
      return step_fill(s, r);
    case REPLAY_COMMAND_BUFFER_UPDATE_BUFFER:
      return step_update(s, r);
    case REPLAY_COMMAND_BUFFER_COPY_BUFFER:
      return step_copy(s, r);
    case REPLAY_COMMAND_BUFFER_DISPATCH:
      return step_dispatch(s, r);
    case REPLAY_COMMAND_BUFFER_COLLECTIVE:
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "collectives cannot be replayed");
    default:
      return iree_ok_status();
  }
}

// All that was recorded into a command buffer until now.
static iree_status_t step_commands(step_t* s, uint64_t command_buffer_id) {
  for (uint64_t i = 0; i < s->x->current; ++i) {
    const plan_record_t* r = &s->x->plan->records[i];
    const replay_record_header_t* header = &r->record.header;
    if (header->record_type != REPLAY_RECORD_operation || header->object_id != command_buffer_id ||
        header->object_type != REPLAY_OBJECT_command_buffer || header->status_code) {
      continue;
    }
    iree_status_t status = step_command(s, r);
    if (!iree_status_is_ok(status)) {
      return iree_status_annotate_f(status, "running the command of record %" PRIu64 " (%s)", header->sequence_ordinal,
                                    replay_operation_name(header->operation_code));
    }
  }
  return iree_ok_status();
}

static iree_status_t step_execute(step_t* s, const plan_record_t* r) {
  REPLAY_FIELDS(r, device_queue_execute, p);
  iree_hal_buffer_ref_t* refs = NULL;
  s->queue_affinity = p.queue_affinity;
  if (!p.command_buffer_id) return iree_ok_status();
  IREE_RETURN_IF_ERROR(replay_make_refs(s->x, r, 2, &refs));
  s->table = (iree_hal_buffer_ref_list_t){(iree_host_size_t)p.binding_count, refs};
  iree_status_t status = step_commands(s, p.command_buffer_id);
  iree_allocator_free(s->x->host_allocator, refs);
  return status;
}

iree_status_t replay_step(replay_executor_t* x, const plan_record_t* r, iree_hal_device_t* device) {
  step_t s = {.x = x, .device = device, .queue_affinity = IREE_HAL_QUEUE_AFFINITY_ANY};
  IREE_RETURN_IF_ERROR(
      iree_hal_semaphore_create(device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &s.semaphore));
  iree_status_t status;
  if (r->record.header.operation_code == REPLAY_DEVICE_QUEUE_EXECUTE) {
    status = step_execute(&s, r);
  } else {
    status = step_dispatch(&s, r);
  }
  iree_hal_semaphore_release(s.semaphore);
  return status;
}
