// What float rows compute, from the manuals' definitions by exact.h, the same for f16, f32 and f64.
#ifndef IREE_C_TESTS_ISA_FLOAT_CASES_H_
#define IREE_C_TESTS_ISA_FLOAT_CASES_H_

#include "exact.h"
#include "rows.h"

// A question: sources have their modifiers, and no denormal that MODE takes away.
typedef struct ask_t {
  const exact_format_t* f;
  exact_mode_t m;
  bool quiets;  // IEEE: signaling NaNs win in minima and maxima
  bool vcc;
  uint64_t in[3];
} ask_t;

static exact_t value_of(const ask_t* q, uint64_t bits) { return exact_of(q->f, bits); }
static uint64_t round_to(const ask_t* q, exact_t x) { return exact_round(q->f, q->m.round, x); }
static uint64_t negated(const ask_t* q, uint64_t bits) { return bits ^ exact_sign(q->f); }
static uint64_t size_of(const ask_t* q, uint64_t bits) { return bits & ~exact_sign(q->f); }
static bool is_nan(const ask_t* q, uint64_t bits) { return exact_is_nan(q->f, bits); }
static bool is_zero(const ask_t* q, uint64_t bits) { return size_of(q, bits) == 0; }
static uint64_t quieted(const ask_t* q, uint64_t bits) { return bits | (is_nan(q, bits) ? exact_quiet(q->f) : 0); }
// What arithmetic makes of its own result when that is used again: no denormal that MODE takes away.
static uint64_t kept_of(const ask_t* q, uint64_t bits) { return exact_in(q->f, q->m, exact_out(q->f, q->m, bits)); }

static uint64_t add(const ask_t* q, uint64_t a, uint64_t b) {
  return round_to(q, exact_add(value_of(q, a), value_of(q, b), q->m.round));
}
static uint64_t multiply(const ask_t* q, uint64_t a, uint64_t b) {
  return round_to(q, exact_multiply(value_of(q, a), value_of(q, b)));
}
static uint64_t fused(const ask_t* q, uint64_t a, uint64_t b, uint64_t c) {
  return round_to(q, exact_add(exact_multiply(value_of(q, a), value_of(q, b)), value_of(q, c), q->m.round));
}
static uint64_t unfused(const ask_t* q, uint64_t a, uint64_t b, uint64_t c) {
  return add(q, kept_of(q, multiply(q, a, b)), c);
}
static uint64_t zero_product(const ask_t* q, uint64_t a, uint64_t b) {
  return is_zero(q, a) || is_zero(q, b) ? 0 : multiply(q, a, b);
}

// -1, 0, 1 with -0 below +0; no NaN.
static int order(const ask_t* q, uint64_t a, uint64_t b) {
  int64_t x = (int64_t)size_of(q, a), y = (int64_t)size_of(q, b);
  if (a & exact_sign(q->f)) x = -x - 1;
  if (b & exact_sign(q->f)) y = -y - 1;
  return x < y ? -1 : x > y;
}
static uint64_t least_number(const ask_t* q, uint64_t a, uint64_t b) {
  if (q->quiets && exact_is_signaling(q->f, a)) return quieted(q, a);
  if (q->quiets && exact_is_signaling(q->f, b)) return quieted(q, b);
  if (is_nan(q, a)) return quieted(q, b);
  if (is_nan(q, b)) return a;
  return order(q, a, b) < 0 ? a : b;
}
static uint64_t most_number(const ask_t* q, uint64_t a, uint64_t b) {
  if (is_nan(q, a) || is_nan(q, b)) return least_number(q, a, b);
  return order(q, a, b) > 0 ? a : b;
}
static uint64_t least(const ask_t* q, uint64_t a, uint64_t b) {
  if (is_nan(q, a) || is_nan(q, b)) return quieted(q, is_nan(q, a) ? a : b);
  return order(q, a, b) < 0 ? a : b;
}
static uint64_t most(const ask_t* q, uint64_t a, uint64_t b) {
  if (is_nan(q, a) || is_nan(q, b)) return quieted(q, is_nan(q, a) ? a : b);
  return order(q, a, b) > 0 ? a : b;
}
static uint64_t median(const ask_t* q, uint64_t a, uint64_t b, uint64_t c) {
  if (is_nan(q, a) || is_nan(q, b) || is_nan(q, c)) return least_number(q, least_number(q, a, b), c);
  uint64_t top = most_number(q, most_number(q, a, b), c);
  bool zeros = is_zero(q, top);
  if (top == a || (zeros && is_zero(q, a))) return most_number(q, b, c);
  if (top == b || (zeros && is_zero(q, b))) return most_number(q, a, c);
  return most_number(q, a, b);
}

