// Runs of executables. The program is called with its arguments and two fences, the point before it on the device's
// timeline and its own; what it gives is ready at its own. Programs that decide on values call nothing before these are
// there, so their calls last as long.
#include "iree/modules/hal/types.h"
#include "pjrt/pjrt.h"

typedef struct run_t {
  PJRT_LoadedExecutable* executable;
  PJRT_Buffer* const* arguments;
  size_t count;
  size_t inputs, outputs;  // of the function, which has no tokens: memory for results is among the inputs
  iree_vm_ref_t* refs;     // inputs and two fences, then outputs
  const PJRT_ExecuteOptions* options;
  size_t ref_count;
  pjrt_point_t done;
} run_t;

static PJRT_Error* check_argument(const pjrt_value_t* expected, const PJRT_Buffer* buffer, size_t index) {
  if (expected->type == PJRT_TYPE_TOKEN) return NULL;  // anything that is ready says so
  bool ok = buffer->type_number == expected->type && buffer->rank == expected->rank;
  for (size_t i = 0; ok && i < buffer->rank; ++i) ok = buffer->dims[i] == expected->dims[i];
  if (ok) return NULL;
  return pjrt_error(PJRT_INVALID_ARGUMENT, "argument %zu is not of the type that the program takes", index);
}

static bool may_donate(const PJRT_ExecuteOptions* options, size_t index) {
  if (!options || options->struct_size < sizeof(*options)) return true;
  for (size_t i = 0; i < options->num_non_donatable_input_indices; ++i) {
    if (options->non_donatable_input_indices[i] == (int64_t)index) return false;
  }
  return true;
}

// What is donated is no other argument of the same call. With the device locked.
static PJRT_Error* check_donated_once(const run_t* run, size_t index, uint64_t number) {
  PJRT_Buffer* buffer = run->arguments[index];
  bool is_donated = run->executable->program->signature.arguments[index].donated && may_donate(run->options, index);
  bool is_again = buffer->call == number;
  if (is_again && (is_donated || buffer->is_donated)) {
    return pjrt_error(PJRT_INVALID_ARGUMENT,
                      "argument %zu is the same buffer as one before it, and one of them is donated; pass a copy",
                      index);
  }
  buffer->call = number;
  buffer->is_donated = is_donated;
  return NULL;
}

// References to the arguments' views. What is made on another device's timeline is waited for.
static PJRT_Error* take_arguments(run_t* run) {
  const pjrt_signature_t* s = &run->executable->program->signature;
  PJRT_Device* device = run->executable->device;
  uint64_t number = ++device->calls;
  for (size_t i = 0, next = 0; i < run->count; ++i) {
    PJRT_Buffer* buffer = run->arguments[i];
    iree_hal_buffer_view_t* view = NULL;
    pjrt_point_t ready = {0};
    PJRT_Error* error = check_argument(&s->arguments[i], buffer, i);
    if (!error && buffer->device != device) {
      error = pjrt_error(PJRT_INVALID_ARGUMENT, "argument %zu is on another device than the program", i);
    }
    if (!error) error = check_donated_once(run, i, number);
    if (!error) error = pjrt_buffer_acquire(buffer, &view, &ready);
    if (error) return error;
    if (s->arguments[i].type != PJRT_TYPE_TOKEN) {
      run->refs[next++] = iree_hal_buffer_view_move_ref(view);
    } else {
      iree_hal_buffer_view_release(view);
    }
    if (ready.semaphore != device->timeline) error = pjrt_point_wait(ready);  // of a timeline that failed since
    pjrt_point_release(&ready);
    if (error) return error;
  }
  return NULL;
}

// Results are made in the device's memory.
static bool is_local(const PJRT_Buffer* buffer) {
  return buffer->memory->kind == PJRT_MEMORY_DEVICE || buffer->device->client->is_host;
}

