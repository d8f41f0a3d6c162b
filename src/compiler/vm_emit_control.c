// See vm_emit_op.c: branches, failures and calls.
#include "compiler/vm_state.h"
#include "dialects/vm.h"

// So many successors, and operands in front of theirs.
static bool check_branch(emit_t* e, const ir_op_t* op, uint32_t least, uint32_t most, uint32_t leading) {
  uint32_t handed = 0;
  for (uint32_t i = 0; i < op->successor_count; ++i) handed += op->successor_operand_counts[i];
  bool fits = op->successor_count >= least && op->successor_count <= most && op->operand_count == handed + leading;
  return (fits || ir_op_error(e->ctx, op, "has not the successors and operands that it takes")) &&
         vm_check_kinds(e, op, leading ? "i" : "", 0);
}

// All operands are read before the first argument of the block is written.
static void move_arguments(emit_t* e, const ir_op_t* op, uint32_t successor) {
  const ir_block_t* block = op->successors[successor];
  uint32_t first = op->operand_count;
  for (uint32_t i = op->successor_count; i-- > successor;) first -= op->successor_operand_counts[i];
  module_reg_t* kept = ARENA_ARRAY(ir_context_arena(e->ctx), module_reg_t, block->arg_count + 1);
  for (uint32_t i = 0; i < block->arg_count; ++i) {
    kept[i] = block->arg_count > 1 ? vm_new_reg(e, block->args[i]->type) : vm_in(op, first + i);
    if (block->arg_count > 1) vm_move(e, kept[i], vm_in(op, first + i));
  }
  for (uint32_t i = 0; i < block->arg_count; ++i) vm_move(e, reg_of(block->args[i]), kept[i]);
}

static void jump(emit_t* e, const ir_op_t* op, uint32_t successor) {
  move_arguments(e, op, successor);
  module_emit(e->f, br, MODULE_LABEL(label_of(op->successors[successor])));
}

bool vm_to_branch(emit_t* e, ir_op_t* op) {
  if (!check_branch(e, op, 1, 1, ir_is(op, VM_COND_BREAK))) return false;
  jump(e, op, 0);
  return true;
}

// Edges are pieces of code of their own, where arguments are moved.
bool vm_to_cond_br(emit_t* e, ir_op_t* op) {
  if (!check_branch(e, op, 2, 2, 1)) return false;
  module_label_t edges[2] = {module_function_label(e->f), module_function_label(e->f)};
  module_emit(e->f, br_if, MODULE_REG(vm_in(op, 0)), MODULE_LABEL(edges[0]), MODULE_LABEL(edges[1]));
  for (uint32_t i = 0; i < 2; ++i) {
    module_function_bind(e->f, edges[i]);
    jump(e, op, i);
  }
  return true;
}

bool vm_to_br_table(emit_t* e, ir_op_t* op) {
  if (!check_branch(e, op, 1, UINT32_MAX, 1)) return false;
  module_label_t* edges = ARENA_ARRAY(ir_context_arena(e->ctx), module_label_t, op->successor_count);
  for (uint32_t i = 0; i < op->successor_count; ++i) edges[i] = module_function_label(e->f);
  module_emit(e->f, switch, MODULE_REG(vm_in(op, 0)), MODULE_LABEL(edges[0]),
              MODULE_LABELS(op->successor_count - 1, edges + 1));
  for (uint32_t i = 0; i < op->successor_count; ++i) {
    module_function_bind(e->f, edges[i]);
    jump(e, op, i);
  }
  return true;
}

static module_reg_t* list_of(emit_t* e, const ir_op_t* op) {
  module_reg_t* regs = ARENA_ARRAY(ir_context_arena(e->ctx), module_reg_t, op->operand_count + 1);
  for (uint32_t i = 0; i < op->operand_count; ++i) regs[i] = vm_in(op, i);
  return regs;
}

bool vm_to_return(emit_t* e, ir_op_t* op) {
  bool fits = op->operand_count == e->type->result_count;
  for (uint32_t i = 0; fits && i < op->operand_count; ++i) {
    fits = vm_letter_of(e->ctx, e->type->results[i]) == vm_letter_of(e->ctx, ir_operand(op, i)->type);
  }
  if (!fits) return ir_op_error(e->ctx, op, "has not the results that its function has");
  module_emit(e->f, return, MODULE_LIST(op->operand_count, list_of(e, op)));
  return true;
}

