// The device, and its queue: an operation ends when its waits are over.
#include "hal/null/device.h"

#include "hal/detail.h"
#include "hal/local/device.h"
#include "hal/queued_device.h"
#include "hal/recording.h"
#include "iree/base/internal/cpu.h"

typedef struct null_device_t {
  hal_queued_device_t base;
  iree_host_size_t loader_count;
  iree_hal_executable_loader_t* loaders[];
} null_device_t;

static null_device_t* cast(iree_hal_device_t* base) { return (null_device_t*)base; }

//===----------------------------------------------------------------------------------------------------------------===
// Operations
//===----------------------------------------------------------------------------------------------------------------===

// Nothing is used, so nothing is kept alive.
static void visit_work(const hal_operation_t* op, hal_visit_resource_fn_t visit) {}

static iree_status_t submit(const hal_operation_t* op) {
  if (iree_hal_semaphore_list_poll(op->waits)) {
    hal_operation_signal(op, hal_operation_run(op));
    return iree_ok_status();
  }
  hal_operation_t* heap_op = NULL;
  IREE_RETURN_IF_ERROR(hal_operation_move(&(hal_operation_move_t){op, sizeof(*op), 0}, &heap_op, NULL));
  hal_operation_defer(heap_op);
  return iree_ok_status();
}

static void start(hal_operation_t* op) {
  iree_status_t failure = hal_operation_take_failure(op);
  hal_operation_finish(op, iree_status_is_ok(failure) ? hal_operation_run(op) : failure);
}

static const hal_operation_interface_t operation_interface = {
    .submit = submit,
    .start = start,
    .visit_work = visit_work,
};

static iree_status_t submit_work(iree_hal_device_t* device, iree_hal_semaphore_list_t waits,
                                 iree_hal_semaphore_list_t signals) {
  hal_operation_t op = {.kind = HAL_OPERATION_WORK, .waits = waits, .signals = signals};
  op.device = &cast(device)->base;
  return submit(&op);
}

static iree_status_t null_queue_fill(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                     const iree_hal_semaphore_list_t wait_semaphore_list,
                                     const iree_hal_semaphore_list_t signal_semaphore_list,
                                     iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset,
                                     iree_device_size_t length, const void* pattern, iree_host_size_t pattern_length,
                                     iree_hal_fill_flags_t flags) {
  return submit_work(device, wait_semaphore_list, signal_semaphore_list);
}

static iree_status_t null_queue_update(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                       const iree_hal_semaphore_list_t wait_semaphore_list,
                                       const iree_hal_semaphore_list_t signal_semaphore_list, const void* source_buffer,
                                       iree_host_size_t source_offset, iree_hal_buffer_t* target_buffer,
                                       iree_device_size_t target_offset, iree_device_size_t length,
                                       iree_hal_update_flags_t flags) {
  return submit_work(device, wait_semaphore_list, signal_semaphore_list);
}

static iree_status_t null_queue_copy(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                     const iree_hal_semaphore_list_t wait_semaphore_list,
                                     const iree_hal_semaphore_list_t signal_semaphore_list,
                                     iree_hal_buffer_t* source_buffer, iree_device_size_t source_offset,
                                     iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset,
                                     iree_device_size_t length, iree_hal_copy_flags_t flags) {
  return submit_work(device, wait_semaphore_list, signal_semaphore_list);
}

static iree_status_t null_queue_dispatch(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                         const iree_hal_semaphore_list_t wait_semaphore_list,
                                         const iree_hal_semaphore_list_t signal_semaphore_list,
                                         iree_hal_executable_t* executable, iree_hal_executable_function_t function,
                                         const iree_hal_dispatch_config_t config, iree_const_byte_span_t constants,
                                         const iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags) {
  IREE_RETURN_IF_ERROR(hal_dispatch_check(executable, function, &config, constants, bindings.count, flags));
  return submit_work(device, wait_semaphore_list, signal_semaphore_list);
}

//===----------------------------------------------------------------------------------------------------------------===
// Command buffers
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t check(void* lowered, const hal_dispatch_t* dispatch) { return iree_ok_status(); }
static iree_status_t lower(void* lowered, const hal_recording_t* recording) { return iree_ok_status(); }
static void forget(void* lowered) {}
static const hal_lowering_t lowering = {.check = check, .lower = lower, .reset = forget, .free = forget};

static iree_status_t null_create_command_buffer(iree_hal_device_t* device, iree_hal_command_buffer_mode_t mode,
                                                iree_hal_command_category_t categories,
                                                iree_hal_queue_affinity_t queue_affinity,
                                                iree_host_size_t binding_capacity,
                                                iree_hal_command_buffer_t** out_command_buffer) {
  hal_recorded_params_t params = {
      mode, categories, queue_affinity, binding_capacity, 0, NULL, cast(device)->base.host_allocator};
  return hal_recorded_create(&params, &lowering, (void*)&lowering, out_command_buffer);
}

