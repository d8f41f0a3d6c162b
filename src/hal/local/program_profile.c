// Block programs: what profiles tell of them.
#include "hal/local/program_internal.h"

static void describe(const void* commands, uint32_t index, hal_profile_command_t* out_command) {
  static const iree_hal_profile_command_operation_type_t types[] = {
      [HAL_COMMAND_DISPATCH] = IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_DISPATCH,
      [HAL_COMMAND_FILL] = IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_FILL,
      [HAL_COMMAND_COPY] = IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_COPY,
      [HAL_COMMAND_UPDATE] = IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_UPDATE,
  };
  const local_program_t* program = (const local_program_t*)commands;
  const program_command_t* command = &program->commands.data[index];
  *out_command = (hal_profile_command_t){.type = types[command->kind], .waits = command->waits};
  if (command->kind != HAL_COMMAND_DISPATCH) {
    iree_device_size_t length = program->pointers.data[command->pointer].length;
    out_command->length = length == IREE_HAL_WHOLE_BUFFER ? 0 : length;
    return;
  }
  const iree_hal_executable_dispatch_state_v0_t* state = &command->dispatch.state;
  out_command->executable = command->dispatch.executable;
  out_command->function = command->dispatch.function;
  out_command->binding_count = state->binding_count;
  out_command->workgroup_size[0] = state->workgroup_size_x;
  out_command->workgroup_size[1] = state->workgroup_size_y;
  out_command->workgroup_size[2] = state->workgroup_size_z;
  if (command->is_open) {
    out_command->flags = IREE_HAL_PROFILE_COMMAND_OPERATION_FLAG_INDIRECT_PARAMETERS;
    return;
  }
  out_command->workgroup_count[0] = state->workgroup_count_x;
  out_command->workgroup_count[1] = state->workgroup_count_y;
  out_command->workgroup_count[2] = state->workgroup_count_z;
}

hal_profile_program_t local_program_profile(local_program_t* program, iree_hal_command_buffer_t* command_buffer) {
  return (hal_profile_program_t){
      .id = command_buffer ? &program->profile_id : NULL,
      .command_buffer = command_buffer,
      .command_count = (uint32_t)program->commands.count,
      .describe = describe,
      .commands = program,
  };
}
