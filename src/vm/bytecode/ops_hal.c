// Instructions on devices: streams, memory, execution.

#include "iree/modules/hal/types.h"
#include "vm/bytecode/machine.h"

//===----------------------------------------------------------------------------------------------------------------===
// Streams and fences
//===----------------------------------------------------------------------------------------------------------------===

// What begins with a wait does nothing before: it is run again after having yielded.
static iree_status_t await_stream(vm_machine_t* m, vm_stream_t* stream) {
  if (m->yields) IREE_RETURN_IF_ERROR(vm_stream_yield(stream, m->stack));
  return vm_stream_await(stream);
}

static iree_status_t next_fence_or_null(vm_machine_t* m, iree_hal_fence_t** out_fence) {
  return iree_hal_fence_check_deref_or_null(*vm_next_ref(m), out_fence);
}

static vm_device_t* next_device(vm_machine_t* m) { return m->state->devices[vm_next_word(m)]; }

iree_status_t vm_do_hal_stream_begin(vm_machine_t* m) {
  iree_vm_ref_t* result = vm_next_ref(m);
  vm_device_t* device = next_device(m);
  iree_hal_fence_t* fence = NULL;
  IREE_RETURN_IF_ERROR(next_fence_or_null(m, &fence));
  vm_stream_t* stream = NULL;
  IREE_RETURN_IF_ERROR(vm_stream_acquire(device, vm_next_word(m) != 0, &stream));
  iree_status_t status = fence ? vm_stream_wait(stream, iree_hal_fence_semaphore_list(fence)) : iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_vm_ref_wrap_assign(stream, vm_stream_type(), result));
  return status;
}

iree_status_t vm_do_hal_stream_wait(vm_machine_t* m) {
  VM_NEXT_OBJECT(m, vm_stream, stream);
  iree_hal_fence_t* fence = NULL;
  IREE_RETURN_IF_ERROR(next_fence_or_null(m, &fence));
  return fence ? vm_stream_wait(stream, iree_hal_fence_semaphore_list(fence)) : iree_ok_status();
}

iree_status_t vm_do_hal_stream_join(vm_machine_t* m) {
  VM_NEXT_OBJECT(m, vm_stream, stream);
  VM_NEXT_OBJECT(m, vm_stream, other);
  if (stream == other) return iree_ok_status();
  if (other->value) {
    IREE_RETURN_IF_ERROR(vm_stream_wait(stream, (iree_hal_semaphore_list_t){1, &other->semaphore, &other->value}));
  }
  return vm_stream_wait(stream,
                        (iree_hal_semaphore_list_t){other->wait_count, other->wait_semaphores, other->wait_values});
}

iree_status_t vm_do_hal_stream_fence(vm_machine_t* m) {
  iree_vm_ref_t* result = vm_next_ref(m);
  VM_NEXT_OBJECT(m, vm_stream, stream);
  iree_hal_fence_t* fence = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_fence_create(stream->wait_count + 1, m->state->allocator, &fence));
  iree_status_t status = iree_ok_status();
  if (stream->value) status = iree_hal_fence_insert(fence, stream->semaphore, stream->value);
  for (uint32_t i = 0; i < stream->wait_count && iree_status_is_ok(status); ++i) {
    status = iree_hal_fence_insert(fence, stream->wait_semaphores[i], stream->wait_values[i]);
  }
  if (!iree_status_is_ok(status)) {
    iree_hal_fence_release(fence);
    return status;
  }
  return iree_vm_ref_wrap_assign(fence, iree_hal_fence_type(), result);
}

iree_status_t vm_do_hal_stream_await(vm_machine_t* m) {
  VM_NEXT_OBJECT(m, vm_stream, stream);
  return await_stream(m, stream);
}

iree_status_t vm_do_hal_stream_end(vm_machine_t* m) {
  VM_NEXT_OBJECT(m, vm_stream, stream);
  iree_hal_fence_t* fence = NULL;
  IREE_RETURN_IF_ERROR(next_fence_or_null(m, &fence));
  return fence ? vm_stream_signal(stream, iree_hal_fence_semaphore_list(fence)) : await_stream(m, stream);
}

iree_status_t vm_do_hal_fence_create(vm_machine_t* m) {
  iree_vm_ref_t* result = vm_next_ref(m);
  vm_device_t* device = next_device(m);
  iree_hal_fence_t* fence = NULL;
  IREE_RETURN_IF_ERROR(vm_state_create_fence(m->state, device->handle, &fence));
  return iree_vm_ref_wrap_assign(fence, iree_hal_fence_type(), result);
}

