// Exact float semantics of one lane, as functions that vectorise: what the rows of valu_float.def, valu_convert.def and
// valu_packed_float.def are made of.
//
// Rounding and denormals are MXCSR's, which goes by the wave's MODE. f16 is computed in f32 and rounded by valu.h: f32
// has more than twice f16's bits, so one rounding on top of the other changes nothing for a sum, product, quotient or
// root; a fused multiply-add rounds to odd first.
#ifndef IREE_C_SOFTGPU_VECTOR_FLOAT_MATH_H_
#define IREE_C_SOFTGPU_VECTOR_FLOAT_MATH_H_

#include <math.h>

#include "softgpu/vector/valu.h"

// What rows need of the wave besides MXCSR.
typedef struct float_mode_t {
  float one;       // 1, not known to compilers
  int quiets;      // IEEE mode: signaling NaNs win in min and max
  bool saturates;  // FP16_OVFL: what is too large becomes the largest number
  bool is_ocp;     // 8-bit floats of the OCP standard (gfx12, gfx950), not those without negative zero (gfx942)
  bool flushes_halves;
  bool halves_go_down;  // f16 is rounded down: opposite numbers add to -0
} float_mode_t;
VALU_INLINE float_mode_t float_mode(const wave_t* w) {
  float one = 1;
  __asm__("" : "+x"(one));
  bool is_ocp = w->target->major >= 12 || w->target->minor >= 5;
  bool flushes_halves = (w->mode & 0xc0) != 0xc0, halves_go_down = (w->mode & 12) == 8;
  return (float_mode_t){one, w->mode >> 9 & 1, w->mode >> 23 & 1, is_ocp, flushes_halves, halves_go_down};
}

#define FLOAT_T float
#define FLOAT_BITS uint32_t
#define FLOAT_NAME(name) float_##name##_f32
#define FLOAT_MANTISSA 23
#define FLOAT_BIAS 127
#define FLOAT_FMA __builtin_fmaf
#define FLOAT_SQRT __builtin_sqrtf
#define FLOAT_FLOOR __builtin_floorf
#include "softgpu/vector/float_ops.h"
#undef FLOAT_T
#undef FLOAT_BITS
#undef FLOAT_NAME
#undef FLOAT_MANTISSA
#undef FLOAT_BIAS
#undef FLOAT_FMA
#undef FLOAT_SQRT
#undef FLOAT_FLOOR

#define FLOAT_T double
#define FLOAT_BITS uint64_t
#define FLOAT_NAME(name) float_##name##_f64
#define FLOAT_MANTISSA 52
#define FLOAT_BIAS 1023
#define FLOAT_FMA __builtin_fma
#define FLOAT_SQRT __builtin_sqrt
#define FLOAT_FLOOR __builtin_floor
#include "softgpu/vector/float_ops.h"

// 2^n, n in [-126, 127].
VALU_INLINE float float_power(int32_t n) { return float_from_f32((uint32_t)(n + 127) << 23); }
VALU_INLINE double float_power_f64(int32_t n) { return float_from_f64((uint64_t)(int64_t)(n + 1023) << 52); }
VALU_INLINE int32_t float_bound(int32_t n, int32_t low, int32_t high) { return n < low ? low : n > high ? high : n; }

// x * 2^n, rounded once.
VALU_INLINE float float_ldexp_f32(float x, int32_t n) {
  return (float)((double)x * float_power_f64(float_bound(n, -400, 400)));
}
VALU_INLINE double float_ldexp_f64(double x, int32_t n) {
  // Far below the least number, all results round alike.
  n = float_bound(n, -1080 - (float_field_f64(x) - 1023), 2200);
  // Steps that stay above the denormals until the last one.
  for (int i = 0; i < 2; ++i) {
    int32_t step = n > 1023 ? 1023 : n < -1022 ? float_bound(n + 1022, -969, 0) : 0;
    x *= float_power_f64(step);
    n -= step;
  }
  return x * float_power_f64(float_bound(n, -1022, 1023));
}
// For f16, whose numbers and their products with these powers f32 holds exactly.
VALU_INLINE float float_ldexp_f16(float x, int32_t n) { return x * float_power(float_bound(n, -60, 60)); }

