// Replays what was recorded into command buffers.
#include "hal/replay/executor.h"

//===----------------------------------------------------------------------------------------------------------------===
// Dispatches
//===----------------------------------------------------------------------------------------------------------------===

void replay_free_dispatch(replay_executor_t* x, replay_dispatch_call_t* dispatch) {
  iree_allocator_free(x->host_allocator, dispatch->constant_storage);
  iree_allocator_free(x->host_allocator, dispatch->binding_storage);
}

static iree_status_t copy_constants(replay_executor_t* x, const plan_record_t* r, replay_dispatch_call_t* dispatch) {
  iree_const_byte_span_t constants = replay_part(r, 2);
  if (!constants.data_length) return iree_ok_status();
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(x->host_allocator, constants.data_length, (void**)&dispatch->constant_storage));
  memcpy(dispatch->constant_storage, constants.data, constants.data_length);
  dispatch->constants = iree_make_const_byte_span(dispatch->constant_storage, constants.data_length);
  return iree_ok_status();
}

iree_status_t replay_make_dispatch(replay_executor_t* x, const plan_record_t* r, replay_dispatch_call_t* out_dispatch) {
  memset(out_dispatch, 0, sizeof(*out_dispatch));
  REPLAY_FIELDS(r, dispatch, p);
  replay_object_t* executable = NULL;
  IREE_RETURN_IF_ERROR(replay_find(x, p.executable_id, REPLAY_OBJECT_executable, &executable));
  if (p.function_ordinal >= executable->function_count) {
    return iree_make_status(IREE_STATUS_DATA_LOSS, "executable %" PRIu64 " has no captured function %u",
                            p.executable_id, p.function_ordinal);
  }
  if (!iree_hal_executable_function_is_valid(executable->functions[p.function_ordinal])) {
    return iree_make_status(IREE_STATUS_NOT_FOUND,
                            "executable %" PRIu64
                            " has no function of the name of captured function %u, or one whose workgroups do not run "
                            "in order as the captured one's do",
                            p.executable_id, p.function_ordinal);
  }
  out_dispatch->executable = executable->executable;
  out_dispatch->function = executable->functions[p.function_ordinal];
  out_dispatch->flags = p.flags & ~(uint32_t)IREE_HAL_DISPATCH_FLAG_BORROW_RESOURCE_LIFETIMES;
  memcpy(out_dispatch->config.workgroup_size, p.workgroup_size, sizeof(p.workgroup_size));
  memcpy(out_dispatch->config.workgroup_count, p.workgroup_count, sizeof(p.workgroup_count));
  out_dispatch->config.dynamic_workgroup_local_memory = p.dynamic_workgroup_local_memory;
  if (iree_hal_dispatch_uses_custom_arguments(out_dispatch->flags)) {
    // They may hold addresses of the captured program's memory.
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "dispatches with arguments of their own are not replayed");
  }
  if (iree_hal_dispatch_uses_indirect_parameters(out_dispatch->flags)) {
    IREE_RETURN_IF_ERROR(replay_make_ref(x, &p.workgroup_count_ref, &out_dispatch->config.workgroup_count_ref));
  }
  IREE_RETURN_IF_ERROR(copy_constants(x, r, out_dispatch));
  out_dispatch->bindings.count = (iree_host_size_t)p.binding_count;
  iree_status_t status = replay_make_refs(x, r, 3, &out_dispatch->binding_storage);
  out_dispatch->bindings.values = out_dispatch->binding_storage;
  if (!iree_status_is_ok(status)) replay_free_dispatch(x, out_dispatch);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Commands
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t command_dispatch(replay_executor_t* x, const plan_record_t* r,
                                      iree_hal_command_buffer_t* commands) {
  replay_dispatch_call_t dispatch;
  IREE_RETURN_IF_ERROR(replay_make_dispatch(x, r, &dispatch));
  iree_status_t status =
      iree_hal_command_buffer_dispatch(commands, dispatch.executable, dispatch.function, dispatch.config,
                                       dispatch.constants, dispatch.bindings, dispatch.flags);
  replay_free_dispatch(x, &dispatch);
  return status;
}

static iree_status_t command_fill(replay_executor_t* x, const plan_record_t* r, iree_hal_command_buffer_t* commands) {
  REPLAY_FIELDS(r, command_buffer_fill_buffer, p);
  iree_hal_buffer_ref_t target;
  IREE_RETURN_IF_ERROR(replay_make_ref(x, &p.target_ref, &target));
  iree_const_byte_span_t pattern = replay_part(r, 0);
  return iree_hal_command_buffer_fill_buffer(commands, target, pattern.data, pattern.data_length, p.flags);
}

