// Command buffers: recording state, checks, and resolution of references; drivers record what passes.
//
// Direct references are checked when they are recorded. Indirect ones add what they need to their slot, which is
// checked against the binding table once per submission.
#include "iree/hal/command_buffer.h"

#include "base/trace.h"
#include "hal/collective.h"
#include "hal/detail.h"
#include "iree/hal/device.h"

HAL_DEFINE_LIFETIME(command_buffer)

void iree_hal_command_buffer_initialize(iree_hal_command_buffer_mode_t mode,
                                        iree_hal_command_category_t command_categories,
                                        iree_hal_queue_affinity_t queue_affinity, iree_host_size_t binding_capacity,
                                        iree_hal_command_buffer_slot_t* slots,
                                        const iree_hal_command_buffer_vtable_t* vtable,
                                        iree_hal_command_buffer_t* command_buffer) {
  iree_hal_resource_initialize(vtable, &command_buffer->resource);
  command_buffer->mode = mode;
  command_buffer->allowed_categories = command_categories;
  command_buffer->queue_affinity = queue_affinity;
  command_buffer->binding_capacity = (uint32_t)binding_capacity;
  command_buffer->binding_count = 0;
  command_buffer->recording = IREE_HAL_RECORDING_NEW;
  command_buffer->debug_group_depth = 0;
  command_buffer->slots = slots;
  if (slots) memset(slots, 0, binding_capacity * sizeof(*slots));
}

iree_status_t iree_hal_command_buffer_create(iree_hal_device_t* device, iree_hal_command_buffer_mode_t mode,
                                             iree_hal_command_category_t command_categories,
                                             iree_hal_queue_affinity_t queue_affinity,
                                             iree_host_size_t binding_capacity,
                                             iree_hal_command_buffer_t** out_command_buffer) {
  *out_command_buffer = NULL;
  if (binding_capacity >= 1u << 24) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "binding capacity %" PRIhsz " is too large", binding_capacity);
  }
  if (mode & IREE_HAL_COMMAND_BUFFER_MODE_ALLOW_INLINE_EXECUTION &&
      (!(mode & IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT) || binding_capacity > 0)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "inline execution is for one-shot command buffers without indirect bindings");
  }
  return HAL_CALL(device, iree_hal_device, create_command_buffer)(device, mode, command_categories, queue_affinity,
                                                                  binding_capacity, out_command_buffer);
}

iree_hal_command_buffer_mode_t iree_hal_command_buffer_mode(const iree_hal_command_buffer_t* command_buffer) {
  return command_buffer->mode;
}
iree_hal_command_category_t iree_hal_command_buffer_allowed_categories(
    const iree_hal_command_buffer_t* command_buffer) {
  return command_buffer->allowed_categories;
}
iree_hal_queue_affinity_t iree_hal_command_buffer_queue_affinity(const iree_hal_command_buffer_t* command_buffer) {
  return command_buffer->queue_affinity;
}

//===----------------------------------------------------------------------------------------------------------------===
// Checks
//===----------------------------------------------------------------------------------------------------------------===

static bool is_validated(const iree_hal_command_buffer_t* command_buffer) {
  return !(command_buffer->mode & IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED);
}

static iree_status_t check_recording(const iree_hal_command_buffer_t* command_buffer,
                                     iree_hal_command_category_t category) {
  if (command_buffer->recording != IREE_HAL_RECORDING_OPEN) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "command buffer is not in a recording state");
  }
  if (!iree_all_bits_set(command_buffer->allowed_categories, category)) {
    iree_bitfield_string_temp_t allowed, required;
    iree_hal_command_category_format(command_buffer->allowed_categories, &allowed);
    iree_hal_command_category_format(category, &required);
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "command buffer allows %s commands, this is %s",
                            allowed.buffer, required.buffer);
  }
  return iree_ok_status();
}

