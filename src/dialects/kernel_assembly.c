// The kernel dialect's own assembly: functions, constants, loops and branches. A yield of nothing is left out.
#include "dialects/kernel_assembly.h"

#include "dialects/kernel.h"
#include "dialects/table.h"

static ir_block_t* only_block(const ir_region_t* region) {
  return region->first && !region->first->next && region->first->first ? region->first : NULL;
}

static uint32_t hide_yield(const ir_op_t* op, uint32_t region) {
  const ir_op_t* last = op->regions[region].first->last;
  bool hide = ir_is(last, KERNEL_YIELD) && !last->operand_count && !last->attr_count;
  return hide ? IR_REGION_NO_TERMINATOR : 0;
}

static void end_regions(ir_parser_t* p, ir_draft_t* op) {
  for (uint32_t i = 0; i < op->region_count; ++i) {
    if (op->regions[i]->first)
      ir_region_ensure_terminator(ir_parse_context(p), op->regions[i], "kernel.yield", op->loc);
  }
}

static void emit_results(ir_printer_t* pr, const ir_op_t* op) {
  if (!op->result_count) return;
  ir_emit(pr, " -> (");
  ir_emit_result_types(pr, op);
  ir_emit(pr, ")");
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

static bool parse_arguments(ir_parser_t* p, ir_ref_list_t* args, ir_type_list_t* types) {
  if (!ir_parse_expect(p, "(")) return false;
  if (ir_parse_try(p, ")")) return true;
  do {
    ir_ref_t ref;
    if (!ir_parse_ref(p, &ref) || !ir_parse_expect(p, ":")) return false;
    const ir_type_t* type = ir_parse_type(p);
    if (!type) return false;
    ir_list_add_ref(p, args, &ref);
    ir_list_add_type(p, types, type);
  } while (ir_parse_try(p, ","));
  return ir_parse_expect(p, ")");
}

ir_op_t* kernel_func_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t args = {0};
  ir_type_list_t types = {0};
  ir_draft_init(p, &op, info, loc);
  ir_name_t name = ir_parse_symbol_name(p);
  if (!name) return NULL;
  ir_draft_attr(p, &op, "sym_name", ir_attr_cstring(ir_parse_context(p), name));
  if (!parse_arguments(p, &args, &types) || !ir_parse_attr_dict_keyword(p, &op)) return NULL;
  return ir_draft_region(p, &op, &args, &types) ? ir_draft_finish(p, &op) : NULL;
}

void kernel_func_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"sym_name", NULL};
  const ir_block_t* entry = only_block(&op->regions[0]);
  const ir_attr_t* name = ir_op_attr(op, "sym_name");
  if (!entry || !name || name->kind != IR_ATTR_STRING) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_symbol(pr, name->text);
  ir_emit(pr, "(");
  for (uint32_t i = 0; i < entry->arg_count; ++i) {
    if (i) ir_emit(pr, ", ");
    ir_emit_value(pr, entry->args[i]);
    ir_emit(pr, ": ");
    ir_emit_type(pr, entry->args[i]->type);
  }
  ir_emit(pr, ")");
  ir_emit_attr_dict_keyword(pr, op, held);
  ir_emit(pr, " ");
  ir_emit_region(pr, &op->regions[0], 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Constants: a scalar attribute on a vector is written as a dense splat
//===----------------------------------------------------------------------------------------------------------------===

static const ir_attr_t* splat_to_scalar(ir_context_t* ctx, const ir_attr_t* value) {
  const ir_type_t* scalar = value->type->element;
  if (scalar->kind == IR_TYPE_FLOAT) return ir_attr_float(ctx, scalar, ir_attr_element_number(value, 0));
  return ir_attr_integer(ctx, scalar, ir_attr_element_integer(value, 0));
}

static const ir_attr_t* scalar_to_splat(ir_context_t* ctx, const ir_type_t* type, const ir_attr_t* value) {
  uint64_t element = 0;
  scalar_store(type->element, (scalar_value_t){.f = value->number, .i = value->integer}, &element);
  return ir_attr_elements(ctx, type, &element, ir_type_bytes(type->element));
}

static bool is_splat(const ir_attr_t* value) {
  return value->kind == IR_ATTR_ELEMENTS && value->type->kind == IR_TYPE_VECTOR &&
         (value->splat || ir_type_count(value->type) == 1) && value->type->element->kind != IR_TYPE_COMPLEX;
}

ir_op_t* kernel_constant_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_op_t* op = constant_parse(p, info, loc);
  const ir_attr_t* value = op ? ir_op_attr(op, "value") : NULL;
  if (value && is_splat(value)) {
    ir_op_set_attr(ir_parse_context(p), op, "value", splat_to_scalar(ir_parse_context(p), value));
  }
  return op;
}

void kernel_constant_print(ir_printer_t* pr, ir_op_t* op) {
  const ir_attr_t* value = ir_op_attr(op, "value");
  const ir_type_t* type = op->result_count == 1 ? op->results[0].type : NULL;
  bool number = value && (value->kind == IR_ATTR_INTEGER || value->kind == IR_ATTR_FLOAT);
  if (!number || !type || type->kind != IR_TYPE_VECTOR || type->element != value->type || op->attr_count != 1) {
    return constant_print(pr, op);
  }
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_attr(pr, scalar_to_splat(ir_printer_context(pr), type, value));
}

//===----------------------------------------------------------------------------------------------------------------===
// Loops and branches
//===----------------------------------------------------------------------------------------------------------------===

