// The scf dialect: for, if, while, index_switch; the parallel forms are in scf_parallel.c.
#include "dialects/scf.h"

#include "dialects/scf_parallel.h"
#include "dialects/table.h"

static ir_block_t* only_block(const ir_region_t* region) {
  return region->first && !region->first->next && region->first->first ? region->first : NULL;
}

// Trailing attributes and the end of every loop.
static ir_op_t* finish(ir_parser_t* p, ir_draft_t* op, const char* terminator) {
  if (!ir_parse_attr_dict(p, op)) return NULL;
  for (uint32_t i = 0; i < op->region_count && terminator; ++i) {
    ir_region_ensure_terminator(ir_parse_context(p), op->regions[i], terminator, op->loc);
  }
  return ir_draft_finish(p, op);
}

//===----------------------------------------------------------------------------------------------------------------===
// scf.for [unsigned] %i = %low to %high step %step [iter_args(%a = %x, ...) -> (types)] [: type] { ... }
//===----------------------------------------------------------------------------------------------------------------===

static ir_op_t* for_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  ir_ref_t bounds[3], index;
  ir_ref_list_t args = {0}, inits = {0};
  ir_type_list_t types = {0};
  ir_draft_init(p, &op, info, loc);
  if (ir_parse_try(p, "unsigned")) ir_draft_attr(p, &op, "unsignedCmp", ir_attr_unit(ctx));
  if (!ir_parse_ref(p, &index) || !ir_parse_expect(p, "=") || !ir_parse_ref(p, &bounds[0]) ||
      !ir_parse_expect(p, "to") || !ir_parse_ref(p, &bounds[1]) || !ir_parse_expect(p, "step") ||
      !ir_parse_ref(p, &bounds[2])) {
    return NULL;
  }
  ir_list_add_ref(p, &args, &index);
  if (ir_parse_try(p, "iter_args")) {
    ir_ref_list_t names = {0};
    if (!assignments_parse(p, &names, &inits) || !ir_parse_expect(p, "->")) return NULL;
    if (!ir_parse_result_types(p, &op.results)) return NULL;
    for (uint32_t i = 0; i < names.count; ++i) ir_list_add_ref(p, &args, &names.items[i]);
  }
  const ir_type_t* type = ir_parse_try(p, ":") ? ir_parse_type(p) : ir_type_index(ctx);
  if (!type) return NULL;
  for (int i = 0; i < 3; ++i) {
    if (!ir_draft_operand(p, &op, &bounds[i], type)) return NULL;
  }
  ir_list_add_type(p, &types, type);
  for (uint32_t i = 0; i < op.results.count; ++i) ir_list_add_type(p, &types, op.results.items[i]);
  if (!ir_draft_operands(p, &op, &inits, &op.results)) return NULL;
  return ir_draft_region(p, &op, &args, &types) ? finish(p, &op, "scf.yield") : NULL;
}

static bool for_fits(const ir_op_t* op) {
  if (op->operand_count < 3 || !only_block(&op->regions[0]) || !results_are_operands(op, 3)) return false;
  const ir_type_t* type = ir_operand(op, 0)->type;
  if (ir_operand(op, 1)->type != type || ir_operand(op, 2)->type != type) return false;
  const ir_attr_t* unsigned_compare = ir_op_attr(op, "unsignedCmp");
  if (unsigned_compare && unsigned_compare->kind != IR_ATTR_UNIT) return false;
  return args_are_operands(&op->regions[0], 1, op, 3, op->result_count) && op->regions[0].first->args[0]->type == type;
}

// A yield of nothing is left out.
static uint32_t hide_yield(const ir_op_t* op) {
  const ir_op_t* last = op->regions[0].first->last;
  bool hide = !op->result_count && last->info->code == SCF_YIELD && !last->attr_count;
  return hide ? IR_REGION_NO_TERMINATOR : 0;
}

