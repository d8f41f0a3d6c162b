// Complex tensors are two real ones. Elementwise functions by their definitions over both parts. Where parts are zero,
// infinite or too large for a factor, they give what C's Annex G says.
#include <math.h>

#include "dialects/stablehlo.h"
#include "import/stablehlo/ops.h"

typedef struct pair_t {
  ir_value_t *re, *im;
} pair_t;

static ir_value_t* add(lower_op_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_add, x, y); }
static ir_value_t* sub(lower_op_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_sub, x, y); }
static ir_value_t* mul(lower_op_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_mul, x, y); }
static ir_value_t* quotient(lower_op_t* n, ir_value_t* x, ir_value_t* y) {
  return graph_binary(n->b, SCALAR_div, x, y);
}
static ir_value_t* call(lower_op_t* n, scalar_fn_t fn, ir_value_t* x) { return graph_unary(n->b, fn, x); }
static ir_value_t* both(lower_op_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_and, x, y); }
static ir_value_t* is_zero(lower_op_t* n, ir_value_t* x) { return lower_with_number(n, SCALAR_eq, x, 0); }

// A product with a function of x that is 0 where x is: the zero wins over an infinite factor.
static ir_value_t* keep_zero(lower_op_t* n, ir_value_t* product, ir_value_t* x) {
  return graph_select(n->b, both(n, call(n, SCALAR_is_nan, product), is_zero(n, x)), x, product);
}

//===----------------------------------------------------------------------------------------------------------------===
// Arithmetic
//===----------------------------------------------------------------------------------------------------------------===

static pair_t complex_mul(lower_op_t* n, pair_t x, pair_t y) {
  return (pair_t){sub(n, mul(n, x.re, y.re), mul(n, x.im, y.im)), add(n, mul(n, x.re, y.im), mul(n, x.im, y.re))};
}

// Divided by the larger part first, so that squares do not overflow.
static pair_t complex_div(lower_op_t* n, pair_t x, pair_t y) {
  ir_value_t *a = call(n, SCALAR_abs, y.re), *b = call(n, SCALAR_abs, y.im);
  ir_value_t* wide = graph_binary(n->b, SCALAR_ge, a, b);
  ir_value_t* large = graph_select(n->b, wide, y.re, y.im);
  ir_value_t* small = graph_select(n->b, wide, y.im, y.re);
  ir_value_t* ratio = quotient(n, small, large);
  ir_value_t* scale = add(n, large, mul(n, small, ratio));
  ir_value_t *re_wide = add(n, x.re, mul(n, x.im, ratio)), *re_tall = add(n, mul(n, x.re, ratio), x.im);
  ir_value_t *im_wide = sub(n, x.im, mul(n, x.re, ratio)), *im_tall = sub(n, mul(n, x.im, ratio), x.re);
  pair_t q = {quotient(n, graph_select(n->b, wide, re_wide, re_tall), scale),
              quotient(n, graph_select(n->b, wide, im_wide, im_tall), scale)};
  // Where the ratio is no number: of two infinities it is +-1, of two zeros 0, with its sign, and 1 / scale is 0 or
  // infinite. On its own, so that what both parts need stays cheap enough to be computed twice, in one kernel.
  ir_value_t* lost = both(n, call(n, SCALAR_is_nan, ratio), graph_binary(n->b, SCALAR_eq, a, b));
  ir_value_t* none = is_zero(n, y.re);
  ir_value_t *zero = lower_number_like(n, y.re, 0), *unit = lower_number_like(n, y.re, 1);
  ir_value_t* edge = graph_binary(n->b, SCALAR_copysign, graph_select(n->b, none, zero, unit), mul(n, y.re, y.im));
  ir_value_t* inverse = graph_select(n->b, none, lower_number_like(n, y.re, INFINITY), zero);
  inverse = graph_binary(n->b, SCALAR_copysign, inverse, y.re);
  return (pair_t){graph_select(n->b, lost, mul(n, add(n, x.re, mul(n, x.im, edge)), inverse), q.re),
                  graph_select(n->b, lost, mul(n, sub(n, x.im, mul(n, x.re, edge)), inverse), q.im)};
}

