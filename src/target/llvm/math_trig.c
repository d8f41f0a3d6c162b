// Sine, cosine, tangent and their inverses.
#include "target/llvm/math.h"

//===----------------------------------------------------------------------------------------------------------------===
// Reduction to |r| <= pi/4: x = q pi/2 + r
//===----------------------------------------------------------------------------------------------------------------===

typedef struct reduced_t {
  LLVMValueRef r, quadrant;  // quadrant: integer of r's size, its two lowest bits count
} reduced_t;

// pi/2 in three parts; each product is exact or nearly so as long as q is small.
static reduced_t reduce_near(emit_t* e, LLVMValueRef x) {
  static const double parts[2][3] = {{0x1.921fb6p+0, -0x1.777a5cp-25, -0x1.ee59dap-50},
                                     {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110}};
  reduced_t out;
  LLVMValueRef q = math_nearest(e, build_fmul(e, x, build_float(x, 0x1.45f306dc9c883p-1)), &out.quadrant);
  LLVMValueRef minus = build_fneg(e, q), r = x;
  for (int i = 0; i < 3; ++i) r = build_fma(e, minus, build_float(x, parts[build_is_f64(x)][i]), r);
  out.r = build_select(e, build_fcmp(e, LLVMRealOEQ, x, build_float(x, 0)), x, r);  // keeps -0
  return out;
}

// 2/pi in words of 32 bits after two words of zeros: word i holds the bits of weight 2^(31 - 32 (i - 2) - 32) and
// below.
static const uint32_t two_over_pi[] = {
    0,          0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
    0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b,
    0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea,
    0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d, 0xa9e39161,
};
enum { TABLE_WORDS = sizeof(two_over_pi) / sizeof(two_over_pi[0]), MOST_WORDS = 6 };

// The words of the table from `index` on, `count` of them, in lanes of i64. Each is a chain of choices over the indices
// that there may be, as this path is rare and must not need memory; which index a lane has is asked once for all words,
// in lanes of 32 bits, of which a vector has twice as many.
static void table_words(emit_t* e, LLVMValueRef index, unsigned first, unsigned last, unsigned count,
                        LLVMValueRef* out) {
  LLVMTypeRef i32 = build_int_type(e, LLVMTypeOf(index), 32), i64 = LLVMTypeOf(index);
  LLVMValueRef here[TABLE_WORDS], narrow = build_trunc(e, index, i32);
  for (unsigned i = first + 1; i <= last; ++i) here[i] = build_icmp(e, LLVMIntEQ, narrow, build_int(narrow, i));
  for (unsigned k = 0; k < count; ++k) {
    LLVMValueRef word = build_int(narrow, two_over_pi[first + k]);
    for (unsigned i = first + 1; i <= last && i + k < TABLE_WORDS; ++i) {
      word = build_select(e, here[i], build_int(narrow, two_over_pi[i + k]), word);
    }
    out[k] = build_zext(e, word, i64);
  }
}

// The window of 2/pi * 2^(exponent - 2) below the binary point, `count` words of 32 bits in i64 lanes, highest first.
static void table_window(emit_t* e, LLVMValueRef exponent, bool wide, unsigned count, LLVMValueRef* out) {
  LLVMValueRef words[MOST_WORDS + 1];
  LLVMValueRef position = build_add(e, exponent, build_int(exponent, 62));  // in the table, which starts 64 bits early
  LLVMValueRef index = build_lshr(e, position, build_int(position, 5));
  LLVMValueRef shift = build_and(e, position, build_int(position, 31));
  table_words(e, index, wide ? 0 : 1, wide ? 32 : 5, count + 1, words);
  for (unsigned i = 0; i < count; ++i) {
    LLVMValueRef both = build_or(e, build_shl(e, words[i], build_int(index, 32)), words[i + 1]);
    out[i] = build_lshr(e, build_shl(e, both, shift), build_int(both, 32));
  }
}

