// Invocations: lists to packed arguments, the call, packed results to lists.

#include "iree/vm/invocation.h"

enum { INLINE_VALUES_SIZE = 512 };  // packed lists up to this size need no allocation

static iree_host_size_t align_value(iree_host_size_t offset, char letter) {
  bool small = letter == IREE_VM_CCONV_TYPE_I32 || letter == IREE_VM_CCONV_TYPE_F32;
  return small ? offset : iree_host_align(offset, 8);
}

// Steps over the values of a packed list: `at` is the value, *offset becomes its end.
static uint8_t* next_value(iree_byte_span_t packed, char letter, iree_host_size_t* offset) {
  *offset = align_value(*offset, letter);
  uint8_t* at = packed.data + *offset;
  bool small = letter == IREE_VM_CCONV_TYPE_I32 || letter == IREE_VM_CCONV_TYPE_F32;
  *offset += small ? 4 : letter == IREE_VM_CCONV_TYPE_REF ? sizeof(iree_vm_ref_t) : 8;
  return at;
}

// Letters of values: VALUE_LETTER(letter, NAME, field).
#define VALUE_LETTERS(VALUE_LETTER)              \
  VALUE_LETTER(IREE_VM_CCONV_TYPE_I32, I32, i32) \
  VALUE_LETTER(IREE_VM_CCONV_TYPE_I64, I64, i64) \
  VALUE_LETTER(IREE_VM_CCONV_TYPE_F32, F32, f32) \
  VALUE_LETTER(IREE_VM_CCONV_TYPE_F64, F64, f64)

static iree_status_t pack_input(const iree_vm_list_t* inputs, iree_host_size_t i, char letter, uint8_t* at) {
  switch (letter) {
#define PACK(letter, NAME, field)                                                                  \
  case letter: {                                                                                   \
    iree_vm_value_t value;                                                                         \
    IREE_RETURN_IF_ERROR(iree_vm_list_get_value_as(inputs, i, IREE_VM_VALUE_TYPE_##NAME, &value)); \
    memcpy(at, &value.field, sizeof(value.field));                                                 \
    return iree_ok_status();                                                                       \
  }
    VALUE_LETTERS(PACK)
#undef PACK
    case IREE_VM_CCONV_TYPE_REF:
      return iree_vm_list_get_ref_retain(inputs, i, (iree_vm_ref_t*)at);
    default:
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "calling convention type '%c'", letter);
  }
}

static iree_status_t pack_inputs(const iree_vm_list_t* inputs, iree_string_view_t letters, iree_byte_span_t packed) {
  iree_host_size_t count = inputs ? iree_vm_list_size(inputs) : 0, offset = 0;
  if (count != letters.size) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "input list and function mismatch; expected %zu arguments but passed %zu", letters.size,
                            count);
  }
  for (iree_host_size_t i = 0; i < letters.size; ++i) {
    uint8_t* at = next_value(packed, letters.data[i], &offset);
    IREE_RETURN_IF_ERROR(pack_input(inputs, i, letters.data[i], at), "reading input %zu", i);
  }
  return iree_ok_status();
}

static iree_status_t unpack_output(iree_vm_list_t* outputs, char letter, uint8_t* at) {
  switch (letter) {
#define UNPACK(letter, NAME, field)                    \
  case letter: {                                       \
    iree_vm_value_t value = iree_vm_value_make_none(); \
    value.type = IREE_VM_VALUE_TYPE_##NAME;            \
    memcpy(&value.field, at, sizeof(value.field));     \
    return iree_vm_list_push_value(outputs, &value);   \
  }
    VALUE_LETTERS(UNPACK)
#undef UNPACK
    case IREE_VM_CCONV_TYPE_REF:
      return iree_vm_list_push_ref_move(outputs, (iree_vm_ref_t*)at);
    default:
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "calling convention type '%c'", letter);
  }
}

static iree_status_t unpack_outputs(iree_vm_list_t* outputs, iree_string_view_t letters, iree_byte_span_t packed) {
  iree_host_size_t offset = 0;
  for (iree_host_size_t i = 0; i < letters.size; ++i) {
    IREE_RETURN_IF_ERROR(unpack_output(outputs, letters.data[i], next_value(packed, letters.data[i], &offset)));
  }
  return iree_ok_status();
}

// Releases the refs that nobody took.
static void release_refs(iree_string_view_t letters, iree_byte_span_t packed) {
  if (!letters.size || !memchr(letters.data, IREE_VM_CCONV_TYPE_REF, letters.size)) return;
  iree_host_size_t offset = 0;
  for (iree_host_size_t i = 0; i < letters.size; ++i) {
    uint8_t* at = next_value(packed, letters.data[i], &offset);
    if (letters.data[i] == IREE_VM_CCONV_TYPE_REF) iree_vm_ref_release((iree_vm_ref_t*)at);
  }
}