iree_status_t iree_hal_buffer_binding_table_resolve_ref(iree_hal_buffer_binding_table_t binding_table,
                                                        iree_hal_buffer_ref_t buffer_ref,
                                                        iree_hal_buffer_ref_t* out_resolved_ref) {
  *out_resolved_ref = buffer_ref;
  if (buffer_ref.buffer) return iree_ok_status();
  if (buffer_ref.buffer_slot >= binding_table.count) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "buffer binding %u out of range of binding table with capacity %" PRIhsz,
                            (unsigned)buffer_ref.buffer_slot, binding_table.count);
  }
  const iree_hal_buffer_binding_t* binding = &binding_table.bindings[buffer_ref.buffer_slot];
  if (!binding->buffer) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "buffer binding %u has no buffer",
                            (unsigned)buffer_ref.buffer_slot);
  }
  iree_device_size_t binding_offset = 0, binding_length = 0;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_calculate_range(0, iree_hal_buffer_byte_length(binding->buffer), binding->offset,
                                                       binding->length, &binding_offset, &binding_length));
  out_resolved_ref->buffer = binding->buffer;
  out_resolved_ref->buffer_slot = 0;
  return iree_hal_buffer_calculate_range(binding_offset, binding_length, buffer_ref.offset, buffer_ref.length,
                                         &out_resolved_ref->offset, &out_resolved_ref->length);
}

static iree_status_t normalize(iree_hal_buffer_t** buffer, iree_device_size_t* offset, iree_device_size_t* length) {
  if (!*buffer) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_hal_buffer_calculate_range(
      iree_hal_buffer_byte_offset(*buffer), iree_hal_buffer_byte_length(*buffer), *offset, *length, offset, length));
  *buffer = iree_hal_buffer_allocated_buffer(*buffer);
  return iree_ok_status();
}

iree_status_t iree_hal_buffer_ref_normalize(iree_hal_buffer_ref_t* buffer_ref) {
  return normalize(&buffer_ref->buffer, &buffer_ref->offset, &buffer_ref->length);
}

iree_status_t iree_hal_buffer_binding_normalize(iree_hal_buffer_binding_t* binding) {
  return normalize(&binding->buffer, &binding->offset, &binding->length);
}

// What a command does to a buffer.
typedef struct ref_use_t {
  iree_hal_buffer_usage_t usage;
  iree_hal_memory_access_t access;
} ref_use_t;

static const ref_use_t use_transfer_source = {IREE_HAL_BUFFER_USAGE_TRANSFER_SOURCE, IREE_HAL_MEMORY_ACCESS_READ};
static const ref_use_t use_transfer_target = {IREE_HAL_BUFFER_USAGE_TRANSFER_TARGET, IREE_HAL_MEMORY_ACCESS_WRITE};
static const ref_use_t use_dispatch = {IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE_READ, IREE_HAL_MEMORY_ACCESS_READ};
static const ref_use_t use_send = {IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE_READ, IREE_HAL_MEMORY_ACCESS_READ};
static const ref_use_t use_recv = {IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE_WRITE, IREE_HAL_MEMORY_ACCESS_WRITE};
static const ref_use_t use_parameters = {IREE_HAL_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS,
                                         IREE_HAL_MEMORY_ACCESS_READ};

static iree_status_t check_indirect(iree_hal_command_buffer_t* command_buffer, const iree_hal_buffer_ref_t* ref,
                                    ref_use_t use) {
  if (ref->buffer_slot >= command_buffer->binding_capacity) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "binding slot %u is above the capacity of %u",
                            (unsigned)ref->buffer_slot, command_buffer->binding_capacity);
  }
  command_buffer->binding_count = iree_max(command_buffer->binding_count, ref->buffer_slot + 1u);
  if (!command_buffer->slots) return iree_ok_status();
  iree_device_size_t end = ref->offset;
  if (ref->length != IREE_HAL_WHOLE_BUFFER && !iree_device_size_checked_add(ref->offset, ref->length, &end)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "range of binding slot %u is too large",
                            (unsigned)ref->buffer_slot);
  }
  iree_hal_command_buffer_slot_t* slot = &command_buffer->slots[ref->buffer_slot];
  slot->is_used = true;
  slot->usage |= use.usage;
  slot->access |= use.access;
  slot->min_length = iree_max(slot->min_length, end);
  return iree_ok_status();
}