// a * b + c, of values that f16 has: exact product, sum rounded to odd. Needs rounding to nearest (FLOAT_USE_NEAREST).
VALU_INLINE float float_fma_f16(const float_mode_t* m, float a, float b, float c) {
  float product = a * b, sum = product + c;
  float other = sum - product;
  float lost = (product - (sum - other)) + (c - other);
  uint32_t bits = float_bits_f32(sum);
  int is_finite = (bits & 0x7f800000u) != 0x7f800000u;
  uint32_t toward_zero = (lost < 0) != (sum < 0) ? bits - 1 : bits;
  uint32_t odd = lost != 0 && is_finite ? toward_zero | 1 : bits;
  int are_opposite = (float_bits_f32(product) ^ float_bits_f32(c)) >> 31;
  odd = (sum == 0 && are_opposite && m->halves_go_down) ? 0x80000000u : odd;
  return float_made_f32(float_from_f32(odd), (a != a) | (b != b) | (c != c));
}
// Product rounded to f16 first: v_mad_f16.
VALU_INLINE float float_round_f16(const float_mode_t* m, float x) {
  uint32_t bits = float_bits_f32(x), sign = bits & 0x80000000u;
  int32_t exponent = float_bound((int32_t)(bits >> 23 & 255), 113, 143);
  float big = float_from_f32((uint32_t)(exponent + 13) << 23 | 0x400000u | sign);
  float rounded = (x + big) - big;
  uint32_t magnitude = float_bits_f32(rounded) & 0x7fffffff;
  // Too large: infinity, or the largest number, as the direction says.
  float edge = float_from_f32(0x7f7fffffu | sign);
  uint32_t over = (float_bits_f32(edge + edge) & 0x7fffffff) == 0x7f800000u ? 0x7f800000u : 0x477fe000u;
  magnitude = magnitude >= 0x47800000u ? over : magnitude;
  magnitude = (magnitude < 0x38800000u && m->flushes_halves) ? 0 : magnitude;
  int is_special = (bits & 0x7f800000u) == 0x7f800000u;
  return float_from_f32(is_special ? bits : sign | magnitude);
}
VALU_INLINE float float_mad_f16(const float_mode_t* m, float a, float b, float c) {
  return float_add_f32(float_round_f16(m, float_mul_f32(a, b)), c);
}

// Transcendentals of f32. Denormals are zero here and in the hardware, whatever MODE says (FLOAT_FLUSH_CSR).
enum { FLOAT_FLUSH_CSR = 0x9fc0 };

// 2^x
VALU_INLINE float float_exp2(float x) {
  float bounded = x < -160 ? -160 : x;
  bounded = x > 160 ? 160 : bounded;
  float whole = __builtin_rintf(bounded), f = bounded - whole;
  float p = 1.5252689428e-05f;
  p = __builtin_fmaf(p, f, 1.5461328543e-04f);
  p = __builtin_fmaf(p, f, 1.3333669538e-03f);
  p = __builtin_fmaf(p, f, 9.6180570418e-03f);
  p = __builtin_fmaf(p, f, 5.5504107276e-02f);
  p = __builtin_fmaf(p, f, 2.4022650920e-01f);
  p = __builtin_fmaf(p, f, 6.9314718058e-01f);
  p = __builtin_fmaf(p, f, 1.0f);
  int32_t n = (int32_t)whole, half = n >> 1;
  float result = p * float_power(half) * float_power(n - half);
  return x != x ? float_quiet_f32(x) : result;
}

