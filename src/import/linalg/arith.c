// Ops of arith and math that are more than a row of scalar.def, and the tables of both dialects.
#include "dialects/arith.h"

#include <math.h>

#include "dialects/math.h"
#include "import/linalg/ops.h"

static bool arith_lower_constant(lower_op_t* n) { return lower_constant(n, ir_op_attr(n->op, "value"), &n->out[0]); }

static ir_value_t* binary(lower_op_t* n, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  return graph_binary(n->b, fn, x, y);
}

static ir_value_t* negation(lower_op_t* n, ir_value_t* x) { return graph_unary(n->b, SCALAR_not, x); }

//===----------------------------------------------------------------------------------------------------------------===
// Division
//===----------------------------------------------------------------------------------------------------------------===

static bool operands(lower_op_t* n, ir_value_t** x, ir_value_t** y) {
  ir_value_t* values[2] = {n->in[0], n->in[1]};
  if (!lower_unify(n, values, 2)) return false;
  const ir_type_t *xt = ir_type_scalar(values[0]->type), *yt = ir_type_scalar(values[1]->type);
  if (xt != yt) return lower_error(n, "has operands of different element types");
  *x = values[0], *y = values[1];
  return true;
}

// x / y, and one step further where there is a remainder whose sign, against y's, says so.
ir_value_t* arith_rounded_division(lower_op_t* n, ir_value_t* x, ir_value_t* y, bool up) {
  ir_value_t *quotient = binary(n, SCALAR_div, x, y), *rest = binary(n, SCALAR_rem, x, y);
  ir_value_t* zero = lower_number_like(n, x, 0);
  ir_value_t* same = binary(n, SCALAR_ge, binary(n, SCALAR_xor, rest, y), zero);
  ir_value_t* step = binary(n, SCALAR_and, binary(n, SCALAR_ne, rest, zero), up ? same : negation(n, same));
  return graph_select(n->b, step, lower_with_number(n, up ? SCALAR_add : SCALAR_sub, quotient, 1), quotient);
}

static bool arith_lower_ceildivsi(lower_op_t* n) {
  ir_value_t *x, *y;
  return operands(n, &x, &y) && lower_return(n, arith_rounded_division(n, x, y, true));
}

static bool arith_lower_floordivsi(lower_op_t* n) {
  ir_value_t *x, *y;
  return operands(n, &x, &y) && lower_return(n, arith_rounded_division(n, x, y, false));
}

static bool arith_lower_ceildivui(lower_op_t* n) {
  ir_value_t *x, *y;
  if (!operands(n, &x, &y)) return false;
  ir_value_t *quotient = binary(n, SCALAR_divu, x, y), *rest = binary(n, SCALAR_remu, x, y);
  ir_value_t* exact = binary(n, SCALAR_eq, rest, lower_number_like(n, x, 0));
  return lower_return(n, graph_select(n->b, exact, quotient, lower_with_number(n, SCALAR_add, quotient, 1)));
}

//===----------------------------------------------------------------------------------------------------------------===
// Two results
//===----------------------------------------------------------------------------------------------------------------===

static bool arith_lower_addui_extended(lower_op_t* n) {
  ir_value_t *x, *y;
  if (!operands(n, &x, &y)) return false;
  n->out[0].v = binary(n, SCALAR_add, x, y);
  n->out[1].v = binary(n, SCALAR_ltu, n->out[0].v, x);
  return true;
}

