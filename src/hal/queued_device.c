// The calls that queued devices share.
#include "hal/queued_device.h"

#include "hal/collective.h"
#include "hal/notification.h"
#include "hal/slab_provider.h"

void hal_queued_initialize(hal_queued_device_t* device) {
  iree_slim_mutex_initialize(&device->mutex);
  for (int i = 0; i < HAL_OPERATION_CLASSES; ++i) hal_idle_list_initialize(&device->free_operations[i]);
  hal_idle_list_initialize(&device->free_staging);
  iree_hal_allocator_retain(device->allocator);
  iree_async_proactor_pool_retain(device->proactor_pool);
}

void hal_queued_deinitialize(hal_queued_device_t* device) {
  iree_status_ignore(hal_device_profiling_end((iree_hal_device_t*)device));
  hal_transient_close(device);
  hal_operation_trim(device);
  hal_staging_trim(device);
  hal_idle_list_deinitialize(&device->free_staging);
  for (int i = 0; i < HAL_OPERATION_CLASSES; ++i) hal_idle_list_deinitialize(&device->free_operations[i]);
  iree_hal_slab_provider_release(device->pool_slabs);
  iree_async_notification_release(device->pool_notification);
  iree_hal_allocator_release(device->allocator);
  iree_hal_channel_provider_release(device->channel_provider);
  iree_async_proactor_pool_release(device->proactor_pool);
  iree_slim_mutex_deinitialize(&device->mutex);
}

static hal_queued_device_t* cast(iree_hal_device_t* device) { return (hal_queued_device_t*)device; }

iree_string_view_t hal_device_id(iree_hal_device_t* device) { return cast(device)->identifier; }

iree_allocator_t hal_device_host_allocator(iree_hal_device_t* device) { return cast(device)->host_allocator; }

iree_hal_allocator_t* hal_device_allocator(iree_hal_device_t* device) { return cast(device)->allocator; }

void hal_device_replace_allocator(iree_hal_device_t* base, iree_hal_allocator_t* new_allocator) {
  hal_queued_device_t* device = cast(base);
  hal_transient_trim(device);
  iree_hal_allocator_retain(new_allocator);
  iree_slim_mutex_lock(&device->mutex);
  iree_hal_allocator_t* old_allocator = device->allocator;
  device->allocator = new_allocator;
  iree_slim_mutex_unlock(&device->mutex);
  iree_hal_allocator_release(old_allocator);
  hal_staging_trim(device);
}

void hal_device_replace_channel_provider(iree_hal_device_t* device, iree_hal_channel_provider_t* new_provider) {
  iree_hal_channel_provider_retain(new_provider);
  iree_hal_channel_provider_release(cast(device)->channel_provider);
  cast(device)->channel_provider = new_provider;
}

iree_status_t hal_device_query_capabilities(iree_hal_device_t* device,
                                            iree_hal_device_capabilities_t* out_capabilities) {
  *out_capabilities = cast(device)->capabilities;
  // All keep their timelines on the host, whose points are file descriptors for who wants them (external_timepoint.c).
  out_capabilities->flags |= IREE_HAL_DEVICE_CAPABILITY_TIMELINE_SEMAPHORES;
  out_capabilities->semaphore_export_types |=
      IREE_HAL_TOPOLOGY_HANDLE_TYPE_NATIVE | IREE_HAL_TOPOLOGY_HANDLE_TYPE_OPAQUE_FD;
  out_capabilities->semaphore_import_types |=
      IREE_HAL_TOPOLOGY_HANDLE_TYPE_NATIVE | IREE_HAL_TOPOLOGY_HANDLE_TYPE_OPAQUE_FD;
  out_capabilities->buffer_export_types |= IREE_HAL_TOPOLOGY_HANDLE_TYPE_NATIVE;
  out_capabilities->buffer_import_types |= IREE_HAL_TOPOLOGY_HANDLE_TYPE_NATIVE;
  out_capabilities->driver_device_handle = (uintptr_t)device;
  return iree_ok_status();
}

// Both, or none. The mutex is held.
static iree_status_t make_pool_backend(hal_queued_device_t* device, iree_hal_queue_affinity_t queue_affinity) {
  if (device->pool_slabs) return iree_ok_status();
  IREE_RETURN_IF_ERROR(hal_notification_create(device->host_allocator, &device->pool_notification));
  iree_status_t status =
      hal_slab_provider_create(device->allocator, queue_affinity, device->host_allocator, &device->pool_slabs);
  if (iree_status_is_ok(status)) return status;
  iree_async_notification_release(device->pool_notification);
  device->pool_notification = NULL;
  return status;
}