// sqrt(re^2 + im^2) as large * sqrt(1 + (small / large)^2).
static ir_value_t* magnitude(lower_op_t* n, pair_t x) {
  ir_value_t *a = call(n, SCALAR_abs, x.re), *b = call(n, SCALAR_abs, x.im);
  ir_value_t *large = graph_binary(n->b, SCALAR_max, a, b), *small = graph_binary(n->b, SCALAR_min, a, b);
  ir_value_t* ratio = quotient(n, small, large);
  ir_value_t* root = call(n, SCALAR_sqrt, lower_with_number(n, SCALAR_add, mul(n, ratio, ratio), 1));
  ir_value_t* infinite = call(n, SCALAR_is_inf, large);
  return graph_select(n->b, graph_binary(n->b, SCALAR_or, is_zero(n, large), infinite), large, mul(n, large, root));
}

// Functions that grow like e^x are taken of an x that is nearer to zero where it is large, and multiplied by `factor`
// behind all other factors, which may bring an overflow back.
typedef struct growth_t {
  ir_value_t *x, *factor;
} growth_t;

static growth_t tame(lower_op_t* n, ir_value_t* x, bool both_sides) {
  double shift = ir_type_scalar(x->type)->float_kind == IR_F64 ? 512 : 64;  // x - shift is exact from 5/4 shift on
  ir_value_t* size = both_sides ? call(n, SCALAR_abs, x) : x;
  ir_value_t* far = lower_with_number(n, SCALAR_gt, size, 1.25 * shift);
  ir_value_t* nearer = sub(n, x, graph_binary(n->b, SCALAR_copysign, lower_number_like(n, x, shift), x));
  return (growth_t){graph_select(n->b, far, nearer, x),
                    graph_select(n->b, far, lower_number_like(n, x, exp(shift)), lower_number_like(n, x, 1))};
}

static pair_t complex_exp(lower_op_t* n, pair_t x) {
  growth_t growth = tame(n, x.re, false);
  ir_value_t* scale = call(n, SCALAR_exp, growth.x);
  ir_value_t *re = mul(n, scale, call(n, SCALAR_cos, x.im)), *im = mul(n, scale, call(n, SCALAR_sin, x.im));
  return (pair_t){mul(n, re, growth.factor), keep_zero(n, mul(n, im, growth.factor), x.im)};
}

static pair_t complex_log(lower_op_t* n, pair_t x) {
  return (pair_t){call(n, SCALAR_log, magnitude(n, x)), graph_binary(n->b, SCALAR_atan2, x.im, x.re)};
}

// sqrt((|z| + re) / 2) and im / (2 sqrt(...)), parts swapped for negative re.
static pair_t complex_sqrt(lower_op_t* n, pair_t x) {
  ir_value_t* size = magnitude(n, x);
  ir_value_t* sum = add(n, size, call(n, SCALAR_abs, x.re));
  ir_value_t* root = call(n, SCALAR_sqrt, lower_with_number(n, SCALAR_mul, sum, 0.5));
  ir_value_t* zero = lower_number_like(n, root, 0);
  ir_value_t* other = quotient(n, call(n, SCALAR_abs, x.im), lower_with_number(n, SCALAR_mul, root, 2));
  other = graph_select(n->b, graph_binary(n->b, SCALAR_eq, root, zero), zero, other);
  other = graph_select(n->b, call(n, SCALAR_is_inf, x.im), call(n, SCALAR_abs, x.im), other);
  ir_value_t* right = graph_binary(n->b, SCALAR_ge, x.re, zero);
  return (pair_t){graph_select(n->b, right, root, other),
                  graph_binary(n->b, SCALAR_copysign, graph_select(n->b, right, other, root), x.im)};
}

