// scf.forall, scf.parallel, scf.reduce.
#include "dialects/scf_parallel.h"

#include <string.h>

#include "dialects/scf.h"
#include "dialects/table.h"

enum { MAX_LOOPS = 32 };

// (%a, 4, ...): values become operands, numbers stay in `values`.
typedef struct mixed_t {
  int64_t values[MAX_LOOPS];
  uint32_t count;
  ir_ref_list_t refs;
} mixed_t;

static bool parse_mixed(ir_parser_t* p, mixed_t* out) {
  if (!ir_parse_expect(p, "(")) return false;
  while (!ir_parse_try(p, ")")) {
    ir_ref_t ref;
    if (out->count && !ir_parse_expect(p, ",")) return false;
    if (out->count == MAX_LOOPS) return ir_parse_fail(p, "more than %d loops", MAX_LOOPS);
    if (ir_parse_try_ref(p, &ref)) {
      ir_list_add_ref(p, &out->refs, &ref);
      out->values[out->count++] = IR_DYNAMIC;
    } else if (!ir_parse_integer(p, &out->values[out->count++])) {
      return false;
    }
  }
  return true;
}

static bool add_indices(ir_parser_t* p, ir_draft_t* op, const ir_ref_list_t* refs) {
  for (uint32_t i = 0; i < refs->count; ++i) {
    if (!ir_draft_operand(p, op, &refs->items[i], ir_type_index(ir_parse_context(p)))) return false;
  }
  return true;
}

static bool parse_names(ir_parser_t* p, ir_ref_list_t* names) {
  return ir_parse_expect(p, "(") && ir_parse_refs(p, names) && ir_parse_expect(p, ")");
}

static const char* const bound_names[] = {"staticLowerBound", "staticUpperBound", "staticStep"};

// scf.forall (%i) in (%n) | (%i) = (0) to (%n) step (1)
static bool parse_bounds(ir_parser_t* p, mixed_t bounds[3], uint32_t loops) {
  bool normal = ir_parse_try(p, "in");
  if (normal) {
    if (!parse_mixed(p, &bounds[1])) return false;
    for (uint32_t i = 0; i < bounds[1].count; ++i) bounds[2].values[i] = 1;
    bounds[0].count = bounds[2].count = bounds[1].count;
  } else if (!ir_parse_expect(p, "=") || !parse_mixed(p, &bounds[0]) || !ir_parse_expect(p, "to") ||
             !parse_mixed(p, &bounds[1]) || !ir_parse_expect(p, "step") || !parse_mixed(p, &bounds[2])) {
    return false;
  }
  bool fits = bounds[0].count == loops && bounds[1].count == loops && bounds[2].count == loops;
  return fits || ir_parse_fail(p, "expected bounds for %u loops", loops);
}

ir_op_t* forall_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  mixed_t bounds[3];
  ir_ref_list_t names = {0}, outs = {0}, inits = {0};
  ir_type_list_t types = {0};
  memset(bounds, 0, sizeof(bounds));
  ir_draft_init(p, &op, info, loc);
  if (!parse_names(p, &names) || !parse_bounds(p, bounds, names.count)) return NULL;
  uint32_t loops = names.count;
  if (ir_parse_try(p, "shared_outs")) {
    if (!assignments_parse(p, &outs, &inits) || !ir_parse_expect(p, "->")) return NULL;
    if (!ir_parse_result_types(p, &op.results)) return NULL;
  }
  int32_t segments[4];
  for (int i = 0; i < 3; ++i) {
    segments[i] = (int32_t)bounds[i].refs.count;
    if (!add_indices(p, &op, &bounds[i].refs)) return NULL;
    ir_draft_attr(p, &op, bound_names[i], ir_attr_i64_array(ctx, bounds[i].values, loops));
  }
  segments[3] = (int32_t)inits.count;
  ir_draft_attr(p, &op, "operandSegmentSizes", ir_attr_dense_array(ctx, ir_type_int(ctx, 32), segments, 4));
  if (!ir_draft_operands(p, &op, &inits, &op.results)) return NULL;
  for (uint32_t i = 0; i < loops; ++i) ir_list_add_type(p, &types, ir_type_index(ctx));
  for (uint32_t i = 0; i < outs.count; ++i) {
    ir_list_add_ref(p, &names, &outs.items[i]);
    ir_list_add_type(p, &types, op.results.items[i]);
  }
  if (!ir_draft_region(p, &op, &names, &types) || !ir_parse_attr_dict(p, &op)) return NULL;
  ir_region_ensure_terminator(ctx, op.regions[0], "scf.forall.in_parallel", loc);
  ir_op_t* last = op.regions[0]->last->last;
  if (last->info->code == SCF_IN_PARALLEL && !last->region_count) {
    last->region_count = 1;
    last->regions = ARENA_ARRAY(ir_context_arena(ctx), ir_region_t, 1);
    last->regions[0].parent = last;
    ir_region_append(&last->regions[0], ir_block_create(ctx));
  }
  return ir_draft_finish(p, &op);
}

