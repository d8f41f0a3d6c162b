// Streams over queue submissions.

#include "vm/bytecode/stream.h"

IREE_VM_DEFINE_TYPE_ADAPTERS(vm_stream, vm_stream_t);

static void recycle(void* ptr);
static iree_vm_ref_type_descriptor_t stream_descriptor = {.destroy = recycle,
                                                          .type_name = iree_string_view_literal("vm.stream")};

iree_status_t vm_stream_register_type(iree_vm_instance_t* instance) {
  return iree_vm_instance_register_type(instance, &stream_descriptor, &vm_stream_registration);
}

typedef enum { PROGRESS_BUSY, PROGRESS_DONE, PROGRESS_FAILED } progress_t;

static progress_t progress_of(const vm_stream_t* stream) {
  uint64_t value = 0;
  if (iree_status_consume_code(iree_hal_semaphore_query(stream->semaphore, &value)) != IREE_STATUS_OK) {
    return PROGRESS_FAILED;
  }
  return value >= stream->value ? PROGRESS_DONE : PROGRESS_BUSY;
}

// Semaphore values end far below 2^64; a stream that comes near is replaced while idle.
static bool is_worn_out(const vm_stream_t* stream) { return stream->value > IREE_HAL_SEMAPHORE_MAX_VALUE / 2; }

static iree_status_t create(vm_device_t* device, vm_stream_t** out_stream) {
  vm_stream_t* stream = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->allocator, sizeof(*stream), (void**)&stream));
  stream->device = device;
  iree_status_t status = iree_hal_semaphore_create(device->handle, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                                   IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &stream->semaphore);
  if (iree_status_is_ok(status)) {
    *out_stream = stream;
  } else {
    vm_stream_free(stream);
  }
  return status;
}

static void drop_waits(vm_stream_t* stream) {
  for (uint32_t i = 0; i < stream->wait_count; ++i) iree_hal_semaphore_release(stream->wait_semaphores[i]);
  stream->wait_count = 0;
}

static void drop_kept(vm_stream_t* stream) {
  while (stream->kept_count) iree_hal_buffer_release(stream->kept[--stream->kept_count]);
}

void vm_stream_free(vm_stream_t* stream) {
  drop_waits(stream);
  drop_kept(stream);
  iree_hal_semaphore_release(stream->semaphore);
  iree_allocator_free(stream->device->allocator, stream);
}

// An idle stream whose work is done: a busy one would make a new call wait for an old one. Broken ones go.
static vm_stream_t* take_idle(vm_device_t* device) {
  vm_stream_t* found = NULL;
  iree_slim_mutex_lock(&device->mutex);
  for (vm_stream_t** link = &device->idle_streams; *link && !found;) {
    vm_stream_t* stream = *link;
    progress_t progress = progress_of(stream);
    if (progress == PROGRESS_BUSY) {
      link = &stream->next;
      continue;
    }
    *link = stream->next;
    if (progress == PROGRESS_DONE && !is_worn_out(stream)) {
      found = stream;
    } else {
      vm_stream_free(stream);
    }
  }
  iree_slim_mutex_unlock(&device->mutex);
  return found;
}

static iree_status_t acquire_pooled(vm_device_t* device, vm_stream_t** out_stream) {
  vm_stream_t* stream = take_idle(device);
  if (!stream) IREE_RETURN_IF_ERROR(create(device, &stream));
  iree_atomic_ref_count_init(&stream->ref_object.counter);
  vm_device_retain(device);
  *out_stream = stream;
  return iree_ok_status();
}

static iree_status_t acquire_ordered(vm_device_t* device, vm_stream_t** out_stream) {
  vm_stream_t* stream = device->ordered_stream;
  if (stream) {
    progress_t progress = progress_of(stream);
    if (progress == PROGRESS_FAILED || (progress == PROGRESS_DONE && is_worn_out(stream))) {
      vm_stream_release(stream);
      stream = device->ordered_stream = NULL;
    }
  }
  if (!stream) {
    IREE_RETURN_IF_ERROR(acquire_pooled(device, &stream));
    device->ordered_stream = stream;
  }
  iree_atomic_ref_count_inc(&stream->ref_object.counter);
  *out_stream = stream;
  return iree_ok_status();
}

iree_status_t vm_stream_acquire(vm_device_t* device, bool ordered, vm_stream_t** out_stream) {
  *out_stream = NULL;
  return ordered ? acquire_ordered(device, out_stream) : acquire_pooled(device, out_stream);
}