// sin(a + bi) = sin a cosh b + i cos a sinh b, cos(a + bi) = cos a cosh b - i sin a sinh b
static pair_t complex_sin(lower_op_t* n, pair_t x) {
  growth_t growth = tame(n, x.im, true);
  ir_value_t* re = mul(n, call(n, SCALAR_sin, x.re), call(n, SCALAR_cosh, growth.x));
  ir_value_t* im = mul(n, call(n, SCALAR_cos, x.re), call(n, SCALAR_sinh, growth.x));
  return (pair_t){keep_zero(n, mul(n, re, growth.factor), x.re), keep_zero(n, mul(n, im, growth.factor), x.im)};
}
static pair_t complex_cos(lower_op_t* n, pair_t x) {
  growth_t growth = tame(n, x.im, true);
  ir_value_t* re = mul(n, call(n, SCALAR_cos, x.re), call(n, SCALAR_cosh, growth.x));
  ir_value_t* im = mul(n, call(n, SCALAR_sin, x.re), call(n, SCALAR_sinh, growth.x));
  im = keep_zero(n, keep_zero(n, mul(n, im, growth.factor), x.re), x.im);
  return (pair_t){mul(n, re, growth.factor), call(n, SCALAR_neg, im)};
}

// (tanh a + i tan b) / (1 + i tanh a tan b), which is +-1 where a is infinite.
static pair_t complex_tanh(lower_op_t* n, pair_t x) {
  ir_value_t *a = call(n, SCALAR_tanh, x.re), *b = call(n, SCALAR_tan, x.im);
  pair_t y = complex_div(n, (pair_t){a, b}, (pair_t){lower_number_like(n, a, 1), mul(n, a, b)});
  ir_value_t* end = call(n, SCALAR_is_inf, x.re);
  ir_value_t* zero = graph_binary(n->b, SCALAR_copysign, lower_number_like(n, x.im, 0), x.im);
  return (pair_t){graph_select(n->b, end, a, y.re), keep_zero(n, graph_select(n->b, end, zero, y.im), x.im)};
}

// exp(a) cos b - 1 without the difference of near numbers: expm1(a) cos b - 2 sin(b / 2)^2, while the 1 matters.
static pair_t complex_expm1(lower_op_t* n, pair_t x) {
  ir_value_t *half = call(n, SCALAR_sin, lower_with_number(n, SCALAR_mul, x.im, 0.5)),
             *wave = call(n, SCALAR_cos, x.im);
  ir_value_t* rest = lower_with_number(n, SCALAR_mul, mul(n, half, half), 2);
  ir_value_t* near = sub(n, mul(n, call(n, SCALAR_expm1, x.re), wave), rest);
  pair_t whole = complex_exp(n, x);
  return (pair_t){graph_select(n->b, lower_with_number(n, SCALAR_gt, x.re, 64), whole.re, near), whole.im};
}

// log |1 + z| is log1p(a (2 + a) + b^2) / 2 while the squares are no matter.
static pair_t complex_log1p(lower_op_t* n, pair_t x) {
  pair_t far = complex_log(n, (pair_t){lower_with_number(n, SCALAR_add, x.re, 1), x.im});
  ir_value_t* square = add(n, mul(n, x.re, lower_with_number(n, SCALAR_add, x.re, 2)), mul(n, x.im, x.im));
  ir_value_t* near = lower_with_number(n, SCALAR_mul, call(n, SCALAR_log1p, square), 0.5);
  ir_value_t* is_near = lower_with_number(n, SCALAR_lt, call(n, SCALAR_abs, square), 0.5);
  return (pair_t){graph_select(n->b, is_near, near, far.re), far.im};
}