// Checks a reference and resolves WHOLE_BUFFER where the buffer is known.
static iree_status_t check_ref(iree_hal_command_buffer_t* command_buffer, iree_hal_buffer_ref_t* ref, ref_use_t use) {
  if (!ref->buffer) return check_indirect(command_buffer, ref, use);
  if (is_validated(command_buffer)) {
    IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_usage(iree_hal_buffer_allowed_usage(ref->buffer), use.usage));
    IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_access(iree_hal_buffer_allowed_access(ref->buffer), use.access));
  } else if (ref->length != IREE_HAL_WHOLE_BUFFER) {
    return iree_ok_status();
  }
  return iree_hal_buffer_calculate_range(0, iree_hal_buffer_byte_length(ref->buffer), ref->offset, ref->length,
                                         &ref->offset, &ref->length);
}

iree_status_t iree_hal_command_buffer_validate_submission(iree_hal_command_buffer_t* command_buffer,
                                                          iree_hal_buffer_binding_table_t binding_table) {
  if (command_buffer->recording != IREE_HAL_RECORDING_DONE) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "command buffer has not been finished");
  }
  if (command_buffer->binding_count > binding_table.count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "command buffer needs %u bindings, the binding table has %" PRIhsz,
                            command_buffer->binding_count, binding_table.count);
  }
  if (!command_buffer->slots) return iree_ok_status();
  for (uint32_t i = 0; i < command_buffer->binding_count; ++i) {
    const iree_hal_command_buffer_slot_t* slot = &command_buffer->slots[i];
    if (!slot->is_used) continue;
    iree_hal_buffer_ref_t resolved;
    iree_status_t status = iree_hal_buffer_binding_table_resolve_ref(
        binding_table, iree_hal_make_indirect_buffer_ref(i, 0, slot->min_length), &resolved);
    if (iree_status_is_ok(status)) {
      status = iree_hal_buffer_validate_usage(iree_hal_buffer_allowed_usage(resolved.buffer), slot->usage);
    }
    if (iree_status_is_ok(status)) {
      status = iree_hal_buffer_validate_access(iree_hal_buffer_allowed_access(resolved.buffer), slot->access);
    }
    if (!iree_status_is_ok(status)) return iree_status_annotate_f(status, "binding table slot %u", i);
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Recording
//===----------------------------------------------------------------------------------------------------------------===

#define RECORD(command_buffer, method) HAL_CALL(command_buffer, iree_hal_command_buffer, method)
// For methods that a driver may leave out.
#define RECORD_IF(command_buffer, method, ...) \
  (RECORD(command_buffer, method) ? RECORD(command_buffer, method)(__VA_ARGS__) : iree_ok_status())

iree_status_t iree_hal_command_buffer_begin(iree_hal_command_buffer_t* command_buffer) {
  if (command_buffer->recording != IREE_HAL_RECORDING_NEW) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "command buffer has been recorded already");
  }
  command_buffer->recording = IREE_HAL_RECORDING_OPEN;
  return RECORD_IF(command_buffer, begin, command_buffer);
}

iree_status_t iree_hal_command_buffer_end(iree_hal_command_buffer_t* command_buffer) {
  TRACE_SCOPE("command_buffer_end");
  IREE_RETURN_IF_ERROR(check_recording(command_buffer, 0));
  if (command_buffer->debug_group_depth) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "%u debug groups are still open",
                            command_buffer->debug_group_depth);
  }
  IREE_RETURN_IF_ERROR(RECORD(command_buffer, end)(command_buffer));
  command_buffer->recording = IREE_HAL_RECORDING_DONE;
  return iree_ok_status();
}

bool iree_hal_command_buffer_can_revise(const iree_hal_command_buffer_t* command_buffer) {
  return (command_buffer->mode & IREE_HAL_COMMAND_BUFFER_MODE_REVISABLE) && RECORD(command_buffer, begin_revision) &&
         command_buffer->recording == IREE_HAL_RECORDING_DONE &&
         iree_atomic_ref_count_load(&command_buffer->resource.ref_count) == 1;
}

