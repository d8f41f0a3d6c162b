// The queue calls of devices: arguments, which the public calls have checked, as operations.
#include "hal/amdgpu/command_buffer.h"
#include "hal/amdgpu/operation.h"
#include "hal/detail.h"

// The operation has one command, its own.
static void use_own_command(operation_t* op) {
  op->commands.commands = &op->command;
  op->commands.count = 1;
}

//===----------------------------------------------------------------------------------------------------------------===
// Transfers
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t amdgpu_queue_fill(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                const iree_hal_semaphore_list_t wait_semaphore_list,
                                const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_buffer_t* target_buffer,
                                iree_device_size_t target_offset, iree_device_size_t length, const void* pattern,
                                iree_host_size_t pattern_length, iree_hal_fill_flags_t flags) {
  operation_t op = operation_make(device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  command_fill(&op.command, iree_hal_make_buffer_ref(target_buffer, target_offset, length), pattern, pattern_length);
  op.resources[0] = target_buffer;
  use_own_command(&op);
  return operation_submit(&op);
}

iree_status_t amdgpu_queue_update(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                  const iree_hal_semaphore_list_t wait_semaphore_list,
                                  const iree_hal_semaphore_list_t signal_semaphore_list, const void* source_buffer,
                                  iree_host_size_t source_offset, iree_hal_buffer_t* target_buffer,
                                  iree_device_size_t target_offset, iree_device_size_t length,
                                  iree_hal_update_flags_t flags) {
  enum { LIMIT = 1 << 20 };
  if (length > LIMIT) {
    // Too much for the ring of arguments: as a command buffer of updates.
    iree_hal_transfer_command_t transfer = {
        .type = IREE_HAL_TRANSFER_COMMAND_TYPE_UPDATE,
        .update = {source_buffer, source_offset, target_buffer, target_offset, length},
    };
    iree_hal_command_buffer_t* command_buffer = NULL;
    IREE_RETURN_IF_ERROR(iree_hal_create_transfer_command_buffer(device, IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT,
                                                                 queue_affinity, 1, &transfer, &command_buffer));
    iree_status_t status =
        amdgpu_queue_execute(device, queue_affinity, wait_semaphore_list, signal_semaphore_list, command_buffer,
                             iree_hal_buffer_binding_table_empty(), IREE_HAL_EXECUTE_FLAG_NONE);
    iree_hal_command_buffer_release(command_buffer);
    return status;
  }
  operation_t op = operation_make(device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  const uint8_t* data = (const uint8_t*)source_buffer + source_offset;
  command_update(&op.command, data, iree_hal_make_buffer_ref(target_buffer, target_offset, length));
  op.data = iree_make_const_byte_span(data, length);
  op.resources[0] = target_buffer;
  use_own_command(&op);
  return operation_submit(&op);
}

iree_status_t amdgpu_queue_copy(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                const iree_hal_semaphore_list_t wait_semaphore_list,
                                const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_buffer_t* source_buffer,
                                iree_device_size_t source_offset, iree_hal_buffer_t* target_buffer,
                                iree_device_size_t target_offset, iree_device_size_t length,
                                iree_hal_copy_flags_t flags) {
  operation_t op = operation_make(device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  command_copy(&op.command, iree_hal_make_buffer_ref(source_buffer, source_offset, length),
               iree_hal_make_buffer_ref(target_buffer, target_offset, length));
  op.resources[0] = target_buffer;
  op.resources[1] = source_buffer;
  use_own_command(&op);
  return operation_submit(&op);
}

//===----------------------------------------------------------------------------------------------------------------===
// Work
//===----------------------------------------------------------------------------------------------------------------===

// Checks a reference of a single dispatch as recording would.
static iree_status_t check_direct(iree_hal_buffer_ref_t* ref, iree_hal_buffer_usage_t usage) {
  if (!ref->buffer) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "single dispatches take no indirect references");
  }
  IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_usage(ref->buffer->allowed_usage, usage));
  IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_access(ref->buffer->allowed_access, IREE_HAL_MEMORY_ACCESS_READ));
  return iree_hal_buffer_calculate_range(0, ref->buffer->byte_length, ref->offset, ref->length, &ref->offset,
                                         &ref->length);
}

iree_status_t amdgpu_queue_dispatch(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                    const iree_hal_semaphore_list_t wait_semaphore_list,
                                    const iree_hal_semaphore_list_t signal_semaphore_list,
                                    iree_hal_executable_t* executable, iree_hal_executable_function_t function,
                                    const iree_hal_dispatch_config_t config, iree_const_byte_span_t constants,
                                    const iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags) {
  operation_t op = operation_make(device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  IREE_RETURN_IF_ERROR(hal_dispatch_check(executable, function, &config, constants, bindings.count, flags));
  hal_dispatch_t dispatch = {executable, function, config, constants, bindings, flags};
  if (iree_hal_dispatch_uses_indirect_parameters(flags)) {
    iree_hal_buffer_ref_t* counts = &dispatch.config.workgroup_count_ref;
    counts->length = 3 * sizeof(uint32_t);
    IREE_RETURN_IF_ERROR(check_direct(counts, IREE_HAL_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS));
    op.resources[1] = config.workgroup_count_ref.buffer;
  }
  for (iree_host_size_t i = 0; i < bindings.count; ++i) {
    iree_hal_buffer_ref_t ref = bindings.values[i];
    IREE_RETURN_IF_ERROR(check_direct(&ref, IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE_READ), "binding %" PRIhsz, i);
  }
  IREE_RETURN_IF_ERROR(command_dispatch_check(&dispatch, &op.dispatch_size));
  op.dispatch = &dispatch;
  op.resources[0] = executable;
  use_own_command(&op);
  op.commands.refs = bindings;
  op.commands.borrows_bindings = flags & IREE_HAL_DISPATCH_FLAG_BORROW_RESOURCE_LIFETIMES;
  return operation_submit(&op);
}

iree_status_t amdgpu_queue_execute(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                   const iree_hal_semaphore_list_t wait_semaphore_list,
                                   const iree_hal_semaphore_list_t signal_semaphore_list,
                                   iree_hal_command_buffer_t* command_buffer,
                                   iree_hal_buffer_binding_table_t binding_table, iree_hal_execute_flags_t flags) {
  operation_t op = operation_make(device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  if (!command_buffer) return operation_submit(&op);
  const command_list_t* list = amdgpu_command_buffer_commands(command_buffer);
  if (!list) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the command buffer was not made by an amdgpu device");
  }
  op.commands.commands = list->commands;
  op.commands.count = list->count;
  op.resources[0] = command_buffer;
  op.commands.bindings = binding_table;
  op.commands.borrows_bindings = flags & IREE_HAL_EXECUTE_FLAG_BORROW_BINDING_TABLE_LIFETIME;
  return operation_submit(&op);
}
