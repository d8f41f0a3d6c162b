// Operations that the host does, on the device's service thread: calls, and files. Files go straight to memory that the
// host can map and through a staging buffer to other memory.
#include "hal/amdgpu/operation.h"

enum { STAGING_SIZE = 4 << 20 };

// DEFERRED when the callee signals by itself.
static iree_status_t run_host_call(operation_t* op) {
  iree_hal_host_call_context_t context = {(iree_hal_device_t*)op->device, op->queue_affinity, op->signals};
  bool signals_first = op->host_call.flags & IREE_HAL_HOST_CALL_FLAG_NON_BLOCKING;
  if (signals_first) {
    iree_status_free(iree_hal_semaphore_list_signal(op->signals, NULL));
    context.signal_semaphore_list = iree_hal_semaphore_list_empty();
  }
  iree_status_t status = op->host_call.call.fn(op->host_call.call.user_data, op->host_call.args, &context);
  if (!signals_first) return status;
  iree_status_free(status);
  return iree_status_from_code(IREE_STATUS_DEFERRED);
}

//===----------------------------------------------------------------------------------------------------------------===
// Files
//===----------------------------------------------------------------------------------------------------------------===

static bool is_mappable(iree_hal_buffer_t* buffer) {
  return iree_all_bits_set(buffer->memory_type, IREE_HAL_MEMORY_TYPE_HOST_VISIBLE) &&
         iree_all_bits_set(buffer->allowed_usage, IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED);
}

typedef struct staging_t {
  iree_hal_buffer_t* buffer;
  iree_hal_semaphore_t* semaphore;
  uint64_t value;
} staging_t;

static iree_status_t copy_and_wait(operation_t* op, staging_t* staging, bool is_read, iree_device_size_t done,
                                   iree_device_size_t size) {
  iree_hal_buffer_t* source = is_read ? staging->buffer : op->file.buffer;
  iree_hal_buffer_t* target = is_read ? op->file.buffer : staging->buffer;
  iree_device_size_t at = op->file.buffer_offset + done;
  ++staging->value;
  iree_hal_semaphore_list_t signal = {1, &staging->semaphore, &staging->value};
  IREE_RETURN_IF_ERROR(amdgpu_queue_copy((iree_hal_device_t*)op->device, op->queue_affinity,
                                         iree_hal_semaphore_list_empty(), signal, source, is_read ? 0 : at, target,
                                         is_read ? at : 0, size, IREE_HAL_COPY_FLAG_NONE));
  return iree_hal_semaphore_wait(staging->semaphore, staging->value, iree_infinite_timeout(),
                                 IREE_ASYNC_WAIT_FLAG_NONE);
}

static iree_status_t transfer_part(operation_t* op, staging_t* staging, bool is_read, iree_device_size_t done,
                                   iree_device_size_t size) {
  uint64_t file_at = op->file.file_offset + done;
  if (is_read) {
    IREE_RETURN_IF_ERROR(iree_hal_file_read(op->file.file, file_at, staging->buffer, 0, size));
    return copy_and_wait(op, staging, is_read, done, size);
  }
  IREE_RETURN_IF_ERROR(copy_and_wait(op, staging, is_read, done, size));
  return iree_hal_file_write(op->file.file, file_at, staging->buffer, 0, size);
}

static iree_status_t run_staged(operation_t* op, bool is_read) {
  iree_device_size_t length = op->file.length;
  iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING,
  };
  staging_t staging = {0};
  iree_status_t status = iree_hal_allocator_allocate_buffer(
      op->device->allocator, params, iree_min(length, (iree_device_size_t)STAGING_SIZE), &staging.buffer);
  if (iree_status_is_ok(status)) {
    status = amdgpu_semaphore_create(0, op->device->host_allocator, &staging.semaphore);
  }
  for (iree_device_size_t done = 0; done < length && iree_status_is_ok(status);) {
    iree_device_size_t size = iree_min(length - done, (iree_device_size_t)STAGING_SIZE);
    status = transfer_part(op, &staging, is_read, done, size);
    done += size;
  }
  iree_hal_semaphore_release(staging.semaphore);
  iree_hal_buffer_release(staging.buffer);
  return status;
}

static iree_status_t run_file(operation_t* op, bool is_read) {
  if (!is_mappable(op->file.buffer)) return run_staged(op, is_read);
  return (is_read ? iree_hal_file_read : iree_hal_file_write)(op->file.file, op->file.file_offset, op->file.buffer,
                                                              op->file.buffer_offset, op->file.length);
}

void host_operation_run(operation_t* op) {
  iree_status_t status = iree_ok_status();
  if (op->kind == OPERATION_HOST_CALL) {
    status = run_host_call(op);
    if (iree_status_is_deferred(status)) {
      iree_status_free(status);
      operation_free(op);
      return;
    }
  } else {
    status = run_file(op, op->kind == OPERATION_READ);
  }
  operation_finish(op, status);
}