static iree_status_t command_update(replay_executor_t* x, const plan_record_t* r, iree_hal_command_buffer_t* commands) {
  REPLAY_FIELDS(r, command_buffer_update_buffer, p);
  iree_hal_buffer_ref_t target;
  IREE_RETURN_IF_ERROR(replay_make_ref(x, &p.target_ref, &target));
  IREE_RETURN_IF_ERROR(replay_check_update(&target, p.data_length));
  return iree_hal_command_buffer_update_buffer(commands, replay_part(r, 0).data, 0, target, p.flags);
}

static iree_status_t command_copy(replay_executor_t* x, const plan_record_t* r, iree_hal_command_buffer_t* commands) {
  REPLAY_FIELDS(r, command_buffer_copy_buffer, p);
  iree_hal_buffer_ref_t source, target;
  IREE_RETURN_IF_ERROR(replay_make_ref(x, &p.source_ref, &source));
  IREE_RETURN_IF_ERROR(replay_make_ref(x, &p.target_ref, &target));
  return iree_hal_command_buffer_copy_buffer(commands, source, target, p.flags);
}

// Barriers order all memory here.
static iree_status_t barrier(iree_hal_command_buffer_t* commands, uint64_t source_stages, uint64_t target_stages) {
  return iree_hal_command_buffer_execution_barrier(commands, (iree_hal_execution_stage_t)source_stages,
                                                   (iree_hal_execution_stage_t)target_stages,
                                                   IREE_HAL_EXECUTION_BARRIER_FLAG_NONE, 0, NULL, 0, NULL);
}

static iree_status_t command_barrier(const plan_record_t* r, iree_hal_command_buffer_t* commands) {
  REPLAY_FIELDS(r, command_buffer_execution_barrier, p);
  return barrier(commands, p.source_stage_mask, p.target_stage_mask);
}

static iree_status_t command_wait_events(replay_executor_t* x, const plan_record_t* r,
                                         iree_hal_command_buffer_t* commands) {
  REPLAY_FIELDS(r, command_buffer_wait_events, p);
  for (uint64_t i = 0; i < p.event_count; ++i) {
    uint64_t id;
    replay_object_t* event = NULL;
    memcpy(&id, r->payload.parts[0].data + i * sizeof(id), sizeof(id));
    IREE_RETURN_IF_ERROR(replay_find(x, id, REPLAY_OBJECT_event, &event));
  }
  return barrier(commands, p.source_stage_mask, p.target_stage_mask);
}

static iree_status_t command_event(replay_executor_t* x, const plan_record_t* r, iree_hal_command_buffer_t* commands,
                                   bool signals) {
  REPLAY_FIELDS(r, command_buffer_event, p);
  replay_object_t* event = NULL;
  IREE_RETURN_IF_ERROR(replay_find(x, p.event_id, REPLAY_OBJECT_event, &event));
  iree_hal_execution_stage_t stages = (iree_hal_execution_stage_t)p.source_stage_mask;
  return signals ? iree_hal_command_buffer_signal_event(commands, event->event, stages)
                 : iree_hal_command_buffer_reset_event(commands, event->event, stages);
}

iree_status_t replay_command(replay_executor_t* x, const plan_record_t* r) {
  replay_object_t* object = NULL;
  IREE_RETURN_IF_ERROR(replay_find(x, r->record.header.object_id, REPLAY_OBJECT_command_buffer, &object));
  iree_hal_command_buffer_t* commands = object->command_buffer;
  switch (r->record.header.operation_code) {
    case REPLAY_COMMAND_BUFFER_BEGIN:
      return iree_hal_command_buffer_begin(commands);
    case REPLAY_COMMAND_BUFFER_END:
      return iree_hal_command_buffer_end(commands);
    // For people and hints, of which the file has no more than that they were there.
    case REPLAY_COMMAND_BUFFER_BEGIN_DEBUG_GROUP:
    case REPLAY_COMMAND_BUFFER_END_DEBUG_GROUP:
    case REPLAY_COMMAND_BUFFER_ADVISE_BUFFER:
      return iree_ok_status();
    case REPLAY_COMMAND_BUFFER_EXECUTION_BARRIER:
      return command_barrier(r, commands);
    case REPLAY_COMMAND_BUFFER_SIGNAL_EVENT:
    case REPLAY_COMMAND_BUFFER_RESET_EVENT:
      return command_event(x, r, commands, r->record.header.operation_code == REPLAY_COMMAND_BUFFER_SIGNAL_EVENT);
    case REPLAY_COMMAND_BUFFER_WAIT_EVENTS:
      return command_wait_events(x, r, commands);
    case REPLAY_COMMAND_BUFFER_FILL_BUFFER:
      return command_fill(x, r, commands);
    case REPLAY_COMMAND_BUFFER_UPDATE_BUFFER:
      return command_update(x, r, commands);
    case REPLAY_COMMAND_BUFFER_COPY_BUFFER:
      return command_copy(x, r, commands);
    case REPLAY_COMMAND_BUFFER_DISPATCH:
      return command_dispatch(x, r, commands);
    default:
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "%s cannot be replayed",
                              replay_operation_name(r->record.header.operation_code));
  }
}
