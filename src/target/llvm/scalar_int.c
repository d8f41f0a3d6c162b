// Integer functions, with every case defined as scalar.def says: division by zero, INT_MIN / -1, wide shifts.
#include <stdio.h>
#include <string.h>

#include "target/llvm/build.h"
#include "target/llvm/scalar.h"

#define INT_ROW(name, result) \
  LLVMValueRef emit_int_##name(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) { return result; }

static LLVMValueRef zero(LLVMValueRef a) { return build_int(a, 0); }
static LLVMValueRef count_bits(emit_t* e, const char* name, LLVMValueRef a) {
  LLVMTypeRef type = LLVMTypeOf(a);
  LLVMValueRef args[2] = {a, LLVMConstInt(LLVMInt1TypeInContext(e->context), 0, 0)};
  return build_intrinsic(e, name, &type, 1, args, 2);
}
static LLVMValueRef bool_to_int(emit_t* e, LLVMValueRef flag, LLVMValueRef like) {
  return build_zext(e, flag, LLVMTypeOf(like));
}

INT_ROW(neg, build_sub(e, zero(a), a))
INT_ROW(abs, build_select(e, build_icmp(e, LLVMIntSLT, a, zero(a)), build_sub(e, zero(a), a), a))
INT_ROW(sign, build_or(e, build_ashr(e, a, build_int(a, build_bits(LLVMTypeOf(a)) - 1)),
                       bool_to_int(e, build_icmp(e, LLVMIntSGT, a, zero(a)), a)))
INT_ROW(not, build_not(e, a))
INT_ROW(popcnt, build_intrinsic1(e, "llvm.ctpop", a))
INT_ROW(clz, count_bits(e, "llvm.ctlz", a))
INT_ROW(ctz, count_bits(e, "llvm.cttz", a))
INT_ROW(add, build_add(e, a, b))
INT_ROW(sub, build_sub(e, a, b))
INT_ROW(mul, build_mul(e, a, b))
INT_ROW(and, build_and(e, a, b))
INT_ROW(or, build_or(e, a, b))
INT_ROW(xor, build_xor(e, a, b))
INT_ROW(min, build_intrinsic2(e, "llvm.smin", a, b))
INT_ROW(max, build_intrinsic2(e, "llvm.smax", a, b))
INT_ROW(minu, build_intrinsic2(e, "llvm.umin", a, b))
INT_ROW(maxu, build_intrinsic2(e, "llvm.umax", a, b))

#define INT_COMPARES(ROW) \
  ROW(eq, EQ)             \
  ROW(ne, NE)             \
  ROW(lt, SLT) ROW(le, SLE) ROW(gt, SGT) ROW(ge, SGE) ROW(ltu, ULT) ROW(leu, ULE) ROW(gtu, UGT) ROW(geu, UGE)
#define ROW(name, predicate) INT_ROW(name, build_icmp(e, LLVMInt##predicate, a, b))
INT_COMPARES(ROW)
#undef ROW

//===----------------------------------------------------------------------------------------------------------------===
// Products of bytes
//===----------------------------------------------------------------------------------------------------------------===

// x86's instruction on vectors of 4, 8 or 16 words; wider ones in halves. NULL for others.
static LLVMValueRef dot_words(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  enum { MOST = 16 };
  unsigned lanes = build_lanes(LLVMTypeOf(a));
  if (!e->features.byte_dot || build_bits(LLVMTypeOf(a)) != 32 || lanes < 4 || (lanes & (lanes - 1))) return NULL;
  if (lanes > MOST) {
    LLVMValueRef in[3] = {a, b, c}, halves[2];
    int mask[256];
    if (lanes > sizeof(mask) / sizeof(*mask)) return NULL;
    for (unsigned i = 0; i < lanes; ++i) mask[i] = (int)i;
    for (unsigned h = 0; h < 2; ++h) {
      LLVMValueRef part[3];
      for (int i = 0; i < 3; ++i) part[i] = build_shuffle(e, in[i], in[i], mask + h * lanes / 2, lanes / 2);
      if (!(halves[h] = dot_words(e, part[0], part[1], part[2]))) return NULL;
    }
    return build_shuffle(e, halves[0], halves[1], mask, lanes);
  }
  char name[48];
  snprintf(name, sizeof(name), "llvm.x86.avx512.vpdpbusd.%u", 32 * lanes);
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  if (!id) return NULL;
  LLVMTypeRef types[3], type = LLVMIntrinsicGetType(e->context, id, NULL, 0);
  LLVMGetParamTypes(type, types);  // words or bytes, as LLVM's version has it
  LLVMValueRef args[3] = {c, build_bitcast(e, a, types[1]), build_bitcast(e, b, types[2])};
  return build_intrinsic(e, name, NULL, 0, args, 3);
}