static uint64_t whole(const ask_t* q, uint64_t a, int round) {
  return is_nan(q, a) ? quieted(q, a) : exact_round(q->f, 0, exact_whole(value_of(q, a), round));
}
static uint64_t fraction(const ask_t* q, uint64_t a) {
  uint64_t below_one = ((uint64_t)q->f->bias << q->f->fraction) - 1;
  uint64_t result = add(q, a, negated(q, whole(q, a, 2)));
  return !is_nan(q, result) && !(result & exact_sign(q->f)) && result > below_one ? below_one : result;
}
static exact_t scaled(const ask_t* q, uint64_t a, int64_t n) {
  exact_t x = value_of(q, a);
  if (x.kind == EXACT_NUMBER) x.exponent += (int)(n > 5000 ? 5000 : n < -5000 ? -5000 : n);
  return x;
}
// Exponent of a mantissa in [0.5, 1).
static int exponent_of(const ask_t* q, uint64_t a) {
  exact_t x = value_of(q, a);
  if (x.kind != EXACT_NUMBER) return 0;
  int exponent = x.exponent;
  for (; x.fraction; x.fraction >>= 1) ++exponent;
  return exponent;
}
static uint64_t mantissa(const ask_t* q, uint64_t a) {
  exact_t x = value_of(q, a);
  return x.kind == EXACT_NUMBER ? round_to(q, scaled(q, a, -exponent_of(q, a))) : quieted(q, a);
}

static int field_of(const ask_t* q, uint64_t a) { return (int)(size_of(q, a) >> q->f->fraction); }
static uint64_t fixed_up(const ask_t* q, uint64_t a, uint64_t b, uint64_t c) {
  uint64_t infinity = exact_infinity(q->f), sign = (b ^ c) & exact_sign(q->f);
  if (is_nan(q, c)) return quieted(q, c);
  if (is_nan(q, b)) return quieted(q, b);
  bool b_infinite = size_of(q, b) == infinity, c_infinite = size_of(q, c) == infinity;
  if ((is_zero(q, b) && is_zero(q, c)) || (b_infinite && c_infinite)) return infinity | exact_quiet(q->f);
  if (is_zero(q, b) || c_infinite) return sign | infinity;
  if (b_infinite || is_zero(q, c)) return sign;
  int far = q->f->bits == 32 ? -150 : q->f->bits == 64 ? -1075 : -1000;
  if (field_of(q, c) - field_of(q, b) < far) return sign;
  return sign | size_of(q, a);
}
// The scale is fused: a sum within the normal numbers is not rounded before it is scaled.
static uint64_t fused_scaled(const ask_t* q, uint64_t a, uint64_t b, uint64_t c) {
  uint64_t result = fused(q, a, b, c);
  if (!q->vcc || is_nan(q, result)) return result;
  int step = (q->f->bits == 32 ? 64 : 128) * (field_of(q, c) > q->f->bias ? 1 : -1);
  if (!field_of(q, result) || size_of(q, result) >= exact_infinity(q->f) - 1)
    return round_to(q, scaled(q, kept_of(q, result), step));
  exact_t sum = exact_add(exact_multiply(value_of(q, a), value_of(q, b)), value_of(q, c), q->m.round);
  sum.exponent += step;
  return round_to(q, sum);
}

// A light's product, but the least number where its exponent or guard forbids it.
static uint64_t lit_product(const ask_t* q, uint64_t a, uint64_t b, uint64_t c) {
  bool is_hidden = b == 0xff7fffff || b == 0xff800000 || is_nan(q, b) || is_nan(q, c) || is_zero(q, c) || c >> 31;
  return is_hidden ? 0xff7fffff : multiply(q, a, b);
}
// Faces of a cube: 4 and 5 of z, 2 and 3 of y, 0 and 1 of x.
static uint32_t face_of(const ask_t* q, const uint64_t* in) {
  float x = rows_float((uint32_t)size_of(q, in[0])), y = rows_float((uint32_t)size_of(q, in[1]));
  float z = rows_float((uint32_t)size_of(q, in[2]));
  uint32_t axis = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
  return 2 * axis + (rows_float((uint32_t)in[axis]) < 0);
}
static uint64_t cube_s(const ask_t* q, uint64_t x, uint64_t z, uint32_t face) {
  const uint64_t list[] = {negated(q, z), z, x, x, x, negated(q, x)};
  return list[face];
}
static uint64_t cube_t(const ask_t* q, uint64_t y, uint64_t z, uint32_t face) {
  const uint64_t list[] = {negated(q, y), negated(q, y), z, negated(q, z), negated(q, y), negated(q, y)};
  return list[face];
}

