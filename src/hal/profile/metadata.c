// What sessions tell of executables and command buffers, once each.
#include "hal/profile/session.h"

//===----------------------------------------------------------------------------------------------------------------===
// Executables
//===----------------------------------------------------------------------------------------------------------------===

static void describe_executable(hal_profile_t* profile, iree_hal_executable_t* executable, uint64_t id) {
  iree_hal_profile_executable_record_t record = iree_hal_profile_executable_record_default();
  uint32_t count = (uint32_t)iree_hal_executable_function_count(executable);
  record.executable_id = id;
  record.function_count = count;
  profile_append(profile, PROFILE_EXECUTABLES, &record, sizeof(record));
  profile_describe_code(profile, executable, id);
  for (uint32_t i = 0; i < count; ++i) {
    iree_hal_executable_function_info_t info = {0};
    iree_status_t status =
        iree_hal_executable_function_info(executable, iree_hal_executable_function_from_index(i), &info);
    if (!iree_status_is_ok(status)) {
      iree_status_free(status);
      continue;
    }
    iree_hal_profile_executable_function_record_t function = iree_hal_profile_executable_function_record_default();
    function.record_length += (uint32_t)info.name.size;
    function.executable_id = id;
    function.function_ordinal = i;
    function.constant_count = info.constant_count;
    function.binding_count = info.binding_count;
    function.parameter_count = info.parameter_count;
    memcpy(function.workgroup_size, info.workgroup_size, sizeof(function.workgroup_size));
    function.name_length = (uint32_t)info.name.size;
    profile_append_with(profile, PROFILE_FUNCTIONS, &function, sizeof(function), info.name.data, info.name.size);
  }
}

static profile_executable_t* find(const hal_profile_t* profile, const iree_hal_executable_t* executable) {
  iree_host_size_t mask = profile->executable_capacity - 1;
  iree_host_size_t i = (iree_host_size_t)(((uintptr_t)executable >> 4) * 0x9E3779B97F4A7C15ull >> 32) & mask;
  while (profile->executables[i].executable && profile->executables[i].executable != executable) i = (i + 1) & mask;
  return &profile->executables[i];
}

static bool grow(hal_profile_t* profile) {
  iree_host_size_t capacity = iree_max(profile->executable_capacity * 2, 16);
  hal_profile_t larger = {.executable_capacity = capacity};
  iree_status_t status = iree_allocator_malloc_array(profile->host_allocator, capacity, sizeof(*larger.executables),
                                                     (void**)&larger.executables);
  if (!iree_status_is_ok(status)) {
    iree_status_free(status);
    return false;
  }
  for (iree_host_size_t i = 0; i < profile->executable_capacity; ++i) {
    profile_executable_t* entry = &profile->executables[i];
    if (entry->executable) *find(&larger, entry->executable) = *entry;
  }
  iree_allocator_free(profile->host_allocator, profile->executables);
  profile->executables = larger.executables;
  profile->executable_capacity = capacity;
  return true;
}

uint64_t profile_executable(hal_profile_t* profile, iree_hal_executable_t* executable) {
  if (!executable || profile->is_closed) return 0;
  if (profile->executable_count * 2 >= profile->executable_capacity && !grow(profile)) return 0;
  profile_executable_t* entry = find(profile, executable);
  if (!entry->executable) {
    iree_hal_executable_retain(executable);
    *entry = (profile_executable_t){executable, ++profile->executable_count};
    describe_executable(profile, executable, entry->id);
  }
  return entry->id;
}

bool profile_takes_function(const hal_profile_t* profile, const hal_profile_command_t* command) {
  if (!(profile->filter.flags & IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_EXECUTABLE_FUNCTION_PATTERN)) return true;
  iree_hal_executable_function_info_t info = {0};
  if (!command->executable ||
      iree_status_consume_code(iree_hal_executable_function_info(
          command->executable, iree_hal_executable_function_from_index(command->function), &info))) {
    return false;
  }
  return iree_string_view_match_pattern(info.name, profile->filter.executable_function_pattern);
}

//===----------------------------------------------------------------------------------------------------------------===
// Command buffers
//===----------------------------------------------------------------------------------------------------------------===

static void describe_operation(hal_profile_t* profile, uint64_t id, uint32_t index,
                               const hal_profile_command_t* command) {
  iree_hal_profile_command_operation_record_t record = iree_hal_profile_command_operation_record_default();
  record.type = command->type;
  record.flags = command->flags;
  record.command_index = index;
  record.command_buffer_id = id;
  record.length = command->length;
  if (command->type == IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_DISPATCH) {
    record.executable_id = profile_executable(profile, command->executable);
    record.function_ordinal = command->function;
    record.binding_count = command->binding_count;
    memcpy(record.workgroup_count, command->workgroup_count, sizeof(record.workgroup_count));
    memcpy(record.workgroup_size, command->workgroup_size, sizeof(record.workgroup_size));
  }
  profile_append(profile, PROFILE_COMMAND_OPERATIONS, &record, sizeof(record));
}

uint64_t profile_command_buffer(hal_profile_t* profile, const hal_profile_program_t* program,
                                const hal_profile_queue_t* queue) {
  if (!program->id) return 0;
  if (program->id->session == profile->id) return program->id->id;
  *program->id = (hal_profile_id_t){profile->id, ++profile->command_buffers};
  iree_hal_profile_command_buffer_record_t record = iree_hal_profile_command_buffer_record_default();
  record.command_buffer_id = program->id->id;
  record.mode = iree_hal_command_buffer_mode(program->command_buffer);
  record.command_categories = iree_hal_command_buffer_allowed_categories(program->command_buffer);
  record.queue_affinity = program->command_buffer->queue_affinity;
  record.physical_device_ordinal = queue->physical;
  profile_append(profile, PROFILE_COMMAND_BUFFERS, &record, sizeof(record));
  // A barrier is a command of its own here, before the one that waits.
  uint32_t index = 0;
  for (uint32_t i = 0; i < program->command_count; ++i) {
    hal_profile_command_t command = {0};
    program->describe(program->commands, i, &command);
    if (command.waits) {
      describe_operation(profile, program->id->id, index++,
                         &(hal_profile_command_t){
                             .type = IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_BARRIER,
                             .flags = IREE_HAL_PROFILE_COMMAND_OPERATION_FLAG_EXECUTION_BARRIER,
                         });
    }
    describe_operation(profile, program->id->id, index++, &command);
  }
  return program->id->id;
}
