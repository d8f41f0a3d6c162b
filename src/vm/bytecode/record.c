// Command tables: recorded into command buffers once, replayed with the buffers of each call.
//
// A table without parameters is recorded on its first execution and never again. One with parameters is recorded once
// too, and revised for others: only what depends on them is written anew, in the same memory. Parameters that come back
// after others took their place get a recording of their own, as long as they are some of the last few: a model whose
// shapes are some of a few replays as fast as a static one, and one whose sizes grow with every call is not recorded
// with every call. Ranges are checked here against the slots; each execution checks only the lengths of its buffers.

#include <inttypes.h>

#include "vm/bytecode/device.h"
#include "vm/bytecode/stream.h"

// A table while it is recorded.
typedef struct recorder_t {
  vm_device_t* device;
  const module_image_t* image;
  const module_table_row_t* table;
  const uint64_t* params;
  const uint64_t* literals;
  iree_hal_buffer_t* const* constants;
  uint64_t* lengths;  // of argument buffers, grows
  iree_hal_command_buffer_t* commands;
  bool is_revisable;  // the same commands are there whatever the parameters are
  bool revises;
} recorder_t;

void vm_recording_free(vm_recording_t* recording, iree_allocator_t allocator) {
  if (!recording) return;
  iree_hal_command_buffer_release(recording->command_buffer);
  iree_allocator_free(allocator, recording);
}

static uint64_t value_of(const recorder_t* recorder, uint32_t index) {
  uint32_t count = recorder->table->param_count;
  return index < count ? recorder->params[index] : recorder->literals[index - count];
}

static iree_status_t resolve_binding(const recorder_t* recorder, const module_binding_row_t* row,
                                     iree_hal_buffer_ref_t* out_ref) {
  const module_slot_t* slot = &recorder->image->slots[recorder->table->slot_first + row->slot];
  uint64_t offset = value_of(recorder, row->offset), length = value_of(recorder, row->length);
  uint64_t end = slot->length;
  bool whole = length == MODULE_WHOLE_BUFFER;
  if (!whole && __builtin_add_overflow(offset, length, &end)) end = UINT64_MAX;
  if (slot->kind == MODULE_SLOT_CONSTANT) {
    uint64_t size = recorder->image->constants[slot->index].length;
    if (offset > size || end > size) {
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                              "range %" PRIu64 "..%" PRIu64 " of a constant of %" PRIu64 " bytes", offset, end, size);
    }
    *out_ref = iree_hal_make_buffer_ref(recorder->constants[slot->index], offset, whole ? size - offset : length);
    return iree_ok_status();
  }
  if (end == UINT64_MAX) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "binding range overflows");
  uint64_t* needed = &recorder->lengths[slot->index];
  if (end < offset) end = offset;
  if (*needed < end) *needed = end;
  *out_ref = iree_hal_make_indirect_buffer_ref(slot->index, offset, whole ? IREE_HAL_WHOLE_BUFFER : length);
  return iree_ok_status();
}

// No byte of a slot: what a command that does nothing is recorded with.
static iree_hal_buffer_ref_t empty_binding(const recorder_t* recorder, const module_binding_row_t* row) {
  const module_slot_t* slot = &recorder->image->slots[recorder->table->slot_first + row->slot];
  if (slot->kind == MODULE_SLOT_CONSTANT) return iree_hal_make_buffer_ref(recorder->constants[slot->index], 0, 0);
  return iree_hal_make_indirect_buffer_ref(slot->index, 0, 0);
}

static iree_status_t resolve_bindings(const recorder_t* recorder, const module_command_t* command, bool is_empty,
                                      iree_hal_buffer_ref_t* out_refs) {
  const module_binding_row_t* rows = &recorder->image->bindings[command->binding_first];
  for (uint32_t i = 0; i < command->binding_count; ++i) {
    if (is_empty) {
      out_refs[i] = empty_binding(recorder, &rows[i]);
    } else {
      IREE_RETURN_IF_ERROR(resolve_binding(recorder, &rows[i], &out_refs[i]));
    }
  }
  return iree_ok_status();
}

