// Lowering of commands.
#include "hal/amdgpu/command.h"

#include "hal/amdgpu/library.h"
#include "hal/gpu/allocator.h"

//===----------------------------------------------------------------------------------------------------------------===
// Dispatches
//===----------------------------------------------------------------------------------------------------------------===

static size_t arguments_size(const executable_function_t* function) {
  return iree_host_align(function->info.kernarg_size, sizeof(uint64_t));
}

static iree_status_t check_dispatch(const hal_dispatch_t* dispatch) {
  const executable_function_t* function = amdgpu_executable_function(dispatch->executable, dispatch->function);
  return gpu_function_check(function ? &function->base : NULL, dispatch);
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
    if (ref->buffer && gpu_buffer_is_fixed(ref->buffer) &&
        iree_status_consume_code(gpu_buffer_address(ref->buffer, &address)) == IREE_STATUS_OK) {
      address += ref->offset;
      memcpy(arguments + i * sizeof(address), &address, sizeof(address));
    } else {
      patches[patch_count++] = (command_patch_t){(uint32_t)(i * sizeof(address)), *ref};
    }
  }
  return patch_count;
}

// Bytes for arguments and patches.
static size_t dispatch_size(const hal_dispatch_t* dispatch) {
  return arguments_size(amdgpu_executable_function(dispatch->executable, dispatch->function)) +
         dispatch->bindings.count * sizeof(command_patch_t);
}

static void make_dispatch(const hal_dispatch_t* dispatch, command_t* command, uint8_t* storage) {
  const executable_function_t* function = amdgpu_executable_function(dispatch->executable, dispatch->function);
  const iree_hal_dispatch_config_t* config = &dispatch->config;
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

//===----------------------------------------------------------------------------------------------------------------===
// Lowering
//===----------------------------------------------------------------------------------------------------------------===

static void make(const hal_command_t* source, command_t* command, uint8_t* storage) {
  *command = (command_t){.kind = source->kind, .waits = source->waits, .target = source->target};
  command->kernarg_size = LIBRARY_ARGUMENT_SIZE;
  switch (source->kind) {
    case HAL_COMMAND_FILL:
      for (size_t i = 0; i < sizeof(command->pattern); i += source->pattern.length) {
        memcpy(command->pattern + i, source->pattern.data, source->pattern.length);
      }
      break;
    case HAL_COMMAND_COPY:
      command->source = source->source;
      break;
    case HAL_COMMAND_UPDATE:
      command->kernarg_size += (uint32_t)source->target.length;  // the data goes with the arguments
      command->data = source->data;
      break;
    case HAL_COMMAND_DISPATCH:
      make_dispatch(&source->dispatch, command, storage);
      break;
  }
}

iree_status_t command_measure(const hal_command_t* source, size_t* out_size) {
  *out_size = sizeof(command_t);
  if (source->kind == HAL_COMMAND_UPDATE) *out_size += iree_host_align(source->target.length, 8);
  if (source->kind != HAL_COMMAND_DISPATCH) return iree_ok_status();
  IREE_RETURN_IF_ERROR(check_dispatch(&source->dispatch));
  *out_size += dispatch_size(&source->dispatch);
  return iree_ok_status();
}

void command_lower_one(const hal_command_t* source, uint8_t* storage) {
  command_t* command = (command_t*)storage;
  make(source, command, storage + sizeof(*command));
  if (source->kind != HAL_COMMAND_UPDATE) return;
  command->data = (const uint8_t*)memcpy(storage + sizeof(*command), source->data, source->target.length);
}

// The commands of a recording, followed by the arguments of its dispatches.
typedef struct command_list_t {
  gpu_work_t work;
  iree_allocator_t host_allocator;
} command_list_t;

static iree_status_t lower(void* lowered, const hal_recording_t* recording) {
  command_list_t* list = (command_list_t*)lowered;
  command_t* commands = NULL;
  size_t begin = recording->count * sizeof(*commands), size = begin;
  for (iree_host_size_t i = 0; i < recording->count; ++i) {
    const hal_command_t* source = &recording->commands[i];
    if (source->kind == HAL_COMMAND_DISPATCH) size += dispatch_size(&source->dispatch);
  }
  if (size == 0) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_uninitialized(list->host_allocator, size, (void**)&commands));
  uint8_t* storage = (uint8_t*)commands + begin;
  for (iree_host_size_t i = 0; i < recording->count; ++i) {
    const hal_command_t* source = &recording->commands[i];
    make(source, &commands[i], storage);
    if (source->kind == HAL_COMMAND_DISPATCH) storage += dispatch_size(&source->dispatch);
  }
  list->work = (gpu_work_t){commands, (uint32_t)recording->count};
  return iree_ok_status();
}

static void list_free(void* lowered) {
  command_list_t* list = (command_list_t*)lowered;
  iree_allocator_free(list->host_allocator, (void*)list->work.commands);
  iree_allocator_free(list->host_allocator, list);
}

const hal_lowering_t command_lowering = {.check = check_dispatch, .lower = lower, .free = list_free};

iree_status_t command_list_create(iree_allocator_t host_allocator, void** out_list) {
  *out_list = NULL;
  command_list_t* list = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*list), (void**)&list));
  list->host_allocator = host_allocator;
  *out_list = list;
  return iree_ok_status();
}
