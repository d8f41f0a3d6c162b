// Command buffers that record what is recorded into them.
#include "hal/replay/recorder.h"

typedef struct recording_command_buffer_t {
  iree_hal_command_buffer_t base;
  recording_device_t* device;         // retained
  iree_hal_command_buffer_t* target;  // retained
  uint64_t id;
  iree_hal_command_buffer_slot_t slots[];
} recording_command_buffer_t;

static recording_command_buffer_t* cast(iree_hal_command_buffer_t* base) { return (recording_command_buffer_t*)base; }

static void commands_destroy(iree_hal_command_buffer_t* base) {
  recording_command_buffer_t* self = cast(base);
  recording_device_t* device = self->device;
  iree_hal_command_buffer_release(self->target);
  iree_allocator_free(replay_recorder_allocator(device->recorder), self);
  iree_hal_device_release((iree_hal_device_t*)device);
}

static replay_call_t make_call(const recording_command_buffer_t* self, uint32_t operation, uint32_t payload_type,
                               const void* payload, size_t size) {
  replay_call_t call = {
      .operation = operation,
      .object_type = REPLAY_OBJECT_command_buffer,
      .payload_type = payload_type,
      .device_id = self->device->id,
      .object_id = self->id,
  };
  replay_call_add(&call, payload, size);
  return call;
}

// Records a call, and `expression`, which passes it on.
#define RECORD(self, call, expression)                                          \
  do {                                                                          \
    IREE_RETURN_IF_ERROR(replay_call_begin((self)->device->recorder, &(call))); \
    return replay_call_end((self)->device->recorder, &(call), expression);      \
  } while (0)

static iree_status_t commands_begin(iree_hal_command_buffer_t* base) {
  recording_command_buffer_t* self = cast(base);
  replay_call_t call = make_call(self, REPLAY_COMMAND_BUFFER_BEGIN, 0, NULL, 0);
  RECORD(self, call, iree_hal_command_buffer_begin(self->target));
}

static iree_status_t commands_end(iree_hal_command_buffer_t* base) {
  recording_command_buffer_t* self = cast(base);
  replay_call_t call = make_call(self, REPLAY_COMMAND_BUFFER_END, 0, NULL, 0);
  RECORD(self, call, iree_hal_command_buffer_end(self->target));
}

static iree_status_t commands_begin_debug_group(iree_hal_command_buffer_t* base, iree_string_view_t label,
                                                iree_hal_label_color_t label_color,
                                                const iree_hal_label_location_t* location) {
  recording_command_buffer_t* self = cast(base);
  replay_call_t call = make_call(self, REPLAY_COMMAND_BUFFER_BEGIN_DEBUG_GROUP, 0, NULL, 0);
  RECORD(self, call, iree_hal_command_buffer_begin_debug_group(self->target, label, label_color, location));
}

static iree_status_t commands_end_debug_group(iree_hal_command_buffer_t* base) {
  recording_command_buffer_t* self = cast(base);
  replay_call_t call = make_call(self, REPLAY_COMMAND_BUFFER_END_DEBUG_GROUP, 0, NULL, 0);
  RECORD(self, call, iree_hal_command_buffer_end_debug_group(self->target));
}

// Barriers here order all memory: the file says so to whoever would order less.
static iree_status_t commands_barrier(iree_hal_command_buffer_t* base, iree_hal_execution_stage_t source_stage_mask,
                                      iree_hal_execution_stage_t target_stage_mask) {
  recording_command_buffer_t* self = cast(base);
  replay_command_buffer_execution_barrier_t payload = {
      .source_stage_mask = source_stage_mask, .target_stage_mask = target_stage_mask, .memory_barrier_count = 1};
  replay_barrier_t barrier = {
      .source_scope = IREE_HAL_ACCESS_SCOPE_MEMORY_WRITE,
      .target_scope = IREE_HAL_ACCESS_SCOPE_MEMORY_READ | IREE_HAL_ACCESS_SCOPE_MEMORY_WRITE,
  };
  replay_call_t call = make_call(self, REPLAY_COMMAND_BUFFER_EXECUTION_BARRIER,
                                 REPLAY_PAYLOAD_command_buffer_execution_barrier, &payload, sizeof(payload));
  replay_call_add(&call, &barrier, sizeof(barrier));
  RECORD(self, call,
         iree_hal_command_buffer_execution_barrier(self->target, source_stage_mask, target_stage_mask,
                                                   IREE_HAL_EXECUTION_BARRIER_FLAG_NONE, 0, NULL, 0, NULL));
}

