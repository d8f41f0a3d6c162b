// Float functions that processors compute by themselves or nearly so. All take f32 and f64; those that only move bits
// or compare take half too.
#include <stdio.h>
#include <string.h>

#include "target/llvm/build.h"
#include "target/llvm/scalar.h"

#define FLOAT_ROW(name, result) \
  LLVMValueRef emit_float_##name(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) { return result; }

static LLVMValueRef number(LLVMValueRef like, double value) { return build_float(like, value); }
static LLVMValueRef infinity(LLVMValueRef like) { return build_float(like, __builtin_inf()); }

FLOAT_ROW(neg, build_fneg(e, a))
FLOAT_ROW(abs, build_fabs(e, a))
FLOAT_ROW(copysign, build_copysign(e, a, b))
FLOAT_ROW(add, build_fadd(e, a, b))
FLOAT_ROW(sub, build_fsub(e, a, b))
FLOAT_ROW(mul, build_fmul(e, a, b))
FLOAT_ROW(div, build_fdiv(e, a, b))
FLOAT_ROW(fma, LLVMGetTypeKind(build_scalar_type(LLVMTypeOf(a))) == LLVMHalfTypeKind
                   ? build_intrinsic3(e, "llvm.fma", a, b, c)
                   : build_fma(e, a, b, c))
FLOAT_ROW(sqrt, build_sqrt(e, a))
FLOAT_ROW(rsqrt, build_fdiv(e, number(a, 1), build_sqrt(e, a)))
// NaN and the zeros stay as they are.
FLOAT_ROW(sign, build_select(e, build_fcmp(e, LLVMRealONE, a, number(a, 0)), build_copysign(e, number(a, 1), a), a))

FLOAT_ROW(floor, build_round(e, BUILD_FLOOR, a))
FLOAT_ROW(ceil, build_round(e, BUILD_CEIL, a))
FLOAT_ROW(trunc, build_round(e, BUILD_TRUNC, a))
FLOAT_ROW(roundeven, build_round(e, BUILD_NEAREST_EVEN, a))
// Half away from zero: adds the largest number below one half, so that what lies just below stays below.
FLOAT_ROW(round,
          build_round(e, BUILD_TRUNC,
                      build_fadd(e, a,
                                 build_copysign(e, number(a, build_is_f64(a) ? 0x1.fffffffffffffp-2 : 0x1.fffffep-2),
                                                a))))

FLOAT_ROW(is_nan, build_fcmp(e, LLVMRealUNO, a, a))
FLOAT_ROW(is_inf, build_fcmp(e, LLVMRealOEQ, build_fabs(e, a), infinity(a)))
FLOAT_ROW(is_finite, build_fcmp(e, LLVMRealOLT, build_fabs(e, a), infinity(a)))

#define FLOAT_COMPARES(ROW) ROW(eq, OEQ) ROW(ne, UNE) ROW(lt, OLT) ROW(le, OLE) ROW(gt, OGT) ROW(ge, OGE)
#define ROW(name, predicate) FLOAT_ROW(name, build_fcmp(e, LLVMReal##predicate, a, b))
FLOAT_COMPARES(ROW)
#undef ROW

//===----------------------------------------------------------------------------------------------------------------===
// Minimum and maximum
//===----------------------------------------------------------------------------------------------------------------===

// The number in every lane of a constant; false for anything else and for NaN.
static bool constant_number(LLVMValueRef value, double* out) {
  if (!LLVMIsConstant(value) || LLVMIsUndef(value)) return false;
  unsigned lanes = build_lanes(LLVMTypeOf(value));
  LLVMValueRef first = lanes ? LLVMGetAggregateElement(value, 0) : value;
  if (!first || !LLVMIsAConstantFP(first)) return false;
  for (unsigned i = 1; i < lanes; ++i) {
    if (LLVMGetAggregateElement(value, i) != first) return false;
  }
  LLVMBool lossy;
  *out = LLVMConstRealGetDouble(first, &lossy);
  return *out == *out;
}

// Against a constant that is not NaN one comparison does: NaN compares false and stays; what equal zeros give depends
// on the constant's sign.
static LLVMValueRef against_constant(emit_t* e, LLVMValueRef x, LLVMValueRef constant, double value, bool is_max) {
  bool keep_x = value == 0 && (__builtin_signbit(value) != 0) == is_max;
  LLVMRealPredicate predicate = is_max ? (keep_x ? LLVMRealOLT : LLVMRealOLE) : (keep_x ? LLVMRealOGT : LLVMRealOGE);
  return build_select(e, build_fcmp(e, predicate, x, constant), constant, x);
}