ir_op_t* kernel_for_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  const ir_type_t* index = ir_type_index(ir_parse_context(p));
  ir_draft_t op;
  ir_ref_t refs[4];
  static const char* const words[] = {"=", "to", "step"};
  ir_ref_list_t args = {0}, inits = {0};
  ir_type_list_t types = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &refs[0])) return NULL;
  ir_list_add_ref(p, &args, &refs[0]);
  ir_list_add_type(p, &types, index);
  for (int i = 0; i < 3; ++i) {
    if (!ir_parse_expect(p, words[i]) || !ir_parse_ref(p, &refs[i + 1])) return NULL;
    if (!ir_draft_operand(p, &op, &refs[i + 1], index)) return NULL;
  }
  if (ir_parse_try(p, "iter_args")) {
    ir_ref_list_t names = {0};
    if (!assignments_parse(p, &names, &inits) || !ir_parse_expect(p, "->")) return NULL;
    if (!ir_parse_result_types(p, &op.results)) return NULL;
    for (uint32_t i = 0; i < names.count; ++i) ir_list_add_ref(p, &args, &names.items[i]);
    for (uint32_t i = 0; i < op.results.count; ++i) ir_list_add_type(p, &types, op.results.items[i]);
  }
  if (!ir_draft_operands(p, &op, &inits, &op.results) || !ir_draft_region(p, &op, &args, &types)) return NULL;
  end_regions(p, &op);
  return ir_parse_attr_dict(p, &op) ? ir_draft_finish(p, &op) : NULL;
}

void kernel_for_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const words[] = {" = ", " to ", " step "};
  const ir_block_t* body = only_block(&op->regions[0]);
  bool fits = body && op->operand_count >= 3 && results_are_operands(op, 3) && body->arg_count >= 1 &&
              args_are_operands(&op->regions[0], 1, op, 3, op->result_count) &&
              body->args[0]->type->kind == IR_TYPE_INDEX;
  for (uint32_t i = 0; i < 3 && fits; ++i) fits = ir_operand(op, i)->type->kind == IR_TYPE_INDEX;
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_value(pr, body->args[0]);
  for (uint32_t i = 0; i < 3; ++i) {
    ir_emit(pr, words[i]);
    ir_emit_operands(pr, op, i, 1);
  }
  if (op->result_count) {
    ir_emit(pr, " iter_args");
    assignments_print(pr, body->args + 1, op, 3, op->result_count);
    emit_results(pr, op);
  }
  ir_emit(pr, " ");
  ir_emit_region(pr, &op->regions[0], hide_yield(op, 0));
  ir_emit_attr_dict(pr, op, NULL);
}

ir_op_t* kernel_if_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t condition;
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &condition)) return NULL;
  if (!ir_draft_operand(p, &op, &condition, ir_type_int(ir_parse_context(p), 1))) return NULL;
  if (ir_parse_try(p, "->") && !ir_parse_result_types(p, &op.results)) return NULL;
  if (!ir_draft_region(p, &op, NULL, NULL)) return NULL;
  if (!ir_parse_try(p, "else")) {
    ir_draft_empty_region(p, &op);
  } else if (!ir_draft_region(p, &op, NULL, NULL)) {
    return NULL;
  }
  end_regions(p, &op);
  return ir_parse_attr_dict(p, &op) ? ir_draft_finish(p, &op) : NULL;
}

static bool is_branch(const ir_region_t* region) {
  return !region->first || (only_block(region) && !region->first->arg_count);
}

void kernel_if_print(ir_printer_t* pr, ir_op_t* op) {
  bool fits = op->regions[0].first && is_branch(&op->regions[0]) && is_branch(&op->regions[1]) &&
              ir_operand(op, 0)->type == ir_type_int(ir_printer_context(pr), 1);
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_operands(pr, op, 0, 1);
  emit_results(pr, op);
  for (uint32_t i = 0; i < 2 && op->regions[i].first; ++i) {
    ir_emit(pr, i ? " else " : " ");
    ir_emit_region(pr, &op->regions[i], hide_yield(op, i));
  }
  ir_emit_attr_dict(pr, op, NULL);
}

ir_op_t* kernel_while_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t args = {0}, inits = {0};
  ir_draft_init(p, &op, info, loc);
  if (ir_parse_next(p) == '(' && !assignments_parse(p, &args, &inits)) return NULL;
  if (!ir_parse_expect(p, ":") || !ir_parse_types_in_parens(p, &op.results) ||
      !ir_draft_operands(p, &op, &inits, &op.results) || !ir_draft_region(p, &op, &args, &op.results) ||
      !ir_parse_expect(p, "do") || !ir_draft_region(p, &op, NULL, NULL) || !ir_parse_attr_dict_keyword(p, &op)) {
    return NULL;
  }
  end_regions(p, &op);
  return ir_draft_finish(p, &op);
}

void kernel_while_print(ir_printer_t* pr, ir_op_t* op) {
  const ir_block_t* before = only_block(&op->regions[0]);
  bool fits = before && only_block(&op->regions[1]) && op->operand_count == op->result_count &&
              results_are_operands(op, 0) && args_are_operands(&op->regions[0], 0, op, 0, op->operand_count);
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  if (op->operand_count) {
    ir_emit(pr, " ");
    assignments_print(pr, before->args, op, 0, op->operand_count);
  }
  ir_emit(pr, " : (");
  ir_emit_result_types(pr, op);
  ir_emit(pr, ") ");
  ir_emit_region(pr, &op->regions[0], 0);
  ir_emit(pr, " do ");
  ir_emit_region(pr, &op->regions[1], IR_REGION_ENTRY_ARGS | hide_yield(op, 1));
  ir_emit_attr_dict_keyword(pr, op, NULL);
}
