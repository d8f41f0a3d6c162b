// Command tables: recorded into command buffers once, replayed with the buffers of each call.
//
// A table without parameters is recorded on its first execution and never again. Of one with parameters there are
// several recordings, those that were used last: a model whose shapes stay the same, or are some of a few, replays as
// fast as a static one. Ranges are checked here against the slots; each execution checks only the lengths of its
// buffers.

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
  for (int i = 0; i < 3; ++i) {
    uint64_t count = value_of(recorder, command->values[i]);
    if (!count) return iree_ok_status();  // nothing to do
    if (count > UINT32_MAX) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "workgroup count %" PRIu64, count);
    config.workgroup_count[i] = (uint32_t)count;
    config.workgroup_size[i] = point->workgroup_size[i];
  }
  uint32_t* constants = iree_alloca((command->push_count + 1) * sizeof(*constants));
  for (uint32_t i = 0; i < command->push_count; ++i) {
    uint32_t push = recorder->image->pushes[command->push_first + i];
    constants[i] = (uint32_t)(value_of(recorder, push >> 1) >> (push & 1 ? 32 : 0));
  }
  iree_hal_buffer_ref_t* bindings = iree_alloca((command->binding_count + 1) * sizeof(*bindings));
  for (uint32_t i = 0; i < command->binding_count; ++i) {
    IREE_RETURN_IF_ERROR(
        resolve_binding(recorder, &recorder->image->bindings[command->binding_first + i], &bindings[i]));
  }
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
  for (uint32_t i = 0; i < command->binding_count; ++i) {
    IREE_RETURN_IF_ERROR(resolve_binding(recorder, &recorder->image->bindings[command->binding_first + i], &refs[i]));
  }
  if (!refs[0].length) return iree_ok_status();
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

static iree_status_t record_commands(const recorder_t* recorder) {
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_begin(recorder->commands));
  for (uint32_t i = 0; i < recorder->table->command_count; ++i) {
    iree_status_t status = record_command(recorder, &recorder->image->commands[recorder->table->command_first + i]);
    if (!iree_status_is_ok(status)) return annotate_command(recorder, i, status);
  }
  return iree_hal_command_buffer_end(recorder->commands);
}

static iree_status_t allocate(vm_device_t* device, const vm_execution_t* execution, vm_recording_t** out_recording) {
  const module_table_row_t* table = &device->image->tables[execution->table];
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(
      device->allocator, sizeof(**out_recording), (iree_host_size_t)table->param_count + execution->buffer_count,
      sizeof(uint64_t), (void**)out_recording));
  vm_recording_t* recording = *out_recording;
  recording->lengths = recording->params + table->param_count;
  if (table->param_count) memcpy(recording->params, execution->params, table->param_count * sizeof(uint64_t));
  for (uint32_t i = 0; i < table->slot_count; ++i) {
    const module_slot_t* slot = &device->image->slots[table->slot_first + i];
    if (slot->kind == MODULE_SLOT_ARGUMENT) {
      recording->lengths[slot->index] = iree_max(recording->lengths[slot->index], slot->length);
    }
  }
  return iree_ok_status();
}

static iree_status_t record(vm_device_t* device, const vm_execution_t* execution, vm_recording_t* recording) {
  const module_table_row_t* table = &device->image->tables[execution->table];
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_create(device->handle, IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT,
                                                      IREE_HAL_COMMAND_CATEGORY_ANY, IREE_HAL_QUEUE_AFFINITY_ANY,
                                                      execution->buffer_count, &recording->command_buffer));
  recorder_t recorder = {
      .device = device,
      .image = device->image,
      .table = table,
      .params = execution->params,
      .literals = device->image->literals + table->literal_first,
      .constants = execution->constants,
      .lengths = recording->lengths,
      .commands = recording->command_buffer,
  };
  return record_commands(&recorder);
}

// Takes the recording with these parameters out of its table's list, or, where there is none, the last one of a full
// list, which was used longest ago. NULL when there is room for another.
static vm_recording_t* take_recording(vm_device_t* device, const vm_execution_t* execution, bool* out_matches) {
  size_t size = device->image->tables[execution->table].param_count * sizeof(uint64_t);
  vm_recording_t** link = &device->recordings[execution->table];
  uint32_t count = 0;
  for (; *link; link = &(*link)->next) {
    *out_matches = !size || !memcmp((*link)->params, execution->params, size);
    if (*out_matches || ++count == VM_RECORDING_LIMIT) break;
  }
  vm_recording_t* recording = *link;
  if (recording) *link = recording->next;
  return recording;
}

// The recording of a table with these parameters, first in its list from now on.
static iree_status_t find_recording(vm_device_t* device, const vm_execution_t* execution, vm_recording_t** out) {
  bool matches = false;
  vm_recording_t* recording = take_recording(device, execution, &matches);
  if (IREE_UNLIKELY(!matches)) {
    // What still runs keeps its command buffer.
    vm_recording_free(recording, device->allocator);
    recording = NULL;
    iree_status_t status = allocate(device, execution, &recording);
    if (iree_status_is_ok(status)) status = record(device, execution, recording);
    if (!iree_status_is_ok(status)) {
      vm_recording_free(recording, device->allocator);
      return status;
    }
  }
  recording->next = device->recordings[execution->table];
  device->recordings[execution->table] = recording;
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
  iree_status_t status = iree_hal_device_queue_execute(
      device->handle, IREE_HAL_QUEUE_AFFINITY_ANY, submission.wait, submission.signal, recording->command_buffer,
      (iree_hal_buffer_binding_table_t){execution->buffer_count, execution->buffers}, IREE_HAL_EXECUTE_FLAG_NONE);
  return vm_stream_submitted(stream, &submission, status);
}