static void for_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"unsignedCmp", NULL};
  if (!for_fits(op)) return ir_emit_generic(pr, op);
  ir_value_t** args = op->regions[0].first->args;
  ir_emit_op_name(pr, op);
  ir_emit(pr, ir_op_flag(op, "unsignedCmp") ? " unsigned " : " ");
  ir_emit_value(pr, args[0]);
  static const char* const words[] = {" = ", " to ", " step "};
  for (uint32_t i = 0; i < 3; ++i) {
    ir_emit(pr, words[i]);
    ir_emit_operands(pr, op, i, 1);
  }
  if (op->result_count) {
    ir_emit(pr, " iter_args");
    assignments_print(pr, args + 1, op, 3, op->result_count);
    ir_emit(pr, " -> (");
    ir_emit_result_types(pr, op);
    ir_emit(pr, ")");
  }
  if (args[0]->type->kind != IR_TYPE_INDEX) {
    ir_emit(pr, " : ");
    ir_emit_type(pr, args[0]->type);
  }
  ir_emit(pr, " ");
  ir_emit_region(pr, &op->regions[0], hide_yield(op));
  ir_emit_attr_dict(pr, op, held);
}

static bool scf_verify_for(ir_context_t* ctx, ir_op_t* op) {
  if (for_fits(op)) return true;
  return ir_op_error(ctx, op, "bounds, iteration values, block arguments and results do not fit together");
}

//===----------------------------------------------------------------------------------------------------------------===
// scf.if %c [-> (types)] { ... } [else { ... }]
//===----------------------------------------------------------------------------------------------------------------===

static ir_op_t* if_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  ir_ref_t condition;
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &condition) || !ir_draft_operand(p, &op, &condition, ir_type_int(ctx, 1))) return NULL;
  if (ir_parse_try(p, "->") && !ir_parse_result_types(p, &op.results)) return NULL;
  if (!ir_draft_region(p, &op, NULL, NULL)) return NULL;
  ir_region_ensure_terminator(ctx, op.regions[0], "scf.yield", loc);
  if (!ir_parse_try(p, "else")) {
    ir_draft_empty_region(p, &op);
  } else if (!ir_draft_region(p, &op, NULL, NULL)) {
    return NULL;
  } else {
    ir_region_ensure_terminator(ctx, op.regions[1], "scf.yield", loc);
  }
  return finish(p, &op, NULL);
}

static void if_print(ir_printer_t* pr, ir_op_t* op) {
  bool fits = only_block(&op->regions[0]) && !op->regions[0].first->arg_count &&
              (!op->regions[1].first || (only_block(&op->regions[1]) && !op->regions[1].first->arg_count)) &&
              ir_operand(op, 0)->type == ir_type_int(ir_printer_context(pr), 1);
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_operands(pr, op, 0, 1);
  if (op->result_count) {
    ir_emit(pr, " -> (");
    ir_emit_result_types(pr, op);
    ir_emit(pr, ")");
  }
  for (uint32_t i = 0; i < 2 && op->regions[i].first; ++i) {
    const ir_op_t* last = op->regions[i].first->last;
    bool hide = !op->result_count && last->info->code == SCF_YIELD && !last->attr_count && !last->operand_count;
    ir_emit(pr, i ? " else " : " ");
    ir_emit_region(pr, &op->regions[i], hide ? IR_REGION_NO_TERMINATOR : 0);
  }
  ir_emit_attr_dict(pr, op, NULL);
}

static bool scf_verify_if(ir_context_t* ctx, ir_op_t* op) {
  if (ir_operand(op, 0)->type != ir_type_int(ctx, 1)) return ir_op_error(ctx, op, "condition must be i1");
  if (op->result_count && !op->regions[1].first)
    return ir_op_error(ctx, op, "must have an else block if it has results");
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// scf.while (%a = %x, ...) : (types) -> (types) { ... } do { ^bb0(...): ... } [attributes {...}]
//===----------------------------------------------------------------------------------------------------------------===

static ir_op_t* while_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t args = {0}, inits = {0};
  ir_type_list_t types = {0};
  ir_draft_init(p, &op, info, loc);
  if (ir_parse_next(p) == '(' && !assignments_parse(p, &args, &inits)) return NULL;
  if (!ir_parse_expect(p, ":") || !ir_parse_types_in_parens(p, &types) || !ir_parse_expect(p, "->") ||
      !ir_parse_result_types(p, &op.results) || !ir_draft_operands(p, &op, &inits, &types) ||
      !ir_draft_region(p, &op, &args, &types) || !ir_parse_expect(p, "do") || !ir_draft_region(p, &op, NULL, NULL) ||
      !ir_parse_attr_dict_keyword(p, &op)) {
    return NULL;
  }
  return ir_draft_finish(p, &op);
}

