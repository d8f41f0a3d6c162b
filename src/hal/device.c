// Devices: the public calls. Those that only pass on come from device_calls.def; those that are CHECKED there validate
// their arguments here, so that drivers need not.
#include "iree/hal/device.h"

#include "base/trace.h"
#include "hal/detail.h"
#include "hal/recording.h"

HAL_DEFINE_LIFETIME(device)

#define CALL(result, name, parameters, arguments) \
  result iree_hal_device_##name parameters { return HAL_CALL(device, iree_hal_device, name) arguments; }

#define CHECKED(result, name, parameters, arguments)
#include "iree/hal/device_calls.def"
#undef CALL
#undef CHECKED

iree_status_t iree_hal_semaphore_create(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                        uint64_t initial_value, iree_hal_semaphore_flags_t flags,
                                        iree_hal_semaphore_t** out_semaphore) {
  *out_semaphore = NULL;
  if (initial_value > IREE_HAL_SEMAPHORE_MAX_VALUE) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "initial semaphore value %" PRIu64 " is above the maximum",
                            initial_value);
  }
  return HAL_CALL(device, iree_hal_device, create_semaphore)(device, queue_affinity, initial_value, flags,
                                                             out_semaphore);
}

iree_status_t iree_hal_device_profiling_begin(iree_hal_device_t* device,
                                              const iree_hal_device_profiling_options_t* options) {
  if (!options->data_families && !options->flags) return iree_ok_status();
  if (!options->sink) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "device profiling needs a sink");
  const iree_hal_device_profiling_data_families_t counters =
      IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES | IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES;
  if (options->data_families & counters && !options->counter_set_count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "counter profiling requires at least one counter set selection");
  }
  return HAL_CALL(device, iree_hal_device, profiling_begin)(device, options);
}

iree_status_t iree_hal_device_external_capture_begin(iree_hal_device_t* device,
                                                     const iree_hal_device_external_capture_options_t* options) {
  if (!options || iree_string_view_is_empty(options->provider)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "an external capture needs the name of its provider");
  }
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                          "the device has no external captures, by '%.*s' or others; iree_hal_device_profiling_begin "
                          "takes profiles",
                          (int)options->provider.size, options->provider.data);
}

iree_status_t iree_hal_device_external_capture_end(iree_hal_device_t* device) {
  return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "no external capture is taken");
}

// Resolves WHOLE_BUFFER and checks range, usage and access.
static iree_status_t check_range(iree_hal_buffer_t* buffer, iree_device_size_t offset, iree_device_size_t* length,
                                 iree_hal_buffer_usage_t usage, iree_hal_memory_access_t access) {
  if (!buffer) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no buffer given");
  iree_device_size_t adjusted = 0;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_usage(buffer->allowed_usage, usage));
  IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_access(buffer->allowed_access, access));
  return iree_hal_buffer_calculate_range(0, buffer->byte_length, offset, *length, &adjusted, length);
}

// Whether there are no flags but `known`.
static iree_status_t check_flags(uint64_t flags, uint64_t known) {
  if (!(flags & ~known)) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "flags 0x%" PRIX64 " are not known", flags & ~known);
}

static iree_status_t check_source(iree_hal_buffer_t* buffer, iree_device_size_t offset, iree_device_size_t* length) {
  return check_range(buffer, offset, length, IREE_HAL_BUFFER_USAGE_TRANSFER_SOURCE, IREE_HAL_MEMORY_ACCESS_READ);
}
static iree_status_t check_target(iree_hal_buffer_t* buffer, iree_device_size_t offset, iree_device_size_t* length) {
  return check_range(buffer, offset, length, IREE_HAL_BUFFER_USAGE_TRANSFER_TARGET, IREE_HAL_MEMORY_ACCESS_WRITE);
}

