// What the mathematical functions share. All work on f32 and f64, on scalars and vectors; errors are below 4 units in
// the last place for f32 and a few for f64, over the whole range, with IEEE special cases.
#ifndef IREE_C_TARGET_LLVM_MATH_H_
#define IREE_C_TARGET_LLVM_MATH_H_

#include "target/llvm/build.h"
#include "target/llvm/scalar.h"

typedef enum {
  MATH_EXP,
  MATH_EXP2,
  MATH_LOG,
  MATH_LOG2,
  MATH_ATANH,
  MATH_ATAN,
  MATH_ASIN,
  MATH_SIN,
  MATH_COS,
  MATH_ERF_SMALL,
  MATH_ERF,
  MATH_ERFCX,
  MATH_POLY_COUNT
} math_poly_t;

// The polynomial in x, with the coefficients for x's type (math_coefficients.def).
LLVMValueRef math_poly(emit_t* e, math_poly_t poly, LLVMValueRef x);
// By type.
static inline double math_pick(LLVMValueRef x, double f32, double f64) { return build_is_f64(x) ? f64 : f32; }
static inline LLVMValueRef math_number(LLVMValueRef like, double f32, double f64) {
  return build_float(like, math_pick(like, f32, f64));
}

// Nearest integer of a number below 2^22 (f32) or 2^51 (f64); `out_int` (may be NULL) receives it as integer.
LLVMValueRef math_nearest(emit_t* e, LLVMValueRef x, LLVMValueRef* out_int);
// An integer below 2^22 (2^51) as float.
LLVMValueRef math_small_int_to_float(emit_t* e, LLVMValueRef n, LLVMTypeRef type);
// x * 2^n for an integral float n: overflows and underflows as it should. `whole`: n as integer, where it is at hand.
LLVMValueRef math_scale(emit_t* e, LLVMValueRef x, LLVMValueRef n, LLVMValueRef whole);
// 2^n as a float for an integer n within the exponents of normal numbers.
LLVMValueRef math_power_of_two(emit_t* e, LLVMValueRef n, LLVMTypeRef type);

// Computes f32 through f64: for functions that are rare, or where f32 cannot hold what lies between.
LLVMValueRef math_through_f64(emit_t* e, emit_scalar_fn_t fn, LLVMValueRef a, LLVMValueRef b);

// 2^bias * exp(x).
LLVMValueRef math_exp_scaled(emit_t* e, LLVMValueRef x, int bias);
// x = 2^k * (1 + f), with 1 + f from sqrt(1/2) to sqrt(2); k as float. For x normal or subnormal and positive.
void math_log_parts(emit_t* e, LLVMValueRef x, LLVMValueRef* k, LLVMValueRef* f);

#define MATH_LN2_HIGH_F32 0x1.62ep-1
#define MATH_LN2_LOW_F32 0x1.0bfbe8p-15
#define MATH_LN2_HIGH_F64 0x1.62e42feep-1
#define MATH_LN2_LOW_F64 0x1.a39ef35793c76p-33

#endif  // IREE_C_TARGET_LLVM_MATH_H_