// Back to the pool, unless its timeline failed.
static void give_back(vm_stream_t* stream) {
  vm_device_t* device = stream->device;
  drop_kept(stream);
  if (progress_of(stream) == PROGRESS_FAILED) {
    vm_stream_free(stream);
  } else {
    iree_slim_mutex_lock(&device->mutex);
    stream->next = device->idle_streams;
    device->idle_streams = stream;
    iree_slim_mutex_unlock(&device->mutex);
  }
  vm_device_release(device);
}

// Leaves what is kept to a barrier behind everything submitted, which signals `points`.
static iree_status_t hand_over_kept(vm_stream_t* stream, iree_hal_semaphore_list_t points) {
  vm_submission_t submission;
  vm_stream_prepare(stream, &submission);
  iree_hal_buffer_binding_t kept[VM_STREAM_KEEP_LIMIT];
  for (uint32_t i = 0; i < stream->kept_count; ++i) {
    kept[i] = (iree_hal_buffer_binding_t){stream->kept[i], 0, IREE_HAL_WHOLE_BUFFER};
  }
  iree_status_t status = iree_hal_device_queue_execute(
      stream->device->handle, IREE_HAL_QUEUE_AFFINITY_ANY, submission.wait, points, /*command_buffer=*/NULL,
      (iree_hal_buffer_binding_table_t){stream->kept_count, kept}, IREE_HAL_EXECUTE_FLAG_NONE);
  if (iree_status_is_ok(status)) drop_kept(stream);
  return status;
}

