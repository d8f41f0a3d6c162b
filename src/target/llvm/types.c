// Types and number formats. Small floats are described by one row each; one pair of routines converts any of them from
// and to f32 with integer operations, for processors without an instruction for the format.
#include "target/llvm/types.h"

#include <string.h>

#include "base/small_float.h"
#include "target/llvm/build.h"
#include "target/llvm/tiles.h"

bool emit_is_small_float(const ir_type_t* scalar) {
  return scalar->kind == IR_TYPE_FLOAT && scalar->float_kind != IR_F32 && scalar->float_kind != IR_F64 &&
         scalar->float_kind != IR_TF32;
}

static bool is_native_half(const emit_t* e, const ir_type_t* scalar) {
  return scalar->kind == IR_TYPE_FLOAT && scalar->float_kind == IR_F16 && e->features.f16_convert;
}

LLVMTypeRef emit_scalar_type(emit_t* e, const ir_type_t* t) {
  switch (t->kind) {
    case IR_TYPE_INDEX:
      return LLVMInt64TypeInContext(e->context);
    case IR_TYPE_INTEGER:
      if (t->width >= 1 && t->width <= 64) return LLVMIntTypeInContext(e->context, t->width);
      break;
    case IR_TYPE_FLOAT:
      if (t->float_kind == IR_F64) return LLVMDoubleTypeInContext(e->context);
      if (!emit_is_small_float(t)) return LLVMFloatTypeInContext(e->context);
      if (is_native_half(e, t)) return LLVMHalfTypeInContext(e->context);
      return LLVMIntTypeInContext(e->context, 8 * ir_type_bytes(t));
    default:
      break;
  }
  if (!e->failed) {
    text_puts(e->error, "no machine type for ");
    ir_print_type(e->error, t);
  }
  e->failed = true;
  return LLVMInt64TypeInContext(e->context);
}

static LLVMTypeRef shaped(LLVMTypeRef scalar, const ir_type_t* type) {
  return type->kind == IR_TYPE_VECTOR ? LLVMVectorType(scalar, (unsigned)ir_type_count(type)) : scalar;
}

LLVMTypeRef emit_type(emit_t* e, const ir_type_t* type) {
  if (type->kind == IR_TYPE_MEMREF) return LLVMPointerTypeInContext(e->context, e->hooks->spaces[type->space]);
  if (tiles_is_type(e, type)) return LLVMX86AMXTypeInContext(e->context);
  return shaped(emit_scalar_type(e, ir_type_scalar(type)), type);
}

LLVMTypeRef emit_memory_type(emit_t* e, const ir_type_t* type) {
  const ir_type_t* scalar = ir_type_scalar(type);
  if (scalar->kind == IR_TYPE_INTEGER) return shaped(LLVMIntTypeInContext(e->context, 8 * ir_type_bytes(scalar)), type);
  return shaped(emit_scalar_type(e, scalar), type);
}

LLVMValueRef emit_from_memory(emit_t* e, const ir_type_t* type, LLVMValueRef value) {
  const ir_type_t* scalar = ir_type_scalar(type);
  if (scalar->kind != IR_TYPE_INTEGER) return value;
  // A boolean is true when its lowest bit is set, as everywhere.
  return build_trunc(e, value, emit_type(e, type));
}

LLVMValueRef emit_to_memory(emit_t* e, const ir_type_t* type, LLVMValueRef value) {
  const ir_type_t* scalar = ir_type_scalar(type);
  if (scalar->kind != IR_TYPE_INTEGER) return value;
  return build_zext(e, value, emit_memory_type(e, type));
}

//===----------------------------------------------------------------------------------------------------------------===
// Small floats
//===----------------------------------------------------------------------------------------------------------------===

// Exponent only: 2^(bits - 127), 255 is NaN.
static LLVMValueRef widen_exponent(emit_t* e, LLVMValueRef bits, LLVMTypeRef f32) {
  LLVMValueRef number = build_shl(e, bits, build_int(bits, 23));
  LLVMValueRef is_zero = build_icmp(e, LLVMIntEQ, bits, build_int(bits, 0));
  LLVMValueRef is_nan = build_icmp(e, LLVMIntEQ, bits, build_int(bits, 255));
  number = build_select(e, is_zero, build_int(bits, 0x00400000), number);
  number = build_select(e, is_nan, build_int(bits, 0x7fc00000), number);
  return build_from_bits(e, number, f32);
}

// What lies in the middle of two powers goes up; what is smaller than all of them, but not zero, becomes the smallest.
static LLVMValueRef narrow_exponent(emit_t* e, LLVMValueRef value) {
  LLVMValueRef bits = build_bits_of(e, value);
  LLVMValueRef exponent = build_lshr(e, build_add(e, bits, build_int(bits, 0x400000)), build_int(bits, 23));
  LLVMValueRef one = build_icmp(e, LLVMIntUGE, bits, build_int(bits, 0x600000));  // subnormals: halves of the least
  LLVMValueRef tiny = build_icmp(e, LLVMIntULT, bits, build_int(bits, 0x800000));
  exponent = build_select(e, tiny, build_zext(e, one, LLVMTypeOf(bits)), exponent);
  LLVMValueRef out = build_icmp(e, LLVMIntUGT, exponent, build_int(bits, 254));
  LLVMValueRef negative = build_icmp(e, LLVMIntSLE, bits, build_int(bits, 0));
  return build_select(e, build_or(e, out, negative), build_int(bits, 255), exponent);
}

