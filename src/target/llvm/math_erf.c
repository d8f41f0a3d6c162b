// The error function and its complement.
#include "target/llvm/math.h"

// For |x| up to 1 (f64) or 3.875 (f32).
static LLVMValueRef erf_small(emit_t* e, LLVMValueRef x) {
  LLVMValueRef square = build_fmul(e, x, x);
  if (build_is_f64(x)) return build_fmul(e, x, math_poly(e, MATH_ERF_SMALL, square));
  LLVMValueRef t = build_mad(e, square, build_float(x, 2 / (3.875 * 3.875)), build_float(x, -1));
  return build_fmul(e, x, math_poly(e, MATH_ERF, t));
}

// exp(-x^2) times a polynomial in (x - 2) / (x + 2), which maps all positive x to -1..1; 2 minus that on the left. Near
// zero 1 - erf(x) is better.
LLVMValueRef emit_float_erfc(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef one = build_float(a, 1), two = build_float(a, 2), half = build_float(a, 0.5), y = build_fabs(e, a);
  LLVMValueRef x = build_min(e, math_number(a, 11, 28), y);
  LLVMValueRef t = build_fdiv(e, build_fsub(e, x, two), build_fadd(e, x, two));
  LLVMValueRef square = build_fmul(e, x, x), error = build_fma(e, x, x, build_fneg(e, square));
  LLVMValueRef p = build_fdiv(e, math_poly(e, MATH_ERFCX, t), build_mad(e, two, x, one));
  p = build_mad(e, build_fneg(e, error), p, p);  // exp(-(square + error))
  LLVMValueRef right = build_fmul(e, math_exp_scaled(e, build_fneg(e, square), 0), p);
  LLVMValueRef negative = build_fcmp(e, LLVMRealOLT, a, build_float(a, 0));
  LLVMValueRef far = build_select(e, negative, build_fsub(e, two, right), right);
  LLVMValueRef near = build_fsub(e, one, erf_small(e, a));
  return build_select(e, build_fcmp(e, LLVMRealOLT, y, half), near, far);
}

// f32: one polynomial up to where erf is 1. f64: a polynomial up to 1, then the complement.
LLVMValueRef emit_float_erf(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef one = build_float(a, 1), y = build_fabs(e, a);
  if (!build_is_f64(a)) {
    LLVMValueRef r = erf_small(e, build_min(e, build_float(a, 3.875), y));
    return build_copysign(e, build_select(e, build_fcmp(e, LLVMRealOGT, y, build_float(a, 3.9)), one, r), a);
  }
  LLVMValueRef small = erf_small(e, build_min(e, one, y));
  LLVMValueRef large = build_fsub(e, one, emit_float_erfc(e, y, NULL, NULL));
  return build_copysign(e, build_select(e, build_fcmp(e, LLVMRealOLT, y, one), small, large), a);
}