// product += factor * window, both in 32-bit words; factor's weight is 2^(32 * places).
static void multiply_add(emit_t* e, LLVMValueRef* product, const LLVMValueRef* window, unsigned count,
                         LLVMValueRef factor, unsigned places) {
  LLVMValueRef mask = build_int(factor, 0xffffffff), word = build_int(factor, 32), carry = build_int(factor, 0);
  for (unsigned i = count; i-- > 0;) {
    if (i < places) continue;
    unsigned to = i - places;
    LLVMValueRef term = build_add(e, build_mul(e, window[i], factor), build_add(e, product[to], carry));
    product[to] = build_and(e, term, mask);
    carry = build_lshr(e, term, word);
  }
}

// Any size from the near limit on: multiplies the mantissa with as much of 2/pi as matters, modulo 4, in integers.
static reduced_t reduce_far(emit_t* e, LLVMValueRef x) {
  bool wide = build_is_f64(x);
  LLVMTypeRef type = LLVMTypeOf(x), i64 = build_int_type(e, type, 64), f64 = build_f64_type(e, type);
  unsigned count = wide ? 6 : 3, mantissa_bits = wide ? 52 : 23;
  LLVMValueRef bits = build_zext(e, build_bits_of(e, build_fabs(e, x)), i64);
  LLVMValueRef biased = build_lshr(e, bits, build_int(bits, mantissa_bits));
  LLVMValueRef one = build_int(bits, 1ll << mantissa_bits);
  LLVMValueRef mantissa = build_or(e, build_and(e, bits, build_sub(e, one, build_int(bits, 1))), one);
  LLVMValueRef exponent = build_sub(e, biased, build_int(bits, (wide ? 1023 : 127) + mantissa_bits));
  LLVMValueRef window[MOST_WORDS], product[MOST_WORDS];
  table_window(e, exponent, wide, count, window);
  for (unsigned i = 0; i < count; ++i) product[i] = build_int(bits, 0);
  multiply_add(e, product, window, count, build_and(e, mantissa, build_int(bits, 0xffffffff)), 0);
  if (wide) multiply_add(e, product, window, count, build_lshr(e, mantissa, build_int(bits, 32)), 1);
  // The two highest bits are the quadrant; the rest, read as signed, is the fraction.
  LLVMValueRef two = build_int(bits, 2), word = build_int(bits, 32);
  LLVMValueRef head = build_or(e, build_shl(e, product[0], word), product[1]);
  LLVMValueRef next =
      count > 3 ? build_or(e, build_shl(e, product[2], word), product[3]) : build_shl(e, product[2], word);
  LLVMValueRef fraction = build_or(e, build_shl(e, head, two), build_lshr(e, next, build_int(bits, 62)));
  LLVMValueRef rest = build_shl(e, next, two);
  LLVMValueRef quadrant =
      build_add(e, build_lshr(e, head, build_int(bits, 62)), build_lshr(e, fraction, build_int(bits, 63)));
  LLVMValueRef high = build_fmul(e, build_sitofp(e, fraction, f64), build_float_of(f64, 0x1p-64));
  LLVMValueRef low = build_fmul(e, build_uitofp(e, rest, f64), build_float_of(f64, 0x1p-128));
  LLVMValueRef half_pi = build_float_of(f64, 0x1.921fb54442d18p+0);
  LLVMValueRef small = build_mad(e, low, half_pi, build_fmul(e, high, build_float_of(f64, 0x1.1a62633145c07p-54)));
  LLVMValueRef r = build_fptrunc(e, build_mad(e, high, half_pi, small), type);
  LLVMValueRef negative = build_is_negative(e, x);
  quadrant = build_trunc(e, quadrant, build_int_type(e, type, build_bits(type)));
  reduced_t out = {build_select(e, negative, build_fneg(e, r), r),
                   build_select(e, negative, build_sub(e, build_int(quadrant, 0), quadrant), quadrant)};
  return out;
}

enum { MOST_LANES = 64, LOOP_LANES = 8 };

// `low` in place of the lanes that x moves down by: both come in turn to the lowest lanes.
static LLVMValueRef move_in(emit_t* e, LLVMValueRef x, LLVMValueRef low) {
  unsigned lanes = build_lanes(LLVMTypeOf(x)), part = build_lanes(LLVMTypeOf(low));
  int wide[MOST_LANES], moved[MOST_LANES];
  for (unsigned i = 0; i < lanes; ++i) {
    wide[i] = (int)(i % part);
    moved[i] = (int)(i + part < lanes ? i + part : lanes + i % part);
  }
  return build_shuffle(e, x, build_shuffle(e, low, low, wide, lanes), moved, lanes);
}

