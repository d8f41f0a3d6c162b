// Lowering of commands, and their final arguments.
#include "hal/gpu/command.h"

#include "hal/gpu/allocator.h"

//===----------------------------------------------------------------------------------------------------------------===
// Dispatches
//===----------------------------------------------------------------------------------------------------------------===

// Bindings at fixed addresses are arguments already; the rest are patches.
static uint32_t set_bindings(iree_hal_buffer_ref_list_t bindings, uint8_t* arguments, gpu_patch_t* patches) {
  uint32_t patch_count = 0;
  for (iree_host_size_t i = 0; i < bindings.count; ++i) {
    const iree_hal_buffer_ref_t* ref = &bindings.values[i];
    uint64_t address = 0;
    if (ref->buffer && gpu_buffer_is_fixed(ref->buffer) &&
        iree_status_consume_code(gpu_buffer_address(ref->buffer, &address)) == IREE_STATUS_OK) {
      address += ref->offset;
      memcpy(arguments + i * sizeof(address), &address, sizeof(address));
    } else {
      patches[patch_count++] = (gpu_patch_t){(uint32_t)(i * sizeof(address)), *ref};
    }
  }
  return patch_count;
}

static const gpu_function_t* function_of(const gpu_backend_t* backend, const hal_dispatch_t* dispatch) {
  return (const gpu_function_t*)gpu_executable_function(dispatch->executable, backend, dispatch->function);
}

// Bytes for arguments and patches.
static size_t dispatch_size(const gpu_function_t* function, const hal_dispatch_t* dispatch) {
  return gpu_command_arguments_size(function) + dispatch->bindings.count * sizeof(gpu_patch_t);
}

static void make_dispatch(const gpu_backend_t* backend, const hal_dispatch_t* dispatch, gpu_command_t* command,
                          uint8_t* storage) {
  const gpu_function_t* function = function_of(backend, dispatch);
  const iree_hal_dispatch_config_t* config = &dispatch->config;
  command->dispatch.function = function;
  command->dispatch.is_indirect = iree_hal_dispatch_uses_indirect_parameters(dispatch->flags);
  if (command->dispatch.is_indirect) command->target = config->workgroup_count_ref;
  for (int i = 0; i < 3; ++i) {
    uint32_t size = config->workgroup_size[i] ? config->workgroup_size[i] : function->workgroup_size[i];
    command->dispatch.workgroup_size[i] = (uint16_t)iree_max(size, 1u);
    command->dispatch.workgroup_count[i] = config->workgroup_count[i];
  }
  command->dispatch.dynamic_memory = config->dynamic_workgroup_local_memory;
  size_t size = gpu_command_arguments_size(function);
  memset(storage, 0, size);
  command->dispatch.arguments = storage;
  gpu_patch_t* patches = (gpu_patch_t*)(storage + size);
  command->dispatch.patches = patches;
  if (iree_hal_dispatch_uses_custom_arguments(dispatch->flags)) {
    memcpy(storage, dispatch->constants.data, dispatch->constants.data_length);
  } else {
    command->dispatch.patch_count = set_bindings(dispatch->bindings, storage, patches);
    size_t constants_at = function->binding_count * sizeof(uint64_t);
    if (dispatch->constants.data_length) {
      memcpy(storage + constants_at, dispatch->constants.data, dispatch->constants.data_length);
    }
  }
  if (backend->add_arguments) backend->add_arguments(command, storage);
}

//===----------------------------------------------------------------------------------------------------------------===
// Commands
//===----------------------------------------------------------------------------------------------------------------===

// Bytes that a command needs beside itself and what is recorded.
static size_t storage_size(const gpu_backend_t* backend, const hal_command_t* source) {
  if (source->kind != HAL_COMMAND_DISPATCH) return 0;
  return dispatch_size(function_of(backend, &source->dispatch), &source->dispatch);
}

static void make(const gpu_backend_t* backend, const hal_command_t* source, gpu_command_t* command, uint8_t* storage) {
  memset(command, 0, sizeof(*command));
  command->kind = source->kind;
  command->waits = source->waits;
  command->target = source->target;
  switch (source->kind) {
    case HAL_COMMAND_FILL:
      command->pattern.length = source->pattern.length;
      for (size_t i = 0; i < sizeof(command->pattern.data); i += source->pattern.length) {
        memcpy(command->pattern.data + i, source->pattern.data, source->pattern.length);
      }
      break;
    case HAL_COMMAND_COPY:
      command->source = source->source;
      break;
    case HAL_COMMAND_UPDATE:
      command->data = source->data;
      break;
    case HAL_COMMAND_DISPATCH:
      make_dispatch(backend, &source->dispatch, command, storage);
      break;
  }
}