static iree_status_t commands_advise_buffer(iree_hal_command_buffer_t* base, iree_hal_buffer_ref_t buffer_ref,
                                            iree_hal_memory_advise_flags_t flags, uint64_t arg0, uint64_t arg1) {
  recording_command_buffer_t* self = cast(base);
  replay_ref_t ref;
  IREE_RETURN_IF_ERROR(recording_ref_resolve(self->device, buffer_ref, &buffer_ref, &ref));
  replay_call_t call = make_call(self, REPLAY_COMMAND_BUFFER_ADVISE_BUFFER, 0, NULL, 0);
  RECORD(self, call, iree_hal_command_buffer_advise_buffer(self->target, buffer_ref, flags, arg0, arg1));
}

static iree_status_t commands_fill_buffer(iree_hal_command_buffer_t* base, iree_hal_buffer_ref_t target_ref,
                                          const void* pattern, iree_host_size_t pattern_length,
                                          iree_hal_fill_flags_t flags) {
  recording_command_buffer_t* self = cast(base);
  replay_command_buffer_fill_buffer_t payload = {.flags = (uint32_t)flags, .pattern_length = pattern_length};
  IREE_RETURN_IF_ERROR(recording_ref_resolve(self->device, target_ref, &target_ref, &payload.target_ref));
  replay_call_t call = make_call(self, REPLAY_COMMAND_BUFFER_FILL_BUFFER, REPLAY_PAYLOAD_command_buffer_fill_buffer,
                                 &payload, sizeof(payload));
  replay_call_add(&call, pattern, pattern_length);
  RECORD(self, call, iree_hal_command_buffer_fill_buffer(self->target, target_ref, pattern, pattern_length, flags));
}

static iree_status_t commands_update_buffer(iree_hal_command_buffer_t* base, const void* source_buffer,
                                            iree_host_size_t source_offset, iree_hal_buffer_ref_t target_ref,
                                            iree_hal_update_flags_t flags) {
  recording_command_buffer_t* self = cast(base);
  iree_device_size_t length = target_ref.length;
  replay_command_buffer_update_buffer_t payload = {
      .flags = (uint32_t)flags, .source_offset = source_offset, .data_length = length};
  if (length == IREE_HAL_WHOLE_BUFFER) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the length of an update must be given");
  }
  IREE_RETURN_IF_ERROR(recording_ref_resolve(self->device, target_ref, &target_ref, &payload.target_ref));
  replay_call_t call = make_call(self, REPLAY_COMMAND_BUFFER_UPDATE_BUFFER, REPLAY_PAYLOAD_command_buffer_update_buffer,
                                 &payload, sizeof(payload));
  replay_call_add(&call, (const uint8_t*)source_buffer + source_offset, length);
  RECORD(self, call,
         iree_hal_command_buffer_update_buffer(self->target, source_buffer, source_offset, target_ref, flags));
}

static iree_status_t commands_copy_buffer(iree_hal_command_buffer_t* base, iree_hal_buffer_ref_t source_ref,
                                          iree_hal_buffer_ref_t target_ref, iree_hal_copy_flags_t flags) {
  recording_command_buffer_t* self = cast(base);
  replay_command_buffer_copy_buffer_t payload = {.flags = (uint32_t)flags};
  IREE_RETURN_IF_ERROR(recording_ref_resolve(self->device, source_ref, &source_ref, &payload.source_ref));
  IREE_RETURN_IF_ERROR(recording_ref_resolve(self->device, target_ref, &target_ref, &payload.target_ref));
  replay_call_t call = make_call(self, REPLAY_COMMAND_BUFFER_COPY_BUFFER, REPLAY_PAYLOAD_command_buffer_copy_buffer,
                                 &payload, sizeof(payload));
  RECORD(self, call, iree_hal_command_buffer_copy_buffer(self->target, source_ref, target_ref, flags));
}