// log2(x)
VALU_INLINE float float_log2(float x) {
  // m in [sqrt(1/2), sqrt(2)), x = m * 2^e
  uint32_t bits = float_bits_f32(x), above = bits - 0x3f3504f3u;
  float e = (float)((int32_t)above >> 23);
  float t = float_from_f32((above & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  float p = 9.9024509381e-02f;
  p = __builtin_fmaf(p, t, -1.6753498624e-01f);
  p = __builtin_fmaf(p, t, 1.7023613442e-01f);
  p = __builtin_fmaf(p, t, -1.7904984033e-01f);
  p = __builtin_fmaf(p, t, 2.0533336725e-01f);
  p = __builtin_fmaf(p, t, -2.4047005396e-01f);
  p = __builtin_fmaf(p, t, 2.8855997519e-01f);
  p = __builtin_fmaf(p, t, -3.6067376190e-01f);
  p = __builtin_fmaf(p, t, 4.8089819283e-01f);
  p = __builtin_fmaf(p, t, -7.2134752009e-01f);
  // log2(m) = t * log2(e) + t^2 * p, log2(e) in two parts
  const float high = 0x1.715476p+0f, low = 1.9259629911266175e-08f;
  float first = t * high;
  float rest = __builtin_fmaf(t, high, -first) + __builtin_fmaf(t, low, t * t * p);
  float sum = e + first;
  float result = sum + ((first - (sum - e)) + rest);
  result = x == 0 ? float_infinity_f32(true) : result;
  result = x < 0 ? float_nan_f32() : result;
  result = bits == 0x7f800000u ? x : result;
  return x != x ? float_quiet_f32(x) : result;
}

// Sine of a quarter turn's part: g in [-1/8, 1/8] turns.
VALU_INLINE float float_sine_part(float g) {
  float z = g * g;
  float p = __builtin_fmaf(-7.5724251996e+01f, z, 8.1599487893e+01f);
  p = __builtin_fmaf(p, z, -4.1341697206e+01f);
  const float high = 0x1.921fb6p+2f, low = -1.748455600074497e-07f;
  return __builtin_fmaf(g, high, __builtin_fmaf(g, low, g * z * p));
}
VALU_INLINE float float_cosine_part(float g) {
  float z = g * g;
  float p = __builtin_fmaf(5.9202809617e+01f, z, -8.5442298381e+01f);
  p = __builtin_fmaf(p, z, 6.4939310748e+01f);
  p = __builtin_fmaf(p, z, -1.9739208633e+01f);
  return __builtin_fmaf(p, z, 1.0f);
}
// sin(2 pi x), or the cosine: one quarter further.
VALU_INLINE float float_turn(float x, uint32_t quarters) {
  float f = x - __builtin_rintf(x);
  float quarter = __builtin_rintf(f * 4);
  float g = f - quarter * 0.25f;
  float bounded = (float_is_infinite_f32(x) | (x != x)) ? 0 : quarter;
  uint32_t q = (uint32_t)(int32_t)bounded + quarters;
  float value = q & 1 ? float_cosine_part(g) : float_sine_part(g);
  float result = float_from_f32(float_bits_f32(value) ^ (q & 2) << 30);
  result = float_is_infinite_f32(x) ? float_nan_f32() : result;
  return x != x ? float_quiet_f32(x) : result;
}
VALU_INLINE float float_sin(float x) { return x == 0 ? x * 0 : float_turn(x, 0); }
VALU_INLINE float float_cos(float x) { return float_turn(x, 1); }

// Conversions. Too large or small saturates; a NaN is 0.
VALU_INLINE int32_t float_to_i32(float x) {
  int32_t result = (int32_t)(x >= -0x1p31f && x < 0x1p31f ? x : 0);
  result = x >= 0x1p31f ? INT32_MAX : result;
  return x < -0x1p31f ? INT32_MIN : result;
}
VALU_INLINE uint32_t float_to_u32(float x) {
  // Above the signed range by way of it.
  int is_high = x >= 0x1p31f;
  float low = is_high ? x - 0x1p31f : x;
  uint32_t result = (uint32_t)float_to_i32(low) + (is_high ? 0x80000000u : 0);
  result = x > 0 ? result : 0;
  return x >= 0x1p32f ? UINT32_MAX : result;
}
VALU_INLINE int32_t float_to_i32_f64(double x) {
  int32_t result = (int32_t)(x > -0x1.00000002p31 && x < 0x1p31 ? x : 0);
  result = x >= 0x1p31 ? INT32_MAX : result;
  return x <= -0x1p31 ? INT32_MIN : result;
}
VALU_INLINE uint32_t float_to_u32_f64(double x) {
  uint32_t result = (uint32_t)(int64_t)(x > 0 && x < 0x1p32 ? x : 0);
  return x >= 0x1p32 ? UINT32_MAX : result;
}
VALU_INLINE int32_t float_to_i16(float x) { return float_bound(float_to_i32(x), INT16_MIN, INT16_MAX); }
VALU_INLINE uint32_t float_to_u16(float x) { return (uint32_t)float_bound(float_to_i32(x), 0, UINT16_MAX); }
VALU_INLINE uint32_t float_to_u8(float x) { return (uint32_t)float_bound(float_to_i32(x), 0, UINT8_MAX); }
// An integer, rounded once by MODE.
VALU_INLINE float float_of_u32(uint32_t x) { return (float)(double)x; }
VALU_INLINE float float_nearest(float x) { return __builtin_floorf(x + 0.5f); }
// [-1, 1] and [0, 1] to integers, nearest even.
VALU_INLINE int32_t float_to_snorm(float x) {
  float bounded = x < -1 ? -1 : x > 1 ? 1 : x;
  return float_to_i32(__builtin_roundevenf(bounded * 32767));
}
VALU_INLINE uint32_t float_to_unorm(float x) {
  float bounded = x > 1 ? 1 : x;
  return (uint32_t)float_to_i32(__builtin_roundevenf(bounded > 0 ? bounded * 65535 : 0));
}

// Adds what rounds bits to nearest even, `drop` of which go.
VALU_INLINE uint32_t float_round_bits(uint32_t bits, uint32_t drop) {
  return bits + ((bits >> drop & 1) + (1u << (drop - 1)) - 1);
}
// To f16. Nearest even, or toward zero.
VALU_INLINE uint32_t float_to_half(float x, bool truncates) {
  uint32_t bits = float_bits_f32(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  uint32_t normal = truncates ? magnitude : float_round_bits(magnitude, 13);
  uint32_t result = (normal - (112u << 23)) >> 13;
  result = normal >= 0x47800000u ? (truncates ? 0x7bffu : 0x7c00u) : result;
  // Below 2^-14: units of 2^-24, exact in f32 but for the last rounding, which is done on integers.
  uint32_t shift = (uint32_t)float_bound(126 - (int32_t)(magnitude >> 23), 14, 31);
  uint32_t fraction = (magnitude & 0x7fffff) | 0x800000;
  uint32_t half = 1u << (shift - 1), rest = fraction & ((half << 1) - 1);
  uint32_t small = fraction >> shift;
  small += !truncates && (rest > half || (rest == half && (small & 1)));
  result = magnitude < 0x38800000u ? small : result;
  result = magnitude == 0x7f800000u ? 0x7c00u : result;
  result = magnitude > 0x7f800000u ? 0x7e00u | (magnitude >> 13 & 0x3ff) : result;
  return sign | result;
}
VALU_INLINE float float_of_half(uint32_t half) {
  uint32_t magnitude = half & 0x7fff;
  float normal = float_from_f32((magnitude << 13) + (112u << 23));
  float small = (float)(int32_t)magnitude * 0x1p-24f;
  uint32_t special = 0x7f800000u | (magnitude & 0x3ff) << 13;
  uint32_t bits = magnitude < 0x400    ? float_bits_f32(small)
                  : magnitude < 0x7c00 ? float_bits_f32(normal)
                                       : special | (magnitude > 0x7c00 ? 0x400000u : 0);
  return float_from_f32(bits | (half & 0x8000) << 16);
}
// To bf16, nearest even.
VALU_INLINE uint32_t float_to_brain(float x) {
  uint32_t bits = float_bits_f32(x);
  uint32_t result = float_round_bits(bits, 16) >> 16;
  return float_is_nan_f32(x) ? bits >> 16 | 0x40 : result;
}
VALU_INLINE float float_of_brain(uint32_t brain) { return float_from_f32(brain << 16); }

// 8-bit floats: e4m3 ("fp8", 3 mantissa bits) and e5m2 ("bf8", 2), each in the OCP form, or with a bias one larger and
// the code of -0 as the only NaN.
typedef struct float_byte_t {
  uint32_t mantissa;
  int32_t bias;
  uint32_t most;      // largest number
  uint32_t overflow;  // what is too large becomes, and infinity
  uint32_t nan;
  bool has_infinity, has_negative_zero;
} float_byte_t;
VALU_INLINE float_byte_t float_byte(bool is_wide, bool is_ocp) {
  if (!is_ocp) return (float_byte_t){is_wide ? 2 : 3, is_wide ? 16 : 8, 0x7f, 0x80, 0x80, false, false};
  return is_wide ? (float_byte_t){2, 15, 0x7b, 0x7c, 0x7f, true, true}
                 : (float_byte_t){3, 7, 0x7e, 0x7f, 0x7f, false, true};
}
VALU_INLINE float float_of_byte(float_byte_t f, uint32_t byte) {
  uint32_t magnitude = byte & 0x7f, sign = (byte & 0x80) << 24;
  uint32_t mask = (1u << f.mantissa) - 1, shift = 23 - f.mantissa;
  float normal = float_from_f32((magnitude << shift) + ((uint32_t)(127 - f.bias) << 23));
  float small = (float)(int32_t)(magnitude & mask) * float_power(1 - f.bias - (int32_t)f.mantissa);
  float value = magnitude > mask ? normal : small;
  uint32_t bits = float_bits_f32(value) | sign;
  int is_nan = f.has_negative_zero ? magnitude > f.most : byte == 0x80;
  bits = is_nan ? 0x7fc00000u : bits;
  bits = f.has_infinity && magnitude == 0x7c ? 0x7f800000u | sign : bits;
  return float_from_f32(bits);
}
// `noise`, if stochastic, is added below the kept bits before the rest is cut; else nearest even.
VALU_INLINE uint32_t float_to_byte(float_byte_t f, float x, bool saturates, bool is_stochastic, uint32_t noise) {
  uint32_t bits = float_bits_f32(x), sign = bits >> 24 & 0x80, magnitude = bits & 0x7fffffff;
  int32_t exponent = (int32_t)(magnitude >> 23), least = 128 - f.bias;
  // Bits to drop: more of them below the smallest normal number.
  int32_t drop = float_bound(23 - (int32_t)f.mantissa + (exponent < least ? least - exponent : 0), 0, 26);
  uint32_t fraction = (magnitude & 0x7fffff) | (exponent ? 0x800000u : 0);
  uint32_t extra = is_stochastic ? noise >> (32 - drop) : (fraction >> drop & 1) + (1u << (drop - 1)) - 1;
  uint32_t rounded = (fraction + extra) >> drop;
  uint32_t from = exponent < least ? 0 : (uint32_t)(exponent - least) << f.mantissa;
  uint32_t result = from + rounded;
  int is_infinite = magnitude == 0x7f800000u, is_nan = magnitude > 0x7f800000u;
  uint32_t large = saturates && !(is_infinite && f.has_infinity) ? f.most : f.overflow;
  result = is_infinite || exponent > 127 + 32 || result > f.most ? large : result;
  result = is_nan ? f.nan : result;
  bool has_sign = f.has_negative_zero || (result != 0 && result != 0x80);
  return result | (has_sign ? sign : 0);
}

// Bits of 2/pi after the binary point; `at` counts from the first one. 53 of them as a number.
VALU_INLINE double float_pi_bits(uint32_t at) {
  static const uint32_t words[] = {
      0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
      0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
      0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
      0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
      0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab,
  };
  uint64_t value = 0;
  for (uint32_t i = 0; i < 53; ++i) {
    uint32_t bit = at + i;
    // 1201 bits are kept.
    value = value << 1 | (bit < 1201 ? words[bit / 32] >> (31 - bit % 32) & 1 : 0);
  }
  return (double)value;
}
// A part of 2/pi that matters for an argument of x's size.
VALU_INLINE double float_trig_preop(double x, uint32_t part) {
  int32_t exponent = float_field_f64(x), shift = (int32_t)(part & 31) * 53;
  if (exponent > 1077) shift += exponent - 1077;
  int32_t scale = -53 - shift + (exponent >= 1968 ? 128 : 0);
  return float_ldexp_f64(float_pi_bits((uint32_t)shift), scale);
}

#endif  // IREE_C_SOFTGPU_VECTOR_FLOAT_MATH_H_