iree_status_t vm_do_hal_fence_await(vm_machine_t* m) {
  iree_hal_fence_t* fence = NULL;
  IREE_RETURN_IF_ERROR(next_fence_or_null(m, &fence));
  if (m->yields) IREE_RETURN_IF_ERROR(vm_yield_for(m->stack, iree_hal_fence_semaphore_list(fence)));
  return vm_device_await_fence(m->state->budget, fence);
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory
//===----------------------------------------------------------------------------------------------------------------===

// A size or offset in bytes. Errors: OUT_OF_RANGE when negative.
static iree_status_t next_size(vm_machine_t* m, iree_device_size_t* out_size) {
  int64_t value = vm_next_value(m)->I;
  *out_size = (iree_device_size_t)value;
  if (IREE_LIKELY(value >= 0)) return iree_ok_status();
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "size or offset %" PRId64 " is negative", value);
}

typedef iree_status_t (*allocate_fn_t)(vm_device_t* device, vm_stream_t* stream, iree_device_size_t size,
                                       iree_hal_buffer_t** out_buffer);

static iree_status_t do_allocate(vm_machine_t* m, allocate_fn_t allocate) {
  iree_vm_ref_t* result = vm_next_ref(m);
  VM_NEXT_OBJECT(m, vm_stream, stream);
  iree_device_size_t size = 0;
  IREE_RETURN_IF_ERROR(next_size(m, &size));
  iree_hal_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(allocate(stream->device, stream, size, &buffer));
  return iree_vm_ref_wrap_assign(buffer, iree_hal_buffer_type(), result);
}

iree_status_t vm_do_hal_alloca(vm_machine_t* m) { return do_allocate(m, vm_device_allocate); }

iree_status_t vm_do_hal_transient_acquire(vm_machine_t* m) { return do_allocate(m, vm_transient_acquire); }

iree_status_t vm_do_hal_dealloca(vm_machine_t* m) {
  VM_NEXT_OBJECT(m, vm_stream, stream);
  iree_vm_ref_t* ref = vm_next_ref(m);
  iree_hal_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_check_deref(*ref, &buffer));
  iree_status_t status = iree_ok_status();
  if (!stream->device->unified) {
    vm_submission_t submission;
    vm_stream_prepare(stream, &submission);
    status = iree_hal_device_queue_dealloca(stream->device->handle, IREE_HAL_QUEUE_AFFINITY_ANY, submission.wait,
                                            submission.signal, iree_hal_buffer_allocated_buffer(buffer),
                                            IREE_HAL_DEALLOCA_FLAG_NONE);
    status = vm_stream_submitted(stream, &submission, status);
  }
  iree_vm_ref_release(ref);
  return status;
}

iree_status_t vm_do_hal_transient_release(vm_machine_t* m) {
  VM_NEXT_OBJECT(m, vm_stream, stream);
  iree_vm_ref_t* ref = vm_next_ref(m);
  iree_hal_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_check_deref(*ref, &buffer));
  iree_status_t status = vm_transient_release(stream->device, stream, buffer);
  iree_vm_ref_release(ref);
  return status;
}

iree_status_t vm_do_hal_constant(vm_machine_t* m) {
  iree_vm_ref_t* result = vm_next_ref(m);
  return iree_vm_ref_wrap_retain(m->state->constants[vm_next_word(m)], iree_hal_buffer_type(), result);
}

iree_status_t vm_do_hal_subspan(vm_machine_t* m) {
  iree_vm_ref_t* result = vm_next_ref(m);
  VM_NEXT_OBJECT(m, iree_hal_buffer, buffer);
  iree_device_size_t offset = 0, length = 0;
  IREE_RETURN_IF_ERROR(next_size(m, &offset));
  IREE_RETURN_IF_ERROR(next_size(m, &length));
  iree_hal_buffer_t* subspan = NULL;
  IREE_RETURN_IF_ERROR(vm_device_subspan(m->state->budget, buffer, offset, length, m->state->allocator, &subspan));
  return iree_vm_ref_wrap_assign(subspan, iree_hal_buffer_type(), result);
}

iree_status_t vm_do_hal_buffer_length(vm_machine_t* m) {
  vm_cell_t* result = vm_next_value(m);
  VM_NEXT_OBJECT(m, iree_hal_buffer, buffer);
  result->I = (int64_t)iree_hal_buffer_byte_length(buffer);
  return iree_ok_status();
}