// The root whose angle is a third; 0 of 0.
static pair_t complex_cbrt(lower_op_t* n, pair_t x) {
  ir_value_t* size = call(n, SCALAR_cbrt, magnitude(n, x));
  ir_value_t* angle = graph_binary(n->b, SCALAR_atan2, x.im, x.re);
  angle = quotient(n, angle, lower_number_like(n, angle, 3));
  return (pair_t){mul(n, size, call(n, SCALAR_cos, angle)), mul(n, size, call(n, SCALAR_sin, angle))};
}

static pair_t one(lower_op_t* n, pair_t like) {
  return (pair_t){lower_number_like(n, like.re, 1), lower_number_like(n, like.re, 0)};
}

static pair_t plus_one(lower_op_t* n, pair_t x) { return (pair_t){lower_with_number(n, SCALAR_add, x.re, 1), x.im}; }
static pair_t complex_neg(lower_op_t* n, pair_t x) {
  return (pair_t){call(n, SCALAR_neg, x.re), call(n, SCALAR_neg, x.im)};
}

static pair_t complex_sign(lower_op_t* n, pair_t x) {
  ir_value_t* size = magnitude(n, x);
  ir_value_t *zero = lower_number_like(n, size, 0), *none = is_zero(n, size);
  return (pair_t){graph_select(n->b, none, zero, quotient(n, x.re, size)),
                  graph_select(n->b, none, zero, quotient(n, x.im, size))};
}

// x^y = exp(y log x), for real y without the products by its zero. 0 to powers of positive real part is 0, and anything
// to the power 0 is 1.
static pair_t complex_pow(lower_op_t* n, pair_t x, pair_t y) {
  ir_builder_t* b = n->b;
  pair_t log = complex_log(n, x), product = complex_mul(n, y, log);
  ir_value_t *is_real = is_zero(n, y.im), *zero = lower_number_like(n, x.re, 0);
  product.re = graph_select(b, is_real, mul(n, y.re, log.re), product.re);
  product.im = graph_select(b, is_real, keep_zero(n, mul(n, y.re, log.im), log.im), product.im);
  pair_t result = complex_exp(n, product);
  ir_value_t *from_zero = both(n, is_zero(n, x.re), is_zero(n, x.im)), *no_power = both(n, is_zero(n, y.re), is_real);
  ir_value_t *none = lower_number_like(n, x.re, NAN), *rises = lower_with_number(n, SCALAR_gt, y.re, 0);
  ir_value_t* at_zero = graph_select(b, rises, zero, none);
  ir_value_t* re =
      graph_select(b, no_power, lower_number_like(n, x.re, 1), graph_select(b, from_zero, at_zero, result.re));
  return (pair_t){re, graph_select(b, no_power, zero, graph_select(b, from_zero, at_zero, result.im))};
}

// -i log((x + i y) / sqrt(x^2 + y^2))
static pair_t complex_atan2(lower_op_t* n, pair_t y, pair_t x) {
  pair_t xx = complex_mul(n, x, x), yy = complex_mul(n, y, y);
  pair_t length = complex_sqrt(n, (pair_t){add(n, xx.re, yy.re), add(n, xx.im, yy.im)});
  pair_t sum = {sub(n, x.re, y.im), add(n, x.im, y.re)};
  pair_t angle = complex_log(n, complex_div(n, sum, length));
  return (pair_t){angle.im, call(n, SCALAR_neg, angle.re)};
}

static pair_t complex_add(lower_op_t* n, pair_t x, pair_t y) {
  return (pair_t){add(n, x.re, y.re), add(n, x.im, y.im)};
}
static pair_t complex_sub(lower_op_t* n, pair_t x, pair_t y) {
  return (pair_t){sub(n, x.re, y.re), sub(n, x.im, y.im)};
}

static pair_t complex_logistic(lower_op_t* n, pair_t x) {
  return complex_div(n, one(n, x), plus_one(n, complex_exp(n, complex_neg(n, x))));
}
static pair_t complex_rsqrt(lower_op_t* n, pair_t x) { return complex_div(n, one(n, x), complex_sqrt(n, x)); }

