// Invocations on a loop, and as objects.

#include "iree/base/internal/atomics.h"
#include "iree/vm/invocation.h"
#include "vm/wait.h"

//===----------------------------------------------------------------------------------------------------------------===
// On a loop
//===----------------------------------------------------------------------------------------------------------------===

// The callback gets what it must release.
static iree_status_t end_async(iree_vm_async_invoke_state_t* state, iree_loop_t loop, iree_status_t status) {
  iree_vm_list_t* outputs = state->outputs;
  state->outputs = NULL;
  iree_vm_list_release(state->inputs);
  iree_vm_context_release(state->context);
  state->inputs = NULL;
  state->context = NULL;
  return state->callback(state->user_data, loop, status, outputs);
}

static iree_status_t end_invocation(iree_vm_async_invoke_state_t* state, iree_loop_t loop) {
  iree_status_t result = iree_ok_status(), status = iree_ok_status();
  if (!state->outputs) {
    status = iree_vm_list_create(iree_vm_make_undefined_type_def(), state->base.cconv_results.size,
                                 state->host_allocator, &state->outputs);
  }
  if (!iree_status_is_ok(status)) {
    iree_vm_abort_invoke(&state->base);
    return end_async(state, loop, status);
  }
  status = iree_vm_end_invoke(&state->base, state->outputs, &result);
  if (!iree_status_is_ok(status)) {
    iree_status_ignore(result);
    result = status;
  }
  return end_async(state, loop, result);
}

static iree_status_t resume_async(void* user_data, iree_loop_t loop, iree_status_t status);

// Waits on the loop for what the call waits for.
static iree_status_t enqueue_wait(iree_vm_async_invoke_state_t* state, iree_loop_t loop) {
  iree_vm_wait_frame_t* frame = vm_wait_frame(state->base.stack);
  if (!frame) return iree_loop_call(loop, IREE_LOOP_PRIORITY_DEFAULT, resume_async, state);
  iree_timeout_t deadline = iree_make_deadline(frame->deadline_ns);
  if (frame->wait_type == IREE_VM_WAIT_UNTIL) return iree_loop_wait_until(loop, deadline, resume_async, state);
  if (frame->count == 1) return iree_loop_wait_one(loop, frame->wait_sources[0], deadline, resume_async, state);
  return (frame->wait_type == IREE_VM_WAIT_ANY ? iree_loop_wait_any : iree_loop_wait_all)(
      loop, frame->count, frame->wait_sources, deadline, resume_async, state);
}

// After a step.
static iree_status_t go_on(iree_vm_async_invoke_state_t* state, iree_loop_t loop, iree_status_t status) {
  if (iree_status_is_ok(status)) return end_invocation(state, loop);
  if (iree_status_is_deferred(status)) {
    iree_status_ignore(status);
    status = enqueue_wait(state, loop);
    if (iree_status_is_ok(status)) return status;
  }
  iree_vm_abort_invoke(&state->base);
  return end_async(state, loop, status);
}

static iree_status_t resume_async(void* user_data, iree_loop_t loop, iree_status_t status) {
  iree_vm_async_invoke_state_t* state = user_data;
  iree_vm_wait_frame_t* frame = vm_wait_frame(state->base.stack);
  if (iree_status_is_aborted(status) || (!frame && !iree_status_is_ok(status))) {
    iree_vm_abort_invoke(&state->base);
    return end_async(state, loop, status);
  }
  if (frame) {
    iree_status_ignore(frame->wait_status);
    frame->wait_status = status;
  }
  return go_on(state, loop, iree_vm_resume_invoke(&state->base));
}

static iree_status_t begin_async(void* user_data, iree_loop_t loop, iree_status_t status) {
  iree_vm_async_invoke_state_t* state = user_data;
  if (!iree_status_is_ok(status)) return end_async(state, loop, status);
  status = iree_vm_begin_invoke(&state->base, state->context, state->function, state->flags, state->policy,
                                state->inputs, state->host_allocator);
  iree_vm_list_release(state->inputs);
  state->inputs = NULL;
  return go_on(state, loop, status);
}

iree_status_t iree_vm_async_invoke(iree_loop_t loop, iree_vm_async_invoke_state_t* state, iree_vm_context_t* context,
                                   iree_vm_function_t function, iree_vm_invocation_flags_t flags,
                                   const iree_vm_invocation_policy_t* policy, iree_vm_list_t* inputs,
                                   iree_vm_list_t* outputs, iree_allocator_t host_allocator,
                                   iree_vm_async_invoke_callback_fn_t callback, void* user_data) {
  memset(state, 0, offsetof(iree_vm_invoke_state_t, stack_storage));
  state->context = context;
  state->function = function;
  state->flags = flags;
  state->policy = policy;
  state->inputs = inputs;
  state->deadline_ns = IREE_TIME_INFINITE_FUTURE;
  state->host_allocator = host_allocator;
  state->outputs = outputs;
  state->callback = callback;
  state->user_data = user_data;
  iree_vm_context_retain(context);
  iree_vm_list_retain(inputs);
  iree_vm_list_retain(outputs);
  iree_status_t status = iree_loop_call(loop, IREE_LOOP_PRIORITY_DEFAULT, begin_async, state);
  if (iree_status_is_ok(status)) return status;
  iree_vm_context_release(context);
  iree_vm_list_release(inputs);
  iree_vm_list_release(outputs);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// As an object
//===----------------------------------------------------------------------------------------------------------------===

struct iree_vm_invocation_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t allocator;
  iree_atomic_int32_t is_cancelled;
  bool is_done;
  iree_status_t status;     // once it is done
  iree_vm_list_t* outputs;  // for results
  iree_vm_invoke_state_t state;
};