static iree_status_t null_queue_execute(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                        const iree_hal_semaphore_list_t wait_semaphore_list,
                                        const iree_hal_semaphore_list_t signal_semaphore_list,
                                        iree_hal_command_buffer_t* command_buffer,
                                        iree_hal_buffer_binding_table_t binding_table, iree_hal_execute_flags_t flags) {
  if (command_buffer && !hal_recorded_lowered(command_buffer, &lowering)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the command buffer was not made by a device of 'null'");
  }
  return submit_work(device, wait_semaphore_list, signal_semaphore_list);
}

//===----------------------------------------------------------------------------------------------------------------===
// The device
//===----------------------------------------------------------------------------------------------------------------===

static void null_destroy(iree_hal_device_t* base) {
  null_device_t* device = cast(base);
  if (hal_queued_destroy_elsewhere(&device->base, null_destroy)) return;
  iree_allocator_t host_allocator = device->base.host_allocator;
  hal_queued_close(&device->base);
  for (iree_host_size_t i = 0; i < device->loader_count; ++i) iree_hal_executable_loader_release(device->loaders[i]);
  hal_queued_deinitialize(&device->base);
  iree_allocator_free(host_allocator, device);
}

static bool takes_format(hal_queued_device_t* base, iree_string_view_t format) {
  null_device_t* device = (null_device_t*)base;
  return iree_hal_query_any_executable_loader_support(device->loader_count, device->loaders, 0, format);
}

// No workgroup ever runs: that is how the device says that there are no results.
static iree_status_t null_query_i64(iree_hal_device_t* device, iree_string_view_t category, iree_string_view_t key,
                                    int64_t* out_value) {
  *out_value = 0;
  if (iree_string_view_equal(category, IREE_SV("hal.cpu"))) return iree_cpu_lookup_data_by_key(key, out_value);
  if (iree_string_view_equal(category, IREE_SV("hal.dispatch")) &&
      iree_string_view_equal(key, IREE_SV("concurrency"))) {
    return iree_ok_status();
  }
  hal_device_facts_t facts = {1, 0, takes_format};
  return hal_device_query_facts(&cast(device)->base, category, key, &facts, out_value);
}

static iree_status_t null_create_executable_cache(iree_hal_device_t* base, iree_string_view_t identifier,
                                                  iree_hal_executable_cache_t** out_executable_cache) {
  null_device_t* device = cast(base);
  return local_executable_cache_create(device->loader_count, device->loaders, 1, device->base.host_allocator,
                                       out_executable_cache);
}

static iree_status_t null_create_semaphore(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                           uint64_t initial_value, iree_hal_semaphore_flags_t flags,
                                           iree_hal_semaphore_t** out_semaphore) {
  return local_semaphore_create(NULL, initial_value, cast(device)->base.host_allocator, out_semaphore);
}

static const iree_hal_device_vtable_t null_vtable = {
    HAL_QUEUED_DEVICE_CALLS,
    .destroy = null_destroy,
    .query_i64 = null_query_i64,
    .create_command_buffer = null_create_command_buffer,
    .create_executable_cache = null_create_executable_cache,
    .create_semaphore = null_create_semaphore,
    .queue_fill = null_queue_fill,
    .queue_update = null_queue_update,
    .queue_copy = null_queue_copy,
    .queue_dispatch = null_queue_dispatch,
    .queue_execute = null_queue_execute,
};

iree_status_t null_device_create(iree_host_size_t loader_count, iree_hal_executable_loader_t* const* loaders,
                                 iree_hal_allocator_t* allocator, const iree_hal_device_create_params_t* create_params,
                                 iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  *out_device = NULL;
  null_device_t* device = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(host_allocator, sizeof(*device), loader_count,
                                                          sizeof(device->loaders[0]), (void**)&device));
  iree_hal_resource_initialize(&null_vtable, &device->base.resource);
  device->base.host_allocator = host_allocator;
  device->base.identifier = IREE_SV("null");
  device->base.interface = &operation_interface;
  device->base.block_alignment = IREE_HAL_HEAP_BUFFER_ALIGNMENT;
  device->base.allocator = allocator;
  device->base.proactor_pool = create_params ? create_params->proactor_pool : NULL;
  hal_queued_initialize(&device->base);
  device->loader_count = loader_count;
  for (iree_host_size_t i = 0; i < loader_count; ++i) {
    device->loaders[i] = loaders[i];
    iree_hal_executable_loader_retain(loaders[i]);
  }
  *out_device = (iree_hal_device_t*)device;
  return iree_ok_status();
}
