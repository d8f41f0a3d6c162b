// Exponentials: exp(x) = 2^n exp(r) with n the nearest integer of x / ln 2 and |r| at most ln(2) / 2.
#include "target/llvm/math.h"

// Leaves NaN as it is.
static LLVMValueRef clamp(emit_t* e, LLVMValueRef x, double low, double high) {
  if (e->features.quick_minimum && build_bits(LLVMTypeOf(x)) == 32) {
    LLVMValueRef above = build_intrinsic2(e, "llvm.maximum", x, build_float(x, low));
    return build_intrinsic2(e, "llvm.minimum", above, build_float(x, high));
  }
  return build_min(e, build_float(x, high), build_max(e, build_float(x, low), x));
}

// r and n of a clamped x; n as integer too.
static LLVMValueRef reduce(emit_t* e, LLVMValueRef x, LLVMValueRef* n, LLVMValueRef* whole) {
  *n = math_nearest(e, build_fmul(e, x, build_float(x, 0x1.71547652b82fep+0)), whole);
  LLVMValueRef minus = build_fneg(e, *n);
  LLVMValueRef r = build_mad(e, minus, math_number(x, MATH_LN2_HIGH_F32, MATH_LN2_HIGH_F64), x);
  return build_mad(e, minus, math_number(x, MATH_LN2_LOW_F32, MATH_LN2_LOW_F64), r);
}

// exp(r) - 1
static LLVMValueRef expm1_small(emit_t* e, LLVMValueRef r) {
  return build_mad(e, build_fmul(e, r, r), math_poly(e, MATH_EXP, r), r);
}

// 1 / ln 2 of f32 numbers, and what it lacks.
#define LOG2_E 0x1.715476p+0
#define LOG2_E_REST 0x1.4ae0cp-26

// x / ln 2 + y in two parts, so that no more than the last rounding is felt where the sum is small.
static LLVMValueRef times_log2_e(emit_t* e, LLVMValueRef x, LLVMValueRef y) {
  return build_mad(e, x, build_float(x, LOG2_E_REST), build_mad(e, x, build_float(x, LOG2_E), y));
}

// Whether the processor raises two to f32 numbers well enough itself.
static bool is_quick(emit_t* e, LLVMValueRef x) {
  return e->hooks->exp2 && e->hooks->median && e->features.ldexp && build_bits(LLVMTypeOf(x)) == 32;
}

// The same, by multiplications that end between 0 and 1, and that round down.
static bool is_saturating(emit_t* e, LLVMValueRef x) {
  return e->hooks->exp2 && e->hooks->fma_saturated && build_bits(LLVMTypeOf(x)) == 32;
}

// 2^n of the integer n at or below `factor` x, but from -126 to 126; n as float, too.
static LLVMValueRef power_below(emit_t* e, LLVMValueRef x, double factor, LLVMValueRef* n) {
  const double range = 252, magic = 0x1.8p23 + 127;  // its last bits are the exponent's bias
  LLVMValueRef shared[] = {x, build_float(x, factor / range), build_float(x, 0.5)},
               share = build_each(e, e->hooks->fma_saturated, shared, 3);
  LLVMValueRef summed[] = {share, build_float(x, range), build_float(x, magic - range / 2)},
               sum = build_each(e, e->hooks->fma_down, summed, 3);
  *n = build_fsub(e, sum, build_float(x, magic));
  LLVMValueRef bits = build_bits_of(e, sum);
  return build_from_bits(e, build_shl(e, bits, build_int(bits, 23)), LLVMTypeOf(x));
}

static LLVMValueRef saturating_exp(emit_t* e, LLVMValueRef x, int bias) {
  LLVMValueRef n, power = power_below(e, x, LOG2_E, &n), rest = times_log2_e(e, x, build_fneg(e, n));
  if (bias) rest = build_fadd(e, rest, build_float(x, bias));
  return build_fmul(e, build_each(e, e->hooks->exp2, &rest, 1), power);
}

// 2^(whole + rest) of the number nearest to `power`, which is one also where x is NaN, and what x leaves behind: that
// is where an infinity, NaN, or what goes beyond the numbers' range comes through.
typedef struct power_t {
  LLVMValueRef power, nearest;
} power_t;
static power_t split_power(emit_t* e, LLVMValueRef x, double low, double high, double scale) {
  LLVMValueRef args[] = {x, build_float(x, low), build_float(x, high)},
               power = build_each(e, e->hooks->median, args, 3);
  if (scale != 1) power = build_fmul(e, power, build_float(x, scale));
  return (power_t){power, build_round(e, BUILD_NEAREST_EVEN, power)};
}