// Shifts exponent and mantissa into place and multiplies by the difference of the biases, which also normalises
// subnormals (all of them are normal in f32, except bf16's, which need no multiplication).
static LLVMValueRef widen_bits(emit_t* e, const float_format_t* f, LLVMValueRef bits, LLVMTypeRef f32) {
  int total = 1 + f->exponent_bits + f->mantissa_bits, top = (1 << f->exponent_bits) - 1;
  LLVMValueRef sign = build_shl(e, build_and(e, bits, build_int(bits, 1 << (total - 1))), build_int(bits, 32 - total));
  if (f->exponent_bits == 8) return build_from_bits(e, build_shl(e, bits, build_int(bits, 32 - total)), f32);
  LLVMValueRef magnitude = build_and(e, bits, build_int(bits, (1 << (total - 1)) - 1));
  LLVMValueRef moved = build_from_bits(e, build_shl(e, magnitude, build_int(bits, 23 - f->mantissa_bits)), f32);
  // 2^(127 - bias), as bits
  LLVMValueRef scale = build_from_bits(e, build_int(bits, (int64_t)(127 + 127 - f->bias) << 23), f32);
  LLVMValueRef number = build_bits_of(e, build_fmul(e, moved, scale));
  if (f->specials == FLOAT_SPECIALS_IEEE) {
    LLVMValueRef special = build_icmp(e, LLVMIntUGE, magnitude, build_int(bits, top << f->mantissa_bits));
    number = build_select(e, special, build_or(e, number, build_int(bits, 0x7f800000)), number);
  } else if (f->specials == FLOAT_SPECIALS_NAN_ONLY) {
    LLVMValueRef nan = build_icmp(e, LLVMIntEQ, magnitude, build_int(bits, (1 << (total - 1)) - 1));
    number = build_select(e, nan, build_int(bits, 0x7fc00000), number);
  }
  number = build_or(e, number, sign);
  if (f->specials == FLOAT_SPECIALS_ZERO_NAN) {
    LLVMValueRef nan = build_icmp(e, LLVMIntEQ, bits, build_int(bits, 1 << (total - 1)));
    number = build_select(e, nan, build_int(bits, 0x7fc00000), number);
  }
  return build_from_bits(e, number, f32);
}

// Rounds f32 bits (without sign) to the format's mantissa. Subnormals of the format: adding a number whose last bit is
// the format's smallest unit lets the adder round. All others: integer rounding to nearest even.
static LLVMValueRef round_bits(emit_t* e, const float_format_t* f, LLVMValueRef magnitude, LLVMTypeRef f32) {
  int drop = 23 - f->mantissa_bits;
  LLVMValueRef odd = build_and(e, build_lshr(e, magnitude, build_int(magnitude, drop)), build_int(magnitude, 1));
  LLVMValueRef rounded = build_add(e, magnitude, build_add(e, odd, build_int(magnitude, (1 << (drop - 1)) - 1)));
  rounded = build_lshr(e, rounded, build_int(magnitude, drop));
  if (f->exponent_bits == 8) return rounded;
  rounded = build_sub(e, rounded, build_int(magnitude, (int64_t)(127 - f->bias) << f->mantissa_bits));
  int least = 1 - f->bias;  // exponent of the smallest normal number
  int64_t magic = (int64_t)(least + 127 + drop) << 23;
  LLVMValueRef adder = build_from_bits(e, build_int(magnitude, magic), f32);
  LLVMValueRef sum = build_fadd(e, build_from_bits(e, magnitude, f32), adder);
  LLVMValueRef subnormal = build_sub(e, build_bits_of(e, sum), build_int(magnitude, magic));
  LLVMValueRef is_small = build_icmp(e, LLVMIntULT, magnitude, build_int(magnitude, (int64_t)(least + 127) << 23));
  return build_select(e, is_small, subnormal, rounded);
}