iree_status_t iree_hal_device_queue_alloca(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                           const iree_hal_semaphore_list_t wait_semaphore_list,
                                           const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_pool_t* pool,
                                           iree_hal_buffer_params_t params, iree_device_size_t allocation_size,
                                           iree_hal_alloca_flags_t flags, iree_hal_buffer_t** out_buffer) {
  TRACE_SCOPE("queue_alloca");
  *out_buffer = NULL;
  IREE_RETURN_IF_ERROR(
      check_flags(flags, IREE_HAL_ALLOCA_FLAG_INDETERMINATE_LIFETIME | IREE_HAL_ALLOCA_FLAG_ALLOW_POOL_WAIT_FRONTIER));
  iree_hal_buffer_params_canonicalize(&params);
  if (pool) {
    // Its memory is there at once: the operation only orders.
    params.queue_affinity = queue_affinity;
    IREE_RETURN_IF_ERROR(
        iree_hal_pool_allocate_buffer(pool, params, allocation_size, NULL, iree_immediate_timeout(), out_buffer));
    iree_status_t status = iree_hal_device_queue_barrier(device, queue_affinity, wait_semaphore_list,
                                                         signal_semaphore_list, IREE_HAL_EXECUTE_FLAG_NONE);
    if (iree_status_is_ok(status)) return status;
    iree_hal_buffer_release(*out_buffer);
    *out_buffer = NULL;
    return status;
  }
  return HAL_CALL(device, iree_hal_device, queue_alloca)(device, queue_affinity, wait_semaphore_list,
                                                         signal_semaphore_list, pool, params, allocation_size, flags,
                                                         out_buffer);
}

iree_status_t iree_hal_device_queue_dealloca(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                             const iree_hal_semaphore_list_t wait_semaphore_list,
                                             const iree_hal_semaphore_list_t signal_semaphore_list,
                                             iree_hal_buffer_t* buffer, iree_hal_dealloca_flags_t flags) {
  TRACE_SCOPE("queue_dealloca");
  if (!buffer) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no buffer given");
  IREE_RETURN_IF_ERROR(check_flags(flags, IREE_HAL_DEALLOCA_FLAG_PREFER_ORIGIN));
  iree_hal_buffer_placement_t placement = iree_hal_buffer_allocation_placement(buffer);
  if (flags & IREE_HAL_DEALLOCA_FLAG_PREFER_ORIGIN && placement.device == device) {
    queue_affinity = placement.queue_affinity;
  }
  return HAL_CALL(device, iree_hal_device, queue_dealloca)(device, queue_affinity, wait_semaphore_list,
                                                           signal_semaphore_list, buffer, flags);
}

iree_status_t iree_hal_device_queue_fill(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                         const iree_hal_semaphore_list_t wait_semaphore_list,
                                         const iree_hal_semaphore_list_t signal_semaphore_list,
                                         iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset,
                                         iree_device_size_t length, const void* pattern,
                                         iree_host_size_t pattern_length, iree_hal_fill_flags_t flags) {
  TRACE_SCOPE("queue_fill");
  IREE_RETURN_IF_ERROR(check_target(target_buffer, target_offset, &length));
  IREE_RETURN_IF_ERROR(hal_pattern_check(pattern_length, target_offset, length));
  return HAL_CALL(device, iree_hal_device, queue_fill)(device, queue_affinity, wait_semaphore_list,
                                                       signal_semaphore_list, target_buffer, target_offset, length,
                                                       pattern, pattern_length, flags);
}

iree_status_t iree_hal_device_queue_update(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                           const iree_hal_semaphore_list_t wait_semaphore_list,
                                           const iree_hal_semaphore_list_t signal_semaphore_list,
                                           const void* source_buffer, iree_host_size_t source_offset,
                                           iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset,
                                           iree_device_size_t length, iree_hal_update_flags_t flags) {
  TRACE_SCOPE("queue_update");
  if (length == IREE_HAL_WHOLE_BUFFER) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "updates need a length: the source has none of its own");
  }
  IREE_RETURN_IF_ERROR(check_target(target_buffer, target_offset, &length));
  return HAL_CALL(device, iree_hal_device, queue_update)(device, queue_affinity, wait_semaphore_list,
                                                         signal_semaphore_list, source_buffer, source_offset,
                                                         target_buffer, target_offset, length, flags);
}