iree_status_t vm_do_hal_buffer_check(vm_machine_t* m) {
  iree_vm_ref_t* ref = vm_next_ref(m);
  iree_device_size_t needed = 0;
  IREE_RETURN_IF_ERROR(next_size(m, &needed));
  iree_string_view_t name = module_image_string(m->image, vm_next_word(m));
  const iree_hal_buffer_view_t* view = iree_hal_buffer_view_deref(*ref);
  if (view) {  // the memory that it shows
    iree_hal_buffer_t* shown = iree_hal_buffer_view_buffer(view);
    IREE_RETURN_IF_ERROR(iree_vm_ref_wrap_retain(shown, iree_hal_buffer_type(), ref));
  }
  iree_hal_buffer_t* buffer = iree_hal_buffer_deref(*ref);
  if (!buffer) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%.*s is %s; expected a !hal.buffer or a view of one",
                            (int)name.size, name.data, ref->ptr ? "of another type" : "null");
  }
  if (iree_hal_buffer_byte_length(buffer) < needed) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "%.*s buffer byte length %" PRIdsz " less than expected minimum %" PRIdsz, (int)name.size,
                            name.data, iree_hal_buffer_byte_length(buffer), needed);
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Work
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t execute_with(vm_machine_t* m, vm_stream_t* stream, vm_execution_t* execution) {
  vm_scratch_t scratch;
  iree_hal_buffer_binding_t* buffers = NULL;
  execution->buffer_count = vm_next_word(m);
  IREE_RETURN_IF_ERROR(vm_scratch_allocate(&scratch, m, execution->buffer_count, sizeof(*buffers), (void**)&buffers));
  iree_status_t status = iree_ok_status();
  for (uint32_t i = 0; i < execution->buffer_count && iree_status_is_ok(status); ++i) {
    buffers[i] = (iree_hal_buffer_binding_t){0};
    status = iree_hal_buffer_check_deref(*vm_next_ref(m), &buffers[i].buffer);
    if (!iree_status_is_ok(status)) status = iree_status_annotate_f(status, "buffer %u", i);
  }
  execution->buffers = buffers;
  if (iree_status_is_ok(status)) status = vm_table_execute(stream, execution);
  vm_scratch_free(&scratch);
  return status;
}

iree_status_t vm_do_hal_execute(vm_machine_t* m) {
  VM_NEXT_OBJECT(m, vm_stream, stream);
  vm_execution_t execution = {.table = vm_next_word(m), .constants = m->state->constants};
  uint32_t count = vm_next_word(m);
  vm_scratch_t scratch;
  uint64_t* params = NULL;
  IREE_RETURN_IF_ERROR(vm_scratch_allocate(&scratch, m, count, sizeof(*params), (void**)&params));
  for (uint32_t i = 0; i < count; ++i) params[i] = vm_next_value(m)->bits;
  execution.params = params;
  iree_status_t status = execute_with(m, stream, &execution);
  vm_scratch_free(&scratch);
  return status;
}

iree_status_t vm_do_hal_copy(vm_machine_t* m) {
  VM_NEXT_OBJECT(m, vm_stream, stream);
  VM_NEXT_OBJECT(m, iree_hal_buffer, source);
  iree_device_size_t source_offset = 0, target_offset = 0, length = 0;
  IREE_RETURN_IF_ERROR(next_size(m, &source_offset));
  VM_NEXT_OBJECT(m, iree_hal_buffer, target);
  IREE_RETURN_IF_ERROR(next_size(m, &target_offset));
  IREE_RETURN_IF_ERROR(next_size(m, &length));
  if (!length) return iree_ok_status();
  vm_submission_t submission;
  vm_stream_prepare(stream, &submission);
  iree_status_t status = iree_hal_device_queue_copy(stream->device->handle, IREE_HAL_QUEUE_AFFINITY_ANY,
                                                    submission.wait, submission.signal, source, source_offset, target,
                                                    target_offset, length, IREE_HAL_COPY_FLAG_NONE);
  return vm_stream_submitted(stream, &submission, status);
}

iree_status_t vm_do_hal_fill(vm_machine_t* m) {
  VM_NEXT_OBJECT(m, vm_stream, stream);
  VM_NEXT_OBJECT(m, iree_hal_buffer, target);
  iree_device_size_t offset = 0, length = 0;
  IREE_RETURN_IF_ERROR(next_size(m, &offset));
  IREE_RETURN_IF_ERROR(next_size(m, &length));
  int32_t pattern = vm_next_value(m)->i;
  uint32_t pattern_length = vm_next_word(m);
  if (!length) return iree_ok_status();
  vm_submission_t submission;
  vm_stream_prepare(stream, &submission);
  iree_status_t status = iree_hal_device_queue_fill(stream->device->handle, IREE_HAL_QUEUE_AFFINITY_ANY,
                                                    submission.wait, submission.signal, target, offset, length,
                                                    &pattern, pattern_length, IREE_HAL_FILL_FLAG_NONE);
  return vm_stream_submitted(stream, &submission, status);
}