LLVMValueRef emit_int_dot_bytes(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef words = dot_words(e, a, b, c);
  if (words) return words;
  int bits = (int)build_bits(LLVMTypeOf(a));
  for (int at = 0; at + 8 <= bits; at += 8) {
    LLVMValueRef x = build_and(e, build_lshr(e, a, build_int(a, at)), build_int(a, 255));
    LLVMValueRef y = build_ashr(e, build_shl(e, b, build_int(b, bits - 8 - at)), build_int(b, bits - 8));
    c = build_add(e, c, build_mul(e, x, y));
  }
  return c;
}

//===----------------------------------------------------------------------------------------------------------------===
// Division
//===----------------------------------------------------------------------------------------------------------------===

// True when some lane of a constant is zero or, with `or_minus_one`, -1; true for everything not constant.
static bool may_be_special(LLVMValueRef b, bool or_minus_one) {
  unsigned lanes = build_lanes(LLVMTypeOf(b));
  if (LLVMIsAPoisonValue(b) || LLVMIsUndef(b)) return true;
  for (unsigned i = 0; i < (lanes ? lanes : 1); ++i) {
    LLVMValueRef lane = lanes ? (LLVMIsConstant(b) ? LLVMGetAggregateElement(b, i) : NULL) : b;
    if (!lane || !LLVMIsAConstantInt(lane)) return true;
    long long value = LLVMConstIntGetSExtValue(lane);
    if (value == 0 || (or_minus_one && value == -1)) return true;
  }
  return false;
}

// The divisor with 1 in place of what traps, so that the instruction can run in every lane.
static LLVMValueRef safe_divisor(emit_t* e, LLVMValueRef b, bool is_signed, LLVMValueRef* is_zero,
                                 LLVMValueRef* is_minus_one) {
  *is_zero = build_icmp(e, LLVMIntEQ, b, zero(b));
  LLVMValueRef special = *is_zero;
  if (is_signed) {
    *is_minus_one = build_icmp(e, LLVMIntEQ, b, build_int(b, -1));
    special = build_or(e, special, *is_minus_one);
  }
  return build_select(e, special, build_int(b, 1), b);
}

// Vectors are divided by no instruction but as floats, whose quotients are far enough from the next whole number to be
// cut to the right one: of 16 bits in 24, of 32 in 53. Constants are multiplied with instead.
static LLVMValueRef quotient(emit_t* e, LLVMValueRef a, LLVMValueRef b, bool is_signed) {
  unsigned lanes = build_lanes(LLVMTypeOf(a)), bits = build_bits(LLVMTypeOf(a));
  if (!lanes || bits < 8 || bits > 32 || LLVMIsConstant(b))
    return is_signed ? build_sdiv(e, a, b) : build_udiv(e, a, b);
  LLVMTypeRef f32 = LLVMFloatTypeInContext(e->context), f64 = LLVMDoubleTypeInContext(e->context);
  LLVMTypeRef type = LLVMVectorType(bits > 16 ? f64 : f32, lanes);
  LLVMValueRef x = is_signed ? build_sitofp(e, a, type) : build_uitofp(e, a, type);
  LLVMValueRef y = is_signed ? build_sitofp(e, b, type) : build_uitofp(e, b, type);
  LLVMValueRef q = build_fdiv(e, x, y);
  return is_signed ? build_fptosi(e, q, LLVMTypeOf(a)) : build_fptoui(e, q, LLVMTypeOf(a));
}

static LLVMValueRef remainder_of(emit_t* e, LLVMValueRef a, LLVMValueRef b, bool is_signed) {
  if (!build_lanes(LLVMTypeOf(a)) || LLVMIsConstant(b)) return is_signed ? build_srem(e, a, b) : build_urem(e, a, b);
  return build_sub(e, a, build_mul(e, quotient(e, a, b, is_signed), b));
}

