// Making of commands.
#include "hal/amdgpu/command.h"

#include "hal/amdgpu/library.h"

void command_fill(command_t* command, iree_hal_buffer_ref_t target, const void* pattern, size_t pattern_length) {
  *command = (command_t){.kind = HAL_COMMAND_FILL, .kernarg_size = LIBRARY_ARGUMENT_SIZE, .target = target};
  for (size_t i = 0; i < sizeof(command->pattern); i += pattern_length) {
    memcpy(command->pattern + i, pattern, pattern_length);
  }
}

void command_copy(command_t* command, iree_hal_buffer_ref_t source, iree_hal_buffer_ref_t target) {
  *command = (command_t){.kind = HAL_COMMAND_COPY, .kernarg_size = LIBRARY_ARGUMENT_SIZE, .target = target};
  command->source = source;
}

// The data goes with the arguments.
void command_update(command_t* command, const uint8_t* data, iree_hal_buffer_ref_t target) {
  *command = (command_t){.kind = HAL_COMMAND_UPDATE, .target = target};
  command->kernarg_size = LIBRARY_ARGUMENT_SIZE + (uint32_t)target.length;
  command->data = data;
}

//===----------------------------------------------------------------------------------------------------------------===
// Dispatches
//===----------------------------------------------------------------------------------------------------------------===

static size_t arguments_size(const executable_function_t* function) {
  return iree_host_align(function->info.kernarg_size, sizeof(uint64_t));
}

static iree_status_t check_size(const executable_function_t* function, const iree_hal_dispatch_config_t* config) {
  uint64_t total = 1;
  for (int i = 0; i < 3; ++i) {
    uint32_t fixed = function->info.workgroup_size[i], size = config->workgroup_size[i];
    if (fixed && size && size != fixed) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "function '%.*s' is for workgroups of %ux%ux%u, not %ux%ux%u",
                              (int)function->info.name.size, function->info.name.data, function->info.workgroup_size[0],
                              function->info.workgroup_size[1], function->info.workgroup_size[2],
                              config->workgroup_size[0], config->workgroup_size[1], config->workgroup_size[2]);
    }
    total *= iree_max(iree_max(size, fixed), 1u);
    if (total > UINT32_MAX) break;  // too many already
  }
  if (total > iree_max(function->info.max_workgroup_size, 1u)) {
    return iree_make_status(
        IREE_STATUS_INVALID_ARGUMENT, "function '%.*s' takes workgroups of at most %u, not %" PRIu64,
        (int)function->info.name.size, function->info.name.data, function->info.max_workgroup_size, total);
  }
  return iree_ok_status();
}

iree_status_t command_dispatch_check(const hal_dispatch_t* dispatch, size_t* out_storage) {
  const executable_function_t* function = amdgpu_executable_function(dispatch->executable, dispatch->function);
  if (!function) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the executable is not for this device");
  }
  if (iree_hal_dispatch_uses_indirect_arguments(dispatch->flags)) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "indirect kernel arguments are not supported");
  }
  if (iree_hal_dispatch_uses_custom_arguments(dispatch->flags)) {
    if (dispatch->constants.data_length != function->info.explicit_size) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "function '%.*s' takes %u bytes of arguments, %" PRIhsz " were given",
                              (int)function->info.name.size, function->info.name.data, function->info.explicit_size,
                              dispatch->constants.data_length);
    }
  } else if (!function->info.is_hal) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "function '%.*s' does not take pointers followed by 32-bit words; its arguments must be "
                            "given directly",
                            (int)function->info.name.size, function->info.name.data);
  }
  IREE_RETURN_IF_ERROR(check_size(function, &dispatch->config));
  *out_storage = arguments_size(function) + dispatch->bindings.count * sizeof(command_patch_t);
  return iree_ok_status();
}

