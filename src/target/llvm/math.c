// Shared parts of the mathematical functions: polynomials, rounding, powers of two.
#include "target/llvm/math.h"

#include <string.h>

#define POLY(name, bits, ...) static const double name##_##bits[] = {__VA_ARGS__};
#include "target/llvm/math_coefficients.def"
#undef POLY

typedef struct row_t {
  const double* coefficients;
  int count;
} row_t;
static const row_t rows[MATH_POLY_COUNT][2] = {
#define POLY(name, bits, ...) [MATH_##name][bits == 64] = {name##_##bits, sizeof(name##_##bits) / sizeof(double)},
#include "target/llvm/math_coefficients.def"
#undef POLY
};

LLVMValueRef math_poly(emit_t* e, math_poly_t poly, LLVMValueRef x) {
  const row_t* row = &rows[poly][build_is_f64(x)];
  LLVMValueRef sum = build_float(x, row->coefficients[row->count - 1]);
  for (int i = row->count - 2; i >= 0; --i) sum = build_mad(e, sum, x, build_float(x, row->coefficients[i]));
  return sum;
}

// Adding 1.5 * 2^mantissa bits leaves the integer in the low bits.
LLVMValueRef math_nearest(emit_t* e, LLVMValueRef x, LLVMValueRef* out_int) {
  LLVMValueRef magic = math_number(x, 0x1.8p23, 0x1.8p52), sum = build_fadd(e, x, magic);
  if (out_int) {
    LLVMValueRef bits = build_bits_of(e, sum);
    *out_int = build_sub(e, bits, build_bits_of(e, magic));
  }
  return build_fsub(e, sum, magic);
}

LLVMValueRef math_small_int_to_float(emit_t* e, LLVMValueRef n, LLVMTypeRef type) {
  LLVMValueRef magic = build_float_of(type, build_bits(type) == 64 ? 0x1.8p52 : 0x1.8p23);
  LLVMValueRef sum = build_from_bits(e, build_add(e, n, build_bits_of(e, magic)), type);
  return build_fsub(e, sum, magic);
}

LLVMValueRef math_power_of_two(emit_t* e, LLVMValueRef n, LLVMTypeRef type) {
  bool f64 = build_bits(type) == 64;
  LLVMValueRef exponent = build_add(e, n, build_int(n, f64 ? 1023 : 127));
  return build_from_bits(e, build_shl(e, exponent, build_int(n, f64 ? 52 : 23)), type);
}

// One AVX-512 instruction on a whole register.
static LLVMValueRef scalef(emit_t* e, LLVMValueRef x, LLVMValueRef n) {
  unsigned bits = build_bits(LLVMTypeOf(x)), lanes = build_lanes(LLVMTypeOf(x)), total = bits * lanes;
  char name[64] = "llvm.x86.avx512.mask.scalef.";
  strcat(name, bits == 64 ? "pd." : "ps.");
  strcat(name, total == 512 ? "512" : total == 256 ? "256" : "128");
  LLVMTypeRef mask = LLVMIntTypeInContext(e->context, lanes <= 8 ? 8 : lanes);
  LLVMValueRef current_rounding = LLVMConstInt(LLVMInt32TypeInContext(e->context), 4, 0);
  LLVMValueRef args[5] = {x, n, x, LLVMConstAllOnes(mask), current_rounding};
  return build_intrinsic(e, name, NULL, 0, args, total == 512 ? 5 : 4);
}

static LLVMValueRef scalef_all(emit_t* e, LLVMValueRef x, LLVMValueRef n) {
  unsigned bits = build_bits(LLVMTypeOf(x)), lanes = build_lanes(LLVMTypeOf(x)), total = bits * lanes;
  if (total == 128 || total == 256 || total == 512) return scalef(e, x, n);
  if (total < 1024 || total % 1024 != 0) return NULL;
  int mask[256], half = (int)lanes / 2;
  LLVMValueRef parts[2];
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < half; ++i) mask[i] = side * half + i;
    LLVMValueRef poison = LLVMGetPoison(LLVMTypeOf(x));
    parts[side] = scalef_all(e, build_shuffle(e, x, poison, mask, (unsigned)half),
                             build_shuffle(e, n, poison, mask, (unsigned)half));
  }
  for (int i = 0; i < 2 * half; ++i) mask[i] = i;
  return build_shuffle(e, parts[0], parts[1], mask, lanes);
}

LLVMValueRef math_scale(emit_t* e, LLVMValueRef x, LLVMValueRef n, LLVMValueRef whole) {
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef direct =
      e->features.scalef && build_lanes(type) && build_lanes(type) <= 128 ? scalef_all(e, x, n) : NULL;
  if (direct) return direct;
  if (!whole) math_nearest(e, n, &whole);
  if (e->features.ldexp) {
    LLVMTypeRef i32 = build_int_type(e, type, 32), types[2] = {type, i32};
    return build_intrinsic(e, "llvm.ldexp", types, 2, (LLVMValueRef[]){x, build_trunc(e, whole, i32)}, 2);
  }
  // In two steps: 2^n itself may not be a normal number.
  LLVMValueRef half = build_ashr(e, whole, build_int(whole, 1)), rest = build_sub(e, whole, half);
  x = build_fmul(e, x, math_power_of_two(e, half, type));
  return build_fmul(e, x, math_power_of_two(e, rest, type));
}

LLVMValueRef math_through_f64(emit_t* e, emit_scalar_fn_t fn, LLVMValueRef a, LLVMValueRef b) {
  LLVMTypeRef type = LLVMTypeOf(a), f64 = build_f64_type(e, type);
  LLVMValueRef wide_b = b ? build_fpext(e, b, f64) : NULL;
  return build_fptrunc(e, fn(e, build_fpext(e, a, f64), wide_b, NULL), type);
}
