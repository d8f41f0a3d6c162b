// Assembly of stablehlo.reduce and stablehlo.while.
#include <string.h>

#include "dialects/stablehlo.h"
#include "dialects/stablehlo_hooks.h"
#include "dialects/table.h"

//===----------------------------------------------------------------------------------------------------------------===
// stablehlo.reduce(%x init: %v), (%y init: %w) across dimensions = [1] {attrs} : (types) -> types
//   reducer(%a: t, %b: t) (%c: t, %d: t) { ... }
// and for one operand and one commutative op: ... applies stablehlo.add across dimensions = [1] ...
//===----------------------------------------------------------------------------------------------------------------===

static bool parse_reduce_operands(ir_parser_t* p, ir_ref_list_t* refs) {
  ir_ref_list_t inits = {0};
  do {
    ir_ref_t operand, init;
    if (!ir_parse_expect(p, "(") || !ir_parse_ref(p, &operand) || !ir_parse_expect(p, "init") ||
        !ir_parse_expect(p, ":") || !ir_parse_ref(p, &init) || !ir_parse_expect(p, ")")) {
      return false;
    }
    ir_list_add_ref(p, refs, &operand);
    ir_list_add_ref(p, &inits, &init);
  } while (ir_parse_try(p, ","));
  for (uint32_t i = 0; i < inits.count; ++i) ir_list_add_ref(p, refs, &inits.items[i]);
  return true;
}

// The region of `applies`: one op over both arguments, returned.
static bool build_body(ir_parser_t* p, ir_draft_t* op, ir_name_t applied) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_region_t* region = ir_draft_empty_region(p, op);
  ir_block_t* block = ir_block_create(ctx);
  const char* name =
      strncmp(applied, "mhlo.", 5) ? applied : arena_printf(ir_context_arena(ctx), "stablehlo%s", applied + 4);
  const ir_type_t* scalar = ir_type_scalar(op->operands.items[0]->type);
  const ir_type_t* type = ir_type_tensor(ctx, scalar, 0, NULL);
  if (!ir_context_find_op(ctx, name)) return ir_parse_fail(p, "'%s' is not an op that reduce can apply", applied);
  ir_region_append(region, block);
  ir_value_t* args[2];
  for (int i = 0; i < 2; ++i) args[i] = ir_block_add_arg(ctx, block, type);
  ir_op_state_t state = {
      .name = name, .loc = op->loc, .operands = args, .operand_count = 2, .result_types = &type, .result_count = 1};
  ir_op_t* inner = ir_op_create(ctx, &state);
  ir_block_append(block, inner);
  ir_value_t* result = ir_result(inner, 0);
  ir_op_state_t last = {.name = "stablehlo.return", .loc = op->loc, .operands = &result, .operand_count = 1};
  ir_block_append(block, ir_op_create(ctx, &last));
  return true;
}

// (%a: t, %b: t) (%c: t, %d: t): arguments are all first ones, then all second ones.
static bool parse_reducer(ir_parser_t* p, ir_draft_t* op, uint32_t pairs) {
  ir_ref_list_t halves[2], all = {0};
  ir_type_list_t types[2], all_types = {0};
  memset(halves, 0, sizeof(halves));
  memset(types, 0, sizeof(types));
  if (!ir_parse_expect(p, "reducer")) return false;
  for (uint32_t i = 0; i < pairs; ++i) {
    for (int half = 0; half < 2; ++half) {
      ir_ref_t ref;
      const ir_loc_t* ignored;
      if (!ir_parse_expect(p, half ? "," : "(") || !ir_parse_ref(p, &ref) || !ir_parse_expect(p, ":")) return false;
      const ir_type_t* type = ir_parse_type(p);
      if (!type || !ir_parse_optional_loc(p, &ignored)) return false;
      ir_list_add_ref(p, &halves[half], &ref);
      ir_list_add_type(p, &types[half], type);
    }
    if (!ir_parse_expect(p, ")")) return false;
  }
  for (int half = 0; half < 2; ++half) {
    for (uint32_t i = 0; i < pairs; ++i) {
      ir_list_add_ref(p, &all, &halves[half].items[i]);
      ir_list_add_type(p, &all_types, types[half].items[i]);
    }
  }
  return ir_draft_region(p, op, &all, &all_types);
}

ir_op_t* stablehlo_reduce_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_type_list_t types = {0};
  int64_t* dims;
  uint32_t count;
  ir_name_t applied = NULL;
  ir_draft_init(p, &op, info, loc);
  if (!parse_reduce_operands(p, &refs)) return NULL;
  if (ir_parse_try(p, "applies") && !(applied = ir_parse_keyword(p, "an op name"))) return NULL;
  if (!ir_parse_expect(p, "across") || !ir_parse_expect(p, "dimensions") || !ir_parse_expect(p, "=") ||
      !ir_parse_int_list(p, &dims, &count)) {
    return NULL;
  }
  ir_draft_attr(p, &op, "dimensions", ir_attr_i64_array(ir_parse_context(p), dims, count));
  if (!ir_parse_attr_dict(p, &op) || !ir_parse_expect(p, ":") || !ir_parse_types_in_parens(p, &types) ||
      !ir_parse_expect(p, "->") || !ir_parse_result_types(p, &op.results) ||
      !ir_draft_operands(p, &op, &refs, &types)) {
    return NULL;
  }
  bool ok = applied ? build_body(p, &op, applied) : parse_reducer(p, &op, refs.count / 2);
  return ok ? ir_draft_finish(p, &op) : NULL;
}