iree_status_t vm_do_hal_update(vm_machine_t* m) {
  VM_NEXT_OBJECT(m, vm_stream, stream);
  iree_const_byte_span_t source = m->image->segment_data[vm_next_word(m)];
  iree_device_size_t source_offset = 0, target_offset = 0, length = 0;
  IREE_RETURN_IF_ERROR(next_size(m, &source_offset));
  VM_NEXT_OBJECT(m, iree_hal_buffer, target);
  IREE_RETURN_IF_ERROR(next_size(m, &target_offset));
  IREE_RETURN_IF_ERROR(next_size(m, &length));
  if (source_offset > source.data_length || length > source.data_length - source_offset) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "update reads outside its segment");
  }
  iree_status_t status = iree_ok_status();
  while (length && iree_status_is_ok(status)) {
    iree_device_size_t part = iree_min(length, IREE_HAL_COMMAND_BUFFER_MAX_UPDATE_SIZE);
    vm_submission_t submission;
    vm_stream_prepare(stream, &submission);
    status = iree_hal_device_queue_update(stream->device->handle, IREE_HAL_QUEUE_AFFINITY_ANY, submission.wait,
                                          submission.signal, source.data, source_offset, target, target_offset, part,
                                          IREE_HAL_UPDATE_FLAG_NONE);
    status = vm_stream_submitted(stream, &submission, status);
    source_offset += part;
    target_offset += part;
    length -= part;
  }
  return status;
}

iree_status_t vm_do_hal_upload(vm_machine_t* m) {
  VM_NEXT_OBJECT(m, vm_stream, stream);
  VM_NEXT_OBJECT(m, iree_vm_buffer, source);
  VM_NEXT_OBJECT(m, iree_hal_buffer, target);
  iree_device_size_t length = 0;
  IREE_RETURN_IF_ERROR(next_size(m, &length));
  if (length > source->data.data_length) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "upload reads outside its buffer");
  }
  IREE_RETURN_IF_ERROR(await_stream(m, stream));
  return iree_hal_device_transfer_h2d(stream->device->handle, source->data.data, target, 0, length,
                                      IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout());
}

static void release_source(void* user_data, iree_hal_buffer_t* buffer) { iree_vm_buffer_release(user_data); }

iree_status_t vm_do_hal_import(vm_machine_t* m) {
  iree_vm_ref_t* result = vm_next_ref(m);
  VM_NEXT_OBJECT(m, vm_stream, stream);
  VM_NEXT_OBJECT(m, iree_vm_buffer, source);
  iree_device_size_t length = 0;
  IREE_RETURN_IF_ERROR(next_size(m, &length));
  if (length > source->data.data_length) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "import reads outside its buffer");
  }
  iree_hal_buffer_t* buffer = NULL;
  iree_hal_buffer_release_callback_t callback = {release_source, source};
  iree_vm_buffer_retain(source);
  IREE_RETURN_IF_ERROR(
      vm_device_import(stream->device, iree_make_const_byte_span(source->data.data, length), callback, &buffer));
  return iree_vm_ref_wrap_assign(buffer, iree_hal_buffer_type(), result);
}

iree_status_t vm_do_hal_target(vm_machine_t* m) {
  vm_cell_t* result = vm_next_value(m);
  result->i = (int32_t)next_device(m)->target;
  return iree_ok_status();
}

// Reads a few bytes of a device buffer once the stream is done with it.
static iree_status_t read_element(vm_machine_t* m, void* element, iree_device_size_t size) {
  VM_NEXT_OBJECT(m, vm_stream, stream);
  VM_NEXT_OBJECT(m, iree_hal_buffer, buffer);
  iree_device_size_t offset = 0;
  IREE_RETURN_IF_ERROR(next_size(m, &offset));
  IREE_RETURN_IF_ERROR(await_stream(m, stream));
  return iree_hal_device_transfer_d2h(stream->device->handle, buffer, offset, element, size,
                                      IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout());
}

#define FLOW(name, signature)
#define OP(name, signature)
#define UNARY(name, ...)
#define BINARY(name, ...)
#define TERNARY(name, ...)
#define DIVIDE(name, ...)
#define LOAD(name, ...)
#define STORE(name, ...)
#define HAL_LOAD(name, R, ctype)                                      \
  iree_status_t vm_do_##name(vm_machine_t* m) {                       \
    vm_cell_t* result = vm_next_value(m);                             \
    ctype element;                                                    \
    IREE_RETURN_IF_ERROR(read_element(m, &element, sizeof(element))); \
    result->R = element;                                              \
    return iree_ok_status();                                          \
  }
#include "module/ops.def"
#include "module/ops_undef.h"