static iree_status_t record_dispatch(const recorder_t* recorder, const module_command_t* command) {
  const vm_executable_t* executable = &recorder->device->executables[command->executable];
  if (!executable->handle) {
    const module_executable_t* row = &recorder->image->executables[command->executable];
    iree_string_view_t name = module_image_string(recorder->image, row->name);
    return iree_make_status(IREE_STATUS_INCOMPATIBLE,
                            "executable '%.*s' was not compiled for the target of this device", (int)name.size,
                            name.data);
  }
  const module_point_row_t* point = &recorder->image->points[executable->variant->point_first + command->entry];
  iree_hal_dispatch_config_t config = {.dynamic_workgroup_local_memory = point->local_memory};
  bool is_empty = false;
  for (int i = 0; i < 3; ++i) {
    uint64_t count = value_of(recorder, command->values[i]);
    is_empty = is_empty || !count;
    if (count > UINT32_MAX) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "workgroup count %" PRIu64, count);
    config.workgroup_count[i] = (uint32_t)count;
    config.workgroup_size[i] = point->workgroup_size[i];
  }
  if (is_empty && !recorder->is_revisable) return iree_ok_status();
  uint32_t* constants = iree_alloca((command->push_count + 1) * sizeof(*constants));
  for (uint32_t i = 0; i < command->push_count; ++i) {
    uint32_t push = recorder->image->pushes[command->push_first + i];
    constants[i] = (uint32_t)(value_of(recorder, push >> 1) >> (push & 1 ? 32 : 0));
  }
  iree_hal_buffer_ref_t* bindings = iree_alloca((command->binding_count + 1) * sizeof(*bindings));
  IREE_RETURN_IF_ERROR(resolve_bindings(recorder, command, is_empty, bindings));
  return iree_hal_command_buffer_dispatch(recorder->commands, executable->handle, executable->functions[command->entry],
                                          config, iree_make_const_byte_span(constants, command->push_count * 4),
                                          (iree_hal_buffer_ref_list_t){command->binding_count, bindings},
                                          IREE_HAL_DISPATCH_FLAG_NONE);
}

static iree_status_t record_update(const recorder_t* recorder, const module_command_t* command,
                                   iree_hal_buffer_ref_t target) {
  iree_const_byte_span_t source = recorder->image->segment_data[command->executable];
  uint64_t offset = value_of(recorder, command->values[0]);
  if (target.length == IREE_HAL_WHOLE_BUFFER || offset > source.data_length ||
      target.length > source.data_length - offset) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "update reads outside its segment");
  }
  while (target.length) {
    iree_hal_buffer_ref_t part = target;
    part.length = iree_min(target.length, IREE_HAL_COMMAND_BUFFER_MAX_UPDATE_SIZE);
    IREE_RETURN_IF_ERROR(iree_hal_command_buffer_update_buffer(recorder->commands, source.data, offset, part,
                                                               IREE_HAL_UPDATE_FLAG_NONE));
    offset += part.length;
    target.offset += part.length;
    target.length -= part.length;
  }
  return iree_ok_status();
}

static iree_status_t record_barrier(const recorder_t* recorder) {
  const iree_hal_execution_stage_t stages = IREE_HAL_EXECUTION_STAGE_DISPATCH | IREE_HAL_EXECUTION_STAGE_TRANSFER;
  const iree_hal_memory_barrier_t barrier = {
      .source_scope = IREE_HAL_ACCESS_SCOPE_DISPATCH_WRITE | IREE_HAL_ACCESS_SCOPE_TRANSFER_WRITE,
      .target_scope = IREE_HAL_ACCESS_SCOPE_DISPATCH_READ | IREE_HAL_ACCESS_SCOPE_DISPATCH_WRITE |
                      IREE_HAL_ACCESS_SCOPE_TRANSFER_READ | IREE_HAL_ACCESS_SCOPE_TRANSFER_WRITE,
  };
  return iree_hal_command_buffer_execution_barrier(recorder->commands, stages | IREE_HAL_EXECUTION_STAGE_COMMAND_RETIRE,
                                                   stages | IREE_HAL_EXECUTION_STAGE_COMMAND_ISSUE,
                                                   IREE_HAL_EXECUTION_BARRIER_FLAG_NONE, 1, &barrier, 0, NULL);
}