// A call with its packed lists.
typedef struct call_t {
  iree_string_view_t argument_letters, result_letters;
  iree_vm_function_call_t base;
  void* storage;  // when the lists are long
  iree_alignas(16) uint8_t inline_storage[INLINE_VALUES_SIZE];
} call_t;

static iree_status_t prepare_call(iree_vm_function_t function, iree_allocator_t allocator, call_t* call) {
  iree_vm_function_signature_t signature = iree_vm_function_signature(&function);
  IREE_RETURN_IF_ERROR(
      iree_vm_function_call_get_cconv_fragments(&signature, &call->argument_letters, &call->result_letters));
  iree_host_size_t argument_size = 0, result_size = 0;
  IREE_RETURN_IF_ERROR(iree_vm_function_call_compute_cconv_fragment_size(call->argument_letters, NULL, &argument_size));
  IREE_RETURN_IF_ERROR(iree_vm_function_call_compute_cconv_fragment_size(call->result_letters, NULL, &result_size));
  iree_host_size_t results_offset = iree_host_align(argument_size, 16), size = results_offset + result_size;
  uint8_t* storage = call->inline_storage;
  call->storage = NULL;
  if (size > sizeof(call->inline_storage)) {
    IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, size, &call->storage));
    storage = call->storage;
  } else {
    memset(storage, 0, size);
  }
  call->base.function = function;
  call->base.arguments = iree_make_byte_span(storage, argument_size);
  call->base.results = iree_make_byte_span(storage + results_offset, result_size);
  return iree_ok_status();
}

static void begin_budget(iree_vm_context_t* context, const iree_vm_invocation_policy_t* policy) {
  iree_vm_context_limits_t limits = iree_vm_context_limits(context);
  uint64_t max_steps = policy && policy->max_steps ? policy->max_steps : limits.max_steps;
  iree_time_t deadline_ns = policy ? policy->deadline_ns : 0;
  if (!deadline_ns && limits.max_duration_ns)
    deadline_ns = iree_relative_timeout_to_deadline_ns(limits.max_duration_ns);
  iree_budget_begin(iree_vm_context_budget(context), max_steps, deadline_ns ? deadline_ns : IREE_TIME_INFINITE_FUTURE);
}

static iree_status_t run_call(iree_vm_context_t* context, iree_vm_invocation_flags_t flags,
                              const iree_vm_invocation_policy_t* policy, call_t* call, iree_allocator_t allocator) {
  if (iree_vm_context_flags(context) & IREE_VM_CONTEXT_FLAG_TRACE_EXECUTION) {
    flags |= IREE_VM_INVOCATION_FLAG_TRACE_EXECUTION;
  }
  iree_budget_t* budget = iree_vm_context_budget(context);
  if (iree_budget_has_memory_limit(budget)) allocator = iree_budget_allocator(budget);
  begin_budget(context, policy);
  IREE_VM_INLINE_STACK_INITIALIZE(stack, flags, iree_vm_context_state_resolver(context), allocator);
  iree_vm_stack_set_budget(stack, budget);
  iree_vm_module_t* module = call->base.function.module;
  iree_status_t status = module->begin_call(module->self, stack, call->base);
  if (!iree_status_is_ok(status)) status = iree_vm_stack_annotate_backtrace(stack, status);
  iree_vm_stack_deinitialize(stack);
  return status;
}

iree_status_t iree_vm_invoke(iree_vm_context_t* context, iree_vm_function_t function, iree_vm_invocation_flags_t flags,
                             const iree_vm_invocation_policy_t* policy, const iree_vm_list_t* inputs,
                             iree_vm_list_t* outputs, iree_allocator_t host_allocator) {
  if (iree_vm_function_is_null(function)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no function to invoke");
  }
  call_t call;
  IREE_RETURN_IF_ERROR(prepare_call(function, host_allocator, &call));
  iree_status_t status = pack_inputs(inputs, call.argument_letters, call.base.arguments);
  if (iree_status_is_ok(status)) status = run_call(context, flags, policy, &call, host_allocator);
  if (iree_status_is_ok(status) && outputs) status = unpack_outputs(outputs, call.result_letters, call.base.results);
  release_refs(call.argument_letters, call.base.arguments);
  release_refs(call.result_letters, call.base.results);
  iree_allocator_free(host_allocator, call.storage);
  if (iree_status_is_ok(status)) return status;
  iree_string_view_t name = iree_vm_function_name(&function);
  return iree_status_annotate_f(status, "invoking function '%.*s'", (int)name.size, name.data);
}
