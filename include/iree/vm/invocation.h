// Calling functions with lists of values: at once, in steps, on a loop, or as an object. Calls into one context must
// not run at the same time in several threads; those in steps may be pending together.
//
// A call in steps stops where it would wait for a device: in the invoked function and those of its module that it
// calls. What it calls in other modules waits in place.

#ifndef IREE_VM_INVOCATION_H_
#define IREE_VM_INVOCATION_H_

#include "iree/base/api.h"
#include "iree/vm/context.h"
#include "iree/vm/list.h"
#include "iree/vm/module.h"
#include "iree/vm/ref.h"
#include "iree/vm/stack.h"

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

// Limits of one invocation (NULL or zeros: the context's). The fields are not part of IREE's API.
typedef struct iree_vm_invocation_policy_t {
  uint64_t max_steps;       // as in iree_vm_context_limits_t
  iree_time_t deadline_ns;  // 0: as the context says; a call that is not done by then ends with DEADLINE_EXCEEDED
} iree_vm_invocation_policy_t;

// Calls `function` in `context` and returns when it has returned. `inputs` (NULL: none) holds the arguments, values
// convert to the wanted types; results are appended to `outputs` (NULL: dropped). Failures carry a backtrace.
// Errors: INVALID_ARGUMENT for a wrong number or kind of inputs, what limits end it with (context.h), and whatever the
// function fails with.
IREE_API_EXPORT iree_status_t iree_vm_invoke(iree_vm_context_t* context, iree_vm_function_t function,
                                             iree_vm_invocation_flags_t flags,
                                             const iree_vm_invocation_policy_t* policy, const iree_vm_list_t* inputs,
                                             iree_vm_list_t* outputs, iree_allocator_t host_allocator);

//===----------------------------------------------------------------------------------------------------------------===
// In steps
//===----------------------------------------------------------------------------------------------------------------===

// A call between its steps; the caller's, must not move. One thread at a time.
//
//   status = iree_vm_begin_invoke(&state, context, function, ...);
//   while (iree_status_is_deferred(status)) {
//     iree_vm_wait_frame_t* frame = iree_vm_stack_wait_frame(state.stack);
//     if (frame) iree_vm_wait_invoke(&state, frame, deadline);   ... or wait for its sources otherwise ...
//     status = iree_vm_resume_invoke(&state);
//   }
//   iree_vm_end_invoke(&state, outputs, &result);
typedef struct iree_vm_invoke_state_t {
  iree_vm_context_t* context;        // retained
  iree_status_t status;              // what the call ended with
  iree_string_view_t cconv_results;  // letters of the results
  iree_byte_span_t results;          // packed
  iree_vm_stack_t* stack;
  iree_vm_function_t function;  // this and the next two are not part of IREE's API
  iree_allocator_t host_allocator;
  void* storage;
  iree_alignas(16) uint8_t stack_storage[IREE_VM_STACK_DEFAULT_SIZE];
} iree_vm_invoke_state_t;

// Runs until the function returns, fails or would wait. OK: it has ended, one way or the other, and iree_vm_end_invoke
// says how. DEFERRED: iree_vm_resume_invoke goes on, after what the stack's wait frame waits for (when there is one).
// Another failure is that of the step, not of the function: iree_vm_abort_invoke cleans up. `inputs` are not needed
// afterwards.
IREE_API_EXPORT iree_status_t iree_vm_begin_invoke(iree_vm_invoke_state_t* state, iree_vm_context_t* context,
                                                   iree_vm_function_t function, iree_vm_invocation_flags_t flags,
                                                   const iree_vm_invocation_policy_t* policy,
                                                   const iree_vm_list_t* inputs, iree_allocator_t host_allocator);
// Goes on, with the same results. A wait that failed ends the call with the failure.
IREE_API_EXPORT iree_status_t iree_vm_resume_invoke(iree_vm_invoke_state_t* state);
// Blocks for what the frame waits for, at most until `deadline_ns`; the outcome is kept in the frame. Always OK.
IREE_API_EXPORT iree_status_t iree_vm_wait_invoke(iree_vm_invoke_state_t* state, iree_vm_wait_frame_t* wait_frame,
                                                  iree_time_t deadline_ns);
