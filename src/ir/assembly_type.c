// The words of assembly formats that stand for types in the text.
#include "ir/assembly_state.h"

typedef assembly_word_t word_t;

static bool fits_always(assembly_t* a, word_t word) { return true; }

static bool all_same(const assembly_t* a) {
  const ir_type_t* type = a->op->result_count ? a->op->results[0].type : assembly_operand_type(a, 0);
  for (uint32_t i = 0; i < a->op->operand_count; ++i) {
    if (assembly_operand_type(a, i) != type) return false;
  }
  for (uint32_t i = 0; i < a->op->result_count; ++i) {
    if (a->op->results[i].type != type) return false;
  }
  return type != NULL;
}

static bool read_same(assembly_t* a, word_t word) { return (a->same = ir_parse_type(a->p)) != NULL; }
static bool fits_same(assembly_t* a, word_t word) { return all_same(a); }
static void write_same(assembly_t* a, word_t word) {
  ir_emit_type(a->pr, a->op->result_count ? a->op->results[0].type : assembly_operand_type(a, 0));
}

static bool read_operand_type(assembly_t* a, word_t word) {
  uint32_t i = assembly_word_number(word);
  const ir_type_t* type = ir_parse_type(a->p);
  if (!type) return false;
  if (i >= a->ref_types.count) return ir_parse_fail(a->p, "operand %u is missing", i);
  a->ref_types.items[i] = type;
  return true;
}
static void write_operand_type(assembly_t* a, word_t word) {
  ir_emit_type(a->pr, assembly_operand_type(a, assembly_word_number(word)));
}
static bool fits_operand_type(assembly_t* a, word_t word) { return assembly_word_number(word) < a->op->operand_count; }

static bool read_result_type(assembly_t* a, word_t word) {
  const ir_type_t* type = ir_parse_type(a->p);
  if (!type) return false;
  ir_draft_result(a->p, &a->draft, type);
  a->results_given = true;
  return true;
}
static void write_result_type(assembly_t* a, word_t word) {
  ir_emit_type(a->pr, assembly_result_type(a, assembly_word_number(word)));
}
static bool fits_result_type(assembly_t* a, word_t word) { return assembly_word_number(word) < a->op->result_count; }

static bool read_result_types(assembly_t* a, word_t word) {
  a->results_given = true;
  return ir_parse_types(a->p, &a->draft.results);
}
static void write_result_types(assembly_t* a, word_t word) { ir_emit_result_types(a->pr, a->op); }
static bool fits_result_types(assembly_t* a, word_t word) { return a->op->result_count > 0; }

static bool set_operand_types(assembly_t* a, const ir_type_list_t* types, uint32_t first, uint32_t count) {
  if (types->count != count) {
    return ir_parse_fail(a->p, "number of operands and types do not match: got %u operands and %u types", count,
                         types->count);
  }
  for (uint32_t i = 0; i < count; ++i) a->ref_types.items[first + i] = types->items[i];
  return true;
}
static bool read_star_types(assembly_t* a, word_t word) {
  ir_type_list_t types = {0};
  return ir_parse_types(a->p, &types) && set_operand_types(a, &types, a->star, a->star_count);
}
static void write_star_types(assembly_t* a, word_t word) {
  ir_emit_operand_types(a->pr, a->op, a->star, a->star_count);
}

static bool read_function(assembly_t* a, word_t word) {
  ir_type_list_t types = {0};
  a->results_given = true;
  return ir_parse_types_in_parens(a->p, &types) && ir_parse_expect(a->p, "->") &&
         ir_parse_result_types(a->p, &a->draft.results) && set_operand_types(a, &types, 0, a->refs.count);
}
static void write_function(assembly_t* a, word_t word) { ir_emit_function_type(a->pr, a->op); }

static bool read_result_or_function(assembly_t* a, word_t word) {
  return ir_parse_next(a->p) == '(' ? read_function(a, word) : read_result_type(a, (word_t){"R0", 2});
}
static void write_first_result(assembly_t* a, word_t word) { ir_emit_type(a->pr, assembly_result_type(a, 0)); }
static bool fits_first_result(assembly_t* a, word_t word) { return a->op->result_count == 1; }