// CASE(stem, formats, sources, upper half on gfx9, value of q, a, b and c)
//   formats: H f16, S f32, D f64; OLD: the last source is the destination
//   KEPT and CLEARED halves; LATER: gfx9 has no such row
//   PASSES: a denormal source may go through as it is
enum { H = 1, S = 2, D = 4, SECOND_INTEGER = 64, PASSES = 128, OLD = 256, FLUSHED = 512 };
typedef enum { CLEARED, KEPT, LATER } upper_t;
// clang-format off
#define ARITHMETIC(CASE)                                                                     \
  CASE(add, H | S | D, 2, CLEARED, add(q, a, b))                                             \
  CASE(sub, H | S, 2, CLEARED, add(q, a, negated(q, b)))                                     \
  CASE(subrev, H | S, 2, CLEARED, add(q, b, negated(q, a)))                                  \
  CASE(mul, H | S | D, 2, CLEARED, multiply(q, a, b))                                        \
  CASE(mul_legacy, S, 2, CLEARED, zero_product(q, a, b))                                     \
  CASE(mul_dx9_zero, S, 2, CLEARED, zero_product(q, a, b))                                   \
  CASE(fma, H | S | D, 3, KEPT, fused(q, a, b, c))                                           \
  CASE(fmamk, H | S, 3, KEPT, fused(q, a, b, c))                                             \
  CASE(fmaak, H | S, 3, KEPT, fused(q, a, b, c))                                             \
  CASE(fmac, H | S | D | OLD, 3, KEPT, fused(q, a, b, c))                                    \
  CASE(mad, H | S | FLUSHED, 3, KEPT, unfused(q, a, b, c))                                   \
  CASE(madmk, H | S | FLUSHED, 3, KEPT, unfused(q, a, b, c))                                 \
  CASE(madak, H | S | FLUSHED, 3, KEPT, unfused(q, a, b, c))                                 \
  CASE(mac, H | S | OLD | FLUSHED, 3, KEPT, unfused(q, a, b, c))                             \
  CASE(mullit, S, 3, CLEARED, lit_product(q, a, b, c))
// A zero factor of these hides the other.
#define ZERO_RULES(CASE)                                                                     \
  CASE(fma_legacy, S | PASSES, 3, CLEARED, is_zero(q, a) || is_zero(q, b) ? c : fused(q, a, b, c))       \
  CASE(fma_dx9_zero, S | PASSES, 3, CLEARED, is_zero(q, a) || is_zero(q, b) ? c : fused(q, a, b, c))     \
  CASE(fmac_legacy, S | OLD | PASSES, 3, CLEARED, is_zero(q, a) || is_zero(q, b) ? c : fused(q, a, b, c)) \
  CASE(fmac_dx9_zero, S | OLD | PASSES, 3, CLEARED, is_zero(q, a) || is_zero(q, b) ? c : fused(q, a, b, c)) \
  CASE(mad_legacy, S | FLUSHED, 3, CLEARED, add(q, kept_of(q, zero_product(q, a, b)), c))    \
  CASE(mac_legacy, S | OLD | FLUSHED, 3, CLEARED, add(q, kept_of(q, zero_product(q, a, b)), c))