iree_status_t gpu_command_measure(const gpu_backend_t* backend, const hal_command_t* source, size_t* out_size) {
  *out_size = sizeof(gpu_command_t);
  if (source->kind == HAL_COMMAND_UPDATE) *out_size += iree_host_align(source->target.length, 8);
  if (source->kind != HAL_COMMAND_DISPATCH) return iree_ok_status();
  IREE_RETURN_IF_ERROR(gpu_function_check(function_of(backend, &source->dispatch), &source->dispatch));
  *out_size += storage_size(backend, source);
  return iree_ok_status();
}

void gpu_command_lower(const gpu_backend_t* backend, const hal_command_t* source, uint8_t* storage) {
  gpu_command_t* command = (gpu_command_t*)storage;
  make(backend, source, command, storage + sizeof(*command));
  if (source->kind != HAL_COMMAND_UPDATE) return;
  command->data = (const uint8_t*)memcpy(storage + sizeof(*command), source->data, source->target.length);
}

//===----------------------------------------------------------------------------------------------------------------===
// Recordings
//===----------------------------------------------------------------------------------------------------------------===

// The commands of a recording, followed by the arguments of its dispatches.
typedef struct command_list_t {
  gpu_work_t work;
  iree_allocator_t host_allocator;
} command_list_t;

static iree_status_t check(void* lowered, const hal_dispatch_t* dispatch) {
  return gpu_function_check(function_of(((command_list_t*)lowered)->work.backend, dispatch), dispatch);
}

static iree_status_t lower(void* lowered, const hal_recording_t* recording) {
  command_list_t* list = (command_list_t*)lowered;
  const gpu_backend_t* backend = list->work.backend;
  gpu_command_t* commands = NULL;
  size_t begin = recording->count * sizeof(*commands), size = begin;
  for (iree_host_size_t i = 0; i < recording->count; ++i) size += storage_size(backend, &recording->commands[i]);
  if (size == 0) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_uninitialized(list->host_allocator, size, (void**)&commands));
  uint8_t* storage = (uint8_t*)commands + begin;
  for (iree_host_size_t i = 0; i < recording->count; ++i) {
    make(backend, &recording->commands[i], &commands[i], storage);
    storage += storage_size(backend, &recording->commands[i]);
  }
  list->work.commands = commands;
  list->work.count = (uint32_t)recording->count;
  return iree_ok_status();
}

static void list_free(void* lowered) {
  command_list_t* list = (command_list_t*)lowered;
  iree_allocator_free(list->host_allocator, (void*)list->work.commands);
  iree_allocator_free(list->host_allocator, list);
}

const hal_lowering_t gpu_lowering = {.check = check, .lower = lower, .free = list_free};

iree_status_t gpu_device_create_command_buffer(iree_hal_device_t* base, iree_hal_command_buffer_mode_t mode,
                                               iree_hal_command_category_t categories,
                                               iree_hal_queue_affinity_t queue_affinity,
                                               iree_host_size_t binding_capacity,
                                               iree_hal_command_buffer_t** out_command_buffer) {
  const gpu_device_t* device = (const gpu_device_t*)base;
  iree_allocator_t host_allocator = device->base.host_allocator;
  hal_recorded_params_t params = {
      .mode = mode,
      .categories = categories,
      .queue_affinity = queue_affinity,
      .binding_capacity = binding_capacity,
      .block_size = device->recording_block_size,
      .host_allocator = host_allocator,
  };
  *out_command_buffer = NULL;
  command_list_t* list = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*list), (void**)&list));
  list->work.backend = device->backend;
  list->host_allocator = host_allocator;
  return hal_recorded_create(&params, &gpu_lowering, list, out_command_buffer);
}

//===----------------------------------------------------------------------------------------------------------------===
// Issuing
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t gpu_command_resolve(iree_hal_buffer_binding_table_t bindings, iree_hal_buffer_ref_t ref,
                                  uint64_t* out_address, uint64_t* out_length) {
  iree_hal_buffer_ref_t resolved;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_binding_table_resolve_ref(bindings, ref, &resolved));
  IREE_RETURN_IF_ERROR(gpu_buffer_address(resolved.buffer, out_address));
  *out_address += resolved.offset;
  *out_length = resolved.length;
  return iree_ok_status();
}

iree_status_t gpu_command_write_arguments(iree_hal_buffer_binding_table_t bindings, const gpu_command_t* command,
                                          uint8_t* out_arguments) {
  memcpy(out_arguments, command->dispatch.arguments, gpu_command_arguments_size(command->dispatch.function));
  for (uint32_t i = 0; i < command->dispatch.patch_count; ++i) {
    const gpu_patch_t* patch = &command->dispatch.patches[i];
    uint64_t address = 0, length = 0;
    IREE_RETURN_IF_ERROR(gpu_command_resolve(bindings, patch->ref, &address, &length));
    memcpy(out_arguments + patch->offset, &address, sizeof(address));
  }
  return iree_ok_status();
}