// The same in rounds over half of the lanes: integers of 64 bits fill a register so. All lanes at once would be two,
// and the compiler at work on this rare path for twice as long as on all the rest.
static reduced_t reduce_far_rounds(emit_t* e, LLVMValueRef x) {
  LLVMTypeRef type = LLVMTypeOf(x);
  unsigned lanes = build_lanes(type), part = lanes / 2;
  int mask[MOST_LANES];
  if (lanes < LOOP_LANES || lanes > MOST_LANES || build_is_f64(x)) return reduce_far(e, x);
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
  LLVMValueRef init[] = {LLVMConstInt(i32, 0, 0), x, x, LLVMConstNull(build_int_type(e, type, build_bits(type)))};
  build_loop_t loop = build_loop_begin(e, init, 4);
  build_loop_while(e, &loop, build_icmp(e, LLVMIntULT, loop.phis[0], LLVMConstInt(i32, lanes / part, 0)));
  for (unsigned i = 0; i < part; ++i) mask[i] = (int)i;
  LLVMValueRef low = build_shuffle(e, loop.phis[1], loop.phis[1], mask, part);
  reduced_t far = reduce_far(e, low);
  LLVMValueRef next[] = {build_add(e, loop.phis[0], LLVMConstInt(i32, 1, 0)), move_in(e, loop.phis[1], low),
                         move_in(e, loop.phis[2], far.r), move_in(e, loop.phis[3], far.quadrant)};
  build_loop_end(e, &loop, next);
  return (reduced_t){loop.phis[2], loop.phis[3]};
}

// The near reduction; a branch to the far one when some lane needs it.
static reduced_t reduce(emit_t* e, LLVMValueRef x) {
  LLVMValueRef near_limit = math_number(x, 0x1p16, 0x1p20);
  reduced_t near = reduce_near(e, x);
  LLVMValueRef far_lanes = build_fcmp(e, LLVMRealOGE, build_fabs(e, x), near_limit);
  LLVMBasicBlockRef from = LLVMGetInsertBlock(e->builder), slow = build_block(e, "far"), join = build_block(e, "near");
  LLVMBuildCondBr(e->builder, build_any(e, far_lanes), slow, join);
  LLVMPositionBuilderAtEnd(e->builder, slow);
  reduced_t far = reduce_far_rounds(e, x);
  far.r = build_select(e, far_lanes, far.r, near.r);
  far.quadrant = build_select(e, far_lanes, far.quadrant, near.quadrant);
  LLVMBasicBlockRef end = LLVMGetInsertBlock(e->builder), blocks[2] = {from, end};
  LLVMBuildBr(e->builder, join);
  LLVMPositionBuilderAtEnd(e->builder, join);
  reduced_t out = {LLVMBuildPhi(e->builder, LLVMTypeOf(x), ""),
                   LLVMBuildPhi(e->builder, LLVMTypeOf(near.quadrant), "")};
  LLVMAddIncoming(out.r, (LLVMValueRef[]){near.r, far.r}, blocks, 2);
  LLVMAddIncoming(out.quadrant, (LLVMValueRef[]){near.quadrant, far.quadrant}, blocks, 2);
  return out;
}

//===----------------------------------------------------------------------------------------------------------------===
// Sine, cosine, tangent
//===----------------------------------------------------------------------------------------------------------------===

static LLVMValueRef sin_small(emit_t* e, LLVMValueRef r) {
  LLVMValueRef z = build_fmul(e, r, r);
  return build_select(e, build_fcmp(e, LLVMRealOEQ, r, build_float(r, 0)), r,
                      build_mad(e, build_fmul(e, r, z), math_poly(e, MATH_SIN, z), r));
}

