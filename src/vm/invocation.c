// Invocations, at once and in steps.

#include "iree/vm/invocation.h"

#include "base/trace.h"
#include "vm/call_lists.h"
#include "vm/wait.h"

static void begin_budget(iree_vm_context_t* context, const iree_vm_invocation_policy_t* policy) {
  iree_vm_context_limits_t limits = iree_vm_context_limits(context);
  uint64_t max_steps = policy && policy->max_steps ? policy->max_steps : limits.max_steps;
  iree_time_t deadline_ns = policy ? policy->deadline_ns : 0;
  if (!deadline_ns && limits.max_duration_ns)
    deadline_ns = iree_relative_timeout_to_deadline_ns(limits.max_duration_ns);
  iree_budget_begin(iree_vm_context_budget(context), max_steps, deadline_ns ? deadline_ns : IREE_TIME_INFINITE_FUTURE);
}

// A stack in `room` for an invocation that begins.
static iree_status_t make_stack(iree_vm_context_t* context, iree_vm_invocation_flags_t flags,
                                const iree_vm_invocation_policy_t* policy, iree_byte_span_t room,
                                iree_allocator_t allocator, iree_vm_stack_t** out_stack) {
  if (iree_vm_context_flags(context) & IREE_VM_CONTEXT_FLAG_TRACE_EXECUTION) {
    flags |= IREE_VM_INVOCATION_FLAG_TRACE_EXECUTION;
  }
  iree_budget_t* budget = iree_vm_context_budget(context);
  if (iree_budget_has_memory_limit(budget)) allocator = iree_budget_allocator(budget);
  begin_budget(context, policy);
  IREE_RETURN_IF_ERROR(
      iree_vm_stack_initialize(room, flags, iree_vm_context_state_resolver(context), allocator, out_stack));
  iree_vm_stack_set_budget(*out_stack, budget);
  return iree_ok_status();
}

static iree_status_t annotate(iree_vm_function_t function, iree_status_t status) {
  iree_string_view_t name = iree_vm_function_name(&function);
  return iree_status_annotate_f(status, "invoking function '%.*s'", (int)name.size, name.data);
}

static iree_status_t run_call(iree_vm_context_t* context, iree_vm_invocation_flags_t flags,
                              const iree_vm_invocation_policy_t* policy, const iree_vm_function_call_t* call,
                              iree_allocator_t allocator) {
  iree_alignas(16) uint8_t room[IREE_VM_STACK_DEFAULT_SIZE];
  iree_vm_stack_t* stack = NULL;
  IREE_RETURN_IF_ERROR(make_stack(context, flags, policy, iree_make_byte_span(room, sizeof(room)), allocator, &stack));
  iree_vm_module_t* module = call->function.module;
  iree_status_t status = vm_wait_finish(stack, call->results, module->begin_call(module->self, stack, *call));
  if (!iree_status_is_ok(status)) status = iree_vm_stack_annotate_backtrace(stack, status);
  iree_vm_stack_deinitialize(stack);
  return status;
}

enum { INLINE_VALUES_SIZE = 512 };  // packed lists up to this size need no allocation

iree_status_t iree_vm_invoke(iree_vm_context_t* context, iree_vm_function_t function, iree_vm_invocation_flags_t flags,
                             const iree_vm_invocation_policy_t* policy, const iree_vm_list_t* inputs,
                             iree_vm_list_t* outputs, iree_allocator_t host_allocator) {
  iree_alignas(16) uint8_t room[INLINE_VALUES_SIZE];
  call_lists_t lists;
  IREE_RETURN_IF_ERROR(call_lists_prepare(function, iree_make_byte_span(room, sizeof(room)), host_allocator, &lists));
  iree_vm_function_call_t* call = &lists.call;
  TRACE_SCOPE("invoke");
  iree_status_t status = call_lists_pack(&lists, inputs);
  if (iree_status_is_ok(status)) status = run_call(context, flags, policy, call, host_allocator);
  if (iree_status_is_ok(status) && outputs) status = call_lists_unpack(lists.result_letters, call->results, outputs);
  call_lists_release_refs(lists.argument_letters, call->arguments);
  call_lists_release_refs(lists.result_letters, call->results);
  iree_allocator_free(host_allocator, lists.storage);
  return iree_status_is_ok(status) ? status : annotate(function, status);
}