// Memory of one kind, for all queues: GPUs of a device reach each other's.
iree_status_t hal_device_query_queue_pool_backend(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                                  iree_hal_queue_pool_backend_t* out_backend) {
  hal_queued_device_t* device = cast(base);
  memset(out_backend, 0, sizeof(*out_backend));
  iree_slim_mutex_lock(&device->mutex);
  iree_status_t status = make_pool_backend(device, queue_affinity);
  out_backend->slab_provider = device->pool_slabs;
  out_backend->notification = device->pool_notification;
  iree_slim_mutex_unlock(&device->mutex);
  return status;
}

const iree_hal_device_topology_info_t* hal_device_topology_info(iree_hal_device_t* base) {
  hal_queued_device_t* device = cast(base);
  iree_slim_mutex_lock(&device->mutex);
  bool is_in_group = device->topology_info.topology != NULL;
  iree_slim_mutex_unlock(&device->mutex);
  return is_in_group ? &device->topology_info : NULL;
}

iree_status_t hal_device_assign_topology_info(iree_hal_device_t* base,
                                              const iree_hal_device_topology_info_t* topology_info) {
  static const iree_hal_device_topology_info_t none = {0};
  hal_queued_device_t* device = cast(base);
  iree_slim_mutex_lock(&device->mutex);
  device->topology_info = topology_info ? *topology_info : none;
  iree_slim_mutex_unlock(&device->mutex);
  return iree_ok_status();
}

iree_status_t hal_device_refine_topology_edge(iree_hal_device_t* src_device, iree_hal_device_t* dst_device,
                                              iree_hal_topology_edge_t* edge) {
  hal_queued_device_t* device = cast(src_device);
  return device->refine_topology_edge ? device->refine_topology_edge(src_device, dst_device, edge) : iree_ok_status();
}

iree_status_t hal_device_create_channel(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                        iree_hal_channel_params_t params, iree_hal_channel_t** out_channel) {
  if (cast(device)->create_channel) {
    return cast(device)->create_channel(device, queue_affinity, &params, out_channel);
  }
  return hal_channel_create_local(device, cast(device)->channel_provider, &params, out_channel);
}

iree_status_t hal_device_trim(iree_hal_device_t* device) {
  hal_transient_trim(cast(device));
  hal_operation_trim(cast(device));
  hal_staging_trim(cast(device));
  return iree_hal_allocator_trim(cast(device)->allocator);
}

iree_status_t hal_device_query_facts(hal_queued_device_t* device, iree_string_view_t category, iree_string_view_t key,
                                     const hal_device_facts_t* facts, int64_t* out_value) {
  *out_value = 0;
  if (iree_string_view_equal(category, IREE_SV("hal.device.id"))) {
    *out_value = iree_string_view_match_pattern(device->identifier, key);
    return iree_ok_status();
  }
  if (iree_string_view_equal(category, IREE_SV("hal.executable.format"))) {
    *out_value = facts->takes_format(device, key);
    return iree_ok_status();
  }
  if (iree_string_view_equal(key, IREE_SV("concurrency"))) {
    if (iree_string_view_equal(category, IREE_SV("hal.device"))) *out_value = facts->queue_count;
    if (iree_string_view_equal(category, IREE_SV("hal.dispatch"))) *out_value = facts->dispatch_concurrency;
    if (*out_value) return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND, "unknown device configuration key value '%.*s :: %.*s'",
                          (int)category.size, category.data, (int)key.size, key.data);
}

iree_hal_semaphore_compatibility_t hal_device_query_semaphore_compatibility(iree_hal_device_t* device,
                                                                            iree_hal_semaphore_t* semaphore) {
  return IREE_HAL_SEMAPHORE_COMPATIBILITY_ALL;  // all are timelines on the host
}

iree_status_t hal_device_import_file(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                     iree_hal_memory_access_t access, iree_io_file_handle_t* handle,
                                     iree_hal_external_file_flags_t flags, iree_hal_file_t** out_file) {
  return iree_hal_file_from_handle(access, handle, cast(device)->host_allocator, out_file);
}