static LLVMValueRef cos_small(emit_t* e, LLVMValueRef r) {
  LLVMValueRef z = build_fmul(e, r, r), one = build_float(r, 1);
  LLVMValueRef tail = build_fmul(e, build_fmul(e, z, z), math_poly(e, MATH_COS, z));
  LLVMValueRef half = build_fmul(e, z, build_float(r, 0.5)), w = build_fsub(e, one, half);
  return build_fadd(e, w, build_fadd(e, build_fsub(e, build_fsub(e, one, w), half), tail));
}

static LLVMValueRef bit_is_set(emit_t* e, LLVMValueRef value, int64_t bit) {
  return build_icmp(e, LLVMIntNE, build_and(e, value, build_int(value, bit)), build_int(value, 0));
}

// Infinities have no angle.
static LLVMValueRef finite_only(emit_t* e, LLVMValueRef x, LLVMValueRef result) {
  LLVMValueRef finite = build_fcmp(e, LLVMRealOLT, build_fabs(e, x), build_float(x, __builtin_inf()));
  return build_select(e, finite, result, build_float(x, __builtin_nan("")));
}

static LLVMValueRef sine(emit_t* e, LLVMValueRef x, int quarter_turns) {
  reduced_t a = reduce(e, x);
  LLVMValueRef q = quarter_turns ? build_add(e, a.quadrant, build_int(a.quadrant, quarter_turns)) : a.quadrant;
  LLVMValueRef r = build_select(e, bit_is_set(e, q, 1), cos_small(e, a.r), sin_small(e, a.r));
  return finite_only(e, x, build_select(e, bit_is_set(e, q, 2), build_fneg(e, r), r));
}

LLVMValueRef emit_float_sin(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) { return sine(e, a, 0); }
LLVMValueRef emit_float_cos(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) { return sine(e, a, 1); }

LLVMValueRef emit_float_tan(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  reduced_t angle = reduce(e, a);
  LLVMValueRef s = sin_small(e, angle.r), k = cos_small(e, angle.r), odd = bit_is_set(e, angle.quadrant, 1);
  LLVMValueRef top = build_select(e, odd, build_fneg(e, k), s);
  return finite_only(e, a, build_fdiv(e, top, build_select(e, odd, s, k)));
}

//===----------------------------------------------------------------------------------------------------------------===
// Inverses
//===----------------------------------------------------------------------------------------------------------------===

static LLVMValueRef pi_part(LLVMValueRef like, double scale, bool low) {
  return low ? build_float(like, scale * math_pick(like, -0x1.777a5cp-24, 0x1.1a62633145c07p-53))
             : build_float(like, scale * math_pick(like, 0x1.921fb6p+1, 0x1.921fb54442d18p+1));
}

// asin of |x|: for small ones a polynomial in x^2; for large ones asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)).
// `angle` is the asin of the inner argument, `large` says which it is.
static LLVMValueRef asin_inner(emit_t* e, LLVMValueRef y, LLVMValueRef* large) {
  LLVMValueRef half = build_float(y, 0.5);
  *large = build_fcmp(e, LLVMRealOGT, y, half);
  LLVMValueRef rest = build_fmul(e, build_fsub(e, build_float(y, 1), y), half);
  LLVMValueRef z = build_select(e, *large, rest, build_fmul(e, y, y));
  LLVMValueRef t = build_select(e, *large, build_sqrt(e, rest), y);
  return build_mad(e, build_fmul(e, t, z), math_poly(e, MATH_ASIN, z), t);
}

LLVMValueRef emit_float_asin(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef large, angle = asin_inner(e, build_fabs(e, a), &large);
  LLVMValueRef twice = build_fsub(e, pi_part(a, 0.5, true), build_fadd(e, angle, angle));
  return build_copysign(e, build_select(e, large, build_fadd(e, pi_part(a, 0.5, false), twice), angle), a);
}

LLVMValueRef emit_float_acos(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef large, angle = asin_inner(e, build_fabs(e, a), &large), twice = build_fadd(e, angle, angle);
  LLVMValueRef negative = build_fcmp(e, LLVMRealOLT, a, build_float(a, 0));
  LLVMValueRef left = build_fadd(e, pi_part(a, 1, false), build_fsub(e, pi_part(a, 1, true), twice));
  LLVMValueRef outer = build_select(e, negative, left, twice);
  LLVMValueRef turned = build_copysign(e, angle, a);
  LLVMValueRef inner = build_fadd(e, pi_part(a, 0.5, false), build_fsub(e, pi_part(a, 0.5, true), turned));
  return build_select(e, large, outer, inner);
}