iree_status_t iree_hal_device_queue_copy(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                         const iree_hal_semaphore_list_t wait_semaphore_list,
                                         const iree_hal_semaphore_list_t signal_semaphore_list,
                                         iree_hal_buffer_t* source_buffer, iree_device_size_t source_offset,
                                         iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset,
                                         iree_device_size_t length, iree_hal_copy_flags_t flags) {
  TRACE_SCOPE("queue_copy");
  IREE_RETURN_IF_ERROR(check_source(source_buffer, source_offset, &length));
  IREE_RETURN_IF_ERROR(check_target(target_buffer, target_offset, &length));
  if (iree_hal_buffer_test_overlap(source_buffer, source_offset, length, target_buffer, target_offset, length) !=
      IREE_HAL_BUFFER_OVERLAP_DISJOINT) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "source and target ranges overlap within the same buffer");
  }
  return HAL_CALL(device, iree_hal_device, queue_copy)(device, queue_affinity, wait_semaphore_list,
                                                       signal_semaphore_list, source_buffer, source_offset,
                                                       target_buffer, target_offset, length, flags);
}

iree_status_t iree_hal_device_queue_read(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                         const iree_hal_semaphore_list_t wait_semaphore_list,
                                         const iree_hal_semaphore_list_t signal_semaphore_list,
                                         iree_hal_file_t* source_file, uint64_t source_offset,
                                         iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset,
                                         iree_device_size_t length, iree_hal_read_flags_t flags) {
  TRACE_SCOPE("queue_read");
  IREE_RETURN_IF_ERROR(check_flags(flags, IREE_HAL_READ_FLAG_NONE));
  IREE_RETURN_IF_ERROR(iree_hal_file_validate_access(source_file, IREE_HAL_MEMORY_ACCESS_READ));
  IREE_RETURN_IF_ERROR(check_target(target_buffer, target_offset, &length));
  return HAL_CALL(device, iree_hal_device, queue_read)(device, queue_affinity, wait_semaphore_list,
                                                       signal_semaphore_list, source_file, source_offset, target_buffer,
                                                       target_offset, length, flags);
}

iree_status_t iree_hal_device_queue_write(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                          const iree_hal_semaphore_list_t wait_semaphore_list,
                                          const iree_hal_semaphore_list_t signal_semaphore_list,
                                          iree_hal_buffer_t* source_buffer, iree_device_size_t source_offset,
                                          iree_hal_file_t* target_file, uint64_t target_offset,
                                          iree_device_size_t length, iree_hal_write_flags_t flags) {
  TRACE_SCOPE("queue_write");
  IREE_RETURN_IF_ERROR(check_flags(flags, IREE_HAL_WRITE_FLAG_NONE));
  IREE_RETURN_IF_ERROR(iree_hal_file_validate_access(target_file, IREE_HAL_MEMORY_ACCESS_WRITE));
  IREE_RETURN_IF_ERROR(check_source(source_buffer, source_offset, &length));
  return HAL_CALL(device, iree_hal_device, queue_write)(device, queue_affinity, wait_semaphore_list,
                                                        signal_semaphore_list, source_buffer, source_offset,
                                                        target_file, target_offset, length, flags);
}

iree_status_t iree_hal_device_queue_host_call(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                              const iree_hal_semaphore_list_t wait_semaphore_list,
                                              const iree_hal_semaphore_list_t signal_semaphore_list,
                                              iree_hal_host_call_t call, const uint64_t args[4],
                                              iree_hal_host_call_flags_t flags) {
  TRACE_SCOPE("queue_host_call");
  static const uint64_t no_args[4] = {0};
  if (!call.fn) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no function to call");
  IREE_RETURN_IF_ERROR(check_flags(flags, IREE_HAL_HOST_CALL_FLAG_NON_BLOCKING | IREE_HAL_HOST_CALL_FLAG_WAIT_ACTIVE |
                                              IREE_HAL_HOST_CALL_FLAG_RELAXED));
  return HAL_CALL(device, iree_hal_device, queue_host_call)(device, queue_affinity, wait_semaphore_list,
                                                            signal_semaphore_list, call, args ? args : no_args, flags);
}

iree_status_t iree_hal_device_queue_dispatch(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                             const iree_hal_semaphore_list_t wait_semaphore_list,
                                             const iree_hal_semaphore_list_t signal_semaphore_list,
                                             iree_hal_executable_t* executable, iree_hal_executable_function_t function,
                                             const iree_hal_dispatch_config_t config, iree_const_byte_span_t constants,
                                             const iree_hal_buffer_ref_list_t bindings,
                                             iree_hal_dispatch_flags_t flags) {
  TRACE_SCOPE("queue_dispatch");
  if (!executable) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no executable given");
  return HAL_CALL(device, iree_hal_device, queue_dispatch)(device, queue_affinity, wait_semaphore_list,
                                                           signal_semaphore_list, executable, function, config,
                                                           constants, bindings, flags);
}