#define EXTREMA(CASE)                                                                        \
  CASE(min, H | S | D, 2, CLEARED, least_number(q, a, b))                                    \
  CASE(max, H | S | D, 2, CLEARED, most_number(q, a, b))                                     \
  CASE(min_num, H | S | D, 2, LATER, least_number(q, a, b))                                  \
  CASE(max_num, H | S | D, 2, LATER, most_number(q, a, b))                                   \
  CASE(minimum, H | S | D, 2, LATER, least(q, a, b))                                         \
  CASE(maximum, H | S | D, 2, LATER, most(q, a, b))                                          \
  CASE(min3, H | S, 3, KEPT, least_number(q, least_number(q, a, b), c))                      \
  CASE(max3, H | S, 3, KEPT, most_number(q, most_number(q, a, b), c))                        \
  CASE(med3, H | S, 3, KEPT, median(q, a, b, c))                                             \
  CASE(min3_num, H | S, 3, LATER, least_number(q, least_number(q, a, b), c))                 \
  CASE(max3_num, H | S, 3, LATER, most_number(q, most_number(q, a, b), c))                   \
  CASE(med3_num, H | S, 3, LATER, median(q, a, b, c))                                        \
  CASE(minmax, H | S, 3, LATER, most_number(q, least_number(q, a, b), c))                    \
  CASE(maxmin, H | S, 3, LATER, least_number(q, most_number(q, a, b), c))                    \
  CASE(minmax_num, H | S, 3, LATER, most_number(q, least_number(q, a, b), c))                \
  CASE(maxmin_num, H | S, 3, LATER, least_number(q, most_number(q, a, b), c))                \
  CASE(minimum3, H | S, 3, LATER, least(q, least(q, a, b), c))                               \
  CASE(maximum3, H | S, 3, LATER, most(q, most(q, a, b), c))                                 \
  CASE(minimummaximum, H | S, 3, LATER, most(q, least(q, a, b), c))                          \
  CASE(maximumminimum, H | S, 3, LATER, least(q, most(q, a, b), c))
#define PARTS(CASE)                                                                          \
  CASE(trunc, H | S | D, 1, CLEARED, whole(q, a, 3))                                         \
  CASE(ceil, H | S | D, 1, CLEARED, whole(q, a, 1))                                          \
  CASE(floor, H | S | D, 1, CLEARED, whole(q, a, 2))                                         \
  CASE(rndne, H | S | D, 1, CLEARED, whole(q, a, 0))                                         \
  CASE(fract, H | S | D, 1, CLEARED, fraction(q, a))                                         \
  CASE(frexp_mant, H | S | D, 1, CLEARED, mantissa(q, a))                                    \
  CASE(ldexp, H | S | D | SECOND_INTEGER, 2, CLEARED,                                        \
       is_nan(q, a) ? quieted(q, a)                                                          \
                    : round_to(q, scaled(q, a, q->f->bits == 16 ? (int16_t)b : (int32_t)b))) \
  CASE(div_fixup, H | S | D | PASSES, 3, KEPT, fixed_up(q, a, b, c))                         \
  CASE(div_fmas, S | D, 3, CLEARED, fused_scaled(q, a, b, c))                                \
  CASE(cubeid, S, 3, CLEARED, (const uint32_t[]){0, 0x3f800000, 0x40000000, 0x40400000, 0x40800000,       \
                                                 0x40a00000}[face_of(q, q->in)])             \
  CASE(cubesc, S | PASSES, 3, CLEARED, cube_s(q, a, c, face_of(q, q->in)))                   \
  CASE(cubetc, S | PASSES, 3, CLEARED, cube_t(q, b, c, face_of(q, q->in)))                   \
  CASE(cubema, S, 3, CLEARED, add(q, q->in[face_of(q, q->in) / 2], q->in[face_of(q, q->in) / 2]))
#define CASES(CASE) ARITHMETIC(CASE) ZERO_RULES(CASE) EXTREMA(CASE) PARTS(CASE)
// clang-format on

typedef uint64_t (*reference_t)(const ask_t* q);
#define CASE(stem, formats, sources, upper, ...)             \
  static uint64_t of_##stem(const ask_t* q) {                \
    const uint64_t a = q->in[0], b = q->in[1], c = q->in[2]; \
    (void)a, (void)b, (void)c;                               \
    return __VA_ARGS__;                                      \
  }
CASES(CASE)
#undef CASE

typedef struct case_t {
  const char* stem;
  uint32_t formats, sources;
  upper_t upper;
  reference_t reference;
} case_t;
static const case_t cases[] = {
#define CASE(stem, formats, sources, upper, ...) {#stem, formats, sources, upper, of_##stem},
    CASES(CASE)
#undef CASE
    // The names that gfx9 keeps for rows that clear the upper half.
    {"fma_legacy", H, 3, CLEARED, of_fma},
    {"mad_legacy", H | FLUSHED, 3, CLEARED, of_mad},
    {"div_fixup_legacy", H | PASSES, 3, CLEARED, of_div_fixup},
};

#endif  // IREE_C_TESTS_ISA_FLOAT_CASES_H_
