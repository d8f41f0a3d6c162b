// Queue operations that are one command: small ones run at once on the submitting thread when their waits are reached,
// others as command buffers of one command.
#include "hal/detail.h"
#include "hal/local/device.h"

// Whether an operation on `length` bytes is to run right here.
static bool runs_here(local_device_t* device, iree_hal_queue_affinity_t queue_affinity, iree_hal_semaphore_list_t waits,
                      iree_device_size_t length) {
  bool is_small = length < device->inline_threshold || !local_device_executor(device, queue_affinity);
  return is_small && iree_hal_semaphore_list_poll(waits);
}

// Ends and submits a command buffer of one command, unless recording failed; releases it.
static iree_status_t submit_recorded(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                     iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals,
                                     iree_status_t status, iree_hal_command_buffer_t* command_buffer) {
  if (iree_status_is_ok(status)) status = iree_hal_command_buffer_end(command_buffer);
  if (iree_status_is_ok(status)) {
    status = local_queue_execute(device, queue_affinity, waits, signals, command_buffer,
                                 iree_hal_buffer_binding_table_empty(), IREE_HAL_EXECUTE_FLAG_NONE);
  }
  iree_hal_command_buffer_release(command_buffer);
  return status;
}

static iree_status_t begin_recording(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                     iree_hal_command_buffer_t** out_command_buffer) {
  local_device_t* local = (local_device_t*)device;
  hal_recorded_params_t params = {
      .mode = IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT | IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED,
      .categories = IREE_HAL_COMMAND_CATEGORY_ANY,
      .queue_affinity = queue_affinity,
      .block_size = 256,
      .home = &local->single_command_buffers,
      .host_allocator = local->base.host_allocator,
  };
  IREE_RETURN_IF_ERROR(local_device_record(local, &params, out_command_buffer));
  return iree_hal_command_buffer_begin(*out_command_buffer);
}

iree_status_t local_queue_fill(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                               const iree_hal_semaphore_list_t wait_semaphore_list,
                               const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_buffer_t* target_buffer,
                               iree_device_size_t target_offset, iree_device_size_t length, const void* pattern,
                               iree_host_size_t pattern_length, iree_hal_fill_flags_t flags) {
  if (runs_here((local_device_t*)device, queue_affinity, wait_semaphore_list, length)) {
    uint8_t* target = NULL;
    iree_status_t status = hal_buffer_pointer(target_buffer, &target);
    if (iree_status_is_ok(status)) hal_pattern_fill(target + target_offset, length, pattern, pattern_length);
    local_queue_signal((local_device_t*)device, signal_semaphore_list, status);
    return iree_ok_status();
  }
  iree_hal_command_buffer_t* command_buffer = NULL;
  IREE_RETURN_IF_ERROR(begin_recording(device, queue_affinity, &command_buffer));
  iree_status_t status = iree_hal_command_buffer_fill_buffer(
      command_buffer, iree_hal_make_buffer_ref(target_buffer, target_offset, length), pattern, pattern_length, flags);
  return submit_recorded(device, queue_affinity, wait_semaphore_list, signal_semaphore_list, status, command_buffer);
}

iree_status_t local_queue_update(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                 const iree_hal_semaphore_list_t wait_semaphore_list,
                                 const iree_hal_semaphore_list_t signal_semaphore_list, const void* source_buffer,
                                 iree_host_size_t source_offset, iree_hal_buffer_t* target_buffer,
                                 iree_device_size_t target_offset, iree_device_size_t length,
                                 iree_hal_update_flags_t flags) {
  const uint8_t* source = (const uint8_t*)source_buffer + source_offset;
  if (runs_here((local_device_t*)device, queue_affinity, wait_semaphore_list, length)) {
    uint8_t* target = NULL;
    iree_status_t status = hal_buffer_pointer(target_buffer, &target);
    if (iree_status_is_ok(status) && length) memcpy(target + target_offset, source, length);
    local_queue_signal((local_device_t*)device, signal_semaphore_list, status);
    return iree_ok_status();
  }
  iree_hal_command_buffer_t* command_buffer = NULL;
  IREE_RETURN_IF_ERROR(begin_recording(device, queue_affinity, &command_buffer));
  iree_status_t status = iree_ok_status();
  for (iree_device_size_t done = 0; done < length && iree_status_is_ok(status);) {
    iree_device_size_t part = iree_min(length - done, IREE_HAL_COMMAND_BUFFER_MAX_UPDATE_SIZE);
    iree_hal_buffer_ref_t target = iree_hal_make_buffer_ref(target_buffer, target_offset + done, part);
    status = iree_hal_command_buffer_update_buffer(command_buffer, source, done, target, flags);
    done += part;
  }
  return submit_recorded(device, queue_affinity, wait_semaphore_list, signal_semaphore_list, status, command_buffer);
}

