// The interpreter's loop: scalar instructions, control flow and calls. Everything else is a function (ops_*.c).
//
// Calls between functions of the module push a frame and stay in the loop; calls of imports go through the callee
// module's begin_call. Registers have fixed types and start as zero or null, so nothing is ever undefined.

#include <inttypes.h>
#include <math.h>

#include "vm/bytecode/machine.h"
#include "vm/bytecode/packing.h"
#include "vm/wait.h"

//===----------------------------------------------------------------------------------------------------------------===
// Frames
//===----------------------------------------------------------------------------------------------------------------===

static vm_frame_t* frame_of(iree_vm_stack_frame_t* frame) { return iree_vm_stack_frame_storage(frame); }

static void release_frame(iree_vm_stack_frame_t* stack_frame) {
  vm_frame_t* frame = frame_of(stack_frame);
  for (uint32_t i = 0; i < frame->row->ref_count; ++i) {
    if (frame->refs[i].ptr) iree_vm_ref_release(&frame->refs[i]);
  }
}

static iree_status_t enter(vm_machine_t* m, bytecode_module_t* module, uint32_t index,
                           const iree_vm_function_t* function, iree_vm_stack_frame_t** out_frame) {
  const module_function_row_t* row = &module->image.functions[index];
  iree_host_size_t refs_offset = iree_host_align(sizeof(vm_frame_t) + row->value_count * sizeof(vm_cell_t), 16);
  iree_host_size_t size = refs_offset + row->ref_count * sizeof(iree_vm_ref_t);
  IREE_RETURN_IF_ERROR(iree_vm_stack_function_enter(m->stack, function, IREE_VM_STACK_FRAME_BYTECODE, size,
                                                    row->ref_count ? release_frame : NULL, out_frame));
  vm_frame_t* frame = frame_of(*out_frame);
  memset(frame, 0, size);
  frame->row = row;
  frame->code = module->image.code + row->code_first;
  frame->values = (vm_cell_t*)(frame + 1);
  frame->refs = (iree_vm_ref_t*)((uint8_t*)frame + refs_offset);
  m->pc = frame->code;
  m->values = frame->values;
  m->refs = frame->refs;
  return iree_ok_status();
}

// Packed arguments to the first registers of their banks; refs are taken.
static void unpack_arguments(vm_machine_t* m, const module_function_row_t* row, iree_byte_span_t packed) {
  module_convention_t convention;
  module_convention_parse(module_image_string(m->image, row->convention), &convention);
  iree_host_size_t offset = 0;
  vm_cell_t* value = m->values;
  iree_vm_ref_t* ref = m->refs;
  for (uint32_t i = 0; i < convention.argument_count; ++i) {
    vm_type_t type = vm_type_of_letter(convention.arguments[i]);
    void* at = vm_packed_next(packed, type, &offset);
    if (type == VM_TYPE_REF) {
      iree_vm_ref_move(at, ref++);
    } else {
      vm_packed_copy(value++, at, type);
    }
  }
}

// A list of registers (count first) to packed values. Refs are taken when the registers end with the call.
static void pack_registers(const vm_machine_t* m, const module_function_row_t* row, const vm_word_t* list, bool take,
                           iree_byte_span_t packed) {
  iree_host_size_t offset = 0;
  for (vm_word_t i = 0, count = *list++; i < count; ++i) {
    vm_type_t type = vm_register_type(m->image, row, list[i]);
    void* at = vm_packed_next(packed, type, &offset);
    if (type == VM_TYPE_REF) {
      iree_vm_ref_retain_or_move(take, &m->refs[list[i] & (VM_REGISTER_REF - 1)], at);
    } else {
      vm_packed_copy(at, &m->values[list[i]], type);
    }
  }
}