static uint64_t hidden_value(const command_t* command, uint8_t kind) {
  const uint32_t* count = command->dispatch.workgroup_count;
  switch ((metadata_hidden_t)kind) {
    case METADATA_HIDDEN_BLOCK_COUNT_X:
    case METADATA_HIDDEN_BLOCK_COUNT_Y:
    case METADATA_HIDDEN_BLOCK_COUNT_Z:
      return count[kind - METADATA_HIDDEN_BLOCK_COUNT_X];
    case METADATA_HIDDEN_GROUP_SIZE_X:
    case METADATA_HIDDEN_GROUP_SIZE_Y:
    case METADATA_HIDDEN_GROUP_SIZE_Z:
      return command->dispatch.workgroup_size[kind - METADATA_HIDDEN_GROUP_SIZE_X];
    case METADATA_HIDDEN_GRID_DIMS:
      return 3;
    case METADATA_HIDDEN_DYNAMIC_LDS:
      return command->dispatch.dynamic_memory;
    case METADATA_HIDDEN_COUNT:
      break;
  }
  return 0;
}

// Sizes are at most 8 bytes and the host is little-endian.
static void set_hidden(const command_t* command, uint8_t* arguments) {
  const metadata_kernel_t* info = &command->dispatch.function->info;
  for (uint32_t i = 0; i < info->hidden_count; ++i) {
    uint64_t value = hidden_value(command, info->hidden[i].kind);
    memcpy(arguments + info->hidden[i].offset, &value, info->hidden[i].size);
  }
}

void command_find_counts(const command_t* command, uint16_t offsets[3]) {
  const metadata_kernel_t* info = &command->dispatch.function->info;
  for (int i = 0; i < 3; ++i) offsets[i] = UINT16_MAX;
  for (uint32_t i = 0; i < info->hidden_count; ++i) {
    if (info->hidden[i].kind > METADATA_HIDDEN_BLOCK_COUNT_Z || info->hidden[i].size != sizeof(uint32_t)) continue;
    offsets[info->hidden[i].kind - METADATA_HIDDEN_BLOCK_COUNT_X] = info->hidden[i].offset;
  }
}

// Bindings at fixed addresses are arguments already; the rest are patches.
static uint32_t set_bindings(iree_hal_buffer_ref_list_t bindings, uint8_t* arguments, command_patch_t* patches) {
  uint32_t patch_count = 0;
  for (iree_host_size_t i = 0; i < bindings.count; ++i) {
    const iree_hal_buffer_ref_t* ref = &bindings.values[i];
    uint64_t address = 0;
    if (ref->buffer && amdgpu_buffer_is_fixed(ref->buffer) &&
        iree_status_consume_code(amdgpu_buffer_address(ref->buffer, &address)) == IREE_STATUS_OK) {
      address += ref->offset;
      memcpy(arguments + i * sizeof(address), &address, sizeof(address));
    } else {
      patches[patch_count++] = (command_patch_t){(uint32_t)(i * sizeof(address)), *ref};
    }
  }
  return patch_count;
}

void command_dispatch(command_t* command, const hal_dispatch_t* dispatch, uint8_t* storage) {
  const executable_function_t* function = amdgpu_executable_function(dispatch->executable, dispatch->function);
  const iree_hal_dispatch_config_t* config = &dispatch->config;
  *command = (command_t){.kind = HAL_COMMAND_DISPATCH};
  command->dispatch.function = function;
  command->dispatch.is_indirect = iree_hal_dispatch_uses_indirect_parameters(dispatch->flags);
  if (command->dispatch.is_indirect) command->target = config->workgroup_count_ref;
  for (int i = 0; i < 3; ++i) {
    uint32_t size = config->workgroup_size[i] ? config->workgroup_size[i] : function->info.workgroup_size[i];
    command->dispatch.workgroup_size[i] = (uint16_t)iree_max(size, 1u);
    command->dispatch.workgroup_count[i] = config->workgroup_count[i];
  }
  command->dispatch.dynamic_memory = config->dynamic_workgroup_local_memory;
  command->kernarg_size = (uint32_t)arguments_size(function);
  memset(storage, 0, command->kernarg_size);
  command->dispatch.arguments = storage;
  command_patch_t* patches = (command_patch_t*)(storage + command->kernarg_size);
  command->dispatch.patches = patches;
  if (iree_hal_dispatch_uses_custom_arguments(dispatch->flags)) {
    memcpy(storage, dispatch->constants.data, dispatch->constants.data_length);
  } else {
    command->dispatch.patch_count = set_bindings(dispatch->bindings, storage, patches);
    size_t constants_at = function->info.binding_count * sizeof(uint64_t);
    memcpy(storage + constants_at, dispatch->constants.data, dispatch->constants.data_length);
  }
  set_hidden(command, storage);
}