// What callers give up becomes memory for results. From here on it is gone, even if the call fails.
static void give_memory(run_t* run) {
  const pjrt_program_t* program = run->executable->program;
  for (size_t i = 0; i < run->count && program->signature.storage_count; ++i) {
    int64_t storage = program->signature.arguments[i].storage;
    if (storage < 0 || !may_donate(run->options, i) || !is_local(run->arguments[i])) continue;
    iree_hal_buffer_t* memory = pjrt_buffer_give_up(run->arguments[i]);
    if (memory) run->refs[program->inputs + (size_t)storage] = iree_hal_buffer_move_ref(memory);
  }
}

static iree_status_t add_fence(run_t* run, size_t index, pjrt_point_t point) {
  iree_hal_fence_t* fence = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_fence_create_at(point.semaphore, point.value, iree_allocator_system(), &fence));
  run->refs[index] = iree_hal_fence_move_ref(fence);
  return iree_ok_status();
}

static iree_status_t call(run_t* run, pjrt_point_t before, pjrt_point_t after) {
  PJRT_LoadedExecutable* executable = run->executable;
  IREE_RETURN_IF_ERROR(add_fence(run, run->inputs, before));
  IREE_RETURN_IF_ERROR(add_fence(run, run->inputs + 1, after));
  iree_vm_function_call_t call = {
      .function = executable->function,
      .arguments = iree_make_byte_span(run->refs, (run->inputs + 2) * sizeof(*run->refs)),
      .results = iree_make_byte_span(run->refs + run->inputs + 2, run->outputs * sizeof(*run->refs)),
  };
  return iree_runtime_session_call_direct(executable->session, call);
}

// With the device locked.
static PJRT_Error* submit(run_t* run) {
  PJRT_Device* device = run->executable->device;
  pjrt_point_t before;
  uint64_t number = 0;
  if (!run->executable->session) return pjrt_error(PJRT_INVALID_ARGUMENT, "the executable was deleted");
  PJRT_Error* error = pjrt_device_begin(device, &before, &number);
  if (!error) error = take_arguments(run);
  if (error) return error;
  give_memory(run);
  iree_status_t status = call(run, before, (pjrt_point_t){before.semaphore, number});
  if (!iree_status_is_ok(status)) {
    // Part of it may be under way and the number may never come: the timeline ends here.
    iree_hal_semaphore_fail(device->timeline, iree_status_clone(status));
    return pjrt_error_from_status(status);
  }
  device->submitted = number;
  run->done = pjrt_point_retain((pjrt_point_t){device->timeline, number});
  return NULL;
}

static PJRT_Error* call_and_wait(run_t* run, pjrt_point_t before) {
  pjrt_point_t after = {.value = 1};
  PJRT_Error* error = pjrt_error_from_status(iree_hal_semaphore_create(
      run->executable->device->hal, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &after.semaphore));
  if (error) return error;
  run->done = after;
  pthread_mutex_lock(&run->executable->lock);
  error = run->executable->session ? pjrt_error_from_status(call(run, before, after))
                                   : pjrt_error(PJRT_INVALID_ARGUMENT, "the executable was deleted");
  pthread_mutex_unlock(&run->executable->lock);
  return error ? error : pjrt_point_wait(after);
}

// A program that calls the host, where other programs may be run meanwhile, even on the same device: it has a timeline
// of its own, and is done when this returns.
static PJRT_Error* run_calling(run_t* run) {
  PJRT_Device* device = run->executable->device;
  pjrt_point_t before = {0};
  uint64_t number = 0;
  pthread_mutex_lock(&device->lock);
  PJRT_Error* error = pjrt_device_begin(device, &before, &number);
  if (!error) error = take_arguments(run);
  if (!error) give_memory(run);
  pjrt_point_retain(before);
  pthread_mutex_unlock(&device->lock);
  if (!error) error = call_and_wait(run, before);
  pjrt_point_release(&before);
  return error;
}

static PJRT_Error* run_program(run_t* run) {
  if (run->executable->program->signature.calls_host) return run_calling(run);
  pthread_mutex_lock(&run->executable->device->lock);
  PJRT_Error* error = submit(run);
  pthread_mutex_unlock(&run->executable->device->lock);
  return error;
}