static LLVMValueRef join_power(emit_t* e, const power_t* p, LLVMValueRef rest, int bias) {
  LLVMTypeRef i32 = build_int_type(e, LLVMTypeOf(rest), 32), types[2] = {LLVMTypeOf(rest), i32};
  LLVMValueRef whole = LLVMBuildFPToSI(e->builder, p->nearest, i32, "");
  if (bias) whole = build_add(e, whole, build_int(whole, bias));
  return build_intrinsic(e, "llvm.ldexp", types, 2, (LLVMValueRef[]){build_each(e, e->hooks->exp2, &rest, 1), whole},
                         2);
}

static LLVMValueRef quick_exp(emit_t* e, LLVMValueRef x, int bias) {
  power_t p = split_power(e, x, -105, 90, LOG2_E);
  LLVMValueRef missing = times_log2_e(e, x, build_fneg(e, p.power));
  return join_power(e, &p, build_fadd(e, build_fsub(e, p.power, p.nearest), missing), bias);
}

LLVMValueRef math_exp_scaled(emit_t* e, LLVMValueRef x, int bias) {
  if (is_quick(e, x)) return quick_exp(e, x, bias);
  if (is_saturating(e, x)) return saturating_exp(e, x, bias);
  LLVMValueRef n, whole, clamped = clamp(e, x, math_pick(x, -105, -746), math_pick(x, 90, 711));
  LLVMValueRef r = reduce(e, clamped, &n, &whole);
  LLVMValueRef p = build_fadd(e, expm1_small(e, r), build_float(x, 1));
  if (bias) n = build_fadd(e, n, build_float(x, bias));
  return math_scale(e, p, n, bias ? NULL : whole);
}

LLVMValueRef emit_float_exp(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  return math_exp_scaled(e, a, 0);
}

LLVMValueRef emit_float_exp2(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  if (is_quick(e, a)) {
    power_t p = split_power(e, a, -152, 130, 1);
    return join_power(e, &p, build_fsub(e, a, p.nearest), 0);
  }
  if (is_saturating(e, a)) {
    LLVMValueRef n, power = power_below(e, a, 1, &n), rest = build_fsub(e, a, n);
    return build_fmul(e, build_each(e, e->hooks->exp2, &rest, 1), power);
  }
  LLVMValueRef x = clamp(e, a, math_pick(a, -152, -1077), math_pick(a, 130, 1026));
  LLVMValueRef whole, n = math_nearest(e, x, &whole);
  LLVMValueRef r = build_fsub(e, x, n);
  return math_scale(e, build_mad(e, r, math_poly(e, MATH_EXP2, r), build_float(a, 1)), n, whole);
}

// 2^n (exp(r) - 1) + (2^n - 1), computed at half size so that 2^n does not overflow before the result does.
LLVMValueRef emit_float_expm1(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef n, whole, x = clamp(e, a, math_pick(a, -30, -60), math_pick(a, 88.9, 710));
  LLVMValueRef r = reduce(e, x, &n, &whole);
  LLVMValueRef half = math_power_of_two(e, build_sub(e, whole, build_int(whole, 1)), LLVMTypeOf(a));
  LLVMValueRef sum = build_mad(e, half, expm1_small(e, r), build_fsub(e, half, build_float(a, 0.5)));
  return build_copysign(e, build_fadd(e, sum, sum), a);
}

// -t / (t + 2) with t = expm1(-2 |x|): exact where x is small.
LLVMValueRef emit_float_tanh(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef y = build_fabs(e, a), twice = build_fmul(e, y, build_float(a, -2));
  LLVMValueRef t = emit_float_expm1(e, twice, NULL, NULL);
  LLVMValueRef q = build_fdiv(e, t, build_fadd(e, t, build_float(a, 2)));
  return build_copysign(e, q, a);
}

// The numerator is what keeps the left tail: exp(x) / (1 + exp(x)).
LLVMValueRef emit_float_logistic(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef t = math_exp_scaled(e, build_fneg(e, build_fabs(e, a)), 0), one = build_float(a, 1);
  LLVMValueRef negative = build_fcmp(e, LLVMRealOLT, a, build_float(a, 0));
  return build_fdiv(e, build_select(e, negative, t, one), build_fadd(e, t, one));
}

// Small: through expm1. Large: exp(x) / 2 less its reciprocal quarter.
LLVMValueRef emit_float_sinh(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef y = build_fabs(e, a), one = build_float(a, 1), half = build_float(a, 0.5);
  LLVMValueRef t = emit_float_expm1(e, y, NULL, NULL);
  LLVMValueRef halved = build_fmul(e, half, t);
  LLVMValueRef small = build_fadd(e, halved, build_fdiv(e, halved, build_fadd(e, t, one)));
  LLVMValueRef large = math_exp_scaled(e, y, -1);
  large = build_fsub(e, large, build_fdiv(e, build_float(a, 0.25), large));
  return build_copysign(e, build_select(e, build_fcmp(e, LLVMRealOLT, y, one), small, large), a);
}

LLVMValueRef emit_float_cosh(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef half = math_exp_scaled(e, build_fabs(e, a), -1);
  return build_fadd(e, half, build_fdiv(e, build_float(a, 0.25), half));
}