ir_value_t* arith_high_product(lower_op_t* n, ir_value_t* x, ir_value_t* y, bool is_unsigned) {
  const ir_type_t* element = ir_type_scalar(x->type);
  uint32_t width = element->kind == IR_TYPE_INDEX ? 64 : element->width;
  if (width <= 32) {
    const ir_type_t* wide = ir_type_int(n->ctx, 2 * width);
    ir_value_t* product =
        binary(n, SCALAR_mul, graph_cast(n->b, x, wide, is_unsigned), graph_cast(n->b, y, wide, is_unsigned));
    return graph_cast(n->b, lower_with_number(n, SCALAR_shru, product, width), element, false);
  }
  // Halves: (a 2^32 + b)(c 2^32 + d).
  ir_value_t* mask = lower_number_like(n, x, 4294967295.0);
  ir_value_t *b = binary(n, SCALAR_and, x, mask), *d = binary(n, SCALAR_and, y, mask);
  ir_value_t *a = lower_with_number(n, SCALAR_shru, x, 32), *c = lower_with_number(n, SCALAR_shru, y, 32);
  ir_value_t* low = lower_with_number(n, SCALAR_shru, binary(n, SCALAR_mul, b, d), 32);
  ir_value_t* middle = binary(n, SCALAR_add, binary(n, SCALAR_mul, a, d), low);
  ir_value_t* rest = binary(n, SCALAR_add, binary(n, SCALAR_mul, b, c), binary(n, SCALAR_and, middle, mask));
  ir_value_t* high = binary(n, SCALAR_add, binary(n, SCALAR_mul, a, c), lower_with_number(n, SCALAR_shru, middle, 32));
  high = binary(n, SCALAR_add, high, lower_with_number(n, SCALAR_shru, rest, 32));
  if (is_unsigned) return high;
  ir_value_t* x_sign = binary(n, SCALAR_and, lower_with_number(n, SCALAR_shr, x, 63), y);
  ir_value_t* y_sign = binary(n, SCALAR_and, lower_with_number(n, SCALAR_shr, y, 63), x);
  return binary(n, SCALAR_sub, binary(n, SCALAR_sub, high, x_sign), y_sign);
}