// The larger (or smaller) one by real parts, among equal ones by imaginary parts.
static pair_t extreme(lower_op_t* n, scalar_fn_t before, pair_t x, pair_t y) {
  ir_value_t* same = graph_binary(n->b, SCALAR_eq, x.re, y.re);
  ir_value_t* tie = graph_binary(n->b, SCALAR_and, same, graph_binary(n->b, before, x.im, y.im));
  ir_value_t* first = graph_binary(n->b, SCALAR_or, graph_binary(n->b, before, x.re, y.re), tie);
  return (pair_t){graph_select(n->b, first, x.re, y.re), graph_select(n->b, first, x.im, y.im)};
}
static pair_t complex_max(lower_op_t* n, pair_t x, pair_t y) { return extreme(n, SCALAR_gt, x, y); }
static pair_t complex_min(lower_op_t* n, pair_t x, pair_t y) { return extreme(n, SCALAR_lt, x, y); }

//===----------------------------------------------------------------------------------------------------------------===
// Hyperbolic functions, and inverse ones by Kahan's formulas: products of sqrt(1 - z) and sqrt(1 + z), whose branch
// cuts are where they belong
//===----------------------------------------------------------------------------------------------------------------===

// -i f(i z): what a hyperbolic function is to its circular one.
static pair_t turned(lower_op_t* n, pair_t (*fn)(lower_op_t* n, pair_t x), pair_t x) {
  pair_t y = fn(n, (pair_t){call(n, SCALAR_neg, x.im), x.re});
  return (pair_t){y.im, call(n, SCALAR_neg, y.re)};
}

static pair_t complex_tan(lower_op_t* n, pair_t x) { return turned(n, complex_tanh, x); }
static pair_t complex_sinh(lower_op_t* n, pair_t x) { return turned(n, complex_sin, x); }
static pair_t complex_cosh(lower_op_t* n, pair_t x) {
  return complex_cos(n, (pair_t){call(n, SCALAR_neg, x.im), x.re});
}

// sqrt(1 - z) and sqrt(1 + z)
static void roots(lower_op_t* n, pair_t x, pair_t* less, pair_t* more) {
  ir_value_t* unit = lower_number_like(n, x.re, 1);
  *less = complex_sqrt(n, (pair_t){sub(n, unit, x.re), call(n, SCALAR_neg, x.im)});
  *more = complex_sqrt(n, (pair_t){add(n, unit, x.re), x.im});
}
// Real and imaginary part of conj(x) y.
static ir_value_t* dot(lower_op_t* n, pair_t x, pair_t y) { return add(n, mul(n, x.re, y.re), mul(n, x.im, y.im)); }
static ir_value_t* cross(lower_op_t* n, pair_t x, pair_t y) { return sub(n, mul(n, x.re, y.im), mul(n, x.im, y.re)); }

static pair_t complex_asin(lower_op_t* n, pair_t x) {
  pair_t less, more;
  roots(n, x, &less, &more);
  ir_value_t* product = sub(n, mul(n, less.re, more.re), mul(n, less.im, more.im));
  return (pair_t){graph_binary(n->b, SCALAR_atan2, x.re, product), call(n, SCALAR_asinh, cross(n, less, more))};
}

static pair_t complex_acos(lower_op_t* n, pair_t x) {
  pair_t less, more;
  roots(n, x, &less, &more);
  ir_value_t* half = graph_binary(n->b, SCALAR_atan2, less.re, more.re);
  return (pair_t){add(n, half, half), call(n, SCALAR_asinh, cross(n, more, less))};
}

static pair_t complex_acosh(lower_op_t* n, pair_t x) {
  ir_value_t* unit = lower_number_like(n, x.re, 1);
  pair_t less = complex_sqrt(n, (pair_t){sub(n, x.re, unit), x.im});
  pair_t more = complex_sqrt(n, (pair_t){add(n, x.re, unit), x.im});
  ir_value_t* half = graph_binary(n->b, SCALAR_atan2, less.im, more.re);
  return (pair_t){call(n, SCALAR_asinh, dot(n, less, more)), add(n, half, half)};
}