iree_status_t iree_hal_command_buffer_begin_revision(iree_hal_command_buffer_t* command_buffer) {
  if (!iree_hal_command_buffer_can_revise(command_buffer)) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "the command buffer cannot be revised, or not while it is used");
  }
  command_buffer->recording = IREE_HAL_RECORDING_OPEN;
  for (uint32_t i = 0; command_buffer->slots && i < command_buffer->binding_count; ++i) {
    command_buffer->slots[i].min_length = 0;
  }
  return RECORD(command_buffer, begin_revision)(command_buffer);
}

iree_status_t iree_hal_command_buffer_keep(iree_hal_command_buffer_t* command_buffer, iree_host_size_t count) {
  IREE_RETURN_IF_ERROR(check_recording(command_buffer, 0));
  if (!RECORD(command_buffer, keep)) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "the command buffer cannot be revised");
  }
  return RECORD(command_buffer, keep)(command_buffer, count);
}

iree_status_t iree_hal_command_buffer_begin_debug_group(iree_hal_command_buffer_t* command_buffer,
                                                        iree_string_view_t label, iree_hal_label_color_t label_color,
                                                        const iree_hal_label_location_t* location) {
  IREE_RETURN_IF_ERROR(check_recording(command_buffer, 0));
  ++command_buffer->debug_group_depth;
  return RECORD_IF(command_buffer, begin_debug_group, command_buffer, label, label_color, location);
}

iree_status_t iree_hal_command_buffer_end_debug_group(iree_hal_command_buffer_t* command_buffer) {
  IREE_RETURN_IF_ERROR(check_recording(command_buffer, 0));
  if (!command_buffer->debug_group_depth) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "no debug group is open");
  }
  --command_buffer->debug_group_depth;
  return RECORD_IF(command_buffer, end_debug_group, command_buffer);
}

iree_status_t iree_hal_command_buffer_execution_barrier(
    iree_hal_command_buffer_t* command_buffer, iree_hal_execution_stage_t source_stage_mask,
    iree_hal_execution_stage_t target_stage_mask, iree_hal_execution_barrier_flags_t flags,
    iree_host_size_t memory_barrier_count, const iree_hal_memory_barrier_t* memory_barriers,
    iree_host_size_t buffer_barrier_count, const iree_hal_buffer_barrier_t* buffer_barriers) {
  IREE_RETURN_IF_ERROR(check_recording(command_buffer, 0));
  if (flags) return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "barrier flags 0x%" PRIX64 " are not known", flags);
  return RECORD(command_buffer, barrier)(command_buffer, source_stage_mask, target_stage_mask);
}

static iree_status_t check_event(iree_hal_command_buffer_t* command_buffer, const iree_hal_event_t* event) {
  IREE_RETURN_IF_ERROR(check_recording(command_buffer, 0));
  return event ? iree_ok_status() : iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no event given");
}

iree_status_t iree_hal_command_buffer_signal_event(iree_hal_command_buffer_t* command_buffer, iree_hal_event_t* event,
                                                   iree_hal_execution_stage_t source_stage_mask) {
  return check_event(command_buffer, event);
}

iree_status_t iree_hal_command_buffer_reset_event(iree_hal_command_buffer_t* command_buffer, iree_hal_event_t* event,
                                                  iree_hal_execution_stage_t source_stage_mask) {
  return check_event(command_buffer, event);
}

iree_status_t iree_hal_command_buffer_wait_events(
    iree_hal_command_buffer_t* command_buffer, iree_host_size_t event_count, const iree_hal_event_t** events,
    iree_hal_execution_stage_t source_stage_mask, iree_hal_execution_stage_t target_stage_mask,
    iree_host_size_t memory_barrier_count, const iree_hal_memory_barrier_t* memory_barriers,
    iree_host_size_t buffer_barrier_count, const iree_hal_buffer_barrier_t* buffer_barriers) {
  for (iree_host_size_t i = 0; i < event_count; ++i) IREE_RETURN_IF_ERROR(check_event(command_buffer, events[i]));
  return iree_hal_command_buffer_execution_barrier(command_buffer, source_stage_mask, target_stage_mask,
                                                   IREE_HAL_EXECUTION_BARRIER_FLAG_NONE, memory_barrier_count,
                                                   memory_barriers, buffer_barrier_count, buffer_barriers);
}

