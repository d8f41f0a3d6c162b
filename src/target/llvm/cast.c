// cast and castu: between any two number types. Float to integer truncates and saturates, NaN gives 0.
#include "target/llvm/build.h"
#include "target/llvm/scalar.h"
#include "target/llvm/types.h"

static unsigned width_of(const ir_type_t* t) { return t->kind == IR_TYPE_INDEX ? 64 : t->width; }
static bool is_bool(const ir_type_t* t) { return t->kind == IR_TYPE_INTEGER && t->width == 1; }

// Largest float of the type that is below 2^bits.
static double below_power(bool f64, unsigned bits) {
  unsigned mantissa = f64 ? 53 : 24;
  double power = bits == 64 ? 0x1p64 : (double)(1ull << bits);
  return bits <= mantissa ? power - 1 : power - (double)(1ull << (bits - mantissa));
}

// Clamps in the float domain, where it costs two instructions, and mends the two ends afterwards.
static LLVMValueRef float_to_int(emit_t* e, LLVMValueRef a, const ir_type_t* to, bool is_unsigned) {
  unsigned width = width_of(to), value_bits = is_unsigned ? width : width - 1;
  bool f64 = build_is_f64(a);
  double low = is_unsigned ? 0 : -(width == 64 ? 0x1p63 : (double)(1ull << (width - 1)));
  double high = below_power(f64, value_bits);
  LLVMValueRef clamped = build_max(e, a, build_float(a, low));  // NaN becomes `low`
  clamped = build_min(e, clamped, build_float(a, high));
  unsigned wide = width < 32 ? 32 : width;
  LLVMTypeRef type = build_int_type(e, LLVMTypeOf(a), wide);
  LLVMValueRef r = is_unsigned && width >= 32 ? build_fptoui(e, clamped, type) : build_fptosi(e, clamped, type);
  r = build_trunc(e, r, build_int_type(e, type, width));
  if (value_bits > (f64 ? 53u : 24u)) {
    // The largest integer is no float: what is at or above its successor gets it.
    LLVMValueRef over = build_fcmp(e, LLVMRealOGT, a, build_float(a, high));
    int64_t most = is_unsigned ? -1 : (int64_t)((1ull << (width - 1)) - 1);
    r = build_select(e, over, build_int(r, most), r);
  }
  if (is_unsigned) return r;
  return build_select(e, build_fcmp(e, LLVMRealUNO, a, a), build_int(r, 0), r);
}

static LLVMValueRef int_to_float(emit_t* e, LLVMValueRef a, const ir_type_t* from, const ir_type_t* to,
                                 bool is_unsigned) {
  LLVMTypeRef f32 = build_f32_type(e, LLVMTypeOf(a)), f64 = build_f64_type(e, LLVMTypeOf(a));
  unsigned width = width_of(from);
  // Narrow integers are extended first: processors convert 32 and 64 bits.
  if (width < 32) {
    LLVMTypeRef i32 = build_int_type(e, f32, 32);
    a = is_unsigned ? build_zext(e, a, i32) : build_sext(e, a, i32);
    is_unsigned = false;
  }
  bool small = emit_is_small_float(to);
  // Small floats are rounded once, from a type that holds the integer exactly (64-bit integers: nearly).
  LLVMTypeRef type = small ? (width <= 24 ? f32 : f64) : build_shape(emit_scalar_type(e, to), f32);
  LLVMValueRef number = is_unsigned ? build_uitofp(e, a, type) : build_sitofp(e, a, type);
  if (!small) return number;
  return type == f32 ? emit_narrow(e, to, number) : emit_narrow_f64(e, to, number);
}

static LLVMValueRef float_to_float(emit_t* e, LLVMValueRef a, const ir_type_t* from, const ir_type_t* to) {
  if (from == to) return a;
  bool from_f64 = from->float_kind == IR_F64, to_f64 = to->float_kind == IR_F64;
  if (from_f64 && emit_is_small_float(to)) return emit_narrow_f64(e, to, a);
  if (emit_is_small_float(from)) a = emit_widen(e, from, a);
  if (from_f64) return build_fptrunc(e, a, build_f32_type(e, LLVMTypeOf(a)));
  if (emit_is_small_float(to)) return emit_narrow(e, to, a);
  return to_f64 ? build_fpext(e, a, build_f64_type(e, LLVMTypeOf(a))) : a;
}

LLVMValueRef emit_cast(emit_t* e, LLVMValueRef a, const ir_type_t* from, const ir_type_t* to, bool is_unsigned) {
  bool from_float = from->kind == IR_TYPE_FLOAT, to_float = to->kind == IR_TYPE_FLOAT;
  if (from_float && to_float) return float_to_float(e, a, from, to);
  if (from_float) {
    if (emit_is_small_float(from)) a = emit_widen(e, from, a);
    if (is_bool(to)) return build_fcmp(e, LLVMRealUNE, a, build_float(a, 0));
    return float_to_int(e, a, to, is_unsigned);
  }
  if (is_bool(to)) return is_bool(from) ? a : build_icmp(e, LLVMIntNE, a, build_int(a, 0));
  bool zero_extend = is_unsigned || is_bool(from);
  if (to_float) return int_to_float(e, a, from, to, zero_extend);
  LLVMTypeRef type = build_shape(emit_scalar_type(e, to), LLVMTypeOf(a));
  if (width_of(to) <= width_of(from)) return build_trunc(e, a, type);
  return zero_extend ? build_zext(e, a, type) : build_sext(e, a, type);
}
