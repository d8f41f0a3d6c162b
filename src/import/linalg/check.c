// The check dialect: what a program expects of its own values becomes calls of the module `check`, which reports what
// differs (src/modules/check). Where that module is not, nothing is expected.
#include "dialects/check.h"

#include <string.h>

#include "import/lowering.h"

//===----------------------------------------------------------------------------------------------------------------===
// Calls
//===----------------------------------------------------------------------------------------------------------------===

// What the module sees: signs as they are written, elements below a byte as bytes or f32.
static const ir_type_t* shown_type(lower_op_t* n, const ir_type_t* written, const ir_type_t* lowered) {
  if (!ir_type_is_tensor(lowered)) return lowered;
  bool same = written->kind == IR_TYPE_TENSOR && lower_type(n->ctx, written) &&
              lower_type(n->ctx, written)->element == lowered->element;
  const ir_type_t* element = same && written->element->kind != IR_TYPE_OPAQUE ? written->element : lowered->element;
  return ir_type_tensor(n->ctx, element, lowered->rank, lowered->dims);
}

static ir_value_t* widen(lower_op_t* n, ir_value_t* x) {
  const ir_type_t* element = x->type->element;
  if (!ir_type_is_tensor(x->type) || !ir_type_is_packed(element)) return x;
  const ir_type_t* wide = element->kind == IR_TYPE_FLOAT ? ir_type_float(n->ctx, IR_F32) : ir_type_int(n->ctx, 8);
  return graph_cast(n->b, x, wide, false);
}

