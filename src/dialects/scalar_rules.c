// See scalar_rules.h. Arity is checked when this compiles: a rule with the wrong number of operands does not.
#include "dialects/scalar_rules.h"

#include <math.h>

#include "dialects/graph.h"

enum {
#define SCALAR(name, arity, ...) ARITY_##name = arity,
#include "base/scalar.def"
#undef SCALAR
};

#define PATTERN(...) (&(const scalar_pattern_t){__VA_ARGS__})
#define X PATTERN(SCALAR_PATTERN_ANY, 0, 0, {0})
#define Y PATTERN(SCALAR_PATTERN_ANY, 1, 0, {0})
#define Z PATTERN(SCALAR_PATTERN_ANY, 2, 0, {0})
#define K(n) PATTERN(SCALAR_PATTERN_NUMBER, 0, n, {0})
#define CHECKED(fn, n) (SCALAR_##fn + 0 * (int)sizeof(char[ARITY_##fn == (n) ? 1 : -1]))
#define P1(fn, p) PATTERN(SCALAR_PATTERN_FN, CHECKED(fn, 1), 0, {p})
#define P2(fn, p, q) PATTERN(SCALAR_PATTERN_FN, CHECKED(fn, 2), 0, {p, q})
#define P3(fn, p, q, r) PATTERN(SCALAR_PATTERN_FN, CHECKED(fn, 3), 0, {p, q, r})

const scalar_rule_t scalar_rules[] = {
#define RULE(name, types, match, replacement) {#name, SCALAR_TYPES_##types, 0, match, replacement},
#define RULE_WITHIN(name, ulps, match, replacement) {#name, SCALAR_TYPES_F, ulps, match, replacement},
#include "dialects/scalar_rules.def"
#undef RULE_WITHIN
#undef RULE
};
const uint32_t scalar_rule_count = sizeof(scalar_rules) / sizeof(scalar_rules[0]);

//===----------------------------------------------------------------------------------------------------------------===
// Matching
//===----------------------------------------------------------------------------------------------------------------===

typedef struct match_t {
  ir_value_t* variables[SCALAR_PATTERN_VARIABLES];
  uint8_t types;
} match_t;

static bool is_number(const ir_value_t* value, double number) {
  while (value->def && ir_is(value->def, GRAPH_BROADCAST)) value = ir_operand(value->def, 0);  // to a run-time size
  if (!value->def || !ir_is(value->def, GRAPH_CONSTANT)) return false;
  const ir_attr_t* attr = ir_op_attr(value->def, "value");
  if (!attr || attr->kind != IR_ATTR_ELEMENTS || (!attr->splat && ir_type_count(attr->type) != 1)) return false;
  const ir_type_t* scalar = ir_type_scalar(attr->type);
  if (scalar->kind == IR_TYPE_FLOAT) {
    double have = ir_attr_element_number(attr, 0);
    return have == number && signbit(have) == signbit(number);
  }
  if (scalar->kind != IR_TYPE_INTEGER && scalar->kind != IR_TYPE_INDEX) return false;
  bool is_bool = scalar->kind == IR_TYPE_INTEGER && scalar->width == 1;
  int64_t have = ir_attr_element_integer(attr, 0);
  if (is_bool) return (have & 1) == ((int64_t)number & 1) && (number == 0 || number == -1);
  return have == (int64_t)number;
}

static bool fits_types(const ir_type_t* type, uint8_t types) {
  const ir_type_t* scalar = ir_type_scalar(type);
  if (scalar->kind == IR_TYPE_FLOAT) return types & SCALAR_TYPES_F;
  return (scalar->kind == IR_TYPE_INTEGER || scalar->kind == IR_TYPE_INDEX) && (types & SCALAR_TYPES_I);
}

static bool match_value(match_t* m, const scalar_pattern_t* pattern, ir_value_t* value);

