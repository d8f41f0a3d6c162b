// The tosa dialect: control flow; the rest is formats.
#include "dialects/tosa.h"

#include "dialects/table.h"

static bool fits_region(const ir_region_t* region) {
  return region->first && !region->first->next && region->first->first;
}

// tosa.cond_if %c (%a = %x, ...) : tensor<i1> [(types)] -> types { ^bb0(...): ... } else { ... }
static ir_op_t* cond_if_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t condition;
  ir_ref_list_t args = {0}, inits = {0};
  ir_type_list_t types = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &condition)) return NULL;
  if (ir_parse_next(p) == '(' && !assignments_parse(p, &args, &inits)) return NULL;
  const ir_type_t* type = ir_parse_expect(p, ":") ? ir_parse_type(p) : NULL;
  if (!type || !ir_draft_operand(p, &op, &condition, type)) return NULL;
  if (ir_parse_next(p) == '(' && !ir_parse_types_in_parens(p, &types)) return NULL;
  if (ir_parse_try(p, "->") && !ir_parse_result_types(p, &op.results)) return NULL;
  if (!ir_draft_operands(p, &op, &inits, &types) || !ir_draft_region(p, &op, &args, &types) ||
      !ir_parse_expect(p, "else") || !ir_draft_region(p, &op, &args, &types) || !ir_parse_attr_dict(p, &op)) {
    return NULL;
  }
  return ir_draft_finish(p, &op);
}

static void cond_if_print(ir_printer_t* pr, ir_op_t* op) {
  uint32_t inputs = op->operand_count ? op->operand_count - 1 : 0;
  bool fits = op->operand_count && fits_region(&op->regions[0]) && fits_region(&op->regions[1]) &&
              args_are_operands(&op->regions[0], 0, op, 1, inputs) &&
              args_are_operands(&op->regions[1], 0, op, 1, inputs);
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_operands(pr, op, 0, 1);
  if (inputs) {
    ir_emit(pr, " ");
    assignments_print(pr, op->regions[0].first->args, op, 1, inputs);
  }
  ir_emit(pr, " : ");
  ir_emit_operand_types(pr, op, 0, 1);
  if (inputs) {
    ir_emit(pr, " (");
    ir_emit_operand_types(pr, op, 1, inputs);
    ir_emit(pr, ")");
  }
  ir_emit_arrow_types(pr, op);
  ir_emit(pr, " ");
  ir_emit_region(pr, &op->regions[0], 0);
  ir_emit(pr, " else ");
  ir_emit_region(pr, &op->regions[1], 0);
  ir_emit_attr_dict(pr, op, NULL);
}

// tosa.while_loop (%a = %x, ...) : (types) -> types { ... } do { ^bb0(...): ... }
static ir_op_t* while_loop_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t args = {0}, inits = {0};
  ir_type_list_t types = {0};
  ir_draft_init(p, &op, info, loc);
  if (!assignments_parse(p, &args, &inits) || !ir_parse_expect(p, ":") || !ir_parse_types_in_parens(p, &types) ||
      !ir_parse_expect(p, "->") || !ir_parse_result_types(p, &op.results) ||
      !ir_draft_operands(p, &op, &inits, &types) || !ir_draft_region(p, &op, &args, &types) ||
      !ir_parse_expect(p, "do") || !ir_draft_region(p, &op, NULL, NULL) || !ir_parse_attr_dict_keyword(p, &op)) {
    return NULL;
  }
  return ir_draft_finish(p, &op);
}

static void while_loop_print(ir_printer_t* pr, ir_op_t* op) {
  bool fits = fits_region(&op->regions[0]) && fits_region(&op->regions[1]) &&
              args_are_operands(&op->regions[0], 0, op, 0, op->operand_count);
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  assignments_print(pr, op->regions[0].first->args, op, 0, op->operand_count);
  ir_emit(pr, " : ");
  ir_emit_function_type(pr, op);
  ir_emit(pr, " ");
  ir_emit_region(pr, &op->regions[0], 0);
  ir_emit(pr, " do ");
  ir_emit_region(pr, &op->regions[1], IR_REGION_ENTRY_ARGS);
  ir_emit_attr_dict_keyword(pr, op, NULL);
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"tosa." #name, TOSA_##ENUM, __VA_ARGS__},
#include "dialects/tosa.def"
#undef OP
};
TABLE_DIALECT(tosa_dialect, IR_DIALECT_TOSA, "tosa", ops);