// A vector's extremum by x86's instruction that orders zeros by their signs. Where an operand is NaN the instruction
// gives the other one, so that comes at the end, and once in a chain of them: numbers in a row, then the flags of two
// operands by one comparison.
typedef struct range_t {
  LLVMValueRef number;       // right where `flags` is not set
  LLVMValueRef flags;        // one of the operands is NaN
  LLVMValueRef rest, alone;  // flags are `rest` or those of `alone`, which a comparison has for itself
} range_t;

static const char range_name[] = "llvm.x86.avx512.mask.range";

// What extremum_in_range made of `x` earlier in this block.
static bool find_range(emit_t* e, LLVMValueRef x, range_t* out) {
  if (!LLVMIsASelectInst(x) || LLVMGetInstructionParent(x) != LLVMGetInsertBlock(e->builder)) return false;
  LLVMValueRef flags = LLVMGetOperand(x, 0), number = LLVMGetOperand(x, 2);
  size_t length = 0;
  if (!LLVMIsACallInst(number)) return false;
  const char* name = LLVMGetValueName2(LLVMGetCalledValue(number), &length);
  if (length < strlen(range_name) || strncmp(name, range_name, strlen(range_name)) != 0) return false;
  *out = (range_t){.number = number, .flags = flags};
  if (LLVMIsAFCmpInst(flags)) return true;
  LLVMValueRef last = LLVMGetOperand(flags, 1);
  if (!LLVMIsAFCmpInst(last) || LLVMGetOperand(last, 0) != LLVMGetOperand(last, 1)) return true;
  out->rest = LLVMGetOperand(flags, 0), out->alone = LLVMGetOperand(last, 0);
  return true;
}

static LLVMValueRef are_nan(emit_t* e, LLVMValueRef a, LLVMValueRef b) { return build_fcmp(e, LLVMRealUNO, a, b); }

static LLVMValueRef extremum_in_range(emit_t* e, LLVMValueRef a, LLVMValueRef b, bool is_max) {
  enum { OF_SIGNED_ZEROS = 1 << 2, CURRENT_ROUNDING = 4 };
  range_t x, y;
  bool a_found = find_range(e, a, &x), b_found = find_range(e, b, &y);
  LLVMValueRef nan = number(a, __builtin_nan("")), flags;
  if (a_found && b_found) {
    flags = build_or(e, x.flags, y.flags);
  } else if (a_found || b_found) {
    range_t* chain = a_found ? &x : &y;
    LLVMValueRef leaf = a_found ? b : a;
    flags = chain->alone ? build_or(e, chain->rest, are_nan(e, chain->alone, leaf))
                         : build_or(e, chain->flags, are_nan(e, leaf, leaf));
  } else {
    flags = are_nan(e, a, b);
  }
  if (a_found) a = x.number;
  if (b_found) b = y.number;
  unsigned lanes = build_lanes(LLVMTypeOf(a)), total = build_bits(LLVMTypeOf(a)) * lanes;
  char name[48];
  snprintf(name, sizeof(name), "%s.%s.%u", range_name, build_is_f64(a) ? "pd" : "ps", total);
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context), mask = LLVMIntTypeInContext(e->context, lanes <= 8 ? 8 : lanes);
  LLVMValueRef way = LLVMConstInt(i32, OF_SIGNED_ZEROS + is_max, 0), mode = LLVMConstInt(i32, CURRENT_ROUNDING, 0);
  LLVMValueRef args[6] = {a, b, way, a, LLVMConstAllOnes(mask), mode};
  return build_select(e, flags, nan, build_intrinsic(e, name, NULL, 0, args, total == 512 ? 6 : 5));
}

static bool is_in_range(emit_t* e, LLVMTypeRef type) {
  unsigned bits = build_bits(type), total = bits * build_lanes(type);
  return e->features.range && (bits == 32 || bits == 64) && (total == 128 || total == 256 || total == 512);
}

// x86's instruction gives its second operand where they are equal or one is NaN. Done in both orders the bits of zeros
// that differ in sign, and of NaN, are right in one of the results: `or` gives the negative zero and keeps NaN, `and`
// gives the positive zero.
static LLVMValueRef extremum_both_ways(emit_t* e, LLVMValueRef a, LLVMValueRef b, bool is_max) {
  LLVMRealPredicate better = is_max ? LLVMRealOGT : LLVMRealOLT;
  LLVMValueRef first = build_bits_of(e, build_select(e, build_fcmp(e, better, a, b), a, b));
  LLVMValueRef second = build_bits_of(e, build_select(e, build_fcmp(e, better, b, a), b, a));
  if (!is_max) return build_from_bits(e, build_or(e, first, second), LLVMTypeOf(a));
  LLVMValueRef nan = build_sext(e, are_nan(e, a, b), LLVMTypeOf(first));
  return build_from_bits(e, build_or(e, build_and(e, first, second), nan), LLVMTypeOf(a));
}

