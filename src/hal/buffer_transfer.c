// Blocking transfers: through mappings where both ends are mappable, else through the device's queue.
#include "iree/hal/buffer_transfer.h"

#include "hal/detail.h"

static bool is_mappable(iree_hal_buffer_t* buffer) {
  return iree_all_bits_set(iree_hal_buffer_memory_type(buffer), IREE_HAL_MEMORY_TYPE_HOST_VISIBLE) &&
         iree_all_bits_set(iree_hal_buffer_allowed_usage(buffer), IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED);
}

static iree_device_size_t end_length(iree_hal_transfer_buffer_t end) {
  return end.device_buffer ? iree_hal_buffer_byte_length(end.device_buffer) : end.host_buffer.data_length;
}

static iree_status_t transfer_mapped(iree_hal_transfer_buffer_t source, iree_device_size_t source_offset,
                                     iree_hal_transfer_buffer_t target, iree_device_size_t target_offset,
                                     iree_device_size_t length) {
  if (source.device_buffer && target.device_buffer) {
    return iree_hal_buffer_map_copy(source.device_buffer, source_offset, target.device_buffer, target_offset, length);
  } else if (source.device_buffer) {
    return iree_hal_buffer_map_read(source.device_buffer, source_offset, target.host_buffer.data + target_offset,
                                    length);
  } else if (target.device_buffer) {
    return iree_hal_buffer_map_write(target.device_buffer, target_offset, source.host_buffer.data + source_offset,
                                     length);
  }
  memcpy(target.host_buffer.data + target_offset, source.host_buffer.data + source_offset, length);
  return iree_ok_status();
}

// A buffer that the device and the host both reach, for the end that is host memory.
static iree_status_t allocate_staging(iree_hal_device_t* device, iree_device_size_t length,
                                      iree_hal_buffer_t** out_buffer) {
  iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING,
  };
  return iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(device), params, length, out_buffer);
}

static iree_status_t queue_copy_and_wait(iree_hal_device_t* device, iree_hal_buffer_t* source,
                                         iree_device_size_t source_offset, iree_hal_buffer_t* target,
                                         iree_device_size_t target_offset, iree_device_size_t length,
                                         iree_timeout_t timeout) {
  iree_hal_semaphore_t* semaphore = NULL;
  IREE_RETURN_IF_ERROR(
      iree_hal_semaphore_create(device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &semaphore));
  uint64_t value = 1;
  iree_hal_semaphore_list_t signal = {1, &semaphore, &value};
  iree_status_t status =
      iree_hal_device_queue_copy(device, IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(), signal, source,
                                 source_offset, target, target_offset, length, IREE_HAL_COPY_FLAG_NONE);
  if (iree_status_is_ok(status)) {
    status = iree_hal_semaphore_wait(semaphore, value, timeout, IREE_ASYNC_WAIT_FLAG_NONE);
  }
  iree_hal_semaphore_release(semaphore);
  return status;
}

static iree_status_t transfer_queued(iree_hal_device_t* device, iree_hal_transfer_buffer_t source,
                                     iree_device_size_t source_offset, iree_hal_transfer_buffer_t target,
                                     iree_device_size_t target_offset, iree_device_size_t length,
                                     iree_timeout_t timeout) {
  if (source.device_buffer && target.device_buffer) {
    return queue_copy_and_wait(device, source.device_buffer, source_offset, target.device_buffer, target_offset, length,
                               timeout);
  }
  iree_hal_buffer_t* staging = NULL;
  IREE_RETURN_IF_ERROR(allocate_staging(device, length, &staging));
  iree_status_t status = iree_ok_status();
  if (target.device_buffer) {
    status = iree_hal_buffer_map_write(staging, 0, source.host_buffer.data + source_offset, length);
    if (iree_status_is_ok(status)) {
      status = queue_copy_and_wait(device, staging, 0, target.device_buffer, target_offset, length, timeout);
    }
  } else {
    status = queue_copy_and_wait(device, source.device_buffer, source_offset, staging, 0, length, timeout);
    if (iree_status_is_ok(status)) {
      status = iree_hal_buffer_map_read(staging, 0, target.host_buffer.data + target_offset, length);
    }
  }
  iree_hal_buffer_release(staging);
  return status;
}

iree_status_t iree_hal_device_transfer_range(iree_hal_device_t* device, iree_hal_transfer_buffer_t source,
                                             iree_device_size_t source_offset, iree_hal_transfer_buffer_t target,
                                             iree_device_size_t target_offset, iree_device_size_t data_length,
                                             iree_hal_transfer_buffer_flags_t flags, iree_timeout_t timeout) {
  iree_device_size_t offset = 0;
  iree_device_size_t source_length = end_length(source), target_length = end_length(target);
  if (data_length == IREE_HAL_WHOLE_BUFFER) {
    data_length = iree_min(source_length - iree_min(source_offset, source_length),
                           target_length - iree_min(target_offset, target_length));
  }
  IREE_RETURN_IF_ERROR(iree_hal_buffer_calculate_range(0, source_length, source_offset, data_length, &offset, NULL));
  IREE_RETURN_IF_ERROR(iree_hal_buffer_calculate_range(0, target_length, target_offset, data_length, &offset, NULL));
  if (data_length == 0) return iree_ok_status();
  bool mapped = (!source.device_buffer || is_mappable(source.device_buffer)) &&
                (!target.device_buffer || is_mappable(target.device_buffer));
  if (mapped) return transfer_mapped(source, source_offset, target, target_offset, data_length);
  return transfer_queued(device, source, source_offset, target, target_offset, data_length, timeout);
}

iree_status_t iree_hal_device_transfer_h2d(iree_hal_device_t* device, const void* source, iree_hal_buffer_t* target,
                                           iree_device_size_t target_offset, iree_device_size_t data_length,
                                           iree_hal_transfer_buffer_flags_t flags, iree_timeout_t timeout) {
  return iree_hal_device_transfer_range(device, iree_hal_make_host_transfer_buffer_span((void*)source, data_length), 0,
                                        iree_hal_make_device_transfer_buffer(target), target_offset, data_length, flags,
                                        timeout);
}

iree_status_t iree_hal_device_transfer_d2h(iree_hal_device_t* device, iree_hal_buffer_t* source,
                                           iree_device_size_t source_offset, void* target,
                                           iree_device_size_t data_length, iree_hal_transfer_buffer_flags_t flags,
                                           iree_timeout_t timeout) {
  return iree_hal_device_transfer_range(device, iree_hal_make_device_transfer_buffer(source), source_offset,
                                        iree_hal_make_host_transfer_buffer_span(target, data_length), 0, data_length,
                                        flags, timeout);
}

iree_status_t iree_hal_device_transfer_d2d(iree_hal_device_t* device, iree_hal_buffer_t* source,
                                           iree_device_size_t source_offset, iree_hal_buffer_t* target,
                                           iree_device_size_t target_offset, iree_device_size_t data_length,
                                           iree_hal_transfer_buffer_flags_t flags, iree_timeout_t timeout) {
  return iree_hal_device_transfer_range(device, iree_hal_make_device_transfer_buffer(source), source_offset,
                                        iree_hal_make_device_transfer_buffer(target), target_offset, data_length, flags,
                                        timeout);
}