enum { CANCEL_PIECE_NS = 10 * 1000 * 1000 };  // how often a waiting thread looks whether the call was cancelled

static void end_object(iree_vm_invocation_t* invocation, iree_status_t failure) {
  invocation->is_done = true;
  if (!iree_status_is_ok(failure)) {
    iree_vm_abort_invoke(&invocation->state);
    invocation->status = failure;
    return;
  }
  iree_status_t status = iree_vm_end_invoke(&invocation->state, invocation->outputs, &invocation->status);
  if (iree_status_is_ok(status)) return;
  iree_status_ignore(invocation->status);
  invocation->status = status;
}

// After a step: whether the call has ended.
static bool note_step(iree_vm_invocation_t* invocation, iree_status_t status) {
  if (iree_status_is_deferred(status)) {
    iree_status_ignore(status);
    return false;
  }
  end_object(invocation, status);
  return true;
}

iree_status_t iree_vm_invocation_create(iree_vm_context_t* context, iree_vm_function_t function,
                                        iree_vm_invocation_flags_t flags, const iree_vm_invocation_policy_t* policy,
                                        const iree_vm_list_t* inputs, iree_allocator_t allocator,
                                        iree_vm_invocation_t** out_invocation) {
  *out_invocation = NULL;
  iree_vm_invocation_t* invocation = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, sizeof(*invocation), (void**)&invocation));
  iree_atomic_ref_count_init(&invocation->ref_count);
  invocation->allocator = allocator;
  iree_status_t status = iree_vm_list_create(iree_vm_make_undefined_type_def(), 4, allocator, &invocation->outputs);
  if (!iree_status_is_ok(status)) {
    iree_allocator_free(allocator, invocation);
    return status;
  }
  note_step(invocation, iree_vm_begin_invoke(&invocation->state, context, function, flags, policy, inputs, allocator));
  *out_invocation = invocation;
  return iree_ok_status();
}

iree_status_t iree_vm_invocation_retain(iree_vm_invocation_t* invocation) {
  if (invocation) iree_atomic_ref_count_inc(&invocation->ref_count);
  return iree_ok_status();
}

iree_status_t iree_vm_invocation_release(iree_vm_invocation_t* invocation) {
  if (!invocation || iree_atomic_ref_count_dec(&invocation->ref_count) != 1) return iree_ok_status();
  if (!invocation->is_done) iree_vm_abort_invoke(&invocation->state);
  iree_status_ignore(invocation->status);
  iree_vm_list_release(invocation->outputs);
  iree_allocator_free(invocation->allocator, invocation);
  return iree_ok_status();
}

// Goes on to the end, or until nothing can be done by `deadline_ns`.
static void advance(iree_vm_invocation_t* invocation, iree_time_t deadline_ns) {
  while (!invocation->is_done) {
    if (iree_atomic_load(&invocation->is_cancelled, iree_memory_order_acquire)) {
      end_object(invocation, iree_make_status(IREE_STATUS_CANCELLED, "the invocation was cancelled"));
      return;
    }
    iree_vm_wait_frame_t* frame = vm_wait_frame(invocation->state.stack);
    if (frame) {
      iree_time_t now = iree_time_now();
      bool last = now >= deadline_ns;
      iree_time_t piece_ns = last ? IREE_TIME_INFINITE_PAST : iree_min(deadline_ns, now + CANCEL_PIECE_NS);
      vm_wait_block(frame, piece_ns, iree_vm_stack_budget(invocation->state.stack));
      bool late = iree_status_is_deadline_exceeded(frame->wait_status) && iree_time_now() < frame->deadline_ns;
      if (late && last) return;
      if (late) continue;
    }
    note_step(invocation, iree_vm_resume_invoke(&invocation->state));
  }
}

static iree_status_t outcome(const iree_vm_invocation_t* invocation, iree_status_code_t pending) {
  return invocation->is_done ? iree_status_clone(invocation->status) : iree_status_from_code(pending);
}

iree_status_t iree_vm_invocation_query_status(iree_vm_invocation_t* invocation) {
  advance(invocation, IREE_TIME_INFINITE_PAST);
  return outcome(invocation, IREE_STATUS_DEFERRED);
}

const iree_vm_list_t* iree_vm_invocation_outputs(iree_vm_invocation_t* invocation) {
  return invocation->is_done && iree_status_is_ok(invocation->status) ? invocation->outputs : NULL;
}

iree_status_t iree_vm_invocation_await(iree_vm_invocation_t* invocation, iree_time_t deadline) {
  advance(invocation, deadline);
  return outcome(invocation, IREE_STATUS_DEADLINE_EXCEEDED);
}

void iree_vm_invocation_cancel(iree_vm_invocation_t* invocation) {
  iree_atomic_store(&invocation->is_cancelled, 1, iree_memory_order_release);
}