static bool read_same_or_function(assembly_t* a, word_t word) {
  return ir_parse_next(a->p) == '(' ? read_function(a, word) : read_same(a, word);
}
static void write_same_or_function(assembly_t* a, word_t word) {
  if (all_same(a) && assembly_result_type(a, 0)->kind != IR_TYPE_FUNCTION) {
    write_same(a, word);
  } else {
    write_function(a, word);
  }
}
static bool fits_same_or_function(assembly_t* a, word_t word) { return a->op->result_count == 1; }

static bool read_arrow(assembly_t* a, word_t word) {
  a->results_given = true;
  return !ir_parse_try(a->p, "->") || ir_parse_result_types(a->p, &a->draft.results);
}
static void write_arrow(assembly_t* a, word_t word) { ir_emit_arrow_types(a->pr, a->op); }

static void set_select(assembly_t* a, const ir_type_t* condition, const ir_type_t* type) {
  a->ref_types.items[0] = condition;
  a->ref_types.items[1] = a->ref_types.items[2] = type;
  ir_draft_result(a->p, &a->draft, type);
  a->results_given = true;
}
static bool read_select(assembly_t* a, word_t word) {
  const ir_type_t *condition = ir_parse_type(a->p), *type = condition;
  if (!condition || a->ref_types.count < 3) return false;
  if (!ir_parse_try(a->p, ",")) {
    condition = ir_type_int(a->ctx, 1);
  } else if (!(type = ir_parse_type(a->p))) {
    return false;
  }
  set_select(a, condition, type);
  return true;
}
static bool fits_select(assembly_t* a, word_t word) {
  const ir_type_t* type = assembly_result_type(a, 0);
  return a->op->operand_count == 3 && assembly_operand_type(a, 1) == type && assembly_operand_type(a, 2) == type;
}
static void write_select(assembly_t* a, word_t word) {
  const ir_type_t* condition = assembly_operand_type(a, 0);
  if (condition != ir_type_int(a->ctx, 1)) {
    ir_emit_type(a->pr, condition);
    ir_emit(a->pr, ", ");
  }
  ir_emit_type(a->pr, assembly_result_type(a, 0));
}

static bool read_predicated(assembly_t* a, word_t word) {
  if (ir_parse_next(a->p) == '(') return read_function(a, word);
  const ir_type_t* condition = ir_parse_type(a->p);
  const ir_type_t* type = condition && ir_parse_expect(a->p, ",") ? ir_parse_type(a->p) : NULL;
  if (!type || a->ref_types.count < 3) return false;
  set_select(a, condition, type);
  return true;
}
static void write_predicated(assembly_t* a, word_t word) {
  if (!fits_select(a, word)) return write_function(a, word);
  ir_emit_type(a->pr, assembly_operand_type(a, 0));
  ir_emit(a->pr, ", ");
  ir_emit_type(a->pr, assembly_result_type(a, 0));
}

const assembly_directive_t assembly_type_directives[] = {
    {ASSEMBLY_WORD("T"), read_same, fits_same, write_same, 0},
    {ASSEMBLY_WORD("FT"), read_function, fits_always, write_function, 0},
    {ASSEMBLY_WORD("SAME"), read_same_or_function, fits_same_or_function, write_same_or_function, 0},
    {ASSEMBLY_WORD("ARROW"), read_arrow, fits_always, write_arrow, 'n'},
    {ASSEMBLY_WORD("RF"), read_result_or_function, fits_first_result, write_first_result, 0},
    {ASSEMBLY_WORD("SELECT"), read_select, fits_select, write_select, 0},
    {ASSEMBLY_WORD("PRED"), read_predicated, fits_always, write_predicated, 0},
    {ASSEMBLY_WORD("R#"), read_result_types, fits_result_types, write_result_types, 0},
    {ASSEMBLY_WORD("O#"), read_star_types, fits_always, write_star_types, 0},
    {ASSEMBLY_WORD("T*"), read_operand_type, fits_operand_type, write_operand_type, 0},
    {ASSEMBLY_WORD("R*"), read_result_type, fits_result_type, write_result_type, 0},
};
const size_t assembly_type_directive_count = sizeof(assembly_type_directives) / sizeof(assembly_type_directives[0]);
