// The check dialect: what a program expects of its own values becomes graph.assert over all elements.
#include "dialects/check.h"

#include <string.h>

#include "import/lowering.h"

static bool assert_all(lower_op_t* n, ir_value_t* flags) {
  text_t text = {0};
  text_printf(&text, "%s failed", n->op->name);
  graph_assert(n->b, lower_as_tensor(n->b, flags), text.data);
  text_finish(&text);
  return true;
}

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

// Every part as `fits` says of it.
static bool check_sides(lower_op_t* n, ir_value_t* (*fits)(lower_op_t* n, ir_value_t* x, ir_value_t* y)) {
  sides_t s;
  if (!expected(n, &s)) return false;
  ir_value_t* flags = fits(n, s.x[0], s.y[0]);
  if (s.parts == 2) flags = graph_binary(n->b, SCALAR_and, flags, fits(n, s.x[1], s.y[1]));
  return assert_all(n, flags);
}

static ir_value_t* both_nan(lower_op_t* n, ir_value_t* x, ir_value_t* y) {
  return graph_binary(n->b, SCALAR_and, graph_unary(n->b, SCALAR_is_nan, x), graph_unary(n->b, SCALAR_is_nan, y));
}

static ir_value_t* is_equal(lower_op_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_eq, x, y); }
static bool check_equal(lower_op_t* n) { return check_sides(n, is_equal); }

static double tolerance(lower_op_t* n, const char* name, double absent) {
  const ir_attr_t* attr = ir_op_attr(n->op, name);
  return attr && attr->kind == IR_ATTR_FLOAT ? attr->number : absent;
}

// |x - y| <= atol + rtol |y|, or equal (infinities), or both NaN.
static ir_value_t* is_almost_equal(lower_op_t* n, ir_value_t* x, ir_value_t* y) {
  if (!lower_is_float(x->type)) return is_equal(n, x, y);
  const ir_type_t* f64 = ir_type_float(n->ctx, IR_F64);
  x = graph_cast(n->b, x, f64, false);
  y = graph_cast(n->b, y, f64, false);
  ir_value_t* distance = graph_unary(n->b, SCALAR_abs, graph_binary(n->b, SCALAR_sub, x, y));
  double absolute = tolerance(n, "atol", tolerance(n, "tolerance", 1e-4));
  ir_value_t* limit = lower_with_number(n, SCALAR_mul, graph_unary(n->b, SCALAR_abs, y), tolerance(n, "rtol", 0));
  ir_value_t* close = graph_binary(n->b, SCALAR_le, distance, lower_with_number(n, SCALAR_add, limit, absolute));
  close = graph_binary(n->b, SCALAR_or, close, is_equal(n, x, y));
  return graph_binary(n->b, SCALAR_or, close, both_nan(n, x, y));
}
static bool check_almost_equal(lower_op_t* n) { return check_sides(n, is_almost_equal); }

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
  ir_value_t* other = graph_binary(n->b, SCALAR_and, is_equal(n, x, y), graph_unary(n->b, SCALAR_not, fx));
  return graph_binary(n->b, SCALAR_or, near, graph_binary(n->b, SCALAR_or, other, both_nan(n, x, y)));
}

static bool check_close(lower_op_t* n) {
  if (!n->values[0].v || !lower_is_float(n->values[0].v->type)) return lower_unsupported(n, "floats are");
  return check_sides(n, is_close);
}

static bool check_flags(lower_op_t* n, bool wanted) {
  if (!n->values[0].v || n->values[0].im) return lower_unsupported(n, "booleans are");
  ir_value_t* x = lower_as_tensor(n->b, n->in[0]);
  if (!lower_is_bool(x->type)) x = graph_cast(n->b, x, ir_type_int(n->ctx, 1), false);
  return assert_all(n, wanted ? x : graph_unary(n->b, SCALAR_not, x));
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
