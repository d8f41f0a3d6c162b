// Memory: transient buffers that go from call to call, results, constants.

#include "iree/vm/module.h"
#include "vm/bytecode/device.h"
#include "vm/bytecode/stream.h"

#define GROWTH_SHARE 4          // of a transient's size, to grow on
#define TRANSIENT_ALIGNMENT 64  // bytes

static iree_hal_buffer_params_t buffer_params(const vm_device_t* device) {
  return (iree_hal_buffer_params_t){
      .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | (device->unified ? IREE_HAL_BUFFER_USAGE_MAPPING : 0),
      .access = IREE_HAL_MEMORY_ACCESS_ALL,
      .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | (device->unified ? IREE_HAL_MEMORY_TYPE_HOST_VISIBLE : 0),
      .queue_affinity = IREE_HAL_QUEUE_AFFINITY_ANY,
  };
}

static iree_status_t allocate(vm_device_t* device, vm_stream_t* stream, iree_device_size_t size,
                              iree_hal_buffer_t** out_buffer) {
  iree_hal_buffer_params_t params = buffer_params(device);
  if (device->unified || !stream) {
    return iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(device->handle), params, size, out_buffer);
  }
  vm_submission_t submission;
  vm_stream_prepare(stream, &submission);
  iree_status_t status = iree_hal_device_queue_alloca(device->handle, IREE_HAL_QUEUE_AFFINITY_ANY, submission.wait,
                                                      submission.signal, /*pool=*/NULL, params, size,
                                                      IREE_HAL_ALLOCA_FLAG_INDETERMINATE_LIFETIME, out_buffer);
  return vm_stream_submitted(stream, &submission, status);
}

static void return_charge(void* user_data, iree_hal_buffer_t* buffer) {
  iree_budget_return_memory(user_data, buffer->byte_length);
  iree_budget_release(user_data);
}

// With a limit the buffer is one over the allocated one, whose end is the end of its charge.
iree_status_t vm_device_allocate(vm_device_t* device, vm_stream_t* stream, iree_device_size_t size,
                                 iree_hal_buffer_t** out_buffer) {
  iree_budget_t* budget = device->budget;
  if (!budget || !iree_budget_has_memory_limit(budget)) return allocate(device, stream, size, out_buffer);
  *out_buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_budget_take_memory(budget, size));
  iree_hal_buffer_t* buffer = NULL;
  iree_status_t status = allocate(device, stream, size, &buffer);
  if (iree_status_is_ok(status)) {
    iree_hal_buffer_release_callback_t callback = {return_charge, budget};
    status = iree_hal_buffer_guard(buffer, 0, size, callback, device->allocator, out_buffer);
    iree_hal_buffer_release(buffer);
  }
  if (iree_status_is_ok(status)) {
    iree_budget_retain(budget);
  } else {
    iree_budget_return_memory(budget, size);
  }
  return status;
}

static void release_whole(void* user_data, iree_hal_buffer_t* buffer) { iree_hal_buffer_release(user_data); }