static void unpack_registers(const vm_machine_t* m, const module_function_row_t* row, const vm_word_t* list,
                             iree_byte_span_t packed) {
  iree_host_size_t offset = 0;
  for (vm_word_t i = 0, count = *list++; i < count; ++i) {
    vm_type_t type = vm_register_type(m->image, row, list[i]);
    void* at = vm_packed_next(packed, type, &offset);
    if (type == VM_TYPE_REF) {
      iree_vm_ref_move(at, &m->refs[list[i] & (VM_REGISTER_REF - 1)]);
    } else {
      vm_packed_copy(&m->values[list[i]], at, type);
    }
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Calls
//===----------------------------------------------------------------------------------------------------------------===

// Operand lists of `call` and `call_import`: results, callee, arguments.
static const vm_word_t* call_arguments(const vm_word_t* operands) { return operands + 1 + operands[0] + 1; }
static uint32_t call_callee(const vm_word_t* operands) { return operands[1 + operands[0]]; }
static const vm_word_t* call_end(const vm_word_t* operands) {
  const vm_word_t* arguments = call_arguments(operands);
  return arguments + 1 + arguments[0];
}

// Pushes the callee's frame with its arguments; the caller's frame remembers the instruction.
static iree_status_t begin_call(vm_machine_t* m, iree_vm_stack_frame_t** frame, bytecode_module_t* module) {
  vm_frame_t* caller = frame_of(*frame);
  caller->resume = m->pc;
  uint32_t callee = call_callee(caller->resume);
  iree_vm_function_t function = {&module->interface, IREE_VM_FUNCTION_LINKAGE_INTERNAL, callee};
  IREE_RETURN_IF_ERROR(enter(m, module, callee, &function, frame));
  const vm_word_t* list = call_arguments(caller->resume);
  vm_cell_t* value = m->values;
  iree_vm_ref_t* ref = m->refs;
  for (vm_word_t i = 0, count = *list++; i < count; ++i) {
    if (list[i] & VM_REGISTER_REF) {
      iree_vm_ref_retain(&caller->refs[list[i] & (VM_REGISTER_REF - 1)], ref++);
    } else {
      *value++ = caller->values[list[i]];
    }
  }
  return iree_ok_status();
}

// Hands the results over, pops the frame and goes on after the caller's call.
static iree_status_t end_call(vm_machine_t* m, const vm_word_t* returned, iree_vm_stack_frame_t** frame) {
  iree_vm_stack_frame_t* parent = iree_vm_stack_parent_frame(m->stack);
  vm_frame_t* caller = frame_of(parent);
  const vm_word_t* results = caller->resume;
  for (vm_word_t i = 1, count = *results; i <= count; ++i) {
    vm_word_t source = returned[i], target = results[i];
    if (target & VM_REGISTER_REF) {
      iree_vm_ref_retain(&m->refs[source & (VM_REGISTER_REF - 1)], &caller->refs[target & (VM_REGISTER_REF - 1)]);
    } else {
      caller->values[target] = m->values[source];
    }
  }
  *frame = parent;
  m->pc = call_end(caller->resume);
  m->values = caller->values;
  m->refs = caller->refs;
  return iree_vm_stack_function_leave(m->stack);
}

static void release_packed(const vm_machine_t* m, const module_function_row_t* row, const vm_word_t* list,
                           iree_byte_span_t packed) {
  iree_host_size_t offset = 0;
  for (vm_word_t i = 0, count = *list++; i < count; ++i) {
    vm_type_t type = vm_register_type(m->image, row, list[i]);
    void* at = vm_packed_next(packed, type, &offset);
    if (type == VM_TYPE_REF) iree_vm_ref_release(at);
  }
}

static iree_status_t call_import(vm_machine_t* m, const module_function_row_t* row) {
  const vm_word_t* operands = m->pc;
  const vm_import_t* import = &m->state->imports[call_callee(operands)];
  IREE_RETURN_IF_ERROR(vm_import_check(import));
  iree_host_size_t results_at = iree_host_align(import->argument_size, 16), size = results_at + import->result_size;
  vm_scratch_t scratch;
  uint8_t* packed = NULL;
  IREE_RETURN_IF_ERROR(vm_scratch_allocate(&scratch, m, size, 1, (void**)&packed));
  memset(packed, 0, size);
  iree_byte_span_t arguments = {packed, import->argument_size}, results = {packed + results_at, import->result_size};
  pack_registers(m, row, call_arguments(operands), /*take=*/false, arguments);
  iree_status_t status = vm_import_call(import, m->stack, arguments, results);
  if (iree_status_is_ok(status)) unpack_registers(m, row, operands, results);
  release_packed(m, row, call_arguments(operands), arguments);
  release_packed(m, row, operands, results);
  vm_scratch_free(&scratch);
  m->pc = call_end(operands);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Failures and tracing
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t fail_with_message(vm_machine_t* m) {
  uint32_t code = vm_next_word(m);
  iree_string_view_t message = module_image_string(m->image, vm_next_word(m));
  return iree_make_status_with_location("<vm>", 0, (iree_status_code_t)code, "%.*s", (int)message.size, message.data);
}

// The number of the operand that `text` begins with in braces, below `count`, or -1.
static int64_t place_at(iree_string_view_t text, uint32_t count, iree_host_size_t* out_size) {
  iree_host_size_t end = iree_string_view_find_char(text, '}', 0);
  uint32_t place;
  *out_size = end + 1;
  if (text.data[0] != '{' || end == IREE_STRING_VIEW_NPOS) return -1;
  if (!iree_string_view_atoi_uint32(iree_string_view_substr(text, 1, end - 1), &place)) return -1;
  return place < count ? (int64_t)place : -1;
}

static iree_status_t append_with_numbers(vm_machine_t* m, iree_string_view_t text, const vm_word_t* places,
                                         uint32_t count, iree_string_builder_t* builder) {
  while (text.size) {
    iree_host_size_t size = 0;
    int64_t place = place_at(text, count, &size);
    if (place >= 0) {
      IREE_RETURN_IF_ERROR(iree_string_builder_append_format(builder, "%lld", (long long)m->values[places[place]].I));
    } else {
      size = iree_min(iree_string_view_find_char(text, '{', 1), text.size);
      IREE_RETURN_IF_ERROR(iree_string_builder_append_string(builder, iree_string_view_substr(text, 0, size)));
    }
    text = iree_string_view_remove_prefix(text, size);
  }
  return iree_ok_status();
}

static iree_status_t fail_with_numbers(vm_machine_t* m) {
  uint32_t code = vm_next_word(m);
  iree_string_view_t message = module_image_string(m->image, vm_next_word(m));
  uint32_t count = vm_next_word(m);
  iree_string_builder_t builder;
  iree_string_builder_initialize(iree_vm_stack_allocator(m->stack), &builder);
  iree_status_t status = append_with_numbers(m, message, m->pc, count, &builder);
  if (iree_status_is_ok(status)) {
    status =
        iree_make_status_with_location("<vm>", 0, (iree_status_code_t)code, "%.*s",
                                       (int)iree_string_builder_size(&builder), iree_string_builder_buffer(&builder));
  }
  iree_string_builder_deinitialize(&builder);
  return status;
}

static iree_status_t fail_division(void) {
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "integer division by zero");
}

static void trace(const vm_machine_t* m, const vm_frame_t* frame) {
  iree_string_view_t module = module_image_string(m->image, m->image->header->name);
  iree_string_view_t name = module_image_string(m->image, frame->row->name);
  fprintf(stderr, "[%.*s.%.*s+%05td]    %s\n", (int)module.size, module.data, (int)name.size, name.data,
          m->pc - frame->code, vm_op_info(*m->pc)->name);
}

//===----------------------------------------------------------------------------------------------------------------===
// The loop
//===----------------------------------------------------------------------------------------------------------------===

#define C_TYPE_i int32_t
#define C_TYPE_I int64_t
#define C_TYPE_f float
#define C_TYPE_F double

enum { STEP_PIECE = 256 };  // instructions that are taken from the budget at once

static iree_status_t take_steps(iree_budget_t* budget, uint64_t* steps) {
  *steps = budget ? iree_budget_take_steps(budget, STEP_PIECE) : UINT64_MAX;
  return *steps ? iree_ok_status() : iree_budget_check(budget);
}

static void return_steps(iree_budget_t* budget, uint64_t* steps) {
  if (budget) iree_budget_return_steps(budget, *steps);
  *steps = 0;
}

// What few invocations have to do before an instruction: what is C of the function runs, up to an instruction that is
// not; and that is traced.
static IREE_ATTRIBUTE_NOINLINE void prepare_next(vm_machine_t* m, const vm_frame_t* frame,
                                                 const bytecode_module_t* module, bool tracing) {
  if (module->functions) {
    iree_vm_c_function_t function = module->functions[frame->row - module->image.functions];
    m->pc = frame->code + function(m->values, m->state->global_values, (uint32_t)(m->pc - frame->code));
  }
  if (tracing) trace(m, frame);
}

#define NEXT()                                            \
  do {                                                    \
    if (IREE_UNLIKELY(special || !steps)) goto next_slow; \
    at = m->pc;                                           \
    --steps;                                              \
    goto* targets[*m->pc++];                              \
  } while (0)

#define CHECK(expr)                                           \
  do {                                                        \
    status = (expr);                                          \
    if (IREE_UNLIKELY(!iree_status_is_ok(status))) goto fail; \
  } while (0)

// Returns when the frame at `base_depth` does. Leaves the frame on the stack when it fails, for the backtrace, and when
// it yields, to go on.
static iree_status_t run(vm_machine_t* m, iree_vm_stack_frame_t* frame, bytecode_module_t* module, int32_t base_depth,
                         iree_byte_span_t results) {
  static const void* const targets[VM_OP_COUNT] = {
#define FLOW(name, ...) [VM_OP_##name] = &&op_##name,
#define OP(name, ...) [VM_OP_##name] = &&op_##name,
#define UNARY(name, ...) [VM_OP_##name] = &&op_##name,
#define BINARY(name, ...) [VM_OP_##name] = &&op_##name,
#define TERNARY(name, ...) [VM_OP_##name] = &&op_##name,
#define DIVIDE(name, ...) [VM_OP_##name] = &&op_##name,
#define LOAD(name, ...) [VM_OP_##name] = &&op_##name,
#define STORE(name, ...) [VM_OP_##name] = &&op_##name,
#define HAL_LOAD(name, ...) [VM_OP_##name] = &&op_##name,
#include "module/ops.def"
#include "module/ops_undef.h"
  };
  const bool tracing = iree_vm_stack_invocation_flags(m->stack) & IREE_VM_INVOCATION_FLAG_TRACE_EXECUTION;
  const bool special = tracing || module->functions;
  const vm_word_t* at = m->pc;  // the current instruction
  iree_budget_t* budget = m->state->budget;
  uint64_t steps = 0;
  iree_status_t status = iree_ok_status();

next_slow:
  if (special) prepare_next(m, frame_of(frame), module, tracing);
  at = m->pc;
  if (!steps) CHECK(take_steps(budget, &steps));
  --steps;
  goto* targets[*m->pc++];

#define UNARY(name, R, A, expr)                 \
  op_##name : {                                 \
    C_TYPE_##A a = m->values[m->pc[1]].A;       \
    m->values[m->pc[0]].R = (C_TYPE_##R)(expr); \
    m->pc += 2;                                 \
    NEXT();                                     \
  }
#define BINARY(name, R, A, B, expr)             \
  op_##name : {                                 \
    C_TYPE_##A a = m->values[m->pc[1]].A;       \
    C_TYPE_##B b = m->values[m->pc[2]].B;       \
    m->values[m->pc[0]].R = (C_TYPE_##R)(expr); \
    m->pc += 3;                                 \
    NEXT();                                     \
  }
#define TERNARY(name, R, A, B, C, expr)         \
  op_##name : {                                 \
    C_TYPE_##A a = m->values[m->pc[1]].A;       \
    C_TYPE_##B b = m->values[m->pc[2]].B;       \
    C_TYPE_##C c = m->values[m->pc[3]].C;       \
    m->values[m->pc[0]].R = (C_TYPE_##R)(expr); \
    m->pc += 4;                                 \
    NEXT();                                     \
  }
#define DIVIDE(name, R, U, expr)                \
  op_##name : {                                 \
    C_TYPE_##R a = m->values[m->pc[1]].R;       \
    C_TYPE_##R b = m->values[m->pc[2]].R;       \
    if (b == 0) CHECK(fail_division());         \
    m->values[m->pc[0]].R = (C_TYPE_##R)(expr); \
    m->pc += 3;                                 \
    NEXT();                                     \
  }
#define OP(name, ...)                 \
  op_##name : CHECK(vm_do_##name(m)); \
  NEXT();
#define LOAD OP
#define STORE OP
#define HAL_LOAD OP
#define FLOW(name, signature)
#include "module/ops.def"
#include "module/ops_undef.h"

op_br:
  m->pc = frame_of(frame)->code + *m->pc;
  NEXT();
op_br_if:
  m->pc = frame_of(frame)->code + m->pc[m->values[m->pc[0]].i ? 1 : 2];
  NEXT();
op_switch: {
  uint32_t index = (uint32_t)m->values[m->pc[0]].i, count = m->pc[2];
  m->pc = frame_of(frame)->code + (index < count ? m->pc[3 + index] : m->pc[1]);
  NEXT();
}
op_call:
  frame->pc = at - frame_of(frame)->code;
  CHECK(begin_call(m, &frame, module));
  NEXT();
op_call_import:
  frame->pc = at - frame_of(frame)->code;
  return_steps(budget, &steps);  // what is called works from the same budget
  CHECK(call_import(m, frame_of(frame)->row));
  NEXT();
op_call_import_spans:
  frame->pc = at - frame_of(frame)->code;
  return_steps(budget, &steps);
  CHECK(vm_call_import_spans(m));
  NEXT();
op_return:
  if (frame->depth == base_depth) {
    pack_registers(m, frame_of(frame)->row, m->pc, /*take=*/false, results);
    return_steps(budget, &steps);
    return iree_vm_stack_function_leave(m->stack);
  }
  CHECK(end_call(m, m->pc, &frame));
  NEXT();
op_fail:
  return_steps(budget, &steps);
  CHECK(fail_with_message(m));
op_fail_if:
  if (m->values[*m->pc++].i) CHECK(fail_with_message(m));
  m->pc += 2;
  NEXT();
op_fail_numbers:
  if (m->values[*m->pc++].i) CHECK(fail_with_numbers(m));
  m->pc += 3 + m->pc[2];
  NEXT();

fail:
  // A callee's frame on top has its own position.
  if (frame == iree_vm_stack_top(m->stack)) frame->pc = at - frame_of(frame)->code;
  if (iree_status_is_deferred(status)) return_steps(budget, &steps);
  return status;
}

iree_status_t vm_interpret(iree_vm_stack_t* stack, bytecode_module_t* module, uint32_t index,
                           const iree_vm_function_call_t* call) {
  vm_machine_t machine = {.image = &module->image, .stack = stack};
  iree_vm_stack_frame_t* frame = NULL;
  IREE_RETURN_IF_ERROR(enter(&machine, module, index, &call->function, &frame));
  machine.state = frame->module_state;
  machine.yields = frame->depth == 0 && vm_stack_yields(stack);
  unpack_arguments(&machine, &module->image.functions[index], call->arguments);
  return run(&machine, frame, module, frame->depth, call->results);
}

iree_status_t vm_interpret_resume(iree_vm_stack_t* stack, bytecode_module_t* module, iree_byte_span_t results) {
  iree_vm_wait_result_t wait = {iree_ok_status()};
  if (vm_wait_frame(stack)) IREE_RETURN_IF_ERROR(iree_vm_stack_wait_leave(stack, &wait));
  IREE_RETURN_IF_ERROR(wait.status);
  iree_vm_stack_frame_t* frame = iree_vm_stack_top(stack);
  const vm_frame_t* own = frame_of(frame);
  vm_machine_t machine = {
      .pc = own->code + frame->pc,
      .values = own->values,
      .refs = own->refs,
      .state = frame->module_state,
      .image = &module->image,
      .stack = stack,
      .yields = true,
  };
  return run(&machine, frame, module, /*base_depth=*/0, results);
}