// base + atan(top / bottom), |top / bottom| <= tan(pi/8)
static LLVMValueRef atan_sum(emit_t* e, LLVMValueRef top, LLVMValueRef bottom, LLVMValueRef turns) {
  LLVMValueRef t = build_fdiv(e, top, bottom), z = build_fmul(e, t, t);
  LLVMValueRef low = build_fmul(e, turns, pi_part(t, 1, true));
  LLVMValueRef tail = build_mad(e, build_fmul(e, t, z), math_poly(e, MATH_ATAN, z), low);
  return build_mad(e, turns, pi_part(t, 1, false), build_fadd(e, t, tail));
}

static const double tan_eighth = 0x1.a827999fcef32p-2;  // tan(pi/8)

LLVMValueRef emit_float_atan(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef y = build_fabs(e, a), one = build_float(a, 1);
  LLVMValueRef far = build_fcmp(e, LLVMRealOGT, y, build_float(a, 1 / tan_eighth));
  LLVMValueRef middle = build_fcmp(e, LLVMRealOGT, y, build_float(a, tan_eighth));
  LLVMValueRef top = build_select(e, middle, build_fsub(e, y, one), y);
  LLVMValueRef bottom = build_select(e, middle, build_fadd(e, y, one), one);
  LLVMValueRef turns = build_select(e, middle, build_float(a, 0.25), build_float(a, 0));
  top = build_select(e, far, build_float(a, -1), top);
  bottom = build_select(e, far, y, bottom);
  turns = build_select(e, far, build_float(a, 0.5), turns);
  return build_copysign(e, atan_sum(e, top, bottom, turns), a);
}

LLVMValueRef emit_float_atan2(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  if (!build_is_f64(a)) return math_through_f64(e, emit_float_atan2, a, b);
  LLVMValueRef y = build_fabs(e, a), x = build_fabs(e, b), one = build_float(a, 1), zero = build_float(a, 0);
  LLVMValueRef inf = build_float(a, __builtin_inf());
  LLVMValueRef both = build_and(e, build_fcmp(e, LLVMRealOEQ, x, inf), build_fcmp(e, LLVMRealOEQ, y, inf));
  LLVMValueRef scale = build_select(e, build_fcmp(e, LLVMRealOGT, build_max(e, x, y), build_float(a, 0x1p1000)),
                                    build_float(a, 0x1p-30), one);
  y = build_select(e, both, one, build_fmul(e, y, scale));
  x = build_select(e, both, one, build_fmul(e, x, scale));
  LLVMValueRef steep = build_fcmp(e, LLVMRealOGT, y, x);
  LLVMValueRef least = build_select(e, steep, x, y), most = build_select(e, steep, y, x);
  LLVMValueRef middle = build_fcmp(e, LLVMRealOGT, least, build_fmul(e, most, build_float(a, tan_eighth)));
  LLVMValueRef top = build_select(e, middle, build_fsub(e, least, most), least);
  LLVMValueRef bottom = build_select(e, middle, build_fadd(e, least, most), most);
  bottom = build_select(e, build_fcmp(e, LLVMRealOEQ, most, zero), one, bottom);
  LLVMValueRef turns = build_select(e, middle, build_float(a, 0.25), zero);
  // steep: a quarter turn less the angle; left half: a half turn less that. Both are a sign and an offset.
  LLVMValueRef left = build_is_negative(e, b);
  LLVMValueRef offset = build_select(e, left, one, zero), sign = build_select(e, left, build_float(a, -1), one);
  offset = build_select(e, steep, build_float(a, 0.5), offset);
  sign = build_select(e, steep, build_fneg(e, sign), sign);
  LLVMValueRef all_turns = build_mad(e, sign, turns, offset);
  LLVMValueRef r = atan_sum(e, build_fmul(e, top, sign), bottom, all_turns);
  r = build_copysign(e, r, a);
  return build_select(e, build_fcmp(e, LLVMRealUNO, a, b), build_float(a, __builtin_nan("")), r);
}