iree_status_t local_queue_copy(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                               const iree_hal_semaphore_list_t wait_semaphore_list,
                               const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_buffer_t* source_buffer,
                               iree_device_size_t source_offset, iree_hal_buffer_t* target_buffer,
                               iree_device_size_t target_offset, iree_device_size_t length,
                               iree_hal_copy_flags_t flags) {
  if (runs_here((local_device_t*)device, queue_affinity, wait_semaphore_list, length)) {
    uint8_t *source = NULL, *target = NULL;
    iree_status_t status = hal_buffer_pointer(source_buffer, &source);
    if (iree_status_is_ok(status)) status = hal_buffer_pointer(target_buffer, &target);
    if (iree_status_is_ok(status)) memmove(target + target_offset, source + source_offset, length);
    local_queue_signal((local_device_t*)device, signal_semaphore_list, status);
    return iree_ok_status();
  }
  iree_hal_command_buffer_t* command_buffer = NULL;
  IREE_RETURN_IF_ERROR(begin_recording(device, queue_affinity, &command_buffer));
  iree_status_t status = iree_hal_command_buffer_copy_buffer(
      command_buffer, iree_hal_make_buffer_ref(source_buffer, source_offset, length),
      iree_hal_make_buffer_ref(target_buffer, target_offset, length), flags);
  return submit_recorded(device, queue_affinity, wait_semaphore_list, signal_semaphore_list, status, command_buffer);
}

// Ranges of direct references, as the validating form of recording would check them; resolves their lengths.
static iree_status_t check_refs(iree_host_size_t count, const iree_hal_buffer_ref_t* refs, iree_hal_buffer_ref_t* out) {
  for (iree_host_size_t i = 0; i < count; ++i) {
    out[i] = refs[i];
    if (!refs[i].buffer) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "binding %" PRIhsz " is not a direct reference", i);
    }
    IREE_RETURN_IF_ERROR(iree_hal_buffer_calculate_range(0, iree_hal_buffer_byte_length(refs[i].buffer), refs[i].offset,
                                                         refs[i].length, &out[i].offset, &out[i].length),
                         "binding %" PRIhsz, i);
    IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_usage(iree_hal_buffer_allowed_usage(refs[i].buffer),
                                                        IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE_READ),
                         "binding %" PRIhsz, i);
  }
  return iree_ok_status();
}

iree_status_t local_queue_dispatch(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                   const iree_hal_semaphore_list_t wait_semaphore_list,
                                   const iree_hal_semaphore_list_t signal_semaphore_list,
                                   iree_hal_executable_t* executable, iree_hal_executable_function_t function,
                                   const iree_hal_dispatch_config_t config, iree_const_byte_span_t constants,
                                   const iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags) {
  iree_hal_buffer_ref_t refs[IREE_HAL_EXECUTABLE_MAX_BINDING_COUNT];
  IREE_RETURN_IF_ERROR(hal_dispatch_check(executable, function, &config, constants, bindings.count, flags));
  if (bindings.count > IREE_ARRAYSIZE(refs)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "at most %d bindings", IREE_HAL_EXECUTABLE_MAX_BINDING_COUNT);
  }
  IREE_RETURN_IF_ERROR(check_refs(bindings.count, bindings.values, refs));
  iree_hal_dispatch_config_t resolved_config = config;
  if (iree_hal_dispatch_uses_indirect_parameters(flags)) {
    resolved_config.workgroup_count_ref.length = 3 * sizeof(uint32_t);
    IREE_RETURN_IF_ERROR(check_refs(1, &resolved_config.workgroup_count_ref, &resolved_config.workgroup_count_ref));
  }
  iree_hal_command_buffer_t* command_buffer = NULL;
  IREE_RETURN_IF_ERROR(begin_recording(device, queue_affinity, &command_buffer));
  iree_hal_buffer_ref_list_t resolved = {bindings.count, refs};
  iree_status_t status = iree_hal_command_buffer_dispatch(command_buffer, executable, function, resolved_config,
                                                          constants, resolved, flags);
  return submit_recorded(device, queue_affinity, wait_semaphore_list, signal_semaphore_list, status, command_buffer);
}