static void while_print(ir_printer_t* pr, ir_op_t* op) {
  const ir_block_t* before = only_block(&op->regions[0]);
  if (!before || !only_block(&op->regions[1]) || !args_are_operands(&op->regions[0], 0, op, 0, op->operand_count)) {
    return ir_emit_generic(pr, op);
  }
  ir_emit_op_name(pr, op);
  if (op->operand_count) {
    ir_emit(pr, " ");
    assignments_print(pr, before->args, op, 0, op->operand_count);
  }
  ir_emit(pr, " : ");
  ir_emit_function_type(pr, op);
  ir_emit(pr, " ");
  ir_emit_region(pr, &op->regions[0], 0);
  ir_emit(pr, " do ");
  ir_emit_region(pr, &op->regions[1], IR_REGION_ENTRY_ARGS);
  ir_emit_attr_dict_keyword(pr, op, NULL);
}

//===----------------------------------------------------------------------------------------------------------------===
// scf.index_switch %x {attrs} [-> types] case 2 { ... } ... default { ... }: regions are default, then the cases
//===----------------------------------------------------------------------------------------------------------------===

static ir_op_t* index_switch_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  ir_ref_t flag;
  int64_t* values = NULL;
  uint32_t count = 0;
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &flag) || !ir_draft_operand(p, &op, &flag, ir_type_index(ctx))) return NULL;
  if (!ir_parse_attr_dict(p, &op)) return NULL;
  if (ir_parse_try(p, "->") && !ir_parse_result_types(p, &op.results)) return NULL;
  ir_region_t* first = ir_draft_empty_region(p, &op);
  while (ir_parse_try(p, "case")) {
    values = ir_parse_grow(p, values, count, sizeof(*values));
    if (!ir_parse_integer(p, &values[count++]) || !ir_draft_region(p, &op, NULL, NULL)) return NULL;
  }
  if (!ir_parse_expect(p, "default") || !ir_draft_region(p, &op, NULL, NULL)) return NULL;
  ir_region_t** regions = op.more_regions ? op.more_regions : op.regions;
  *first = *regions[--op.region_count];  // read last, held first
  for (uint32_t i = 0; i < op.region_count; ++i) ir_region_ensure_terminator(ctx, regions[i], "scf.yield", loc);
  ir_draft_attr(p, &op, "cases", ir_attr_i64_array(ctx, values, count));
  return ir_draft_finish(p, &op);
}

static void index_switch_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"cases", NULL};
  const ir_attr_t* cases = ir_op_attr(op, "cases");
  bool fits = cases && cases->kind == IR_ATTR_DENSE_ARRAY && op->region_count == cases->count + 1 &&
              ir_operand(op, 0)->type->kind == IR_TYPE_INDEX;
  for (uint32_t i = 0; fits && i < op->region_count; ++i) fits = only_block(&op->regions[i]) != NULL;
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_operands(pr, op, 0, 1);
  ir_emit_attr_dict(pr, op, held);
  ir_emit_arrow_types(pr, op);
  for (uint32_t i = 0; i < cases->count; ++i) {
    ir_emit_newline(pr);
    ir_emitf(pr, "case %lld ", (long long)ir_attr_element_integer(cases, i));
    ir_emit_region(pr, &op->regions[i + 1], IR_REGION_ENTRY_ARGS);
  }
  ir_emit_newline(pr);
  ir_emit(pr, "default ");
  ir_emit_region(pr, &op->regions[0], IR_REGION_ENTRY_ARGS);
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"scf." #name, SCF_##ENUM, __VA_ARGS__},
#include "dialects/scf.def"
#undef OP
};
TABLE_DIALECT(scf_dialect, IR_DIALECT_SCF, "scf", ops);