static iree_status_t record_command(const recorder_t* recorder, const module_command_t* command) {
  if (command->kind == MODULE_COMMAND_DISPATCH) return record_dispatch(recorder, command);
  if (command->kind == MODULE_COMMAND_BARRIER) return record_barrier(recorder);
  iree_hal_buffer_ref_t refs[2];
  IREE_RETURN_IF_ERROR(resolve_bindings(recorder, command, false, refs));
  if (!refs[0].length) {
    if (!recorder->is_revisable) return iree_ok_status();
    IREE_RETURN_IF_ERROR(resolve_bindings(recorder, command, true, refs));
  }
  switch (command->kind) {
    case MODULE_COMMAND_COPY:
      if (refs[0].length != refs[1].length || refs[0].length == IREE_HAL_WHOLE_BUFFER) {
        return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "copy between ranges of different or open lengths");
      }
      return iree_hal_command_buffer_copy_buffer(recorder->commands, refs[0], refs[1], IREE_HAL_COPY_FLAG_NONE);
    case MODULE_COMMAND_FILL: {
      uint32_t pattern = (uint32_t)value_of(recorder, command->values[0]);
      return iree_hal_command_buffer_fill_buffer(recorder->commands, refs[0], &pattern, command->entry,
                                                 IREE_HAL_FILL_FLAG_NONE);
    }
    default:
      return record_update(recorder, command, refs[0]);
  }
}

static iree_status_t annotate_command(const recorder_t* recorder, uint32_t index, iree_status_t status) {
  iree_string_view_t name = module_image_string(recorder->image, recorder->table->name);
  const module_location_t* location = module_image_location(
      recorder->image, MODULE_LOCATION_TABLE, (uint32_t)(recorder->table - recorder->image->tables), index);
  if (!location) {
    return iree_status_annotate_f(status, "recording command %u of '%.*s'", index, (int)name.size, name.data);
  }
  return iree_status_annotate_f(status, "recording command %u of '%.*s' (%s:%u:%u)", index, (int)name.size, name.data,
                                recorder->image->file_names + location->file, location->line, location->column);
}

static bool command_has_params(const module_image_t* image, const module_table_row_t* table,
                               const module_command_t* command) {
  uint32_t count = table->param_count;
  uint32_t value_count = command->kind == MODULE_COMMAND_DISPATCH ? 3 : command->kind == MODULE_COMMAND_COPY ? 0 : 1;
  if (command->kind == MODULE_COMMAND_BARRIER) return false;
  for (uint32_t i = 0; i < value_count; ++i) {
    if (command->values[i] < count) return true;
  }
  for (uint32_t i = 0; i < command->push_count; ++i) {
    if (image->pushes[command->push_first + i] >> 1 < count) return true;
  }
  for (uint32_t i = 0; i < command->binding_count; ++i) {
    const module_binding_row_t* row = &image->bindings[command->binding_first + i];
    if (row->offset < count || row->length < count) return true;
  }
  return false;
}

// Whether the table has the same commands whatever its parameters are: all but updates, which are divided by length.
static bool is_table_revisable(const module_image_t* image, const module_table_row_t* table) {
  for (uint32_t i = 0; i < table->command_count; ++i) {
    const module_command_t* command = &image->commands[table->command_first + i];
    if (command->kind == MODULE_COMMAND_UPDATE && command_has_params(image, table, command)) return false;
  }
  return table->param_count != 0;
}

// How many commands one of a table that is revisable was recorded as.
static uint64_t recorded_count(const recorder_t* recorder, const module_command_t* command) {
  if (command->kind == MODULE_COMMAND_BARRIER) return 0;
  if (command->kind != MODULE_COMMAND_UPDATE) return 1;
  uint64_t length = value_of(recorder, recorder->image->bindings[command->binding_first].length);
  return iree_device_size_ceil_div(length, IREE_HAL_COMMAND_BUFFER_MAX_UPDATE_SIZE);
}

static iree_status_t record_or_keep(const recorder_t* recorder, const module_command_t* command) {
  if (!recorder->revises || command_has_params(recorder->image, recorder->table, command)) {
    return record_command(recorder, command);
  }
  return iree_hal_command_buffer_keep(recorder->commands, recorded_count(recorder, command));
}

