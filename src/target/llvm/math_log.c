// Logarithms: x = 2^k (1 + f), a polynomial in f, and k times the logarithm of 2 in two parts.
#include "target/llvm/math.h"

void math_log_parts(emit_t* e, LLVMValueRef x, LLVMValueRef* k, LLVMValueRef* f) {
  LLVMTypeRef type = LLVMTypeOf(x);
  bool f64 = build_is_f64(x);
  LLVMValueRef tiny = build_fcmp(e, LLVMRealOLT, x, math_number(x, 0x1p-126, 0x1p-1022));
  LLVMValueRef scaled = build_fmul(e, x, math_number(x, 0x1p24, 0x1p54));
  LLVMValueRef bits = build_bits_of(e, build_select(e, tiny, scaled, x));
  LLVMValueRef root = build_int(bits, f64 ? 0x3fe6a09e667f3bcd : 0x3f3504f3), shift = build_int(bits, f64 ? 52 : 23);
  LLVMValueRef exponent = build_ashr(e, build_sub(e, bits, root), shift);
  LLVMValueRef mantissa = build_from_bits(e, build_sub(e, bits, build_shl(e, exponent, shift)), type);
  *f = build_fsub(e, mantissa, build_float(x, 1));
  LLVMValueRef offset = build_select(e, tiny, math_number(x, -24, -54), build_float(x, 0));
  *k = build_fadd(e, math_small_int_to_float(e, exponent, type), offset);
}

// What a logarithm is where its argument is not a positive finite number.
static LLVMValueRef specials(emit_t* e, LLVMValueRef x, LLVMValueRef result) {
  LLVMValueRef zero = build_float(x, 0), inf = build_float(x, __builtin_inf());
  LLVMValueRef negative = build_fcmp(e, LLVMRealOLT, x, zero);
  LLVMValueRef special = build_select(e, negative, build_float(x, __builtin_nan("")), x);
  special = build_select(e, build_fcmp(e, LLVMRealOEQ, x, zero), build_float(x, -__builtin_inf()), special);
  LLVMValueRef usual = build_and(e, build_fcmp(e, LLVMRealOGT, x, zero), build_fcmp(e, LLVMRealOLT, x, inf));
  return build_select(e, usual, result, special);
}

// log(1 + f) - f
static LLVMValueRef log_tail(emit_t* e, LLVMValueRef f) {
  LLVMValueRef square = build_fmul(e, f, f);
  LLVMValueRef cubic = build_fmul(e, build_fmul(e, f, square), math_poly(e, MATH_LOG, f));
  return build_mad(e, square, build_float(f, -0.5), cubic);
}

LLVMValueRef emit_float_log(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef k, f;
  math_log_parts(e, a, &k, &f);
  LLVMValueRef low = build_mad(e, k, math_number(a, MATH_LN2_LOW_F32, MATH_LN2_LOW_F64), log_tail(e, f));
  LLVMValueRef high = build_fmul(e, k, math_number(a, MATH_LN2_HIGH_F32, MATH_LN2_HIGH_F64));
  return specials(e, a, build_fadd(e, high, build_fadd(e, f, low)));
}

LLVMValueRef emit_float_log2(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef k, f;
  math_log_parts(e, a, &k, &f);
  return specials(e, a, build_mad(e, f, math_poly(e, MATH_LOG2, f), k));
}

LLVMValueRef emit_float_log10(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef k, f;
  math_log_parts(e, a, &k, &f);
  LLVMValueRef log10_e = build_float(a, 0x1.bcb7b1526e50ep-2), tail = log_tail(e, f);
  LLVMValueRef rest = math_number(a, -0x1.5b235ep-27, 0x1.95355baaafad3p-57);  // what log10_e leaves out
  LLVMValueRef low = build_fmul(e, k, math_number(a, 0x1.3509f8p-18, 0x1.ef3fde623e256p-35));
  low = build_mad(e, tail, log10_e, build_mad(e, f, rest, low));
  LLVMValueRef high = build_fmul(e, k, math_number(a, 0x1.344p-2, 0x1.34413509p-2));
  return specials(e, a, build_fadd(e, high, build_mad(e, f, log10_e, low)));
}

// log(u) x / (u - 1) with u = 1 + x rounded: the error of u cancels.
LLVMValueRef emit_float_log1p(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef one = build_float(a, 1), u = build_fadd(e, a, one), inf = build_float(a, __builtin_inf());
  LLVMValueRef r = build_fmul(e, emit_float_log(e, u, NULL, NULL), build_fdiv(e, a, build_fsub(e, u, one)));
  LLVMValueRef as_it_is = build_or(e, build_fcmp(e, LLVMRealOEQ, u, one), build_fcmp(e, LLVMRealOEQ, a, inf));
  return build_select(e, as_it_is, a, r);
}

// Beyond `far` the argument itself is as good as what would overflow; ln 2 makes up for the factor 2.
static LLVMValueRef log1p_or_far(emit_t* e, LLVMValueRef y, LLVMValueRef argument) {
  LLVMValueRef far = build_fcmp(e, LLVMRealOGT, y, build_float(y, 0x1p300));
  LLVMValueRef r = emit_float_log1p(e, build_select(e, far, y, argument), NULL, NULL);
  return build_select(e, far, build_fadd(e, r, build_float(r, 0x1.62e42fefa39efp-1)), r);
}

LLVMValueRef emit_float_asinh(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  if (!build_is_f64(a)) return math_through_f64(e, emit_float_asinh, a, NULL);
  LLVMValueRef y = build_fabs(e, a), one = build_float(a, 1), square = build_fmul(e, y, y);
  LLVMValueRef root = build_sqrt(e, build_fadd(e, square, one));
  LLVMValueRef argument = build_fadd(e, y, build_fdiv(e, square, build_fadd(e, root, one)));
  return build_copysign(e, log1p_or_far(e, y, argument), a);
}

LLVMValueRef emit_float_acosh(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  if (!build_is_f64(a)) return math_through_f64(e, emit_float_acosh, a, NULL);
  LLVMValueRef one = build_float(a, 1), t = build_fsub(e, a, one);
  LLVMValueRef root = build_sqrt(e, build_mad(e, t, t, build_fadd(e, t, t)));
  LLVMValueRef r = log1p_or_far(e, a, build_fadd(e, t, root));
  return build_select(e, build_fcmp(e, LLVMRealOLT, a, one), build_float(a, __builtin_nan("")), r);
}

LLVMValueRef emit_float_atanh(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  if (!build_is_f64(a)) return math_through_f64(e, emit_float_atanh, a, NULL);
  LLVMValueRef y = build_fabs(e, a);
  LLVMValueRef ratio = build_fdiv(e, build_fadd(e, y, y), build_fsub(e, build_float(a, 1), y));
  LLVMValueRef r = build_fmul(e, emit_float_log1p(e, ratio, NULL, NULL), build_float(a, 0.5));
  return build_copysign(e, r, a);
}