// Cleans up. *out_status is the function's, owned by the caller; with OK its results are appended to `outputs` (NULL:
// dropped). An error is that of appending them.
IREE_API_EXPORT iree_status_t iree_vm_end_invoke(iree_vm_invoke_state_t* state, iree_vm_list_t* outputs,
                                                 iree_status_t* out_status);
// Cleans up a call that is not at its end: the function is not told. Work that it has given devices goes on.
IREE_API_EXPORT void iree_vm_abort_invoke(iree_vm_invoke_state_t* state);

//===----------------------------------------------------------------------------------------------------------------===
// On a loop
//===----------------------------------------------------------------------------------------------------------------===

// Gets the outcome, and its reference on `outputs` (NULL when the call failed before it had any). What it returns goes
// to the loop. It runs on the loop and must not block.
typedef iree_status_t(IREE_API_PTR* iree_vm_async_invoke_callback_fn_t)(void* user_data, iree_loop_t loop,
                                                                        iree_status_t status, iree_vm_list_t* outputs);

// The caller's; must stay where it is until the callback.
typedef struct iree_vm_async_invoke_state_t {
  iree_vm_invoke_state_t base;
  // Until the call begins.
  iree_vm_context_t* context;
  iree_vm_function_t function;
  iree_vm_invocation_flags_t flags;
  const iree_vm_invocation_policy_t* policy;
  iree_vm_list_t* inputs;
  // Until the callback.
  iree_time_t deadline_ns;
  iree_allocator_t host_allocator;
  iree_vm_list_t* outputs;
  iree_vm_async_invoke_callback_fn_t callback;
  void* user_data;
} iree_vm_async_invoke_state_t;

// Calls `function` on `loop`; `callback` is called when it has ended, perhaps before this returns. `inputs` and
// `outputs` (NULL: a new list) are retained, and `policy` must stay until it begins. When the loop takes nothing, its
// failure is returned and the callback is not called.
IREE_API_EXPORT iree_status_t iree_vm_async_invoke(iree_loop_t loop, iree_vm_async_invoke_state_t* state,
                                                   iree_vm_context_t* context, iree_vm_function_t function,
                                                   iree_vm_invocation_flags_t flags,
                                                   const iree_vm_invocation_policy_t* policy, iree_vm_list_t* inputs,
                                                   iree_vm_list_t* outputs, iree_allocator_t host_allocator,
                                                   iree_vm_async_invoke_callback_fn_t callback, void* user_data);

//===----------------------------------------------------------------------------------------------------------------===
// As an object
//===----------------------------------------------------------------------------------------------------------------===

// A call with reference counting. It has no thread: it goes on in the functions below. Thread-compatible, but for
// retain, release and cancel.
typedef struct iree_vm_invocation_t iree_vm_invocation_t;

// Begins a call; it runs until it would wait. A failure of the function is one of the queries, not of this.
IREE_API_EXPORT iree_status_t iree_vm_invocation_create(iree_vm_context_t* context, iree_vm_function_t function,
                                                        iree_vm_invocation_flags_t flags,
                                                        const iree_vm_invocation_policy_t* policy,
                                                        const iree_vm_list_t* inputs, iree_allocator_t allocator,
                                                        iree_vm_invocation_t** out_invocation);
IREE_API_EXPORT iree_status_t iree_vm_invocation_retain(iree_vm_invocation_t* invocation);
// The last one ends the call as iree_vm_abort_invoke does.
IREE_API_EXPORT iree_status_t iree_vm_invocation_release(iree_vm_invocation_t* invocation);
// Goes on as far as it can without waiting. OK when the function has returned, DEFERRED when not yet, CANCELLED, or
// what it failed with.
IREE_API_EXPORT iree_status_t iree_vm_invocation_query_status(iree_vm_invocation_t* invocation);
// The results; NULL while there are none. They belong to the invocation.
IREE_API_EXPORT const iree_vm_list_t* iree_vm_invocation_outputs(iree_vm_invocation_t* invocation);
// Goes on to the end. As iree_vm_invocation_query_status, but DEADLINE_EXCEEDED when it is not there by `deadline`.
IREE_API_EXPORT iree_status_t iree_vm_invocation_await(iree_vm_invocation_t* invocation, iree_time_t deadline);
// The call ends with CANCELLED as soon as somebody lets it go on, unless it has ended. From any thread.
IREE_API_EXPORT void iree_vm_invocation_cancel(iree_vm_invocation_t* invocation);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  // IREE_VM_INVOCATION_H_