static bool match_operands(match_t* m, const scalar_pattern_t* pattern, ir_op_t* op, bool swapped) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    uint32_t k = swapped && i < 2 ? 1 - i : i;
    if (!match_value(m, pattern->operands[k], ir_operand(op, i))) return false;
  }
  return true;
}

static bool match_op(match_t* m, const scalar_pattern_t* pattern, ir_op_t* op) {
  if (!op || ir_op_dialect(op) != IR_DIALECT_GRAPH || graph_scalar_fn(op) != pattern->index) return false;
  const scalar_info_t* info = &scalar_info[pattern->index];
  if (op->operand_count != info->arity) return false;
  match_t saved = *m;
  if (match_operands(m, pattern, op, false)) return true;
  *m = saved;
  if (info->commutative && match_operands(m, pattern, op, true)) return true;
  *m = saved;
  return false;
}

static bool match_value(match_t* m, const scalar_pattern_t* pattern, ir_value_t* value) {
  if (pattern->kind == SCALAR_PATTERN_NUMBER) return is_number(value, pattern->number);
  if (pattern->kind == SCALAR_PATTERN_FN) return match_op(m, pattern, value->def);
  ir_value_t** variable = &m->variables[pattern->index];
  if (*variable) return *variable == value;
  *variable = value;
  return fits_types(value->type, m->types);
}

//===----------------------------------------------------------------------------------------------------------------===
// Building
//===----------------------------------------------------------------------------------------------------------------===

// `like` gives constants their type: the op that is replaced, or the operand beside them.
static ir_value_t* build(ir_builder_t* b, const match_t* m, const scalar_pattern_t* pattern, ir_value_t* like) {
  if (pattern->kind == SCALAR_PATTERN_ANY) return m->variables[pattern->index];
  if (pattern->kind == SCALAR_PATTERN_NUMBER) return graph_splat_like(b, like, pattern->number);
  const scalar_info_t* info = &scalar_info[pattern->index];
  ir_value_t* operands[3] = {0};
  for (int i = 0; i < info->arity; ++i) {
    if (pattern->operands[i]->kind != SCALAR_PATTERN_NUMBER) operands[i] = build(b, m, pattern->operands[i], like);
  }
  for (int i = 0; i < info->arity; ++i) {
    ir_value_t* beside = operands[2] ? operands[2] : operands[1] ? operands[1] : operands[0];  // operand 0 may be an i1
    if (!operands[i]) operands[i] = build(b, m, pattern->operands[i], beside);
  }
  scalar_fn_t fn = (scalar_fn_t)pattern->index;
  if (info->arity == 1) return graph_unary(b, fn, operands[0]);
  if (info->arity == 2) return graph_binary(b, fn, operands[0], operands[1]);
  return graph_select(b, operands[0], operands[1], operands[2]);
}

ir_value_t* scalar_rules_rewrite(ir_builder_t* b, ir_op_t* op) {
  if (ir_op_dialect(op) != IR_DIALECT_GRAPH || graph_scalar_fn(op) < 0 || op->result_count != 1) return NULL;
  const ir_type_t* type = op->results[0].type;
  if (type->kind != IR_TYPE_TENSOR) return NULL;
  for (uint32_t i = 0; i < scalar_rule_count; ++i) {
    match_t m = {.types = scalar_rules[i].types};
    if (!match_op(&m, scalar_rules[i].match, op)) continue;
    if (scalar_rules[i].replacement->kind == SCALAR_PATTERN_ANY &&
        m.variables[scalar_rules[i].replacement->index]->type != type) {
      continue;  // less static than the result
    }
    // A constant of unknown size would have to ask this very op for its size.
    if (scalar_rules[i].replacement->kind == SCALAR_PATTERN_NUMBER && !ir_type_is_static(type)) continue;
    ir_value_t* value = build(b, &m, scalar_rules[i].replacement, ir_result(op, 0));
    if (value->type == type) return value;
  }
  return NULL;
}