LLVMValueRef emit_int_div(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  if (!may_be_special(b, true)) return build_sdiv(e, a, b);
  LLVMValueRef is_zero, is_minus_one, divisor = safe_divisor(e, b, true, &is_zero, &is_minus_one);
  LLVMValueRef q = build_select(e, is_minus_one, build_sub(e, zero(a), a), quotient(e, a, divisor, true));
  return build_select(e, is_zero, build_int(a, -1), q);
}

LLVMValueRef emit_int_rem(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  if (!may_be_special(b, true)) return build_srem(e, a, b);
  LLVMValueRef is_zero, is_minus_one, divisor = safe_divisor(e, b, true, &is_zero, &is_minus_one);
  return build_select(e, is_zero, a, remainder_of(e, a, divisor, true));
}

LLVMValueRef emit_int_divu(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  if (!may_be_special(b, false)) return build_udiv(e, a, b);
  LLVMValueRef is_zero, divisor = safe_divisor(e, b, false, &is_zero, NULL);
  return build_select(e, is_zero, build_int(a, -1), quotient(e, a, divisor, false));
}

LLVMValueRef emit_int_remu(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  if (!may_be_special(b, false)) return build_urem(e, a, b);
  LLVMValueRef is_zero, divisor = safe_divisor(e, b, false, &is_zero, NULL);
  return build_select(e, is_zero, a, remainder_of(e, a, divisor, false));
}

//===----------------------------------------------------------------------------------------------------------------===
// Shifts and powers
//===----------------------------------------------------------------------------------------------------------------===

static LLVMValueRef in_range(emit_t* e, LLVMValueRef a, LLVMValueRef b) {
  return build_icmp(e, LLVMIntULT, b, build_int(b, build_bits(LLVMTypeOf(a))));
}

static LLVMValueRef shift(emit_t* e, LLVMValueRef a, LLVMValueRef b, bool left) {
  if (build_bits(LLVMTypeOf(a)) == 1) return build_and(e, a, build_not(e, b));
  LLVMValueRef fits = in_range(e, a, b), amount = build_select(e, fits, b, zero(b));
  LLVMValueRef shifted = left ? build_shl(e, a, amount) : build_lshr(e, a, amount);
  return build_select(e, fits, shifted, zero(a));
}
INT_ROW(shl, shift(e, a, b, true))
INT_ROW(shru, shift(e, a, b, false))
INT_ROW(shr, build_ashr(e, a, build_select(e, in_range(e, a, b), b, build_int(b, build_bits(LLVMTypeOf(a)) - 1))))

// Square and multiply until no lane has bits left in its exponent.
LLVMValueRef emit_int_pow(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef one = build_int(a, 1), init[3] = {one, a, b};
  build_loop_t loop = build_loop_begin(e, init, 3);
  LLVMValueRef result = loop.phis[0], base = loop.phis[1], left = loop.phis[2];
  build_loop_while(e, &loop, build_any(e, build_icmp(e, LLVMIntNE, left, zero(left))));
  LLVMValueRef odd = build_icmp(e, LLVMIntNE, build_and(e, left, one), zero(left));
  LLVMValueRef next[3] = {build_mul(e, result, build_select(e, odd, base, one)), build_mul(e, base, base),
                          build_lshr(e, left, build_bits(LLVMTypeOf(a)) == 1 ? zero(a) : one)};
  if (build_bits(LLVMTypeOf(a)) == 1) next[2] = zero(a);
  build_loop_end(e, &loop, next);
  // Negative exponents: only 1 and -1 have integer powers.
  LLVMValueRef negative = build_icmp(e, LLVMIntSLT, b, zero(b));
  LLVMValueRef is_odd = build_icmp(e, LLVMIntNE, build_and(e, b, one), zero(b));
  LLVMValueRef minus = build_select(e, is_odd, build_int(a, -1), one);
  LLVMValueRef power = build_select(e, build_icmp(e, LLVMIntEQ, a, build_int(a, -1)), minus, zero(a));
  power = build_select(e, build_icmp(e, LLVMIntEQ, a, one), one, power);
  if (build_bits(LLVMTypeOf(a)) == 1) return loop.phis[0];
  return build_select(e, negative, power, loop.phis[0]);
}