static pair_t complex_asinh(lower_op_t* n, pair_t x) { return turned(n, complex_asin, x); }

// log1p(4 a / ((1 - a)^2 + b^2)) / 4, atan2(2 b, (1 - a) (1 + a) - b^2) / 2
static pair_t complex_atanh(lower_op_t* n, pair_t x) {
  ir_value_t *unit = lower_number_like(n, x.re, 1), *square = mul(n, x.im, x.im);
  ir_value_t *less = sub(n, unit, x.re), *more = add(n, unit, x.re);
  ir_value_t* ratio = quotient(n, lower_with_number(n, SCALAR_mul, x.re, 4), add(n, mul(n, less, less), square));
  ir_value_t* angle = graph_binary(n->b, SCALAR_atan2, add(n, x.im, x.im), sub(n, mul(n, less, more), square));
  return (pair_t){lower_with_number(n, SCALAR_mul, call(n, SCALAR_log1p, ratio), 0.25),
                  lower_with_number(n, SCALAR_mul, angle, 0.5)};
}
static pair_t complex_atan(lower_op_t* n, pair_t x) { return turned(n, complex_atanh, x); }

//===----------------------------------------------------------------------------------------------------------------===
// Ops
//===----------------------------------------------------------------------------------------------------------------===

typedef struct complex_row_t {
  scalar_fn_t fn;
  pair_t (*unary)(lower_op_t* n, pair_t x);
  pair_t (*binary)(lower_op_t* n, pair_t x, pair_t y);
} complex_row_t;

static const complex_row_t complex_rows[] = {
    {SCALAR_neg, complex_neg, NULL},     {SCALAR_exp, complex_exp, NULL},     {SCALAR_expm1, complex_expm1, NULL},
    {SCALAR_log, complex_log, NULL},     {SCALAR_log1p, complex_log1p, NULL}, {SCALAR_logistic, complex_logistic, NULL},
    {SCALAR_sqrt, complex_sqrt, NULL},   {SCALAR_rsqrt, complex_rsqrt, NULL}, {SCALAR_cbrt, complex_cbrt, NULL},
    {SCALAR_sign, complex_sign, NULL},   {SCALAR_sin, complex_sin, NULL},     {SCALAR_cos, complex_cos, NULL},
    {SCALAR_tan, complex_tan, NULL},     {SCALAR_sinh, complex_sinh, NULL},   {SCALAR_cosh, complex_cosh, NULL},
    {SCALAR_tanh, complex_tanh, NULL},   {SCALAR_asin, complex_asin, NULL},   {SCALAR_acos, complex_acos, NULL},
    {SCALAR_atan, complex_atan, NULL},   {SCALAR_asinh, complex_asinh, NULL}, {SCALAR_acosh, complex_acosh, NULL},
    {SCALAR_atanh, complex_atanh, NULL}, {SCALAR_add, NULL, complex_add},     {SCALAR_sub, NULL, complex_sub},
    {SCALAR_mul, NULL, complex_mul},     {SCALAR_div, NULL, complex_div},     {SCALAR_pow, NULL, complex_pow},
    {SCALAR_atan2, NULL, complex_atan2}, {SCALAR_max, NULL, complex_max},     {SCALAR_min, NULL, complex_min},
};