static iree_status_t record_commands(const recorder_t* recorder) {
  IREE_RETURN_IF_ERROR(recorder->revises ? iree_hal_command_buffer_begin_revision(recorder->commands)
                                         : iree_hal_command_buffer_begin(recorder->commands));
  for (uint32_t i = 0; i < recorder->table->command_count; ++i) {
    iree_status_t status = record_or_keep(recorder, &recorder->image->commands[recorder->table->command_first + i]);
    if (!iree_status_is_ok(status)) return annotate_command(recorder, i, status);
  }
  return iree_hal_command_buffer_end(recorder->commands);
}

static iree_status_t allocate(vm_device_t* device, const vm_execution_t* execution, vm_recording_t** out_recording) {
  const module_table_row_t* table = &device->image->tables[execution->table];
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(
      device->allocator, sizeof(**out_recording), (iree_host_size_t)table->param_count + execution->buffer_count,
      sizeof(uint64_t), (void**)out_recording));
  (*out_recording)->lengths = (*out_recording)->params + table->param_count;
  return iree_ok_status();
}

// Of bindings with literal ranges the slots know already what they need.
static void set_params(const vm_device_t* device, const vm_execution_t* execution, vm_recording_t* recording) {
  const module_table_row_t* table = &device->image->tables[execution->table];
  if (table->param_count) memcpy(recording->params, execution->params, table->param_count * sizeof(uint64_t));
  if (execution->buffer_count) memset(recording->lengths, 0, execution->buffer_count * sizeof(uint64_t));
  for (uint32_t i = 0; i < table->slot_count; ++i) {
    const module_slot_t* slot = &device->image->slots[table->slot_first + i];
    if (slot->kind == MODULE_SLOT_ARGUMENT) {
      recording->lengths[slot->index] = iree_max(recording->lengths[slot->index], slot->length);
    }
  }
}

// Records the table, or revises the recording where that has a command buffer.
static iree_status_t record(vm_device_t* device, const vm_execution_t* execution, vm_recording_t* recording) {
  const module_table_row_t* table = &device->image->tables[execution->table];
  bool revises = recording->command_buffer != NULL, is_revisable = is_table_revisable(device->image, table);
  set_params(device, execution, recording);
  if (!revises) {
    iree_hal_command_buffer_mode_t mode =
        is_revisable ? IREE_HAL_COMMAND_BUFFER_MODE_REVISABLE : IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT;
    IREE_RETURN_IF_ERROR(iree_hal_command_buffer_create(device->handle, mode, IREE_HAL_COMMAND_CATEGORY_ANY,
                                                        IREE_HAL_QUEUE_AFFINITY_ANY, execution->buffer_count,
                                                        &recording->command_buffer));
  }
  recorder_t recorder = {
      .device = device,
      .image = device->image,
      .table = table,
      .params = execution->params,
      .literals = device->image->literals + table->literal_first,
      .constants = execution->constants,
      .lengths = recording->lengths,
      .commands = recording->command_buffer,
      .is_revisable = is_revisable,
      .revises = revises,
  };
  return record_commands(&recorder);
}

//===----------------------------------------------------------------------------------------------------------------===
// Which recording
//===----------------------------------------------------------------------------------------------------------------===

static uint64_t hash_params(const uint64_t* params, uint32_t count) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (uint32_t i = 0; i < count; ++i) hash = (hash ^ params[i]) * UINT64_C(0x9e3779b97f4a7c15);
  return hash;
}

static bool was_displaced(const vm_recordings_t* recordings, uint64_t hash) {
  for (uint32_t i = 0; i < VM_RECORDING_LIMIT; ++i) {
    if (recordings->displaced[i] == hash) return true;
  }
  return false;
}

static vm_recording_t* take(vm_recording_t** link) {
  vm_recording_t* recording = *link;
  if (recording) *link = recording->next;
  return recording;
}

// The recording with these parameters; NULL when there is none.
static vm_recording_t* take_matching(vm_recordings_t* recordings, const vm_execution_t* execution, size_t size) {
  vm_recording_t** link = &recordings->first;
  while (*link && size && memcmp((*link)->params, execution->params, size) != 0) link = &(*link)->next;
  return take(link);
}