// Fails with the status in a register, if it is none of success; those that are no status are unknown ones.
static void fail_by(emit_t* e, const ir_op_t* op, const module_reg_t* condition, const ir_value_t* status) {
  const ir_attr_t* known = ir_is(status->def, VM_CONST_I32) ? ir_op_attr(status->def, "value") : NULL;
  uint32_t message = vm_message_of(e, op);
  for (int32_t code = 1; code <= IREE_STATUS_UNAUTHENTICATED; ++code) {
    if (known && known->integer != code) continue;
    module_reg_t fails =
        vm_emit_one(e, VM_OP_i32_eq, 2, (module_reg_t[]){reg_of(status), module_function_i32(e->f, code)});
    if (condition) fails = vm_emit_one(e, VM_OP_i32_and, 2, (module_reg_t[]){fails, *condition});
    module_emit(e->f, fail_if, MODULE_REG(fails), MODULE_IMM(code), MODULE_INDEX(message));
  }
}

bool vm_to_fail(emit_t* e, ir_op_t* op) {
  if (!vm_check_kinds(e, op, "i", 0)) return false;
  fail_by(e, op, NULL, ir_operand(op, 0));
  module_emit(e->f, fail, MODULE_IMM(IREE_STATUS_UNKNOWN), MODULE_INDEX(vm_message_of(e, op)));
  return true;
}

bool vm_to_cond_fail(emit_t* e, ir_op_t* op) {
  bool conditional = op->operand_count == 2;
  if (!vm_check_kinds(e, op, conditional ? ".i" : "i", 0)) return false;
  module_reg_t condition = conditional ? vm_truth(e, ir_operand(op, 0)) : 0;
  fail_by(e, op, conditional ? &condition : NULL, ir_operand(op, conditional));
  return true;
}

bool vm_to_check(emit_t* e, ir_op_t* op) {
  char letter = vm_letter_of(e->ctx, ir_operand(op, 0)->type);
  bool nearly = ir_is(op, VM_CHECK_NEARLY_EQ);
  if (!ir_is(op, VM_CHECK_NZ) && !vm_check_kinds(e, op, (const char[]){letter, letter, 0}, 0)) return false;
  vm_op_t equal = letter == 'r'   ? VM_OP_same_ref
                  : letter == 'i' ? VM_OP_i32_eq
                  : letter == 'I' ? VM_OP_i64_eq
                  : letter == 'f' ? (nearly ? VM_OP_f32_near : VM_OP_f32_eq)
                                  : (nearly ? VM_OP_f64_near : VM_OP_f64_eq);
  module_reg_t holds = ir_is(op, VM_CHECK_NZ) ? vm_truth(e, ir_operand(op, 0))
                                              : vm_emit_one(e, equal, 2, (module_reg_t[]){vm_in(op, 0), vm_in(op, 1)});
  module_reg_t fails = ir_is(op, VM_CHECK_NE) ? holds : vm_inverse(e, holds);
  module_emit(e->f, fail_if, MODULE_REG(fails), MODULE_IMM(IREE_STATUS_FAILED_PRECONDITION),
              MODULE_INDEX(vm_message_of(e, op)));
  return true;
}

const ir_type_t* vm_type_of(const ir_op_t* func) {
  static const ir_type_t none = {.kind = IR_TYPE_FUNCTION};
  if (ir_is(func, VM_INITIALIZER)) return &none;
  const ir_attr_t* type = ir_op_attr(func, "function_type");
  return type && type->kind == IR_ATTR_TYPE && type->type->kind == IR_TYPE_FUNCTION ? type->type : NULL;
}

bool vm_is_span(const ir_op_t* import, uint32_t argument) {
  const ir_attr_t* all = ir_is(import, VM_IMPORT) ? ir_op_attr(import, "arg_attrs") : NULL;
  bool has = all && all->kind == IR_ATTR_ARRAY && argument < all->count && all->items[argument]->kind == IR_ATTR_DICT;
  return has && ir_attr_dict_get(all->items[argument], "vm.variadic");
}

// The operands of a call as its callee takes them.
typedef struct arguments_t {
  uint32_t next;        // operand
  int64_t* span_sizes;  // in tuples
  uint32_t span_count;
} arguments_t;

static bool take_value(emit_t* e, const ir_op_t* op, const ir_type_t* type, arguments_t* arguments) {
  if (arguments->next == op->operand_count) return false;
  const ir_value_t* value = ir_operand(op, arguments->next++);
  return vm_letter_of(e->ctx, type) == vm_letter_of(e->ctx, value->type);
}

static bool take_span(emit_t* e, const ir_op_t* op, const ir_type_t* type, int64_t size, arguments_t* arguments) {
  bool is_tuple = type->kind == IR_TYPE_TUPLE;
  arguments->span_sizes[arguments->span_count++] = size;
  for (int64_t i = 0; i < size; ++i) {
    for (uint32_t k = 0; k < (is_tuple ? type->input_count : 1); ++k) {
      if (!take_value(e, op, is_tuple ? type->inputs[k] : type, arguments)) return false;
    }
  }
  return true;
}