//===----------------------------------------------------------------------------------------------------------------===
// Queue calls
//===----------------------------------------------------------------------------------------------------------------===

static hal_operation_t make(hal_operation_kind_t kind, iree_hal_device_t* device,
                            iree_hal_queue_affinity_t queue_affinity, iree_hal_semaphore_list_t waits,
                            iree_hal_semaphore_list_t signals) {
  hal_operation_t op;
  memset(&op, 0, sizeof(op));
  op.kind = kind;
  op.device = cast(device);
  op.queue_affinity = queue_affinity;
  op.waits = waits;
  op.signals = signals;
  return op;
}

static iree_status_t submit(const hal_operation_t* op) { return op->device->interface->submit(op); }

iree_status_t hal_device_queue_alloca(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                      const iree_hal_semaphore_list_t wait_semaphore_list,
                                      const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_pool_t* pool,
                                      iree_hal_buffer_params_t params, iree_device_size_t allocation_size,
                                      iree_hal_alloca_flags_t flags, iree_hal_buffer_t** out_buffer) {
  hal_operation_t op = make(HAL_OPERATION_ALLOCA, device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  params.queue_affinity = queue_affinity;
  op.alloca_flags = flags;
  IREE_RETURN_IF_ERROR(hal_transient_create(cast(device), queue_affinity, &params, allocation_size, flags, &op.buffer));
  iree_status_t status = submit(&op);
  if (!iree_status_is_ok(status)) {
    iree_hal_buffer_release(op.buffer);
    return status;
  }
  *out_buffer = op.buffer;
  return iree_ok_status();
}

iree_status_t hal_device_queue_dealloca(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                        const iree_hal_semaphore_list_t wait_semaphore_list,
                                        const iree_hal_semaphore_list_t signal_semaphore_list,
                                        iree_hal_buffer_t* buffer, iree_hal_dealloca_flags_t flags) {
  hal_operation_t op = make(HAL_OPERATION_DEALLOCA, device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  op.buffer = iree_hal_buffer_allocated_buffer(buffer);
  bool is_transient = hal_transient_is(op.buffer);
  if (is_transient && !hal_transient_mark_released(op.buffer, true)) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "queue-ordered buffer was deallocated before");
  }
  iree_status_t status = submit(&op);
  if (is_transient && !iree_status_is_ok(status)) hal_transient_mark_released(op.buffer, false);
  return status;
}

iree_status_t hal_device_queue_read(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                    const iree_hal_semaphore_list_t wait_semaphore_list,
                                    const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_file_t* source_file,
                                    uint64_t source_offset, iree_hal_buffer_t* target_buffer,
                                    iree_device_size_t target_offset, iree_device_size_t length,
                                    iree_hal_read_flags_t flags) {
  hal_operation_t op = make(HAL_OPERATION_READ, device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  op.file = (hal_file_transfer_t){source_file, source_offset, target_buffer, target_offset, length};
  return submit(&op);
}

iree_status_t hal_device_queue_write(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                     const iree_hal_semaphore_list_t wait_semaphore_list,
                                     const iree_hal_semaphore_list_t signal_semaphore_list,
                                     iree_hal_buffer_t* source_buffer, iree_device_size_t source_offset,
                                     iree_hal_file_t* target_file, uint64_t target_offset, iree_device_size_t length,
                                     iree_hal_write_flags_t flags) {
  hal_operation_t op = make(HAL_OPERATION_WRITE, device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  op.file = (hal_file_transfer_t){target_file, target_offset, source_buffer, source_offset, length};
  return submit(&op);
}

iree_status_t hal_device_queue_host_call(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                         const iree_hal_semaphore_list_t wait_semaphore_list,
                                         const iree_hal_semaphore_list_t signal_semaphore_list,
                                         iree_hal_host_call_t call, const uint64_t args[4],
                                         iree_hal_host_call_flags_t flags) {
  hal_operation_t op =
      make(HAL_OPERATION_HOST_CALL, device, queue_affinity, wait_semaphore_list, signal_semaphore_list);
  op.host_call.call = call;
  op.host_call.flags = flags;
  memcpy(op.host_call.args, args, sizeof(op.host_call.args));
  return submit(&op);
}

iree_status_t hal_device_queue_flush(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity) {
  return iree_ok_status();  // nothing is held back
}