iree_status_t iree_hal_device_queue_execute(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                            const iree_hal_semaphore_list_t wait_semaphore_list,
                                            const iree_hal_semaphore_list_t signal_semaphore_list,
                                            iree_hal_command_buffer_t* command_buffer,
                                            iree_hal_buffer_binding_table_t binding_table,
                                            iree_hal_execute_flags_t flags) {
  TRACE_SCOPE("queue_execute");
  IREE_RETURN_IF_ERROR(check_flags(flags, IREE_HAL_EXECUTE_FLAG_BORROW_BINDING_TABLE_LIFETIME));
  if (command_buffer) {
    IREE_RETURN_IF_ERROR(iree_hal_command_buffer_validate_submission(command_buffer, binding_table));
    const hal_collectives_t* collectives = hal_recorded_collectives(command_buffer);
    if (collectives) {
      hal_execution_t execution = {
          device, queue_affinity, wait_semaphore_list, signal_semaphore_list, command_buffer, binding_table, flags};
      return hal_collectives_execute(&execution, collectives);
    }
  }
  return HAL_CALL(device, iree_hal_device, queue_execute)(device, queue_affinity, wait_semaphore_list,
                                                          signal_semaphore_list, command_buffer, binding_table, flags);
}

iree_status_t iree_hal_device_queue_barrier(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                            const iree_hal_semaphore_list_t wait_semaphore_list,
                                            const iree_hal_semaphore_list_t signal_semaphore_list,
                                            iree_hal_execute_flags_t flags) {
  TRACE_SCOPE("queue_barrier");
  return iree_hal_device_queue_execute(device, queue_affinity, wait_semaphore_list, signal_semaphore_list, NULL,
                                       iree_hal_buffer_binding_table_empty(), flags);
}

iree_status_t iree_hal_device_wait_semaphores(iree_hal_device_t* device, iree_async_wait_mode_t wait_mode,
                                              const iree_hal_semaphore_list_t semaphore_list, iree_timeout_t timeout,
                                              iree_async_wait_flags_t flags) {
  return wait_mode == IREE_ASYNC_WAIT_MODE_ANY ? iree_hal_semaphore_list_wait_any(semaphore_list, timeout, flags)
                                               : iree_hal_semaphore_list_wait(semaphore_list, timeout, flags);
}

iree_status_t iree_hal_device_refine_topology_edge(iree_hal_device_t* src_device, iree_hal_device_t* dst_device,
                                                   iree_hal_topology_edge_t* edge) {
  return HAL_CALL(src_device, iree_hal_device, refine_topology_edge)(src_device, dst_device, edge);
}

//===----------------------------------------------------------------------------------------------------------------===
// Lists
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t iree_hal_device_list_allocate(iree_host_size_t capacity, iree_allocator_t host_allocator,
                                            iree_hal_device_list_t** out_list) {
  *out_list = NULL;
  iree_hal_device_list_t* list = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(host_allocator, sizeof(*list), capacity,
                                                          sizeof(list->devices[0]), (void**)&list));
  list->host_allocator = host_allocator;
  list->capacity = capacity;
  *out_list = list;
  return iree_ok_status();
}

void iree_hal_device_list_free(iree_hal_device_list_t* list) {
  if (!list) return;
  for (iree_host_size_t i = 0; i < list->count; ++i) iree_hal_device_release(list->devices[i]);
  iree_allocator_free(list->host_allocator, list);
}

iree_status_t iree_hal_device_list_push_back(iree_hal_device_list_t* list, iree_hal_device_t* device) {
  if (list->count == list->capacity) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "the list has its %" PRIhsz " devices", list->capacity);
  }
  iree_hal_device_retain(device);
  list->devices[list->count++] = device;
  return iree_ok_status();
}

iree_hal_device_t* iree_hal_device_list_at(const iree_hal_device_list_t* list, iree_host_size_t i) {
  return i < list->count ? list->devices[i] : NULL;
}