iree_status_t iree_hal_command_buffer_advise_buffer(iree_hal_command_buffer_t* command_buffer,
                                                    iree_hal_buffer_ref_t buffer_ref,
                                                    iree_hal_memory_advise_flags_t flags, uint64_t arg0,
                                                    uint64_t arg1) {
  IREE_RETURN_IF_ERROR(check_recording(command_buffer, 0));
  return RECORD_IF(command_buffer, advise_buffer, command_buffer, buffer_ref, flags, arg0, arg1);
}

iree_status_t iree_hal_command_buffer_fill_buffer(iree_hal_command_buffer_t* command_buffer,
                                                  iree_hal_buffer_ref_t target_ref, const void* pattern,
                                                  iree_host_size_t pattern_length, iree_hal_fill_flags_t flags) {
  IREE_RETURN_IF_ERROR(check_recording(command_buffer, IREE_HAL_COMMAND_CATEGORY_TRANSFER));
  IREE_RETURN_IF_ERROR(check_ref(command_buffer, &target_ref, use_transfer_target));
  iree_device_size_t length = target_ref.length == IREE_HAL_WHOLE_BUFFER ? 0 : target_ref.length;
  IREE_RETURN_IF_ERROR(hal_pattern_check(pattern_length, target_ref.offset, length));
  return RECORD(command_buffer, fill_buffer)(command_buffer, target_ref, pattern, pattern_length, flags);
}

static iree_status_t check_update_length(iree_device_size_t length) {
  if (length <= IREE_HAL_COMMAND_BUFFER_MAX_UPDATE_SIZE) return iree_ok_status();
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "update of %" PRIdsz " bytes is above the maximum of %" PRIdsz,
                          length, IREE_HAL_COMMAND_BUFFER_MAX_UPDATE_SIZE);
}

iree_status_t iree_hal_command_buffer_update_buffer(iree_hal_command_buffer_t* command_buffer,
                                                    const void* source_buffer, iree_host_size_t source_offset,
                                                    iree_hal_buffer_ref_t target_ref, iree_hal_update_flags_t flags) {
  IREE_RETURN_IF_ERROR(check_recording(command_buffer, IREE_HAL_COMMAND_CATEGORY_TRANSFER));
  // Before the reference, which the slot of a table would remember.
  if (target_ref.length != IREE_HAL_WHOLE_BUFFER) IREE_RETURN_IF_ERROR(check_update_length(target_ref.length));
  IREE_RETURN_IF_ERROR(check_ref(command_buffer, &target_ref, use_transfer_target));
  IREE_RETURN_IF_ERROR(check_update_length(target_ref.length));
  return RECORD(command_buffer, update_buffer)(command_buffer, source_buffer, source_offset, target_ref, flags);
}

iree_status_t iree_hal_command_buffer_copy_buffer(iree_hal_command_buffer_t* command_buffer,
                                                  iree_hal_buffer_ref_t source_ref, iree_hal_buffer_ref_t target_ref,
                                                  iree_hal_copy_flags_t flags) {
  IREE_RETURN_IF_ERROR(check_recording(command_buffer, IREE_HAL_COMMAND_CATEGORY_TRANSFER));
  // One length for both ends: whichever says one.
  if (target_ref.length == IREE_HAL_WHOLE_BUFFER) target_ref.length = source_ref.length;
  if (target_ref.length == IREE_HAL_WHOLE_BUFFER) {
    IREE_RETURN_IF_ERROR(check_ref(command_buffer, &target_ref, use_transfer_target));
  }
  if (source_ref.length == IREE_HAL_WHOLE_BUFFER) source_ref.length = target_ref.length;
  IREE_RETURN_IF_ERROR(check_ref(command_buffer, &source_ref, use_transfer_source));
  if (target_ref.length == IREE_HAL_WHOLE_BUFFER) target_ref.length = source_ref.length;
  IREE_RETURN_IF_ERROR(check_ref(command_buffer, &target_ref, use_transfer_target));
  if (source_ref.length != target_ref.length) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "copy source of %" PRIdsz " bytes does not match the target's %" PRIdsz, source_ref.length,
                            target_ref.length);
  }
  if (is_validated(command_buffer) && source_ref.buffer && target_ref.buffer &&
      iree_hal_buffer_test_overlap(source_ref.buffer, source_ref.offset, source_ref.length, target_ref.buffer,
                                   target_ref.offset, target_ref.length) != IREE_HAL_BUFFER_OVERLAP_DISJOINT) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "source and target ranges overlap within the same buffer");
  }
  return RECORD(command_buffer, copy_buffer)(command_buffer, source_ref, target_ref, flags);
}