static iree_status_t commands_dispatch(iree_hal_command_buffer_t* base, iree_hal_executable_t* executable,
                                       iree_hal_executable_function_t function,
                                       const iree_hal_dispatch_config_t* config, iree_const_byte_span_t constants,
                                       iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags) {
  recording_command_buffer_t* self = cast(base);
  iree_hal_replay_recorder_t* recorder = self->device->recorder;
  recording_dispatch_t dispatch;
  IREE_RETURN_IF_ERROR(recording_dispatch_make(
      self->device, &(hal_dispatch_t){executable, function, *config, constants, bindings, flags}, &dispatch));
  replay_call_t call = make_call(self, REPLAY_COMMAND_BUFFER_DISPATCH, REPLAY_PAYLOAD_dispatch, &dispatch.payload,
                                 sizeof(dispatch.payload));
  replay_call_add(&call, constants.data, constants.data_length);
  replay_call_add(&call, dispatch.refs, bindings.count * sizeof(*dispatch.refs));
  iree_status_t status = replay_call_begin(recorder, &call);
  if (iree_status_is_ok(status)) {
    iree_hal_buffer_ref_list_t own = {bindings.count, dispatch.bindings};
    status = replay_call_end(
        recorder, &call,
        iree_hal_command_buffer_dispatch(self->target, executable, function, dispatch.config, constants, own, flags));
  }
  recording_dispatch_free(&dispatch);
  return status;
}

static iree_status_t commands_collective(iree_hal_command_buffer_t* base, iree_hal_channel_t* channel,
                                         iree_hal_collective_op_t op, uint32_t param, iree_hal_buffer_ref_t send_ref,
                                         iree_hal_buffer_ref_t recv_ref, iree_device_size_t element_count) {
  recording_command_buffer_t* self = cast(base);
  replay_ref_t send, recv;
  IREE_RETURN_IF_ERROR(recording_ref_resolve(self->device, send_ref, &send_ref, &send));
  IREE_RETURN_IF_ERROR(recording_ref_resolve(self->device, recv_ref, &recv_ref, &recv));
  replay_call_t call = make_call(self, REPLAY_COMMAND_BUFFER_COLLECTIVE, 0, NULL, 0);
  call.record_type = REPLAY_RECORD_unsupported;
  RECORD(self, call,
         iree_hal_command_buffer_collective(self->target, channel, op, param, send_ref, recv_ref, element_count));
}

static const iree_hal_command_buffer_vtable_t commands_vtable = {
    .destroy = commands_destroy,
    .begin = commands_begin,
    .end = commands_end,
    .begin_debug_group = commands_begin_debug_group,
    .end_debug_group = commands_end_debug_group,
    .barrier = commands_barrier,
    .advise_buffer = commands_advise_buffer,
    .fill_buffer = commands_fill_buffer,
    .update_buffer = commands_update_buffer,
    .copy_buffer = commands_copy_buffer,
    .dispatch = commands_dispatch,
    .collective = commands_collective,
};

iree_status_t recording_command_buffer_create(recording_device_t* device, uint64_t id,
                                              const replay_command_buffer_object_t* object,
                                              iree_hal_command_buffer_t* base,
                                              iree_hal_command_buffer_t** out_command_buffer) {
  bool validated = !(object->mode & IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED);
  iree_host_size_t slots = validated ? (iree_host_size_t)object->binding_capacity : 0;
  recording_command_buffer_t* self = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(replay_recorder_allocator(device->recorder), sizeof(*self),
                                                          slots, sizeof(self->slots[0]), (void**)&self));
  iree_hal_command_buffer_initialize(object->mode, object->command_categories, object->queue_affinity,
                                     (iree_host_size_t)object->binding_capacity, validated ? self->slots : NULL,
                                     &commands_vtable, &self->base);
  self->device = device;
  self->target = base;
  self->id = id;
  iree_hal_device_retain((iree_hal_device_t*)device);
  iree_hal_command_buffer_retain(base);
  *out_command_buffer = &self->base;
  return iree_ok_status();
}

iree_hal_command_buffer_t* recording_command_buffer_base(iree_hal_command_buffer_t* command_buffer, uint64_t* out_id) {
  if (!iree_hal_resource_is(command_buffer, &commands_vtable)) return NULL;
  *out_id = cast(command_buffer)->id;
  return cast(command_buffer)->target;
}