static LLVMValueRef narrow_bits(emit_t* e, const float_format_t* f, LLVMValueRef value) {
  int total = 1 + f->exponent_bits + f->mantissa_bits;
  int64_t top = (int64_t)((1 << f->exponent_bits) - 1) << f->mantissa_bits, all = (1ll << (total - 1)) - 1;
  LLVMValueRef bits = build_bits_of(e, value), magnitude = build_and(e, bits, build_int(bits, 0x7fffffff));
  LLVMValueRef sign = build_and(e, build_lshr(e, bits, build_int(bits, 32 - total)), build_int(bits, all + 1));
  LLVMValueRef r = round_bits(e, f, magnitude, LLVMTypeOf(value));
  int64_t largest = f->specials == FLOAT_SPECIALS_IEEE       ? top - 1
                    : f->specials == FLOAT_SPECIALS_NAN_ONLY ? all - 1
                                                             : all;
  int64_t over = f->specials == FLOAT_SPECIALS_IEEE ? top : f->specials == FLOAT_SPECIALS_ZERO_NAN ? all + 1 : all;
  int64_t nan = f->specials == FLOAT_SPECIALS_IEEE ? top | 1ll << (f->mantissa_bits - 1) : over;
  // Infinity and NaN are beyond the largest number too; the unsigned compare also catches what wrapped around.
  LLVMValueRef large = build_or(e, build_icmp(e, LLVMIntSGT, r, build_int(bits, largest)),
                                build_icmp(e, LLVMIntUGE, magnitude, build_int(bits, 0x7f800000)));
  r = build_select(e, large, build_int(bits, over), r);
  if (f->specials == FLOAT_SPECIALS_NONE) nan = all + 1;  // turns the sign below
  if (nan != over) {
    LLVMValueRef is_nan = build_icmp(e, LLVMIntUGT, magnitude, build_int(bits, 0x7f800000));
    r = build_select(e, is_nan, build_int(bits, nan), r);
  }
  if (f->specials != FLOAT_SPECIALS_ZERO_NAN) return build_xor(e, r, sign);
  LLVMValueRef is_zero = build_icmp(e, LLVMIntEQ, r, build_int(bits, 0));
  LLVMValueRef with_sign = build_select(e, is_zero, r, build_or(e, r, sign));
  return build_select(e, large, build_int(bits, over), with_sign);
}

LLVMValueRef emit_widen(emit_t* e, const ir_type_t* scalar, LLVMValueRef value) {
  LLVMTypeRef f32 = build_f32_type(e, LLVMTypeOf(value));
  if (is_native_half(e, scalar)) return build_fpext(e, value, f32);
  LLVMValueRef bits = build_zext(e, value, build_int_type(e, f32, 32));
  if (scalar->float_kind == IR_F8E8M0FNU) return widen_exponent(e, bits, f32);
  return widen_bits(e, &float_formats[scalar->float_kind], bits, f32);
}

LLVMValueRef emit_narrow(emit_t* e, const ir_type_t* scalar, LLVMValueRef value) {
  LLVMTypeRef type = build_shape(emit_scalar_type(e, scalar), LLVMTypeOf(value));
  if (is_native_half(e, scalar)) return build_fptrunc(e, value, type);
  if (scalar->float_kind == IR_BF16 && e->features.bf16_convert) {
    LLVMTypeRef bfloat = build_shape(LLVMBFloatTypeInContext(e->context), type);
    return build_bitcast(e, build_fptrunc(e, value, bfloat), type);
  }
  LLVMValueRef bits = scalar->float_kind == IR_F8E8M0FNU ? narrow_exponent(e, value)
                                                         : narrow_bits(e, &float_formats[scalar->float_kind], value);
  return build_trunc(e, bits, type);
}

LLVMValueRef emit_narrow_f64(emit_t* e, const ir_type_t* scalar, LLVMValueRef value) {
  // To f32 with the last bit set when inexact, so that the second rounding sees on which side the number was.
  LLVMTypeRef f32 = build_f32_type(e, LLVMTypeOf(value));
  LLVMValueRef narrow = build_fptrunc(e, value, f32), back = build_fpext(e, narrow, LLVMTypeOf(value));
  LLVMValueRef bits = build_bits_of(e, narrow);
  LLVMValueRef inexact = build_fcmp(e, LLVMRealONE, back, value);
  LLVMValueRef even = build_icmp(e, LLVMIntEQ, build_and(e, bits, build_int(bits, 1)), build_int(bits, 0));
  LLVMValueRef larger = build_fcmp(e, LLVMRealOGT, build_fabs(e, value), build_fabs(e, back));
  LLVMValueRef odd = build_add(e, bits, build_select(e, larger, build_int(bits, 1), build_int(bits, -1)));
  bits = build_select(e, build_and(e, inexact, even), odd, bits);
  return emit_narrow(e, scalar, build_from_bits(e, bits, f32));
}

LLVMValueRef emit_number(emit_t* e, const ir_type_t* scalar, double number, int64_t integer) {
  LLVMTypeRef type = emit_scalar_type(e, scalar);
  if (scalar->kind != IR_TYPE_FLOAT) return LLVMConstInt(type, (unsigned long long)integer, 1);
  if (!emit_is_small_float(scalar)) return LLVMConstReal(type, number);
  uint32_t bits = 0;
  ir_scalar_store_number(scalar, number, &bits);
  LLVMTypeRef raw = LLVMIntTypeInContext(e->context, 8 * ir_type_bytes(scalar));
  return LLVMConstBitCast(LLVMConstInt(raw, bits, 0), type);
}