static bool call_check(lower_op_t* n, const char* name, ir_value_t* const* values, uint32_t count) {
  enum { MAX_VALUES = 4 };
  ir_value_t* operands[MAX_VALUES];
  const ir_type_t* types[MAX_VALUES];
  bool tensors = ir_type_is_tensor(values[0]->type);
  for (uint32_t i = 0; i < count; ++i) {
    operands[i] = widen(n, values[i]);
    types[i] = shown_type(n, lower_in_type(n, 0), operands[i]->type);
  }
  const ir_type_t* type = ir_type_function(n->ctx, types, count, NULL, 0);
  ir_named_attr_t attrs[] = {{"callee", ir_attr_symbol(n->ctx, name)},
                             {"type", ir_attr_type(n->ctx, type)},
                             {"optional", ir_attr_unit(n->ctx)},
                             {"device", ir_attr_unit(n->ctx)}};
  ir_build(n->b, &(ir_op_state_t){.info = ir_context_op(n->ctx, GRAPH_CALL_IMPORT),
                                  .operands = operands,
                                  .operand_count = count,
                                  .attrs = attrs,
                                  .attr_count = tensors ? 4 : 3});
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Comparisons
//===----------------------------------------------------------------------------------------------------------------===

// What is expected: operand 1 or attribute `value`, with the shape of operand 0; complex values have two parts.
typedef struct sides_t {
  ir_value_t *x[2], *y[2];
  int parts;
} sides_t;

static bool expected(lower_op_t* n, sides_t* out) {
  lower_value_t x = n->values[0], y = {0};
  bool operand = n->op->operand_count == 2;
  if (operand) y = n->values[1];
  if (!operand && !lower_constant(n, ir_op_attr(n->op, "value"), &y)) return false;
  if (!x.v || !y.v || !x.im != !y.im) return lower_unsupported(n, "two tensors of one element type are");
  *out = (sides_t){.x = {lower_as_tensor(n->b, x.v)}, .y = {lower_as_tensor(n->b, y.v)}, .parts = x.im ? 2 : 1};
  if (x.im) out->x[1] = lower_as_tensor(n->b, x.im), out->y[1] = lower_as_tensor(n->b, y.im);
  const ir_type_t *found = out->x[0]->type, *wanted = out->y[0]->type;
  if (wanted->element == found->element && lower_fits(wanted, found)) return true;
  return lower_error(n, "compares %s with %s", ir_type_str(n->ctx, found), ir_type_str(n->ctx, wanted));
}

static bool check_equal(lower_op_t* n) {
  sides_t s;
  if (!expected(n, &s)) return false;
  for (int i = 0; i < s.parts; ++i) call_check(n, "check.expect_eq", (ir_value_t*[]){s.x[i], s.y[i]}, 2);
  return true;
}

static ir_value_t* tolerance(lower_op_t* n, const char* name, double absent) {
  const ir_attr_t* attr = ir_op_attr(n->op, name);
  const ir_type_t* f32 = ir_type_float(n->ctx, IR_F32);
  double number = attr && attr->kind == IR_ATTR_FLOAT ? attr->number : absent;
  ir_named_attr_t value = {"value", ir_attr_float(n->ctx, f32, number)};
  return graph_build(n->b, GRAPH_CONSTANT, NULL, 0, f32, &value, 1);
}

static bool check_almost_equal(lower_op_t* n) {
  sides_t s;
  if (!expected(n, &s)) return false;
  if (!lower_is_float(s.x[0]->type)) return check_equal(n);
  const char* absolute = ir_op_attr(n->op, "atol") ? "atol" : "tolerance";
  for (int i = 0; i < s.parts; ++i) {
    ir_value_t* values[] = {s.x[i], s.y[i], tolerance(n, absolute, 1e-4), tolerance(n, "rtol", 0)};
    call_check(n, "check.expect_almost_eq", values, 4);
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// StableHLO's comparison by the number of floats in between
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* both_nan(lower_op_t* n, ir_value_t* x, ir_value_t* y) {
  return graph_binary(n->b, SCALAR_and, graph_unary(n->b, SCALAR_is_nan, x), graph_unary(n->b, SCALAR_is_nan, y));
}

// The number of floats from zero to x, negative below zero.
static ir_value_t* steps_from_zero(lower_op_t* n, ir_value_t* x) {
  uint32_t width = 8 * ir_type_bytes(x->type->element);
  ir_value_t* bits = graph_bitcast(n->b, x, ir_type_int(n->ctx, width));
  ir_value_t* zero = lower_number_like(n, bits, 0);
  ir_value_t* magnitude = graph_bitcast(n->b, graph_unary(n->b, SCALAR_abs, x), bits->type->element);
  ir_value_t* below = graph_binary(n->b, SCALAR_lt, bits, zero);
  return graph_select(n->b, below, graph_binary(n->b, SCALAR_sub, zero, magnitude), magnitude);
}

static int64_t steps_limit(lower_op_t* n, const char* name, int64_t absent) {
  int64_t limit = ir_op_int(n->op, name, absent);
  return limit < 0 ? INT64_MAX : limit;
}

// As many floats between x and y as are allowed; what is not finite must be the same.
static ir_value_t* is_close(lower_op_t* n, ir_value_t* x, ir_value_t* y) {
  const ir_type_t* i64 = ir_type_int(n->ctx, 64);
  ir_value_t *a = steps_from_zero(n, x), *b = steps_from_zero(n, y);
  ir_value_t* more = graph_binary(n->b, SCALAR_gt, a, b);
  ir_value_t *down = graph_binary(n->b, SCALAR_sub, a, b), *up = graph_binary(n->b, SCALAR_sub, b, a);
  ir_value_t* steps = graph_cast(n->b, graph_select(n->b, more, down, up), i64, true);
  const ir_type_t* number = ir_type_tensor(n->ctx, i64, 0, NULL);
  int64_t limits[2] = {steps_limit(n, "max_ulp_difference", 3), steps_limit(n, "min_ulp_difference", 0)};
  ir_value_t* most = lower_splat(n->b, graph_splat_integer(n->b, number, limits[0]), steps);
  ir_value_t* least = lower_splat(n->b, graph_splat_integer(n->b, number, limits[1]), steps);
  ir_value_t* near = graph_binary(n->b, SCALAR_leu, steps, most);
  near = graph_binary(n->b, SCALAR_and, near, graph_binary(n->b, SCALAR_geu, steps, least));
  ir_value_t *fx = graph_unary(n->b, SCALAR_is_finite, x), *fy = graph_unary(n->b, SCALAR_is_finite, y);
  near = graph_binary(n->b, SCALAR_and, near, graph_binary(n->b, SCALAR_and, fx, fy));
  ir_value_t* same = graph_binary(n->b, SCALAR_eq, x, y);
  ir_value_t* other = graph_binary(n->b, SCALAR_and, same, graph_unary(n->b, SCALAR_not, fx));
  return graph_binary(n->b, SCALAR_or, near, graph_binary(n->b, SCALAR_or, other, both_nan(n, x, y)));
}

static bool check_close(lower_op_t* n) {
  sides_t s;
  if (!n->values[0].v || !lower_is_float(n->values[0].v->type)) return lower_unsupported(n, "floats are");
  if (!expected(n, &s)) return false;
  ir_value_t* flags = is_close(n, s.x[0], s.y[0]);
  if (s.parts == 2) flags = graph_binary(n->b, SCALAR_and, flags, is_close(n, s.x[1], s.y[1]));
  return call_check(n, "check.expect_all_true", &flags, 1);
}

//===----------------------------------------------------------------------------------------------------------------===
// Truth
//===----------------------------------------------------------------------------------------------------------------===

static bool check_flags(lower_op_t* n, bool wanted) {
  ir_value_t* x = n->values[0].v;
  if (!x || n->values[0].im) return lower_unsupported(n, "booleans, integers and floats are");
  if (!ir_type_is_tensor(x->type)) {
    if (x->type->kind != IR_TYPE_INTEGER || x->type->width > 32) return lower_unsupported(n, "integers up to i32 are");
    return call_check(n, wanted ? "check.expect_true" : "check.expect_false", &x, 1);
  }
  if (!wanted) x = graph_binary(n->b, SCALAR_eq, x, lower_number_like(n, x, 0));
  return call_check(n, "check.expect_all_true", &x, 1);
}
static bool check_true(lower_op_t* n) { return check_flags(n, true); }
static bool check_false(lower_op_t* n) { return check_flags(n, false); }

#define AT(ENUM, handler) \
  [CHECK_##ENUM - IR_CODE(IR_DIALECT_CHECK, 0)] = {.fn = check_##handler, .flags = LOWER_ANY_VALUE}
static const lower_row_t rows[] = {
    AT(EXPECT_TRUE, true),
    AT(EXPECT_FALSE, false),
    AT(EXPECT_ALL_TRUE, true),
    AT(EXPECT_EQ, equal),
    AT(EXPECT_EQ_CONST, equal),
    AT(EXPECT_ALMOST_EQ, almost_equal),
    AT(EXPECT_ALMOST_EQ_CONST, almost_equal),
    AT(EXPECT_CLOSE, close),
};
const lower_table_t lower_check_table = {IR_DIALECT_CHECK, rows, sizeof(rows) / sizeof(rows[0])};