static bool forall_fits(const ir_op_t* op, uint32_t* loops) {
  int64_t segments[4] = {0}, values[MAX_LOOPS];
  if (ir_op_ints(op, "operandSegmentSizes", segments, 4) != 4 || !op->regions[0].first) return false;
  int64_t total = 0;
  for (int i = 0; i < 3; ++i) {
    const ir_attr_t* attr = ir_op_attr(op, bound_names[i]);
    if (!attr || attr->kind != IR_ATTR_DENSE_ARRAY || attr->type->width != 64) return false;
    uint32_t count = ir_attr_ints(attr, values, MAX_LOOPS);
    if (count > MAX_LOOPS || (i && count != *loops)) return false;
    *loops = count;
    int64_t dynamic = 0;
    for (uint32_t k = 0; k < count; ++k) dynamic += values[k] == IR_DYNAMIC;
    if (dynamic != segments[i]) return false;
    total += dynamic;
  }
  for (int64_t i = 0; i < total && i < op->operand_count; ++i) {
    if (ir_operand(op, (uint32_t)i)->type->kind != IR_TYPE_INDEX) return false;
  }
  if (segments[3] != op->result_count || !results_are_operands(op, (uint32_t)total)) return false;
  return args_are_operands(&op->regions[0], *loops, op, (uint32_t)total, op->result_count);
}

static void print_mixed(ir_printer_t* pr, const ir_op_t* op, const char* name, uint32_t* next) {
  int64_t values[MAX_LOOPS];
  uint32_t count = ir_op_ints(op, name, values, MAX_LOOPS);
  ir_emit(pr, "(");
  for (uint32_t i = 0; i < count; ++i) {
    if (i) ir_emit(pr, ", ");
    if (values[i] == IR_DYNAMIC) {
      ir_emit_operands(pr, op, (*next)++, 1);
    } else {
      ir_emitf(pr, "%lld", (long long)values[i]);
    }
  }
  ir_emit(pr, ")");
}

static void print_args(ir_printer_t* pr, const ir_block_t* block, uint32_t count) {
  ir_emit(pr, " (");
  for (uint32_t i = 0; i < count; ++i) {
    if (i) ir_emit(pr, ", ");
    ir_emit_value(pr, block->args[i]);
  }
  ir_emit(pr, ")");
}

void forall_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"staticLowerBound", "staticUpperBound", "staticStep", "operandSegmentSizes", NULL};
  static const char* const words[] = {" = ", " to ", " step "};
  uint32_t loops = 0, next = 0;
  if (!forall_fits(op, &loops)) return ir_emit_generic(pr, op);
  const ir_block_t* body = op->regions[0].first;
  int64_t low[MAX_LOOPS], step[MAX_LOOPS];
  ir_op_ints(op, bound_names[0], low, MAX_LOOPS);
  ir_op_ints(op, bound_names[2], step, MAX_LOOPS);
  bool normal = true;
  for (uint32_t i = 0; i < loops; ++i) normal &= low[i] == 0 && step[i] == 1;
  ir_emit_op_name(pr, op);
  print_args(pr, body, loops);
  if (normal) {
    ir_emit(pr, " in ");
    print_mixed(pr, op, bound_names[1], &next);
  } else {
    for (int i = 0; i < 3; ++i) {
      ir_emit(pr, words[i]);
      print_mixed(pr, op, bound_names[i], &next);
    }
  }
  if (op->result_count) {
    ir_emit(pr, " shared_outs");
    assignments_print(pr, body->args + loops, op, next, op->result_count);
    ir_emit(pr, " -> (");
    ir_emit_result_types(pr, op);
    ir_emit(pr, ")");
  }
  ir_emit(pr, " ");
  ir_emit_region(pr, &op->regions[0], 0);
  ir_emit_attr_dict(pr, op, held);
}

//===----------------------------------------------------------------------------------------------------------------===
// scf.parallel (%i) = (%low) to (%high) step (%step) [init (%x) -> type] { ... scf.reduce(%v : type) {...} }
//===----------------------------------------------------------------------------------------------------------------===

