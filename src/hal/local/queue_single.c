// Queue operations that are one command: small ones run at once on the submitting thread when their waits are reached,
// others as command buffers of one command.
#include "hal/detail.h"
#include "hal/local/device.h"

// What a queue operation of one command is given.
typedef struct single_t {
  iree_hal_device_t* device;
  iree_hal_queue_affinity_t queue_affinity;
  iree_hal_semaphore_list_t waits;
  iree_hal_semaphore_list_t signals;
  iree_hal_profile_queue_event_type_t type;
  iree_device_size_t length;  // bytes that it moves
} single_t;

// Whether an operation is to run right here; then it begins.
static bool begins_here(const single_t* single, hal_operation_t* out_op) {
  local_device_t* device = (local_device_t*)single->device;
  bool is_small = single->length < device->inline_threshold || !local_device_executor(device, single->queue_affinity);
  if (!is_small || !iree_hal_semaphore_list_poll(single->waits)) return false;
  *out_op = (hal_operation_t){
      .device = &device->base,
      .queue_affinity = single->queue_affinity,
      .waits = single->waits,
      .signals = single->signals,
  };
  if (!hal_profile_is_on(&device->base)) return true;
  hal_operation_watch(out_op, &(hal_profile_work_t){.type = single->type, .payload_length = single->length});
  if (!out_op->profile) return true;
  hal_profile_ready(out_op->profile, /*on_device=*/false);
  hal_profile_start(out_op->profile);
  return true;
}

// Ends and submits a command buffer of one command, unless recording failed; releases it.
static iree_status_t submit_recorded(const single_t* single, iree_status_t status,
                                     iree_hal_command_buffer_t* command_buffer) {
  if (iree_status_is_ok(status)) status = iree_hal_command_buffer_end(command_buffer);
  if (iree_status_is_ok(status)) {
    local_work_t work = {
        .queue_affinity = single->queue_affinity,
        .waits = single->waits,
        .signals = single->signals,
        .command_buffer = command_buffer,
        .single = single->type,
        .length = single->length,
    };
    status = local_queue_submit(single->device, &work);
  }
  iree_hal_command_buffer_release(command_buffer);
  return status;
}

static iree_status_t begin_recording(const single_t* single, iree_hal_command_buffer_t** out_command_buffer) {
  local_device_t* local = (local_device_t*)single->device;
  hal_recorded_params_t params = {
      .mode = IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT | IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED,
      .categories = IREE_HAL_COMMAND_CATEGORY_ANY,
      .queue_affinity = single->queue_affinity,
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
  single_t single = {
      device, queue_affinity, wait_semaphore_list, signal_semaphore_list, IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_FILL,
      length};
  hal_operation_t op;
  if (begins_here(&single, &op)) {
    uint8_t* target = NULL;
    iree_status_t status = hal_buffer_pointer(target_buffer, &target);
    if (iree_status_is_ok(status)) hal_pattern_fill(target + target_offset, length, pattern, pattern_length);
    hal_operation_signal(&op, status);
    return iree_ok_status();
  }
  iree_hal_command_buffer_t* command_buffer = NULL;
  IREE_RETURN_IF_ERROR(begin_recording(&single, &command_buffer));
  iree_status_t status = iree_hal_command_buffer_fill_buffer(
      command_buffer, iree_hal_make_buffer_ref(target_buffer, target_offset, length), pattern, pattern_length, flags);
  return submit_recorded(&single, status, command_buffer);
}

iree_status_t local_queue_update(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                 const iree_hal_semaphore_list_t wait_semaphore_list,
                                 const iree_hal_semaphore_list_t signal_semaphore_list, const void* source_buffer,
                                 iree_host_size_t source_offset, iree_hal_buffer_t* target_buffer,
                                 iree_device_size_t target_offset, iree_device_size_t length,
                                 iree_hal_update_flags_t flags) {
  const uint8_t* source = (const uint8_t*)source_buffer + source_offset;
  single_t single = {
      device, queue_affinity, wait_semaphore_list, signal_semaphore_list, IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_UPDATE,
      length};
  hal_operation_t op;
  if (begins_here(&single, &op)) {
    uint8_t* target = NULL;
    iree_status_t status = hal_buffer_pointer(target_buffer, &target);
    if (iree_status_is_ok(status) && length) memcpy(target + target_offset, source, length);
    hal_operation_signal(&op, status);
    return iree_ok_status();
  }
  iree_hal_command_buffer_t* command_buffer = NULL;
  IREE_RETURN_IF_ERROR(begin_recording(&single, &command_buffer));
  iree_status_t status = iree_ok_status();
  for (iree_device_size_t done = 0; done < length && iree_status_is_ok(status);) {
    iree_device_size_t part = iree_min(length - done, IREE_HAL_COMMAND_BUFFER_MAX_UPDATE_SIZE);
    iree_hal_buffer_ref_t target = iree_hal_make_buffer_ref(target_buffer, target_offset + done, part);
    status = iree_hal_command_buffer_update_buffer(command_buffer, source, done, target, flags);
    done += part;
  }
  return submit_recorded(&single, status, command_buffer);
}

iree_status_t local_queue_copy(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                               const iree_hal_semaphore_list_t wait_semaphore_list,
                               const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_buffer_t* source_buffer,
                               iree_device_size_t source_offset, iree_hal_buffer_t* target_buffer,
                               iree_device_size_t target_offset, iree_device_size_t length,
                               iree_hal_copy_flags_t flags) {
  single_t single = {
      device, queue_affinity, wait_semaphore_list, signal_semaphore_list, IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_COPY,
      length};
  hal_operation_t op;
  if (begins_here(&single, &op)) {
    uint8_t *source = NULL, *target = NULL;
    iree_status_t status = hal_buffer_pointer(source_buffer, &source);
    if (iree_status_is_ok(status)) status = hal_buffer_pointer(target_buffer, &target);
    if (iree_status_is_ok(status)) memmove(target + target_offset, source + source_offset, length);
    hal_operation_signal(&op, status);
    return iree_ok_status();
  }
  iree_hal_command_buffer_t* command_buffer = NULL;
  IREE_RETURN_IF_ERROR(begin_recording(&single, &command_buffer));
  iree_status_t status = iree_hal_command_buffer_copy_buffer(
      command_buffer, iree_hal_make_buffer_ref(source_buffer, source_offset, length),
      iree_hal_make_buffer_ref(target_buffer, target_offset, length), flags);
  return submit_recorded(&single, status, command_buffer);
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
  single_t single = {
      device, queue_affinity, wait_semaphore_list, signal_semaphore_list, IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_DISPATCH,
      0};
  iree_hal_command_buffer_t* command_buffer = NULL;
  IREE_RETURN_IF_ERROR(begin_recording(&single, &command_buffer));
  iree_hal_buffer_ref_list_t resolved = {bindings.count, refs};
  iree_status_t status = iree_hal_command_buffer_dispatch(command_buffer, executable, function, resolved_config,
                                                          constants, resolved, flags);
  return submit_recorded(&single, status, command_buffer);
}