iree_status_t vm_device_subspan(iree_budget_t* budget, iree_hal_buffer_t* buffer, iree_device_size_t offset,
                                iree_device_size_t length, iree_allocator_t allocator, iree_hal_buffer_t** out_buffer) {
  if (!budget || !iree_budget_has_memory_limit(budget)) {
    return iree_hal_buffer_subspan(buffer, offset, length, allocator, out_buffer);
  }
  IREE_RETURN_IF_ERROR(iree_hal_buffer_guard(
      buffer, offset, length, (iree_hal_buffer_release_callback_t){release_whole, buffer}, allocator, out_buffer));
  iree_hal_buffer_retain(buffer);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Transients
//===----------------------------------------------------------------------------------------------------------------===

static void drop(vm_transient_t* transient) {
  iree_hal_buffer_release(transient->buffer);
  iree_hal_semaphore_release(transient->semaphore);
  *transient = (vm_transient_t){0};
}

// Whether nothing that was submitted before still uses the buffer, as far as work on `stream` is concerned.
static bool is_free(const vm_transient_t* transient, const vm_stream_t* stream) {
  if (transient->in_use) return false;
  if (!transient->semaphore || transient->semaphore == stream->semaphore) return true;
  uint64_t value = 0;
  iree_status_t status = iree_hal_semaphore_query(transient->semaphore, &value);
  bool reached = iree_status_is_ok(status) && value >= transient->value;
  iree_status_ignore(status);
  return reached;
}

// A call that failed did not give its buffers back: nobody else refers to them.
static bool is_lost(const vm_transient_t* transient) {
  return transient->in_use && iree_atomic_ref_count_load(&transient->buffer->resource.ref_count) == 1;
}

static bool is_better(const vm_transient_t* candidate, const vm_transient_t* best) {
  return !best || candidate->size < best->size;
}

// The smallest free buffer that is large enough, but not more than twice as large as asked for.
static vm_transient_t* find_fitting(vm_device_t* device, const vm_stream_t* stream, iree_device_size_t size) {
  vm_transient_t* best = NULL;
  for (int i = 0; i < VM_TRANSIENT_LIMIT; ++i) {
    vm_transient_t* transient = &device->transients[i];
    if (!transient->buffer || transient->size < size || transient->size / 2 > size) continue;
    if (is_better(transient, best) && is_free(transient, stream)) best = transient;
  }
  return best;
}

// A place for a new buffer: an empty one, or that of the smallest free buffer.
static vm_transient_t* find_place(vm_device_t* device, const vm_stream_t* stream) {
  vm_transient_t* best = NULL;
  for (int i = 0; i < VM_TRANSIENT_LIMIT; ++i) {
    vm_transient_t* transient = &device->transients[i];
    if (transient->buffer && is_lost(transient)) drop(transient);
    if (!transient->buffer) return transient;
    if (is_better(transient, best) && is_free(transient, stream)) best = transient;
  }
  if (best) drop(best);
  return best;
}

// A free buffer that is too small, but not by half: sizes grow from call to call.
static vm_transient_t* find_outgrown(vm_device_t* device, const vm_stream_t* stream, iree_device_size_t size) {
  for (int i = 0; i < VM_TRANSIENT_LIMIT; ++i) {
    vm_transient_t* transient = &device->transients[i];
    bool is_near = transient->buffer && transient->size < size && transient->size >= size / 2;
    if (is_near && is_free(transient, stream)) return transient;
  }
  return NULL;
}

// Allocates a buffer of at least that size. One that takes the place of another it has outgrown has room to grow on.
static iree_status_t allocate_transient(vm_device_t* device, vm_stream_t* stream, iree_device_size_t* size,
                                        iree_hal_buffer_t** out_buffer) {
  vm_transient_t* outgrown = find_outgrown(device, stream, *size);
  iree_device_size_t roomy = *size;
  if (outgrown && iree_device_size_checked_add(*size, *size / GROWTH_SHARE, &roomy)) {
    drop(outgrown);
    roomy = iree_device_align(roomy, TRANSIENT_ALIGNMENT);
    iree_status_t status = vm_device_allocate(device, stream, roomy, out_buffer);
    if (iree_status_is_ok(status)) {
      *size = roomy;
      return status;
    }
    iree_status_ignore(status);
  }
  return vm_device_allocate(device, stream, *size, out_buffer);
}

iree_status_t vm_transient_acquire(vm_device_t* device, vm_stream_t* stream, iree_device_size_t size,
                                   iree_hal_buffer_t** out_buffer) {
  vm_transient_t* transient = find_fitting(device, stream, size);
  if (!transient) {
    iree_hal_buffer_t* buffer = NULL;
    IREE_RETURN_IF_ERROR(allocate_transient(device, stream, &size, &buffer));
    transient = find_place(device, stream);
    if (!transient) {  // all are in use: this one is not kept
      *out_buffer = buffer;
      return iree_ok_status();
    }
    *transient = (vm_transient_t){.buffer = buffer, .size = size};
  }
  transient->in_use = true;
  iree_hal_buffer_retain(transient->buffer);
  *out_buffer = transient->buffer;
  return iree_ok_status();
}

iree_status_t vm_transient_release(vm_device_t* device, vm_stream_t* stream, iree_hal_buffer_t* buffer) {
  for (int i = 0; i < VM_TRANSIENT_LIMIT; ++i) {
    vm_transient_t* transient = &device->transients[i];
    if (transient->buffer != buffer || !transient->in_use) continue;
    transient->in_use = false;
    if (transient->semaphore != stream->semaphore) {
      iree_hal_semaphore_release(transient->semaphore);
      transient->semaphore = stream->semaphore;
      iree_hal_semaphore_retain(stream->semaphore);
    }
    transient->value = stream->value;
    return iree_ok_status();
  }
  return iree_ok_status();  // not kept: it goes with its last reference
}

void vm_device_trim(vm_device_t* device) {
  for (int i = 0; i < VM_TRANSIENT_LIMIT; ++i) {
    if (device->transients[i].buffer && !device->transients[i].in_use) drop(&device->transients[i]);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Constants
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t copy_to_device(vm_device_t* device, iree_const_byte_span_t data, iree_hal_buffer_t** out_buffer) {
  iree_hal_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(vm_device_allocate(device, /*stream=*/NULL, data.data_length, &buffer));
  iree_status_t status = iree_hal_device_transfer_h2d(device->handle, data.data, buffer, 0, data.data_length,
                                                      IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout());
  if (iree_status_is_ok(status)) {
    *out_buffer = buffer;
  } else {
    iree_hal_buffer_release(buffer);
  }
  return status;
}

// UNAVAILABLE when the device cannot.
static iree_status_t import_in_place(vm_device_t* device, iree_const_byte_span_t data,
                                     iree_hal_buffer_release_callback_t release, iree_hal_buffer_t** out_buffer) {
  if (!device->unified || !data.data_length) return iree_status_from_code(IREE_STATUS_UNAVAILABLE);
  iree_hal_buffer_params_t params = buffer_params(device);
  params.access = IREE_HAL_MEMORY_ACCESS_READ;
  params.usage = IREE_HAL_BUFFER_USAGE_TRANSFER_SOURCE | IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE_READ |
                 IREE_HAL_BUFFER_USAGE_MAPPING;
  iree_hal_external_buffer_t external = {
      .type = IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION,
      .size = data.data_length,
      .handle = {.host_allocation = {.ptr = (void*)(uintptr_t)data.data}},
  };
  return iree_hal_allocator_import_buffer(iree_hal_device_allocator(device->handle), params, &external, release,
                                          out_buffer);
}

iree_status_t vm_device_import(vm_device_t* device, iree_const_byte_span_t data,
                               iree_hal_buffer_release_callback_t release, iree_hal_buffer_t** out_buffer) {
  *out_buffer = NULL;
  iree_status_t status = import_in_place(device, data, release, out_buffer);
  if (iree_status_is_ok(status)) return status;
  if (iree_status_is_unavailable(status)) {
    iree_status_ignore(status);
    status = copy_to_device(device, data, out_buffer);
  }
  release.fn(release.user_data, NULL);
  return status;
}
