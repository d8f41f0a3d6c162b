// Powers and cube roots.
#include "target/llvm/math.h"

// A number as the unevaluated sum of two.
typedef struct pair_t {
  LLVMValueRef high, low;
} pair_t;

static LLVMValueRef minus(emit_t* e, LLVMValueRef x) { return build_fneg(e, x); }

static pair_t product(emit_t* e, pair_t a, pair_t b) {
  LLVMValueRef p = build_fmul(e, a.high, b.high);
  LLVMValueRef error = build_fma(e, a.high, b.high, minus(e, p));
  error = build_mad(e, a.high, b.low, error);
  return (pair_t){p, build_mad(e, a.low, b.high, error)};
}

// |a.high| >= |b.high|
static pair_t sum(emit_t* e, pair_t a, pair_t b) {
  LLVMValueRef s = build_fadd(e, a.high, b.high);
  LLVMValueRef error = build_fadd(e, build_fsub(e, a.high, s), b.high);
  return (pair_t){s, build_fadd(e, error, build_fadd(e, a.low, b.low))};
}

// log(x) for positive normal f64 to about 68 bits: 2 s + s z (2/3 + z P(z)) with s = f / (2 + f), z = s^2.
static pair_t log_pair(emit_t* e, LLVMValueRef x) {
  LLVMValueRef k, f, two = build_float(x, 2);
  math_log_parts(e, x, &k, &f);
  LLVMValueRef d = build_fadd(e, f, two), d_low = build_fsub(e, f, build_fsub(e, d, two));
  pair_t s = {build_fdiv(e, f, d), NULL};
  LLVMValueRef left = build_fma(e, minus(e, s.high), d, f);
  s.low = build_fdiv(e, build_fma(e, minus(e, s.high), d_low, left), d);
  pair_t z = product(e, s, s);
  pair_t two_thirds = {build_float(x, 0x1.5555555555555p-1), build_float(x, 0x1.5555555555555p-55)};
  pair_t tail = {build_fmul(e, z.high, math_poly(e, MATH_ATANH, z.high)), build_float(x, 0)};
  pair_t curve = product(e, s, product(e, z, sum(e, two_thirds, tail)));
  pair_t line = {build_fmul(e, s.high, two), build_fmul(e, s.low, two)};
  pair_t ln2 = {build_fmul(e, k, build_float(x, MATH_LN2_HIGH_F64)),
                build_fmul(e, k, build_float(x, MATH_LN2_LOW_F64))};
  return sum(e, ln2, sum(e, line, curve));
}

// |x|^y for f64.
static LLVMValueRef power_f64(emit_t* e, LLVMValueRef x, LLVMValueRef y) {
  pair_t log = log_pair(e, x), exponent = product(e, log, (pair_t){y, build_float(y, 0)});
  // The low part must be so small that exp(low) is 1 + low.
  LLVMValueRef whole = build_fadd(e, exponent.high, exponent.low);
  exponent.low = build_fadd(e, build_fsub(e, exponent.high, whole), exponent.low);
  exponent.high = whole;
  LLVMValueRef inf = build_float(x, __builtin_inf()), zero = build_float(x, 0);
  // Where the logarithm or the product is not finite, its leading part alone says how it ends.
  LLVMValueRef plain_log = emit_float_log(e, x, NULL, NULL), plain = build_fmul(e, plain_log, y);
  LLVMValueRef usual = build_fcmp(e, LLVMRealOLT, build_fabs(e, plain), build_float(x, 1e6));
  LLVMValueRef high = build_select(e, usual, exponent.high, plain);
  LLVMValueRef low = build_select(e, usual, exponent.low, zero);
  LLVMValueRef base = math_exp_scaled(e, high, 0);
  LLVMValueRef finite = build_fcmp(e, LLVMRealOLT, base, inf);
  return build_select(e, finite, build_mad(e, base, low, base), base);
}

// |x|^y for f32, in f64: 2^(y log2 |x|).
static LLVMValueRef power_f32(emit_t* e, LLVMValueRef x, LLVMValueRef y) {
  LLVMTypeRef f64 = build_f64_type(e, LLVMTypeOf(x));
  LLVMValueRef log = emit_float_log2(e, build_fpext(e, x, f64), NULL, NULL);
  LLVMValueRef exponent = build_fmul(e, log, build_fpext(e, y, f64));
  return build_fptrunc(e, emit_float_exp2(e, exponent, NULL, NULL), LLVMTypeOf(x));
}

LLVMValueRef emit_float_pow(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef zero = build_float(a, 0), one = build_float(a, 1), half = build_float(a, 0.5), x = build_fabs(e, a);
  LLVMValueRef r = build_is_f64(a) ? power_f64(e, x, b) : power_f32(e, x, b);
  LLVMValueRef is_integer = build_fcmp(e, LLVMRealOEQ, build_round(e, BUILD_TRUNC, b), b);
  LLVMValueRef halved = build_fmul(e, b, half);
  LLVMValueRef is_even = build_fcmp(e, LLVMRealOEQ, build_round(e, BUILD_TRUNC, halved), halved);
  LLVMValueRef odd = build_and(e, is_integer, build_not(e, is_even));
  r = build_select(e, build_fcmp(e, LLVMRealOEQ, x, one), one, r);
  LLVMValueRef nan = build_float(a, __builtin_nan(""));
  LLVMValueRef no_root = build_and(e, build_fcmp(e, LLVMRealOLT, a, zero), build_not(e, is_integer));
  // An infinite base has powers that are not integers.
  no_root = build_and(e, no_root, build_fcmp(e, LLVMRealOLT, x, build_float(a, __builtin_inf())));
  r = build_select(e, no_root, nan, r);
  r = build_select(e, odd, build_copysign(e, r, a), r);
  r = build_select(e, build_fcmp(e, LLVMRealUNO, a, b), nan, r);
  LLVMValueRef is_one = build_or(e, build_fcmp(e, LLVMRealOEQ, a, one), build_fcmp(e, LLVMRealOEQ, b, zero));
  return build_select(e, is_one, one, r);
}

// 2^(log2(x) / 3), then one step of Newton's method.
LLVMValueRef emit_float_cbrt(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  if (!build_is_f64(a)) return math_through_f64(e, emit_float_cbrt, a, NULL);
  LLVMValueRef y = build_fabs(e, a), third = build_float(a, 1.0 / 3);
  LLVMValueRef log = emit_float_log2(e, y, NULL, NULL);
  LLVMValueRef r = emit_float_exp2(e, build_fmul(e, log, third), NULL, NULL), square = build_fmul(e, r, r);
  LLVMValueRef excess = build_fma(e, square, r, minus(e, y));
  LLVMValueRef better = build_fsub(e, r, build_fdiv(e, build_fmul(e, excess, third), square));
  LLVMValueRef usual = build_and(e, build_fcmp(e, LLVMRealOGT, y, build_float(a, 0)),
                                 build_fcmp(e, LLVMRealOLT, y, build_float(a, __builtin_inf())));
  return build_select(e, usual, build_copysign(e, better, a), a);
}