ir_op_t* parallel_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  static const char* const words[] = {"=", "to", "step"};
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  ir_ref_list_t names = {0}, inits = {0};
  ir_type_list_t types = {0};
  ir_draft_init(p, &op, info, loc);
  if (!parse_names(p, &names)) return NULL;
  for (int i = 0; i < 3; ++i) {
    ir_ref_list_t bound = {0};
    if (!ir_parse_expect(p, words[i]) || !parse_names(p, &bound) || !add_indices(p, &op, &bound)) return NULL;
    if (bound.count != names.count) return ir_parse_fail(p, "expected bounds for %u loops", names.count), NULL;
  }
  if (ir_parse_try(p, "init") && !parse_names(p, &inits)) return NULL;
  if (ir_parse_try(p, "->") && !ir_parse_result_types(p, &op.results)) return NULL;
  while (op.results.count < inits.count && ir_parse_try(p, ",")) {
    const ir_type_t* type = ir_parse_type(p);
    if (!type) return NULL;
    ir_draft_result(p, &op, type);
  }
  if (!ir_draft_operands(p, &op, &inits, &op.results)) return NULL;
  int32_t n = (int32_t)names.count, segments[4] = {n, n, n, (int32_t)inits.count};
  ir_draft_attr(p, &op, "operandSegmentSizes", ir_attr_dense_array(ctx, ir_type_int(ctx, 32), segments, 4));
  for (uint32_t i = 0; i < names.count; ++i) ir_list_add_type(p, &types, ir_type_index(ctx));
  if (!ir_draft_region(p, &op, &names, &types) || !ir_parse_attr_dict(p, &op)) return NULL;
  ir_region_ensure_terminator(ctx, op.regions[0], "scf.reduce", loc);
  return ir_draft_finish(p, &op);
}

void parallel_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"operandSegmentSizes", NULL};
  static const char* const words[] = {" = (", ") to (", ") step ("};
  const ir_block_t* body = op->regions[0].first;
  int64_t segments[4] = {0};
  uint32_t n = body ? body->arg_count : 0;
  bool fits = body && ir_op_ints(op, "operandSegmentSizes", segments, 4) == 4 && segments[0] == n && segments[1] == n &&
              segments[2] == n && segments[3] == op->result_count && results_are_operands(op, 3 * n);
  for (uint32_t i = 0; fits && i < 3 * n; ++i) fits = ir_operand(op, i)->type->kind == IR_TYPE_INDEX;
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  print_args(pr, body, n);
  for (uint32_t i = 0; i < 3; ++i) {
    ir_emit(pr, words[i]);
    ir_emit_operands(pr, op, i * n, n);
  }
  ir_emit(pr, ")");
  if (op->result_count) {
    ir_emit(pr, " init (");
    ir_emit_operands(pr, op, 3 * n, op->result_count);
    ir_emit(pr, ")");
  }
  ir_emit_arrow_types(pr, op);
  ir_emit(pr, " ");
  ir_emit_region(pr, &op->regions[0], 0);
  ir_emit_attr_dict(pr, op, held);
}

// scf.reduce [(%a, %b : t, t) { ... }, { ... }]
ir_op_t* reduce_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_type_list_t types = {0};
  ir_draft_init(p, &op, info, loc);
  if (ir_parse_try(p, "(")) {
    if (!ir_parse_refs(p, &refs) || !ir_parse_expect(p, ":") || !ir_parse_types(p, &types)) return NULL;
    if (!ir_parse_expect(p, ")") || !ir_draft_operands(p, &op, &refs, &types)) return NULL;
    do {
      if (!ir_draft_region(p, &op, NULL, NULL)) return NULL;
    } while (ir_parse_try(p, ","));
  }
  return ir_parse_attr_dict(p, &op) ? ir_draft_finish(p, &op) : NULL;
}

void reduce_print(ir_printer_t* pr, ir_op_t* op) {
  if (!op->operand_count != !op->region_count) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  if (op->operand_count) {
    ir_emit(pr, "(");
    ir_emit_operands(pr, op, 0, op->operand_count);
    ir_emit(pr, " : ");
    ir_emit_operand_types(pr, op, 0, op->operand_count);
    ir_emit(pr, ")");
  }
  for (uint32_t i = 0; i < op->region_count; ++i) {
    ir_emit(pr, i ? ", " : " ");
    ir_emit_region(pr, &op->regions[i], IR_REGION_ENTRY_ARGS);
  }
  ir_emit_attr_dict(pr, op, NULL);
}