static LLVMValueRef extremum(emit_t* e, LLVMValueRef a, LLVMValueRef b, bool is_max) {
  double value;
  if (!e->features.native_minimum) {
    if (constant_number(b, &value)) return against_constant(e, a, b, value, is_max);
    if (constant_number(a, &value)) return against_constant(e, b, a, value, is_max);
  }
  if (is_in_range(e, LLVMTypeOf(a))) return extremum_in_range(e, a, b, is_max);
  unsigned bits = build_bits(LLVMTypeOf(a));
  bool is_vector = build_lanes(LLVMTypeOf(a)) > 1 && (bits == 32 || bits == 64);
  if (is_vector && !e->features.native_minimum) return extremum_both_ways(e, a, b, is_max);
  return build_intrinsic2(e, is_max ? "llvm.maximum" : "llvm.minimum", a, b);
}
FLOAT_ROW(min, extremum(e, a, b, false))
FLOAT_ROW(max, extremum(e, a, b, true))
FLOAT_ROW(minnum, build_intrinsic2(e, "llvm.minnum", a, b))
FLOAT_ROW(maxnum, build_intrinsic2(e, "llvm.maxnum", a, b))

//===----------------------------------------------------------------------------------------------------------------===
// Remainder
//===----------------------------------------------------------------------------------------------------------------===

// The divisor, or a power of two times it where the quotient would overflow.
static LLVMValueRef reachable_divisor(emit_t* e, LLVMValueRef r, LLVMValueRef d) {
  LLVMValueRef far = build_fmul(e, d, number(d, 0x1p1000)), farther = build_fmul(e, far, number(d, 0x1p500));
  LLVMValueRef near_scaled = build_fmul(e, d, number(d, 0x1p900));
  LLVMValueRef scaled = build_select(e, build_fcmp(e, LLVMRealOGT, r, farther),
                                     build_fmul(e, near_scaled, number(d, 0x1p500)), near_scaled);
  return build_select(e, build_fcmp(e, LLVMRealOGT, r, far), scaled, d);
}

// Long division in steps that are exact: f32 takes 29 bits of quotient at a time in f64 arithmetic, f64 53 bits with an
// fma. A step may overshoot by a rounding error; the remainder is then kept with its sign turned.
LLVMValueRef emit_float_rem(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  bool wide = build_is_f64(a);
  LLVMTypeRef f64 = build_f64_type(e, LLVMTypeOf(a));
  LLVMValueRef x = build_fpext(e, build_fabs(e, a), f64), d = build_fpext(e, build_fabs(e, b), f64);
  LLVMValueRef flag = LLVMConstNull(build_int_type(e, f64, 1)), init[2] = {x, flag};
  build_loop_t loop = build_loop_begin(e, init, 2);
  LLVMValueRef r = loop.phis[0], turned = loop.phis[1];
  LLVMValueRef more = build_fcmp(e, LLVMRealOGE, r, d);
  build_loop_while(e, &loop, build_any(e, more));
  LLVMValueRef divisor = wide ? reachable_divisor(e, r, d) : d;
  LLVMValueRef q = build_round(e, BUILD_TRUNC, build_fdiv(e, r, divisor)), next;
  if (wide) {
    next = build_fma(e, build_fneg(e, q), divisor, r);
  } else {
    LLVMValueRef bits = build_bits_of(e, q);
    q = build_from_bits(e, build_and(e, bits, build_int(bits, ~((1ll << 24) - 1))), f64);
    next = build_fsub(e, r, build_fmul(e, q, d));
  }
  LLVMValueRef flipped = build_xor(e, turned, build_fcmp(e, LLVMRealOLT, next, number(next, 0)));
  LLVMValueRef values[2] = {build_select(e, more, build_fabs(e, next), r), build_select(e, more, flipped, turned)};
  build_loop_end(e, &loop, values);
  LLVMValueRef again = build_and(e, turned, build_fcmp(e, LLVMRealOGT, r, number(r, 0)));
  LLVMValueRef result = build_select(e, again, build_fsub(e, d, r), r);
  // A zero divisor or an infinite dividend has no remainder; NaN operands arrive as NaN.
  LLVMValueRef bad =
      build_or(e, build_fcmp(e, LLVMRealUEQ, d, number(d, 0)), build_fcmp(e, LLVMRealUEQ, x, infinity(x)));
  result = build_select(e, bad, number(result, __builtin_nan("")), result);
  return build_copysign(e, build_fptrunc(e, result, LLVMTypeOf(a)), a);
}