// The op that `applies` names, or NULL when the region says more than that.
static const ir_op_t* applied_op(const ir_op_t* op) {
  const ir_block_t* block = op->regions[0].first;
  const ir_op_t *inner = block->first, *last = block->last;
  if (op->operand_count != 2 || block->arg_count != 2 || inner == last || inner->next != last) return NULL;
  if (inner->operand_count != 2 || inner->result_count != 1 || inner->attr_count || inner->region_count) return NULL;
  if (inner->info->code == IR_CODE_UNREGISTERED || last->info->code != STABLEHLO_RETURN) return NULL;
  if (ir_operand(inner, 0) != block->args[0] || ir_operand(inner, 1) != block->args[1]) return NULL;
  if (last->operand_count != 1 || ir_operand(last, 0) != &inner->results[0] || last->attr_count) return NULL;
  const ir_type_t* type = inner->results[0].type;
  bool scalar = type->kind == IR_TYPE_TENSOR && type->rank == 0 && !type->encoding;
  if (!scalar || type->element != ir_type_scalar(ir_operand(op, 0)->type)) return NULL;
  return block->args[0]->type == type && block->args[1]->type == type ? inner : NULL;
}

static bool reduce_fits(const ir_op_t* op) {
  const ir_attr_t* dims = ir_op_attr(op, "dimensions");
  const ir_block_t* block = op->regions[0].first;
  return dims && dims->kind == IR_ATTR_DENSE_ARRAY && dims->type->width == 64 && block && !block->next &&
         block->first && op->operand_count && op->operand_count % 2 == 0 && block->arg_count == op->operand_count;
}

void stablehlo_reduce_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"dimensions", NULL};
  if (!reduce_fits(op)) return ir_emit_generic(pr, op);
  const ir_attr_t* dims = ir_op_attr(op, "dimensions");
  const ir_op_t* applied = (ir_printer_flags(pr) & IR_PRINT_LOCS) ? NULL : applied_op(op);
  uint32_t pairs = op->operand_count / 2;
  ir_emit_op_name(pr, op);
  for (uint32_t i = 0; i < pairs; ++i) {
    ir_emit(pr, i ? ", (" : "(");
    ir_emit_operands(pr, op, i, 1);
    ir_emit(pr, " init: ");
    ir_emit_operands(pr, op, pairs + i, 1);
    ir_emit(pr, ")");
  }
  if (applied) ir_emitf(pr, " applies %s", applied->name);
  ir_emit(pr, " across dimensions = [");
  for (uint32_t i = 0; i < dims->count; ++i) {
    ir_emitf(pr, i ? ", %lld" : "%lld", (long long)ir_attr_element_integer(dims, i));
  }
  ir_emit(pr, "]");
  ir_emit_attr_dict(pr, op, held);
  ir_emit(pr, " : ");
  ir_emit_function_type(pr, op);
  if (applied) return;
  ir_emit_newline(pr);
  ir_emit(pr, " reducer");
  ir_value_t** args = op->regions[0].first->args;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const ir_value_t* arg = args[i / 2 + i % 2 * pairs];
    ir_emit(pr, i % 2 ? ", " : i ? " (" : "(");
    ir_emit_value(pr, arg);
    ir_emit(pr, ": ");
    ir_emit_type(pr, arg->type);
    if (i % 2) ir_emit(pr, ")");
  }
  ir_emit(pr, " ");
  ir_emit_region(pr, &op->regions[0], 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// stablehlo.while(%a = %x, ...) : types [attributes {...}] cond { ... } do { ... }
//===----------------------------------------------------------------------------------------------------------------===

ir_op_t* stablehlo_while_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t args = {0}, inits = {0};
  ir_draft_init(p, &op, info, loc);
  if (!assignments_parse(p, &args, &inits)) return NULL;
  if (args.count && (!ir_parse_expect(p, ":") || !ir_parse_types(p, &op.results))) return NULL;
  if (!ir_draft_operands(p, &op, &inits, &op.results) || !ir_parse_attr_dict_keyword(p, &op) ||
      !ir_parse_expect(p, "cond") || !ir_draft_region(p, &op, &args, &op.results) || !ir_parse_expect(p, "do") ||
      !ir_draft_region(p, &op, &args, &op.results)) {
    return NULL;
  }
  return ir_draft_finish(p, &op);
}

// Both regions' arguments are named alike: siblings number from the same start.
void stablehlo_while_print(ir_printer_t* pr, ir_op_t* op) {
  bool fits = results_are_operands(op, 0);
  for (int i = 0; fits && i < 2; ++i) {
    const ir_block_t* block = op->regions[i].first;
    fits = block && !block->next && block->first && args_are_operands(&op->regions[i], 0, op, 0, op->operand_count);
  }
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  assignments_print(pr, op->regions[0].first->args, op, 0, op->operand_count);
  if (op->operand_count) {
    ir_emit(pr, " : ");
    ir_emit_result_types(pr, op);
  }
  ir_emit_attr_dict_keyword(pr, op, NULL);
  ir_emit_newline(pr);
  ir_emit(pr, "cond ");
  ir_emit_region(pr, &op->regions[0], 0);
  ir_emit(pr, " do ");
  ir_emit_region(pr, &op->regions[1], 0);
}