// Takes `view` over (NULL for tokens). A result that is wanted in another memory than it was made in is copied.
static PJRT_Error* give_result(const run_t* run, const pjrt_value_t* value, iree_hal_buffer_view_t* view,
                               PJRT_Buffer** output) {
  PJRT_Device* device = run->executable->device;
  PJRT_Memory *wanted = &device->memory[value->memory], *home = wanted;
  if (view && !device->client->is_host) home = pjrt_memory_of(device, iree_hal_buffer_view_buffer(view));
  PJRT_Buffer* made = NULL;
  PJRT_Error* error =
      pjrt_buffer_create(home, value->type, value->rank, value->dims, view, pjrt_point_retain(run->done), &made);
  if (error || home == wanted) {
    *output = made;
    return error;
  }
  error = pjrt_memory_copy(made, wanted, output);
  pjrt_buffer_destroy(made);
  return error;
}

static PJRT_Error* give_results(run_t* run, PJRT_Buffer** outputs) {
  const pjrt_signature_t* s = &run->executable->program->signature;
  PJRT_Error* error = NULL;
  uint32_t made = 0;
  const iree_vm_ref_t* ref = &run->refs[run->inputs + 2];
  for (; made < s->result_count && !error; ++made) {
    iree_hal_buffer_view_t* view = NULL;
    const pjrt_value_t* value = &s->results[made];
    if (value->type != PJRT_TYPE_TOKEN) {
      error = pjrt_error_from_status(iree_hal_buffer_view_check_deref(*ref++, &view));
    }
    if (error) break;
    iree_hal_buffer_view_retain(view);
    error = give_result(run, value, view, &outputs[made]);
    if (error) break;
  }
  for (uint32_t i = 0; error && i < made; ++i) {
    pjrt_buffer_destroy(outputs[i]);
    outputs[i] = NULL;
  }
  return error;
}

static PJRT_Error* finish(run_t* run, PJRT_LoadedExecutable_Execute_Args* args) {
  PJRT_Device* device = run->executable->device;
  PJRT_Event* event = NULL;
  if (args->device_complete_events && !(event = pjrt_event_at(device, run->done))) return pjrt_no_memory();
  PJRT_Error* error = give_results(run, args->output_lists[0]);
  if (error) {
    pjrt_event_release(event);
    return error;
  }
  if (event) args->device_complete_events[0] = event;
  const pjrt_signature_t* s = &run->executable->program->signature;
  for (size_t i = 0; i < run->count; ++i) {
    if (s->arguments[i].donated && may_donate(run->options, i)) pjrt_buffer_delete(run->arguments[i]);
  }
  return NULL;
}

static PJRT_Error* check(const PJRT_LoadedExecutable_Execute_Args* args) {
  size_t expected = args->executable->program->signature.argument_count;
  if (args->num_devices != 1) {
    return pjrt_error(PJRT_UNIMPLEMENTED, "programs run on one device, not on %zu", args->num_devices);
  }
  if (args->execute_device && args->execute_device != args->executable->device) {
    return pjrt_error(PJRT_UNIMPLEMENTED, "the program was compiled for another device");
  }
  if (args->num_args == expected) return NULL;
  return pjrt_error(PJRT_INVALID_ARGUMENT, "the program takes %zu arguments, not %zu", expected, args->num_args);
}

PJRT_Error* api_LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args* args) {
  enum { FEW = 32 };
  PJRT_Error* error = check(args);
  if (error) return error;
  iree_vm_ref_t few[FEW];
  run_t run = {.executable = args->executable, .arguments = args->argument_lists[0], .count = args->num_args};
  run.inputs = args->executable->program->inputs + args->executable->program->signature.storage_count;
  run.options = args->options;
  run.outputs = args->executable->program->outputs;
  run.ref_count = run.inputs + 2 + run.outputs;
  run.refs = run.ref_count <= FEW ? few : malloc(run.ref_count * sizeof(*run.refs));
  if (!run.refs) return pjrt_no_memory();
  memset(run.refs, 0, run.ref_count * sizeof(*run.refs));
  error = run_program(&run);
  if (!error) error = finish(&run, args);
  for (size_t i = 0; i < run.ref_count; ++i) iree_vm_ref_release(&run.refs[i]);
  pjrt_point_release(&run.done);
  if (run.refs != few) free(run.refs);
  return error;
}