iree_status_t iree_hal_command_buffer_collective(iree_hal_command_buffer_t* command_buffer, iree_hal_channel_t* channel,
                                                 iree_hal_collective_op_t op, uint32_t param,
                                                 iree_hal_buffer_ref_t send_ref, iree_hal_buffer_ref_t recv_ref,
                                                 iree_device_size_t element_count) {
  IREE_RETURN_IF_ERROR(check_recording(command_buffer, IREE_HAL_COMMAND_CATEGORY_DISPATCH));
  if (!RECORD(command_buffer, collective)) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "command buffers of this device have no collectives");
  }
  hal_collective_t collective = {channel, op, param, element_count, send_ref, recv_ref};
  IREE_RETURN_IF_ERROR(hal_collective_check(&collective));
  if (collective.send.length) IREE_RETURN_IF_ERROR(check_ref(command_buffer, &collective.send, use_send));
  if (collective.recv.length) IREE_RETURN_IF_ERROR(check_ref(command_buffer, &collective.recv, use_recv));
  return RECORD(command_buffer, collective)(command_buffer, channel, op, param, collective.send, collective.recv,
                                            element_count);
}

//===----------------------------------------------------------------------------------------------------------------===
// Dispatch
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t hal_dispatch_check(iree_hal_executable_t* executable, iree_hal_executable_function_t function,
                                 const iree_hal_dispatch_config_t* config, iree_const_byte_span_t constants,
                                 iree_host_size_t binding_count, iree_hal_dispatch_flags_t flags) {
  if (!executable) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no executable given");
  iree_hal_executable_function_info_t info;
  IREE_RETURN_IF_ERROR(iree_hal_executable_function_info(executable, function, &info));
  if (iree_hal_dispatch_uses_custom_arguments(flags)) {
    if (binding_count <= UINT8_MAX) return iree_ok_status();
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "%" PRIhsz " bindings are too many", binding_count);
  }
  if (constants.data_length != info.constant_count * sizeof(uint32_t)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "function '%.*s' expects %d constants of 4 bytes, got %" PRIhsz " bytes",
                            (int)info.name.size, info.name.data, info.constant_count, constants.data_length);
  }
  if (binding_count != info.binding_count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "function '%.*s' expects %d bindings, got %" PRIhsz,
                            (int)info.name.size, info.name.data, info.binding_count, binding_count);
  }
  if (iree_hal_dispatch_uses_indirect_parameters(flags) && config->workgroup_count_ref.offset % sizeof(uint32_t)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the workgroup count's offset is not a multiple of 4");
  }
  return iree_ok_status();
}