// Each of the segments, if there are such, is an argument: -1, or how many there are of a span's.
static bool take_arguments(emit_t* e, const ir_op_t* op, const ir_op_t* callee, arguments_t* arguments) {
  const ir_type_t* type = vm_type_of(callee);
  const ir_attr_t* segments = ir_op_attr(op, "segment_sizes");
  bool listed = segments && segments->kind == IR_ATTR_ELEMENTS;
  if (listed && ir_type_count(segments->type) != type->input_count) return false;
  arguments->span_sizes = ARENA_ARRAY(ir_context_arena(e->ctx), int64_t, type->input_count + 1);
  for (uint32_t i = 0; i < type->input_count; ++i) {
    int64_t size = listed ? ir_attr_element_integer(segments, i) : -1;
    if (vm_is_span(callee, i) != (size >= 0)) return false;
    bool fits =
        size >= 0 ? take_span(e, op, type->inputs[i], size, arguments) : take_value(e, op, type->inputs[i], arguments);
    if (!fits) return false;
  }
  return arguments->next == op->operand_count;
}

// The call, with its results in new registers of the types.
static module_reg_t* emit_call(emit_t* e, ir_op_t* op, uint32_t count, const ir_type_t* const* types) {
  arguments_t arguments = {0};
  ir_op_t* callee = vm_find(e, op, "callee", VM_FUNC, VM_IMPORT);
  if (!callee) return NULL;
  const ir_type_t* type = vm_type_of(callee);
  bool fits = type->result_count == count && take_arguments(e, op, callee, &arguments);
  for (uint32_t i = 0; fits && i < count; ++i) {
    fits = vm_letter_of(e->ctx, type->results[i]) == vm_letter_of(e->ctx, types[i]);
  }
  if (!fits) {
    ir_op_error(e->ctx, op, "has not the arguments and results of what it calls");
    return NULL;
  }
  module_reg_t* results = ARENA_ARRAY(ir_context_arena(e->ctx), module_reg_t, count + 1);
  for (uint32_t i = 0; i < count; ++i) results[i] = vm_new_reg(e, types[i]);
  bool imported = ir_is(callee, VM_IMPORT);
  uint32_t index = imported ? index_of(callee) : module_function_index(callee->data);
  const module_operand_t operands[] = {MODULE_LIST(count, results), MODULE_INDEX(index),
                                       MODULE_LIST(op->operand_count, list_of(e, op)),
                                       MODULE_IMMS(arguments.span_count, arguments.span_sizes)};
  vm_op_t code = arguments.span_count ? VM_OP_call_import_spans : imported ? VM_OP_call_import : VM_OP_call;
  module_function_emit(e->f, code, operands, arguments.span_count ? 4 : 3);
  return results;
}

bool vm_to_call(emit_t* e, ir_op_t* op) {
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(e->ctx), const ir_type_t*, op->result_count + 1);
  for (uint32_t i = 0; i < op->result_count; ++i) types[i] = op->results[i].type;
  module_reg_t* results = emit_call(e, op, op->result_count, types);
  for (uint32_t i = 0; results && i < op->result_count; ++i) set_reg(ir_result(op, i), results[i]);
  return results != NULL;
}

// The results are the block's arguments.
bool vm_to_call_yieldable(emit_t* e, ir_op_t* op) {
  if (op->successor_count != 1) return ir_op_error(e->ctx, op, "has not the one successor that it takes");
  const ir_block_t* block = op->successors[0];
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(e->ctx), const ir_type_t*, block->arg_count + 1);
  for (uint32_t i = 0; i < block->arg_count; ++i) types[i] = block->args[i]->type;
  module_reg_t* results = emit_call(e, op, block->arg_count, types);
  if (!results) return false;
  for (uint32_t i = 0; i < block->arg_count; ++i) vm_move(e, reg_of(block->args[i]), results[i]);
  module_emit(e->f, br, MODULE_LABEL(label_of(block)));
  return true;
}

// vm.print and vm.trace
bool vm_to_note(emit_t* e, ir_op_t* op) {
  bool prints = ir_is(op, VM_PRINT);
  uint32_t text = module_writer_string(e->writer, view(ir_op_string(op, prints ? "message" : "event_name", "")));
  const module_operand_t operands[] = {MODULE_INDEX(text), MODULE_LIST(op->operand_count, list_of(e, op))};
  module_function_emit(e->f, prints ? VM_OP_print : VM_OP_trace, operands, 2);
  return true;
}

bool vm_to_import_resolved(emit_t* e, ir_op_t* op) {
  if (!vm_check_kinds(e, op, "", 'i')) return false;
  ir_op_t* import = vm_find(e, op, "import", VM_IMPORT, VM_IMPORT);
  if (!import) return false;
  module_operand_t index = MODULE_INDEX(index_of(import));
  set_reg(ir_result(op, 0), module_function_emit_value(e->f, VM_OP_import_resolved, &index, 1));
  return true;
}