//===----------------------------------------------------------------------------------------------------------------===
// In steps
//===----------------------------------------------------------------------------------------------------------------===

// DEFERRED stays what it is, anything else is what the call has ended with.
static iree_status_t keep_outcome(iree_vm_invoke_state_t* state, iree_status_t status) {
  if (iree_status_is_deferred(status)) return status;
  if (!iree_status_is_ok(status))
    status = annotate(state->function, iree_vm_stack_annotate_backtrace(state->stack, status));
  state->status = status;
  return iree_ok_status();
}

static iree_status_t begin(iree_vm_invoke_state_t* state, iree_vm_invocation_flags_t flags,
                           const iree_vm_invocation_policy_t* policy, const iree_vm_list_t* inputs,
                           call_lists_t* lists) {
  IREE_RETURN_IF_ERROR(call_lists_pack(lists, inputs));
  iree_byte_span_t room = iree_make_byte_span(state->stack_storage, sizeof(state->stack_storage));
  IREE_RETURN_IF_ERROR(make_stack(state->context, flags, policy, room, state->host_allocator, &state->stack));
  vm_stack_set_yields(state->stack, true);
  iree_vm_module_t* module = state->function.module;
  return keep_outcome(state, module->begin_call(module->self, state->stack, lists->call));
}

iree_status_t iree_vm_begin_invoke(iree_vm_invoke_state_t* state, iree_vm_context_t* context,
                                   iree_vm_function_t function, iree_vm_invocation_flags_t flags,
                                   const iree_vm_invocation_policy_t* policy, const iree_vm_list_t* inputs,
                                   iree_allocator_t host_allocator) {
  memset(state, 0, offsetof(iree_vm_invoke_state_t, stack_storage));
  call_lists_t lists;
  state->function = function;
  state->host_allocator = host_allocator;
  IREE_RETURN_IF_ERROR(call_lists_prepare(function, iree_byte_span_empty(), host_allocator, &lists));
  state->context = context;
  iree_vm_context_retain(context);
  state->storage = lists.storage;
  state->cconv_results = lists.result_letters;
  state->results = lists.call.results;
  iree_status_t status = begin(state, flags, policy, inputs, &lists);
  call_lists_release_refs(lists.argument_letters, lists.call.arguments);
  return iree_status_is_ok(status) || iree_status_is_deferred(status) ? status : annotate(function, status);
}

iree_status_t iree_vm_resume_invoke(iree_vm_invoke_state_t* state) {
  if (!state->stack || !iree_vm_stack_top(state->stack)) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "the call is not waiting");
  }
  return keep_outcome(state, vm_wait_resume(state->stack, state->results));
}

iree_status_t iree_vm_wait_invoke(iree_vm_invoke_state_t* state, iree_vm_wait_frame_t* wait_frame,
                                  iree_time_t deadline_ns) {
  vm_wait_block(wait_frame, deadline_ns, iree_vm_stack_budget(state->stack));
  return iree_ok_status();
}

iree_status_t iree_vm_end_invoke(iree_vm_invoke_state_t* state, iree_vm_list_t* outputs, iree_status_t* out_status) {
  iree_status_t status = iree_ok_status();
  if (iree_status_is_ok(state->status) && outputs) {
    status = call_lists_unpack(state->cconv_results, state->results, outputs);
  }
  *out_status = state->status;
  state->status = iree_ok_status();
  iree_vm_abort_invoke(state);
  return status;
}

void iree_vm_abort_invoke(iree_vm_invoke_state_t* state) {
  iree_status_ignore(state->status);
  if (state->stack) iree_vm_stack_deinitialize(state->stack);
  call_lists_release_refs(state->cconv_results, state->results);
  iree_allocator_free(state->host_allocator, state->storage);
  iree_vm_context_release(state->context);
  memset(state, 0, offsetof(iree_vm_invoke_state_t, stack_storage));
}
