// The func dialect: functions (shared.c reads and writes them), calls, returns.
#include "dialects/func.h"

#include "dialects/table.h"

// func.call_indirect %f(%a) : (t) -> t
static ir_op_t* call_indirect_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t callee;
  ir_ref_list_t refs = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &callee) || !ir_parse_expect(p, "(") || !ir_parse_refs(p, &refs) || !ir_parse_expect(p, ")") ||
      !ir_parse_attr_dict(p, &op) || !ir_parse_expect(p, ":")) {
    return NULL;
  }
  const ir_type_t* type = ir_parse_type(p);
  if (!type) return NULL;
  if (type->kind != IR_TYPE_FUNCTION || type->input_count != refs.count) {
    return ir_parse_fail(p, "expected a function type of %u inputs", refs.count), NULL;
  }
  if (!ir_draft_operand(p, &op, &callee, type)) return NULL;
  for (uint32_t i = 0; i < refs.count; ++i) {
    if (!ir_draft_operand(p, &op, &refs.items[i], type->inputs[i])) return NULL;
  }
  for (uint32_t i = 0; i < type->result_count; ++i) ir_draft_result(p, &op, type->results[i]);
  return ir_draft_finish(p, &op);
}

static bool calls_as_typed(const ir_op_t* op) {
  const ir_type_t* type = op->operand_count ? ir_operand(op, 0)->type : NULL;
  if (!type || type->kind != IR_TYPE_FUNCTION) return false;
  if (type->input_count + 1 != op->operand_count || type->result_count != op->result_count) return false;
  for (uint32_t i = 0; i < type->input_count; ++i) {
    if (ir_operand(op, i + 1)->type != type->inputs[i]) return false;
  }
  for (uint32_t i = 0; i < type->result_count; ++i) {
    if (op->results[i].type != type->results[i]) return false;
  }
  return true;
}

static void call_indirect_print(ir_printer_t* pr, ir_op_t* op) {
  if (!calls_as_typed(op)) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_operands(pr, op, 0, 1);
  ir_emit(pr, "(");
  ir_emit_operands(pr, op, 1, op->operand_count - 1);
  ir_emit(pr, ")");
  ir_emit_attr_dict(pr, op, NULL);
  ir_emit(pr, " : ");
  ir_emit_type(pr, ir_operand(op, 0)->type);
}

static const ir_type_t* function_type(const ir_op_t* op) {
  const ir_attr_t* type = ir_op_attr(op, "function_type");
  return type && type->kind == IR_ATTR_TYPE && type->type->kind == IR_TYPE_FUNCTION ? type->type : NULL;
}

static bool func_verify_func(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t* type = function_type(op);
  if (!ir_op_string(op, "sym_name", NULL)) return ir_op_error(ctx, op, "needs a string attribute 'sym_name'");
  if (!type) return ir_op_error(ctx, op, "needs attribute 'function_type', a function type");
  const ir_block_t* entry = op->regions[0].first;
  if (!entry) return true;
  if (entry->arg_count != type->input_count) {
    return ir_op_error(ctx, op, "has %u entry block arguments where its type has %u inputs", entry->arg_count,
                       type->input_count);
  }
  for (uint32_t i = 0; i < entry->arg_count; ++i) {
    if (entry->args[i]->type == type->inputs[i]) continue;
    return ir_op_error(ctx, op, "argument %u has type '%s' where the function's type says '%s'", i,
                       ir_type_str(ctx, entry->args[i]->type), ir_type_str(ctx, type->inputs[i]));
  }
  return true;
}

static bool func_verify_return(ir_context_t* ctx, ir_op_t* op) {
  const ir_op_t* func = ir_op_parent(op);
  const ir_type_t* type = func && func->info->code == FUNC_FUNC ? function_type(func) : NULL;
  if (!type) return true;
  if (op->operand_count != type->result_count) {
    return ir_op_error(ctx, op, "has %u operands, but enclosing function (@%s) returns %u", op->operand_count,
                       ir_op_string(func, "sym_name", ""), type->result_count);
  }
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const ir_type_t* have = ir_operand(op, i)->type;
    if (have == type->results[i]) continue;
    return ir_op_error(ctx, op, "type of return operand %u ('%s') doesn't match function result type ('%s') in @%s", i,
                       ir_type_str(ctx, have), ir_type_str(ctx, type->results[i]), ir_op_string(func, "sym_name", ""));
  }
  return true;
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"func." #name, FUNC_##ENUM, __VA_ARGS__},
#include "dialects/func.def"
#undef OP
};
TABLE_DIALECT(func_dialect, IR_DIALECT_FUNC, "func", ops);
