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

// What is expected: operand 1 or attribute `value`, with the shape of operand 0.
static bool expected(lower_op_t* n, ir_value_t** x, ir_value_t** y) {
  lower_value_t constant = {0};
  bool operand = n->op->operand_count == 2;
  if (!operand && !lower_constant(n, ir_op_attr(n->op, "value"), &constant)) return false;
  *x = lower_as_tensor(n->b, n->in[0]);
  *y = lower_as_tensor(n->b, operand ? n->in[1] : constant.v);
  if ((*y)->type->element == (*x)->type->element && lower_fits((*y)->type, (*x)->type)) return true;
  return lower_error(n, "compares %s with %s", ir_type_str(n->ctx, (*x)->type), ir_type_str(n->ctx, (*y)->type));
}

static bool check_equal(lower_op_t* n) {
  ir_value_t *x, *y;
  return expected(n, &x, &y) && assert_all(n, graph_binary(n->b, SCALAR_eq, x, y));
}

static double tolerance(lower_op_t* n, const char* name, double absent) {
  const ir_attr_t* attr = ir_op_attr(n->op, name);
  return attr && attr->kind == IR_ATTR_FLOAT ? attr->number : absent;
}

// |x - y| <= atol + rtol |y|, or equal (infinities), or both NaN.
static bool check_close(lower_op_t* n) {
  ir_value_t *x, *y;
  if (!expected(n, &x, &y)) return false;
  if (!lower_is_float(x->type)) return assert_all(n, graph_binary(n->b, SCALAR_eq, x, y));
  const ir_type_t* f64 = ir_type_float(n->ctx, IR_F64);
  x = graph_cast(n->b, x, f64, false);
  y = graph_cast(n->b, y, f64, false);
  ir_value_t* distance = graph_unary(n->b, SCALAR_abs, graph_binary(n->b, SCALAR_sub, x, y));
  double absolute = tolerance(n, "atol", tolerance(n, "tolerance", 1e-4));
  ir_value_t* limit = lower_with_number(n, SCALAR_mul, graph_unary(n->b, SCALAR_abs, y), tolerance(n, "rtol", 0));
  ir_value_t* close = graph_binary(n->b, SCALAR_le, distance, lower_with_number(n, SCALAR_add, limit, absolute));
  ir_value_t* nan =
      graph_binary(n->b, SCALAR_and, graph_unary(n->b, SCALAR_is_nan, x), graph_unary(n->b, SCALAR_is_nan, y));
  close = graph_binary(n->b, SCALAR_or, close, graph_binary(n->b, SCALAR_eq, x, y));
  return assert_all(n, graph_binary(n->b, SCALAR_or, close, nan));
}

static ir_value_t* is_true(lower_op_t* n) {
  ir_value_t* x = lower_as_tensor(n->b, n->in[0]);
  return lower_is_bool(x->type) ? x : graph_cast(n->b, x, ir_type_int(n->ctx, 1), false);
}

static bool check_true(lower_op_t* n) { return assert_all(n, is_true(n)); }
static bool check_false(lower_op_t* n) { return assert_all(n, graph_unary(n->b, SCALAR_not, is_true(n))); }

#define AT(ENUM, handler) [CHECK_##ENUM - IR_CODE(IR_DIALECT_CHECK, 0)] = {.fn = check_##handler}
static const lower_row_t rows[] = {
    AT(EXPECT_TRUE, true),      AT(EXPECT_FALSE, false),     AT(EXPECT_ALL_TRUE, true),         AT(EXPECT_EQ, equal),
    AT(EXPECT_EQ_CONST, equal), AT(EXPECT_ALMOST_EQ, close), AT(EXPECT_ALMOST_EQ_CONST, close), AT(EXPECT_CLOSE, close),
};
const lower_table_t lower_check_table = {IR_DIALECT_CHECK, rows, sizeof(rows) / sizeof(rows[0])};