iree_status_t iree_hal_command_buffer_dispatch(
    iree_hal_command_buffer_t* command_buffer, iree_hal_executable_t* executable,
    iree_hal_executable_function_t function, const iree_hal_dispatch_config_t config, iree_const_byte_span_t constants,
    const iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags) {
  IREE_RETURN_IF_ERROR(check_recording(command_buffer, IREE_HAL_COMMAND_CATEGORY_DISPATCH));
  IREE_RETURN_IF_ERROR(hal_dispatch_check(executable, function, &config, constants, bindings.count, flags));
  iree_hal_dispatch_config_t resolved_config = config;
  if (iree_hal_dispatch_uses_indirect_parameters(flags)) {
    resolved_config.workgroup_count_ref.length = 3 * sizeof(uint32_t);
    IREE_RETURN_IF_ERROR(check_ref(command_buffer, &resolved_config.workgroup_count_ref, use_parameters));
  }
  enum { INLINE_REFS = 64 };
  iree_hal_buffer_ref_t inline_refs[INLINE_REFS], *refs = inline_refs;
  if (bindings.count > INLINE_REFS) {
    IREE_RETURN_IF_ERROR(iree_allocator_malloc_array_uninitialized(iree_allocator_system(), bindings.count,
                                                                   sizeof(*refs), (void**)&refs));
  }
  iree_status_t status = iree_ok_status();
  for (iree_host_size_t i = 0; i < bindings.count && iree_status_is_ok(status); ++i) {
    refs[i] = bindings.values[i];
    status = check_ref(command_buffer, &refs[i], use_dispatch);
    if (!iree_status_is_ok(status)) status = iree_status_annotate_f(status, "binding %" PRIhsz, i);
  }
  if (iree_status_is_ok(status)) {
    status = RECORD(command_buffer, dispatch)(command_buffer, executable, function, &resolved_config, constants,
                                              (iree_hal_buffer_ref_list_t){bindings.count, refs}, flags);
  }
  if (refs != inline_refs) iree_allocator_free(iree_allocator_system(), refs);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Transfers
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t record_update(iree_hal_command_buffer_t* command_buffer,
                                   const iree_hal_transfer_command_t* command) {
  for (iree_device_size_t done = 0; done < command->update.length;) {
    iree_device_size_t length = iree_min(command->update.length - done, IREE_HAL_COMMAND_BUFFER_MAX_UPDATE_SIZE);
    IREE_RETURN_IF_ERROR(iree_hal_command_buffer_update_buffer(
        command_buffer, command->update.source_buffer, command->update.source_offset + done,
        iree_hal_make_buffer_ref(command->update.target_buffer, command->update.target_offset + done, length),
        IREE_HAL_UPDATE_FLAG_NONE));
    done += length;
  }
  return iree_ok_status();
}

static iree_status_t record_transfer(iree_hal_command_buffer_t* command_buffer,
                                     const iree_hal_transfer_command_t* command) {
  switch (command->type) {
    case IREE_HAL_TRANSFER_COMMAND_TYPE_FILL:
      return iree_hal_command_buffer_fill_buffer(
          command_buffer,
          iree_hal_make_buffer_ref(command->fill.target_buffer, command->fill.target_offset, command->fill.length),
          command->fill.pattern, command->fill.pattern_length, IREE_HAL_FILL_FLAG_NONE);
    case IREE_HAL_TRANSFER_COMMAND_TYPE_UPDATE:
      return record_update(command_buffer, command);
    case IREE_HAL_TRANSFER_COMMAND_TYPE_COPY:
      return iree_hal_command_buffer_copy_buffer(
          command_buffer,
          iree_hal_make_buffer_ref(command->copy.source_buffer, command->copy.source_offset, command->copy.length),
          iree_hal_make_buffer_ref(command->copy.target_buffer, command->copy.target_offset, command->copy.length),
          IREE_HAL_COPY_FLAG_NONE);
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "transfer command type %d", (int)command->type);
}

static iree_status_t record_transfers(iree_hal_command_buffer_t* command_buffer, iree_host_size_t count,
                                      const iree_hal_transfer_command_t* commands) {
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_begin(command_buffer));
  for (iree_host_size_t i = 0; i < count; ++i) {
    IREE_RETURN_IF_ERROR(record_transfer(command_buffer, &commands[i]));
  }
  return iree_hal_command_buffer_end(command_buffer);
}

iree_status_t iree_hal_create_transfer_command_buffer(iree_hal_device_t* device, iree_hal_command_buffer_mode_t mode,
                                                      iree_hal_queue_affinity_t queue_affinity,
                                                      iree_host_size_t transfer_count,
                                                      const iree_hal_transfer_command_t* transfer_commands,
                                                      iree_hal_command_buffer_t** out_command_buffer) {
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_create(device, mode, IREE_HAL_COMMAND_CATEGORY_TRANSFER, queue_affinity,
                                                      0, out_command_buffer));
  iree_status_t status = record_transfers(*out_command_buffer, transfer_count, transfer_commands);
  if (!iree_status_is_ok(status)) {
    iree_hal_command_buffer_release(*out_command_buffer);
    *out_command_buffer = NULL;
  }
  return status;
}
