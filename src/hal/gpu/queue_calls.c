// The queue calls of devices: arguments, which the public calls have checked, as operations.
#include "hal/detail.h"
#include "hal/gpu/command.h"
#include "hal/gpu/operation.h"

// Submits an operation of one command, which its driver checks.
static iree_status_t submit_command(gpu_operation_t* op, const hal_command_t* command) {
  op->command = command;
  IREE_RETURN_IF_ERROR(gpu_command_measure(gpu_operation_device(op)->backend, command, &op->command_size));
  return gpu_operation_submit(op);
}

//===----------------------------------------------------------------------------------------------------------------===
// Transfers
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t gpu_device_queue_fill(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                    const iree_hal_semaphore_list_t wait_semaphore_list,
                                    const iree_hal_semaphore_list_t signal_semaphore_list,
                                    iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset,
                                    iree_device_size_t length, const void* pattern, iree_host_size_t pattern_length,
                                    iree_hal_fill_flags_t flags) {
  gpu_operation_t op = gpu_operation_make(device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  hal_command_t command = {.kind = HAL_COMMAND_FILL};
  command.target = iree_hal_make_buffer_ref(target_buffer, target_offset, length);
  command.pattern.length = (uint8_t)pattern_length;
  memcpy(command.pattern.data, pattern, pattern_length);
  op.resources[0] = target_buffer;
  return submit_command(&op, &command);
}

iree_status_t gpu_device_queue_update(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                      const iree_hal_semaphore_list_t wait_semaphore_list,
                                      const iree_hal_semaphore_list_t signal_semaphore_list, const void* source_buffer,
                                      iree_host_size_t source_offset, iree_hal_buffer_t* target_buffer,
                                      iree_device_size_t target_offset, iree_device_size_t length,
                                      iree_hal_update_flags_t flags) {
  if (length > ((const gpu_device_t*)device)->backend->max_update) {
    iree_hal_transfer_command_t transfer = {
        .type = IREE_HAL_TRANSFER_COMMAND_TYPE_UPDATE,
        .update = {source_buffer, source_offset, target_buffer, target_offset, length},
    };
    iree_hal_command_buffer_t* command_buffer = NULL;
    IREE_RETURN_IF_ERROR(iree_hal_create_transfer_command_buffer(device, IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT,
                                                                 queue_affinity, 1, &transfer, &command_buffer));
    iree_status_t status =
        gpu_device_queue_execute(device, queue_affinity, wait_semaphore_list, signal_semaphore_list, command_buffer,
                                 iree_hal_buffer_binding_table_empty(), IREE_HAL_EXECUTE_FLAG_NONE);
    iree_hal_command_buffer_release(command_buffer);
    return status;
  }
  gpu_operation_t op = gpu_operation_make(device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  hal_command_t command = {.kind = HAL_COMMAND_UPDATE};
  command.target = iree_hal_make_buffer_ref(target_buffer, target_offset, length);
  command.data = (const uint8_t*)source_buffer + source_offset;
  op.resources[0] = target_buffer;
  return submit_command(&op, &command);
}

iree_status_t gpu_device_queue_copy(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                    const iree_hal_semaphore_list_t wait_semaphore_list,
                                    const iree_hal_semaphore_list_t signal_semaphore_list,
                                    iree_hal_buffer_t* source_buffer, iree_device_size_t source_offset,
                                    iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset,
                                    iree_device_size_t length, iree_hal_copy_flags_t flags) {
  gpu_operation_t op = gpu_operation_make(device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  hal_command_t command = {.kind = HAL_COMMAND_COPY};
  command.target = iree_hal_make_buffer_ref(target_buffer, target_offset, length);
  command.source = iree_hal_make_buffer_ref(source_buffer, source_offset, length);
  op.resources[0] = target_buffer;
  op.resources[1] = source_buffer;
  return submit_command(&op, &command);
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

iree_status_t gpu_device_queue_dispatch(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                        const iree_hal_semaphore_list_t wait_semaphore_list,
                                        const iree_hal_semaphore_list_t signal_semaphore_list,
                                        iree_hal_executable_t* executable, iree_hal_executable_function_t function,
                                        const iree_hal_dispatch_config_t config, iree_const_byte_span_t constants,
                                        const iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags) {
  gpu_operation_t op = gpu_operation_make(device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  IREE_RETURN_IF_ERROR(hal_dispatch_check(executable, function, &config, constants, bindings.count, flags));
  hal_command_t command = {.kind = HAL_COMMAND_DISPATCH};
  command.dispatch = (hal_dispatch_t){executable, function, config, constants, bindings, flags};
  if (iree_hal_dispatch_uses_indirect_parameters(flags)) {
    iree_hal_buffer_ref_t* counts = &command.dispatch.config.workgroup_count_ref;
    counts->length = 3 * sizeof(uint32_t);
    IREE_RETURN_IF_ERROR(check_direct(counts, IREE_HAL_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS));
    op.resources[1] = config.workgroup_count_ref.buffer;
  }
  for (iree_host_size_t i = 0; i < bindings.count; ++i) {
    iree_hal_buffer_ref_t ref = bindings.values[i];
    IREE_RETURN_IF_ERROR(check_direct(&ref, IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE_READ), "binding %" PRIhsz, i);
  }
  op.resources[0] = executable;
  op.refs = bindings;
  op.borrows_bindings = flags & IREE_HAL_DISPATCH_FLAG_BORROW_RESOURCE_LIFETIMES;
  return submit_command(&op, &command);
}

iree_status_t gpu_device_queue_execute(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                       const iree_hal_semaphore_list_t wait_semaphore_list,
                                       const iree_hal_semaphore_list_t signal_semaphore_list,
                                       iree_hal_command_buffer_t* command_buffer,
                                       iree_hal_buffer_binding_table_t binding_table, iree_hal_execute_flags_t flags) {
  gpu_operation_t op = gpu_operation_make(device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  op.bindings = binding_table;
  op.borrows_bindings = flags & IREE_HAL_EXECUTE_FLAG_BORROW_BINDING_TABLE_LIFETIME;
  if (!command_buffer) return gpu_operation_submit(&op);
  const gpu_backend_t* backend = gpu_operation_device(&op)->backend;
  const gpu_work_t* work = (const gpu_work_t*)hal_recorded_lowered(command_buffer, &gpu_lowering);
  if (!work || work->backend != backend) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the command buffer was not made by a device of '%s'",
                            backend->name);
  }
  op.work = *work;
  op.resources[0] = command_buffer;
  return gpu_operation_submit(&op);
}
