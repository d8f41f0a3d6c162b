// Profiles of GPUs: what operations and their commands are.
#include "hal/gpu/command.h"
#include "hal/gpu/operation.h"

uint32_t gpu_profile_queues(hal_queued_device_t* base, hal_profile_queue_t out_queues[HAL_PROFILE_MAX_QUEUES]) {
  static_assert(HAL_PROFILE_MAX_QUEUES >= GPU_MAX_QUEUES, "has all");
  const gpu_domain_t* domain = &((const gpu_device_t*)base)->domain;
  uint32_t count = domain->physical_count * domain->queue_count;
  for (uint32_t i = 0; i < count; ++i) {
    out_queues[i] =
        (hal_profile_queue_t){.bit = i, .physical = i / domain->queue_count, .ordinal = i % domain->queue_count};
  }
  return count;
}

static void describe(const void* commands, uint32_t index, hal_profile_command_t* out_command) {
  static const iree_hal_profile_command_operation_type_t types[] = {
      [HAL_COMMAND_DISPATCH] = IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_DISPATCH,
      [HAL_COMMAND_FILL] = IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_FILL,
      [HAL_COMMAND_COPY] = IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_COPY,
      [HAL_COMMAND_UPDATE] = IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_UPDATE,
  };
  const gpu_command_t* command = &((const gpu_command_t*)commands)[index];
  IREE_ASSERT(command->kind < IREE_ARRAYSIZE(types));
  *out_command = (hal_profile_command_t){.type = types[command->kind], .waits = command->waits};
  if (command->kind != HAL_COMMAND_DISPATCH) {
    out_command->length = command->target.length == IREE_HAL_WHOLE_BUFFER ? 0 : command->target.length;
    return;
  }
  out_command->executable = command->dispatch.executable;
  out_command->function = command->dispatch.index;
  out_command->binding_count = command->dispatch.function->binding_count;
  for (int i = 0; i < 3; ++i) out_command->workgroup_size[i] = command->dispatch.workgroup_size[i];
  if (command->dispatch.is_indirect) {
    out_command->flags = IREE_HAL_PROFILE_COMMAND_OPERATION_FLAG_INDIRECT_PARAMETERS;
  } else {
    memcpy(out_command->workgroup_count, command->dispatch.workgroup_count, sizeof(out_command->workgroup_count));
  }
}

void gpu_profile_watch(gpu_operation_t* op, const gpu_operation_t* source) {
  static const iree_hal_profile_queue_event_type_t types[] = {
      [HAL_COMMAND_DISPATCH] = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_DISPATCH,
      [HAL_COMMAND_FILL] = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_FILL,
      [HAL_COMMAND_COPY] = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_COPY,
      [HAL_COMMAND_UPDATE] = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_UPDATE,
  };
  hal_profile_work_t work = {
      .type =
          op->work.profile_id ? IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_EXECUTE : IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_BARRIER,
      .program =
          {
              .id = op->work.profile_id,
              .command_buffer = op->work.profile_id ? (iree_hal_command_buffer_t*)op->resources[0] : NULL,
              .command_count = op->batch ? 0 : op->work.count,  // collectives are none of these
              .describe = describe,
              .commands = op->work.commands,
          },
  };
  if (source->command) {
    work.type = types[source->command->kind];
    bool moves = source->command->kind != HAL_COMMAND_DISPATCH;
    if (moves) work.payload_length = source->command->target.length;
  }
  hal_operation_watch(&op->base, &work);
}