bool stablehlo_lower_complex_elementwise(lower_op_t* n) {
  lower_value_t x = n->values[0], y = n->op->operand_count > 1 ? n->values[1] : x;
  if (!x.im || !y.im) return lower_unsupported(n, "operands of one type are");
  ir_value_t* values[4] = {x.v, y.v, x.im, y.im};
  if (!lower_unify(n, values, 4)) return false;
  if (ir_type_scalar(values[0]->type) != ir_type_scalar(values[1]->type))
    return lower_error(n, "has operands of different types");
  pair_t a = {values[0], values[2]}, b = {values[1], values[3]}, result = {0};
  if (n->row->scalar == SCALAR_abs) return lower_return(n, magnitude(n, a));
  if (n->row->scalar == SCALAR_is_finite) {
    ir_value_t *re = call(n, SCALAR_is_finite, a.re), *im = call(n, SCALAR_is_finite, a.im);
    return lower_return(n, graph_binary(n->b, SCALAR_and, re, im));
  }
  for (size_t i = 0; i < sizeof(complex_rows) / sizeof(complex_rows[0]); ++i) {
    const complex_row_t* row = &complex_rows[i];
    if (row->fn != (scalar_fn_t)n->row->scalar) continue;
    result = row->unary ? row->unary(n, a) : row->binary(n, a, b);
    n->out[0] = (lower_value_t){.v = result.re, .im = result.im};
    return true;
  }
  return lower_unsupported(n, "on complex elements it has no lowering; use real and imag");
}

bool stablehlo_clamp_complex(lower_op_t* n) {
  ir_value_t* parts[6];
  for (uint32_t i = 0; i < 3; ++i) {
    if (!n->values[i].im) return lower_unsupported(n, "operands of one type are");
    parts[i] = n->values[i].v, parts[3 + i] = n->values[i].im;
  }
  if (!lower_unify(n, parts, 6)) return false;
  pair_t x = complex_max(n, (pair_t){parts[1], parts[4]}, (pair_t){parts[0], parts[3]});
  x = complex_min(n, x, (pair_t){parts[2], parts[5]});
  n->out[0] = (lower_value_t){.v = x.re, .im = x.im};
  return true;
}

bool chlo_lower_square(lower_op_t* n) {
  lower_value_t x = n->values[0];
  if (!x.v) return lower_unsupported(n, "tensors are");
  if (!x.im) return lower_return(n, mul(n, x.v, x.v));
  ir_value_t* product = mul(n, x.v, x.im);
  n->out[0] = (lower_value_t){.v = mul(n, sub(n, x.v, x.im), add(n, x.v, x.im)), .im = add(n, product, product)};
  return true;
}

bool stablehlo_lower_complex(lower_op_t* n) {
  if (!n->in[0] || !n->in[1] || n->values[0].im || n->values[1].im || !lower_is_float(n->in[0]->type)) {
    return lower_unsupported(n, "two tensors of floats are");
  }
  ir_value_t* parts[2] = {n->in[0], n->in[1]};
  if (!lower_unify(n, parts, 2)) return false;
  n->out[0] = (lower_value_t){.v = parts[0], .im = parts[1]};
  return true;
}

bool stablehlo_lower_real(lower_op_t* n) {
  return n->in[0] ? lower_return(n, n->in[0]) : lower_unsupported(n, "tensors are");
}

bool stablehlo_lower_imag(lower_op_t* n) {
  if (!n->in[0]) return lower_unsupported(n, "tensors are");
  return lower_return(n, n->values[0].im ? n->values[0].im : lower_number_like(n, n->in[0], 0));
}

bool stablehlo_map_parts(lower_op_t* n, stablehlo_map_fn_t map) {
  uint32_t count = n->op->operand_count;
  ir_value_t** parts = ARENA_ARRAY(ir_context_arena(n->ctx), ir_value_t*, count + 1);
  bool complex = count && n->values[0].im;
  for (uint32_t i = 0; i < count; ++i) {
    if (!n->in[i] || !ir_type_is_tensor(n->in[i]->type)) return lower_unsupported(n, "tensors are");
    parts[i] = n->in[i];
  }
  n->out[0].v = map(n, parts);
  if (!n->out[0].v || !complex) return n->out[0].v != NULL;
  for (uint32_t i = 0; i < count; ++i) parts[i] = n->values[i].im ? n->values[i].im : n->in[i];
  n->out[0].im = map(n, parts);
  return n->out[0].im != NULL;
}