static bool arith_lower_mul_extended(lower_op_t* n) {
  ir_value_t *x, *y;
  if (!operands(n, &x, &y)) return false;
  const ir_type_t* element = ir_type_scalar(x->type);
  if (element->kind == IR_TYPE_INTEGER && element->width > 32 && element->width != 64) {
    return lower_unsupported(n, "integers of up to 32 and of 64 bits are");
  }
  n->out[0].v = binary(n, SCALAR_mul, x, y);
  n->out[1].v = arith_high_product(n, x, y, ir_is(n->op, ARITH_MULUI_EXTENDED));
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Comparison
//===----------------------------------------------------------------------------------------------------------------===

static bool arith_lower_cmpi(lower_op_t* n) {
  static const scalar_fn_t fns[] = {SCALAR_eq, SCALAR_ne,  SCALAR_lt,  SCALAR_le,  SCALAR_gt,
                                    SCALAR_ge, SCALAR_ltu, SCALAR_leu, SCALAR_gtu, SCALAR_geu};
  int64_t predicate = ir_op_int(n->op, "predicate", -1);
  ir_value_t *x, *y;
  if (predicate < 0 || predicate > 9) return lower_error(n, "needs a predicate from 0 to 9");
  if (!operands(n, &x, &y)) return false;
  if (lower_is_float(x->type)) return lower_error(n, "compares integers; cmpf compares floats");
  return lower_return(n, binary(n, fns[predicate], x, y));
}

static ir_value_t* has_nan(lower_op_t* n, ir_value_t* x, ir_value_t* y) {
  return binary(n, SCALAR_or, graph_unary(n->b, SCALAR_is_nan, x), graph_unary(n->b, SCALAR_is_nan, y));
}

static ir_value_t* less_or_greater(lower_op_t* n, ir_value_t* x, ir_value_t* y) {
  return binary(n, SCALAR_or, binary(n, SCALAR_lt, x, y), binary(n, SCALAR_gt, x, y));
}

enum { FALSE_, OEQ, OGT, OGE, OLT, OLE, ONE, ORD, UEQ, UGT, UGE, ULT, ULE, UNE, UNO, TRUE_ };

// graph's comparisons are ordered but `ne`; unordered ones are the negations of their opposites.
static ir_value_t* compare_floats(lower_op_t* n, int64_t predicate, ir_value_t* x, ir_value_t* y) {
  switch (predicate) {
    case OEQ:
      return binary(n, SCALAR_eq, x, y);
    case OGT:
      return binary(n, SCALAR_gt, x, y);
    case OGE:
      return binary(n, SCALAR_ge, x, y);
    case OLT:
      return binary(n, SCALAR_lt, x, y);
    case OLE:
      return binary(n, SCALAR_le, x, y);
    case ONE:
      return less_or_greater(n, x, y);
    case ORD:
      return negation(n, has_nan(n, x, y));
    case UEQ:
      return negation(n, less_or_greater(n, x, y));
    case UGT:
      return negation(n, binary(n, SCALAR_le, x, y));
    case UGE:
      return negation(n, binary(n, SCALAR_lt, x, y));
    case ULT:
      return negation(n, binary(n, SCALAR_ge, x, y));
    case ULE:
      return negation(n, binary(n, SCALAR_gt, x, y));
    case UNE:
      return binary(n, SCALAR_ne, x, y);
    case UNO:
      return has_nan(n, x, y);
    default:
      return NULL;
  }
}

// What is smaller than the least normal number is a zero of its sign.
static bool arith_lower_flush_denormals(lower_op_t* n) {
  ir_value_t* x = n->in[0];
  const ir_type_t* element = ir_type_scalar(x->type);
  static const int least[] = {[IR_F16] = -14, [IR_BF16] = -126, [IR_F32] = -126, [IR_F64] = -1022};
  bool known = ir_type_is_float(element) && (uint32_t)element->float_kind < sizeof(least) / sizeof(least[0]) &&
               least[element->float_kind];
  if (!known) return lower_unsupported(n, "f16, bf16, f32 and f64 are");
  ir_value_t* zero = lower_binary(n, SCALAR_copysign, lower_number_like(n, x, 0), x);
  ir_value_t* size = graph_unary(n->b, SCALAR_abs, x);
  ir_value_t* small = lower_with_number(n, SCALAR_lt, size, ldexp(1, least[element->float_kind]));
  return lower_return(n, graph_select(n->b, small, zero, x));
}

static bool arith_lower_cmpf(lower_op_t* n) {
  int64_t predicate = ir_op_int(n->op, "predicate", -1);
  ir_value_t *x, *y;
  if (predicate < FALSE_ || predicate > TRUE_) return lower_error(n, "needs a predicate from 0 to 15");
  if (!operands(n, &x, &y)) return false;
  if (!lower_is_float(x->type)) return lower_error(n, "compares floats; cmpi compares integers");
  ir_value_t* result = compare_floats(n, predicate, x, y);
  if (result) return lower_return(n, result);
  ir_value_t* never = binary(n, SCALAR_and, binary(n, SCALAR_lt, x, y), binary(n, SCALAR_gt, x, y));
  return lower_return(n, predicate == TRUE_ ? negation(n, never) : never);
}

//===----------------------------------------------------------------------------------------------------------------===
// Casts. To i1 the lowest bit counts, and i1 as a signed number is -1 or 0: graph.cast has neither.
//===----------------------------------------------------------------------------------------------------------------===

static bool is_any_int(const ir_type_t* type) { return !lower_is_float(type); }

static bool cast_as(lower_op_t* n, bool is_unsigned) {
  const ir_type_t* to = lower_element(n->ctx, ir_type_scalar(lower_out_type(n, 0)));
  ir_value_t* x = n->in[0];
  if (lower_is_bool(to) && is_any_int(x->type) && !lower_is_bool(x->type)) {
    x = binary(n, SCALAR_and, x, lower_number_like(n, x, 1));
  }
  bool from_bool = lower_is_bool(x->type);
  x = graph_cast(n->b, x, to, is_unsigned && !lower_is_bool(to));
  if (from_bool && !is_unsigned && !lower_is_bool(to)) x = graph_unary(n->b, SCALAR_neg, x);
  return lower_return(n, x);
}

static bool arith_lower_signed_cast(lower_op_t* n) { return cast_as(n, false); }
static bool arith_lower_unsigned_cast(lower_op_t* n) { return cast_as(n, true); }
static bool arith_lower_float_cast(lower_op_t* n) {
  return lower_return(n, graph_cast(n->b, n->in[0], ir_type_scalar(lower_out_type(n, 0)), false));
}

// Elements times (or divided by) powers of two that are f8E8M0FNU.
static bool arith_lower_scaling(lower_op_t* n) {
  ir_value_t* values[2] = {n->in[0], n->in[1]};
  const ir_type_t* to = ir_type_scalar(lower_out_type(n, 0));
  bool extends = ir_is(n->op, ARITH_SCALING_EXTF);
  if (!lower_unify(n, values, 2)) return false;
  const ir_type_t* wide = extends ? to : ir_type_scalar(values[0]->type);
  if (!ir_type_is_float(wide)) return lower_unsupported(n, "floats are");
  ir_value_t* scale = graph_cast(n->b, values[1], wide, false);
  ir_value_t* x = graph_cast(n->b, values[0], wide, false);
  return lower_return(n, graph_cast(n->b, binary(n, extends ? SCALAR_mul : SCALAR_div, x, scale), to, false));
}

static bool arith_lower_bitcast(lower_op_t* n) {
  const ir_type_t *from = ir_type_scalar(n->in[0]->type), *to = ir_type_scalar(lower_out_type(n, 0));
  if (ir_type_bytes(from) != ir_type_bytes(to)) return lower_error(n, "needs types of one size");
  return lower_return(n, graph_bitcast(n->b, n->in[0], lower_element(n->ctx, to)));
}

//===----------------------------------------------------------------------------------------------------------------===
// math
//===----------------------------------------------------------------------------------------------------------------===

static bool arith_lower_clampf(lower_op_t* n) {
  ir_value_t* values[3] = {n->in[0], n->in[1], n->in[2]};
  if (!lower_unify(n, values, 3)) return false;
  return lower_return(n, binary(n, SCALAR_min, binary(n, SCALAR_max, values[0], values[1]), values[2]));
}

static bool arith_lower_fpowi(lower_op_t* n) {
  ir_value_t* values[2] = {n->in[0], n->in[1]};
  if (!lower_unify(n, values, 2)) return false;
  ir_value_t* exponent = graph_cast(n->b, values[1], ir_type_scalar(values[0]->type), false);
  return lower_return(n, binary(n, SCALAR_pow, values[0], exponent));
}

static double smallest_normal(ir_float_kind_t kind) {
  return kind == IR_F64 ? 0x1p-1022 : kind == IR_F16 ? 0x1p-14 : 0x1p-126;
}

static bool arith_lower_isnormal(lower_op_t* n) {
  ir_float_kind_t kind = ir_type_scalar(n->in[0]->type)->float_kind;
  if (kind != IR_F16 && kind != IR_BF16 && kind != IR_F32 && kind != IR_F64) {
    return lower_unsupported(n, "f16, bf16, f32 and f64 are");
  }
  ir_value_t* size = graph_unary(n->b, SCALAR_abs, n->in[0]);
  ir_value_t* large = lower_with_number(n, SCALAR_ge, size, smallest_normal(kind));
  return lower_return(n, binary(n, SCALAR_and, large, graph_unary(n->b, SCALAR_is_finite, size)));
}

static bool arith_lower_sincos(lower_op_t* n) {
  n->out[0].v = graph_unary(n->b, SCALAR_sin, n->in[0]);
  n->out[1].v = graph_unary(n->b, SCALAR_cos, n->in[0]);
  return true;
}

#define ARITH(ENUM, fn) \
  [ARITH_##ENUM - IR_CODE(IR_DIALECT_ARITH, 0)] = {lower_elementwise, SCALAR_##fn, SCALAR_##fn, SCALAR_##fn, 0, NULL},
#define ARITH_OP(ENUM, handler) [ARITH_##ENUM - IR_CODE(IR_DIALECT_ARITH, 0)] = {.fn = arith_lower_##handler},
#define MATH(ENUM, fn)
#define MATH_OP(ENUM, handler)
static const lower_row_t arith_rows[] = {
#include "import/linalg/arith.def"
};
#undef ARITH
#undef ARITH_OP
#undef MATH
#undef MATH_OP
#define ARITH(ENUM, fn)
#define ARITH_OP(ENUM, handler)
#define MATH(ENUM, fn) \
  [MATH_##ENUM - IR_CODE(IR_DIALECT_MATH, 0)] = {lower_elementwise, SCALAR_##fn, SCALAR_##fn, SCALAR_##fn, 0, NULL},
#define MATH_OP(ENUM, handler) [MATH_##ENUM - IR_CODE(IR_DIALECT_MATH, 0)] = {.fn = arith_lower_##handler},
static const lower_row_t math_rows[] = {
#include "import/linalg/arith.def"
};
const lower_table_t lower_arith_table = {IR_DIALECT_ARITH, arith_rows, sizeof(arith_rows) / sizeof(arith_rows[0])};
const lower_table_t lower_math_table = {IR_DIALECT_MATH, math_rows, sizeof(math_rows) / sizeof(math_rows[0])};
