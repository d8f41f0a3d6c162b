// The complex dialect, on numbers and in bodies that run on whole tensors: rows of StableHLO's elementwise functions.
#include "dialects/complex.h"

#include "import/stablehlo/ops.h"

// [re, im], or elements.
static bool lower_complex_constant(lower_op_t* n) {
  const ir_attr_t* value = ir_op_attr(n->op, "value");
  bool pair = value && value->kind == IR_ATTR_ARRAY && value->count == 2;
  if (!pair) return lower_constant(n, value, &n->out[0]);
  lower_value_t parts[2] = {{0}};
  for (uint32_t i = 0; i < 2; ++i) {
    if (!lower_constant(n, value->items[i], &parts[i])) return false;
  }
  n->out[0] = (lower_value_t){.v = parts[0].v, .im = parts[1].v};
  return true;
}

static bool lower_angle(lower_op_t* n) {
  lower_value_t x = n->values[0];
  if (!x.im) return lower_unsupported(n, "complex numbers are");
  return lower_return(n, graph_binary(n->b, SCALAR_atan2, x.im, x.v));
}

static bool compare(lower_op_t* n, scalar_fn_t fn, scalar_fn_t both) {
  lower_value_t x = n->values[0], y = n->values[1];
  if (!x.im || !y.im) return lower_unsupported(n, "complex numbers are");
  ir_value_t* values[4] = {x.v, y.v, x.im, y.im};
  if (!lower_unify(n, values, 4)) return false;
  ir_value_t* re = graph_binary(n->b, fn, values[0], values[1]);
  return lower_return(n, graph_binary(n->b, both, re, graph_binary(n->b, fn, values[2], values[3])));
}
static bool lower_eq(lower_op_t* n) { return compare(n, SCALAR_eq, SCALAR_and); }
static bool lower_neq(lower_op_t* n) { return compare(n, SCALAR_ne, SCALAR_or); }

#define AT(ENUM) [COMPLEX_##ENUM - IR_CODE(IR_DIALECT_COMPLEX, 0)]
#define FUNCTION(ENUM, fn) \
  AT(ENUM) = {stablehlo_lower_elementwise, SCALAR_##fn, SCALAR_##fn, SCALAR_##fn, LOWER_ANY_VALUE, NULL}
#define HANDLER(ENUM, handler) AT(ENUM) = {.fn = handler, .flags = LOWER_ANY_VALUE}
#define REFUSED(ENUM, sentence) AT(ENUM) = {.fn = lower_refused, .flags = LOWER_ANY_VALUE, .text = sentence}
static const lower_row_t rows[] = {
    REFUSED(BITCAST, "complex.re and complex.im, and arith.bitcast of each, are"),
    HANDLER(CONSTANT, lower_complex_constant),
    HANDLER(CREATE, stablehlo_lower_complex),
    HANDLER(RE, stablehlo_lower_real),
    HANDLER(IM, stablehlo_lower_imag),
    HANDLER(ANGLE, lower_angle),
    HANDLER(EQ, lower_eq),
    HANDLER(NEQ, lower_neq),
    HANDLER(CONJ, chlo_lower_conj),
    FUNCTION(ABS, abs),
    FUNCTION(ADD, add),
    FUNCTION(SUB, sub),
    FUNCTION(MUL, mul),
    FUNCTION(DIV, div),
    FUNCTION(ATAN2, atan2),
    FUNCTION(POW, pow),
    FUNCTION(COS, cos),
    FUNCTION(EXP, exp),
    FUNCTION(EXPM1, expm1),
    FUNCTION(LOG, log),
    FUNCTION(LOG1P, log1p),
    FUNCTION(NEG, neg),
    FUNCTION(RSQRT, rsqrt),
    FUNCTION(SIGN, sign),
    FUNCTION(SIN, sin),
    FUNCTION(SQRT, sqrt),
    FUNCTION(TAN, tan),
    FUNCTION(TANH, tanh),
};
const lower_table_t lower_complex_table = {IR_DIALECT_COMPLEX, rows, sizeof(rows) / sizeof(rows[0])};
