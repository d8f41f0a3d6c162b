// Recordings as lists of commands.
#include "hal/amdgpu/command_buffer.h"

static iree_status_t check(const hal_dispatch_t* dispatch) {
  size_t storage_size = 0;
  return command_dispatch_check(dispatch, &storage_size);
}

// Bytes for the arguments of all dispatches, which their checks say one by one.
static iree_status_t count_storage(const hal_recording_t* recording, size_t* out_size) {
  *out_size = 0;
  for (iree_host_size_t i = 0; i < recording->count; ++i) {
    size_t size = 0;
    if (recording->commands[i].kind != HAL_COMMAND_DISPATCH) continue;
    IREE_RETURN_IF_ERROR(command_dispatch_check(&recording->commands[i].dispatch, &size));
    *out_size += size;
  }
  return iree_ok_status();
}

static iree_status_t make(command_t* command, const hal_command_t* source, uint8_t** storage) {
  switch (source->kind) {
    case HAL_COMMAND_FILL:
      command_fill(command, source->target, source->pattern.data, source->pattern.length);
      break;
    case HAL_COMMAND_COPY:
      command_copy(command, source->source, source->target);
      break;
    case HAL_COMMAND_UPDATE:
      command_update(command, source->data, source->target);
      break;
    case HAL_COMMAND_DISPATCH: {
      size_t size = 0;
      IREE_RETURN_IF_ERROR(command_dispatch_check(&source->dispatch, &size));
      command_dispatch(command, &source->dispatch, *storage);
      *storage += size;
      break;
    }
  }
  command->waits = source->waits;
  return iree_ok_status();
}

static iree_status_t lower(void* lowered, const hal_recording_t* recording) {
  command_list_t* list = (command_list_t*)lowered;
  size_t storage_size = 0;
  IREE_RETURN_IF_ERROR(count_storage(recording, &storage_size));
  if (recording->count == 0) return iree_ok_status();
  size_t begin = recording->count * sizeof(list->commands[0]);
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(list->host_allocator, begin + storage_size, (void**)&list->commands));
  uint8_t* storage = (uint8_t*)list->commands + begin;
  for (iree_host_size_t i = 0; i < recording->count; ++i) {
    IREE_RETURN_IF_ERROR(make(&list->commands[i], &recording->commands[i], &storage));
  }
  list->count = (uint32_t)recording->count;
  return iree_ok_status();
}

static void list_reset(void* lowered) {
  command_list_t* list = (command_list_t*)lowered;
  iree_allocator_free(list->host_allocator, list->commands);
  list->commands = NULL;
  list->count = 0;
}

static void list_free(void* lowered) {
  list_reset(lowered);
  iree_allocator_free(((command_list_t*)lowered)->host_allocator, lowered);
}

static const hal_lowering_t lowering = {.check = check, .lower = lower, .reset = list_reset, .free = list_free};

const command_list_t* amdgpu_command_buffer_commands(iree_hal_command_buffer_t* command_buffer) {
  return (const command_list_t*)hal_recorded_lowered(command_buffer, &lowering);
}

iree_status_t amdgpu_create_command_buffer(iree_hal_device_t* base, iree_hal_command_buffer_mode_t mode,
                                           iree_hal_command_category_t categories,
                                           iree_hal_queue_affinity_t queue_affinity, iree_host_size_t binding_capacity,
                                           iree_hal_command_buffer_t** out_command_buffer) {
  const logical_device_t* device = (const logical_device_t*)base;
  iree_allocator_t host_allocator = device->base.host_allocator;
  hal_recorded_params_t params = {
      .mode = mode,
      .categories = categories,
      .queue_affinity = queue_affinity,
      .binding_capacity = binding_capacity,
      .block_size = device->options.user.host_block_pool_command_buffer_size,
      .host_allocator = host_allocator,
  };
  command_list_t* list = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*list), (void**)&list));
  list->host_allocator = host_allocator;
  return hal_recorded_create(&params, &lowering, list, out_command_buffer);
}