// The last reference is gone. A call that ended early leaves buffers that are still in use.
static void recycle(void* ptr) {
  vm_stream_t* stream = ptr;
  drop_waits(stream);
  if (stream->kept_count && progress_of(stream) == PROGRESS_BUSY) {
    iree_status_t status = hand_over_kept(stream, iree_hal_semaphore_list_empty());
    if (!iree_status_is_ok(status)) {  // no memory for it: then here
      iree_status_free(status);
      status =
          iree_hal_semaphore_wait(stream->semaphore, stream->value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
    }
    iree_status_free(status);
  }
  give_back(stream);
}

void vm_stream_release(vm_stream_t* stream) {
  if (stream && iree_atomic_ref_count_dec(&stream->ref_object.counter) == 1) recycle(stream);
}

//===----------------------------------------------------------------------------------------------------------------===
// Submissions
//===----------------------------------------------------------------------------------------------------------------===

void vm_stream_prepare(vm_stream_t* stream, vm_submission_t* out_submission) {
  uint32_t count = stream->wait_count;
  if (stream->value) {
    stream->wait_semaphores[count] = stream->semaphore;
    stream->wait_values[count++] = stream->value;
  }
  out_submission->wait = (iree_hal_semaphore_list_t){count, stream->wait_semaphores, stream->wait_values};
  out_submission->signal_value = stream->value + 1;
  out_submission->signal = (iree_hal_semaphore_list_t){1, &stream->semaphore, &out_submission->signal_value};
}

iree_status_t vm_stream_submitted(vm_stream_t* stream, const vm_submission_t* submission, iree_status_t status) {
  if (!iree_status_is_ok(status)) return status;
  stream->value = submission->signal_value;
  drop_waits(stream);
  return status;
}

static bool keep(vm_stream_t* stream, iree_hal_buffer_t* buffer) {
  for (uint32_t i = 0; i < stream->kept_count; ++i) {
    if (stream->kept[i] == buffer) return true;
  }
  if (stream->kept_count == VM_STREAM_KEEP_LIMIT) return false;
  iree_hal_buffer_retain(buffer);
  stream->kept[stream->kept_count++] = buffer;
  return true;
}

iree_hal_execute_flags_t vm_stream_keep(vm_stream_t* stream, iree_hal_buffer_binding_table_t buffers) {
  bool are_kept = true;
  for (iree_host_size_t i = 0; i < buffers.count && are_kept; ++i) are_kept = keep(stream, buffers.bindings[i].buffer);
  if (are_kept) return IREE_HAL_EXECUTE_FLAG_BORROW_BINDING_TABLE_LIFETIME;
  // A long call goes from buffer to buffer: there is room again when it stood still in between.
  if (progress_of(stream) != PROGRESS_BUSY) drop_kept(stream);
  return IREE_HAL_EXECUTE_FLAG_NONE;
}

static iree_status_t submit_barrier(vm_stream_t* stream) {
  vm_submission_t submission;
  vm_stream_prepare(stream, &submission);
  return vm_stream_submitted(
      stream, &submission,
      iree_hal_device_queue_barrier(stream->device->handle, IREE_HAL_QUEUE_AFFINITY_ANY, submission.wait,
                                    submission.signal, IREE_HAL_EXECUTE_FLAG_NONE));
}

iree_status_t vm_stream_wait(vm_stream_t* stream, iree_hal_semaphore_list_t points) {
  for (iree_host_size_t i = 0; i < points.count; ++i) {
    if (stream->wait_count == VM_STREAM_WAIT_LIMIT) IREE_RETURN_IF_ERROR(submit_barrier(stream));
    iree_hal_semaphore_retain(points.semaphores[i]);
    stream->wait_semaphores[stream->wait_count] = points.semaphores[i];
    stream->wait_values[stream->wait_count++] = points.payload_values[i];
  }
  return iree_ok_status();
}

// How often a waiting thread looks whether its call was cancelled, and how long it gives code that was stopped.
enum { WAIT_PIECE_NS = 10 * 1000 * 1000, STOP_NS = 250 * 1000 * 1000 };

static bool wait_until(iree_hal_semaphore_t* semaphore, uint64_t value, iree_time_t deadline_ns,
                       iree_status_t* out_status) {
  *out_status = iree_hal_semaphore_wait(semaphore, value, iree_make_deadline(deadline_ns), IREE_ASYNC_WAIT_FLAG_NONE);
  if (!iree_status_is_deadline_exceeded(*out_status)) return true;
  iree_status_ignore(*out_status);
  return false;
}

iree_status_t vm_device_await(iree_budget_t* budget, iree_hal_semaphore_t* semaphore, uint64_t value) {
  iree_status_t status = iree_ok_status();
  if (!budget) {
    return iree_hal_semaphore_wait(semaphore, value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
  }
  iree_time_t deadline_ns = iree_budget_deadline_ns(budget);
  while (iree_budget_code(budget) == IREE_STATUS_OK) {
    if (!wait_until(semaphore, value, iree_min(deadline_ns, iree_time_now() + WAIT_PIECE_NS), &status)) continue;
    return iree_status_is_ok(status) ? iree_budget_check(budget) : status;
  }
  // Portable code ends now, and says where it was. Native code goes on, and keeps what it uses.
  if (wait_until(semaphore, value, iree_time_now() + STOP_NS, &status)) return status;
  return iree_budget_check(budget);
}

iree_status_t vm_device_await_fence(iree_budget_t* budget, iree_hal_fence_t* fence) {
  iree_hal_semaphore_list_t list = iree_hal_fence_semaphore_list(fence);
  for (iree_host_size_t i = 0; i < list.count; ++i) {
    IREE_RETURN_IF_ERROR(vm_device_await(budget, list.semaphores[i], list.payload_values[i]));
  }
  return iree_ok_status();
}

iree_status_t vm_stream_await(vm_stream_t* stream) {
  if (stream->wait_count) IREE_RETURN_IF_ERROR(submit_barrier(stream));
  if (!stream->value) return iree_ok_status();
  iree_status_t status = vm_device_await(stream->device->budget, stream->semaphore, stream->value);
  if (iree_status_is_ok(status)) drop_kept(stream);
  return status;
}

static bool is_pending(iree_hal_semaphore_t* semaphore, uint64_t value) {
  uint64_t current = 0;
  iree_status_t status = iree_hal_semaphore_query(semaphore, &current);
  return iree_status_consume_code(status) == IREE_STATUS_OK && current < value;
}

iree_status_t vm_yield_for(iree_vm_stack_t* stack, iree_hal_semaphore_list_t points) {
  iree_host_size_t count = 0;
  for (iree_host_size_t i = 0; i < points.count; ++i)
    count += is_pending(points.semaphores[i], points.payload_values[i]);
  if (!count) return iree_ok_status();
  iree_budget_t* budget = iree_vm_stack_budget(stack);
  iree_time_t deadline_ns = budget ? iree_budget_deadline_ns(budget) : IREE_TIME_INFINITE_FUTURE;
  iree_vm_wait_frame_t* frame = NULL;
  IREE_RETURN_IF_ERROR(
      iree_vm_stack_wait_enter(stack, IREE_VM_WAIT_ALL, points.count, iree_make_deadline(deadline_ns), 0, &frame));
  for (iree_host_size_t i = 0; i < points.count; ++i) {
    frame->wait_sources[frame->count++] = iree_hal_semaphore_await(points.semaphores[i], points.payload_values[i]);
  }
  return iree_status_from_code(IREE_STATUS_DEFERRED);
}

iree_status_t vm_stream_yield(vm_stream_t* stream, iree_vm_stack_t* stack) {
  if (stream->wait_count) IREE_RETURN_IF_ERROR(submit_barrier(stream));
  if (!stream->value) return iree_ok_status();
  return vm_yield_for(stack, (iree_hal_semaphore_list_t){1, &stream->semaphore, &stream->value});
}

iree_status_t vm_stream_signal(vm_stream_t* stream, iree_hal_semaphore_list_t points) {
  // Its own point does not advance: nothing was added that later work must wait for.
  return hand_over_kept(stream, points);
}