// One that others' parameters may take the place of: the one used longest ago of those that may be revised, unless
// there is room and these parameters are to have one of their own; else, when there is no room, the one used longest
// ago of all. NULL: there is room.
static vm_recording_t* take_other(vm_recordings_t* recordings, bool wants_own) {
  vm_recording_t **last = NULL, **revisable = NULL;
  uint32_t count = 0;
  for (vm_recording_t** link = &recordings->first; *link; link = &(*link)->next, ++count) {
    last = link;
    if (iree_hal_command_buffer_can_revise((*link)->command_buffer)) revisable = link;
  }
  bool is_full = count == VM_RECORDING_LIMIT;
  if (revisable && (is_full || !wants_own)) return take(revisable);
  return is_full ? take(last) : NULL;
}

// Makes a recording with these parameters, of another where that may be.
static iree_status_t make_recording(vm_device_t* device, const vm_execution_t* execution, vm_recording_t** out) {
  vm_recordings_t* recordings = &device->recordings[execution->table];
  uint32_t param_count = device->image->tables[execution->table].param_count;
  bool wants_own = was_displaced(recordings, hash_params(execution->params, param_count));
  vm_recording_t* recording = take_other(recordings, wants_own);
  if (recording) {
    recordings->displaced[recordings->displaced_count++ % VM_RECORDING_LIMIT] =
        hash_params(recording->params, param_count);
    if (!iree_hal_command_buffer_can_revise(recording->command_buffer)) {
      vm_recording_free(recording, device->allocator);  // what still runs keeps its command buffer
      recording = NULL;
    }
  }
  iree_status_t status = recording ? iree_ok_status() : allocate(device, execution, &recording);
  if (iree_status_is_ok(status)) status = record(device, execution, recording);
  if (iree_status_is_ok(status)) {
    *out = recording;
  } else {
    vm_recording_free(recording, device->allocator);
  }
  return status;
}

// The recording of a table with these parameters, first in its list from now on.
static iree_status_t find_recording(vm_device_t* device, const vm_execution_t* execution, vm_recording_t** out) {
  vm_recordings_t* recordings = &device->recordings[execution->table];
  size_t size = device->image->tables[execution->table].param_count * sizeof(uint64_t);
  vm_recording_t* recording = take_matching(recordings, execution, size);
  if (IREE_UNLIKELY(!recording)) IREE_RETURN_IF_ERROR(make_recording(device, execution, &recording));
  recording->next = recordings->first;
  recordings->first = recording;
  *out = recording;
  return iree_ok_status();
}

static iree_status_t fail_length(const vm_device_t* device, const vm_execution_t* execution, uint32_t buffer,
                                 uint64_t needed) {
  iree_string_view_t name = module_image_string(device->image, device->image->tables[execution->table].name);
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "buffer %u of '%.*s' has %" PRIu64 " bytes; %" PRIu64 " are used",
                          buffer, (int)name.size, name.data,
                          (uint64_t)iree_hal_buffer_byte_length(execution->buffers[buffer].buffer), needed);
}

iree_status_t vm_table_execute(vm_stream_t* stream, const vm_execution_t* execution) {
  vm_device_t* device = stream->device;
  vm_recording_t* recording = NULL;
  IREE_RETURN_IF_ERROR(find_recording(device, execution, &recording));
  for (uint32_t i = 0; i < execution->buffer_count; ++i) {
    execution->buffers[i].length = iree_hal_buffer_byte_length(execution->buffers[i].buffer);
    if (IREE_UNLIKELY(execution->buffers[i].length < recording->lengths[i])) {
      return fail_length(device, execution, i, recording->lengths[i]);
    }
  }
  vm_submission_t submission;
  vm_stream_prepare(stream, &submission);
  iree_hal_buffer_binding_table_t buffers = {execution->buffer_count, execution->buffers};
  iree_status_t status =
      iree_hal_device_queue_execute(device->handle, IREE_HAL_QUEUE_AFFINITY_ANY, submission.wait, submission.signal,
                                    recording->command_buffer, buffers, vm_stream_keep(stream, buffers));
  return vm_stream_submitted(stream, &submission, status);
}
