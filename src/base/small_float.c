// Conversions of floats below 64 bits on the bits of a double.
#include "base/small_float.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

const float_format_t float_formats[SMALL_FLOAT_COUNT] = {
#define FORMAT(NAME, text, bits, bytes, exponent, mantissa, bias, specials, element) \
  {text, bits, bytes, exponent, mantissa, bias, FLOAT_SPECIALS_##specials},
#include "base/formats.def"
#undef FORMAT
};

static double from_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, 8);
  return value;
}

// 2^exponent for normal doubles.
static double power(int exponent) { return from_bits((uint64_t)(exponent + 1023) << 52); }

double small_float_decode(small_float_t kind, uint32_t bits) {
  const float_format_t* f = &float_formats[kind];
  bits &= (uint32_t)((1ull << f->bits) - 1);
  if (f->specials == FLOAT_SPECIALS_POWER_ONLY) return bits == 0xff ? NAN : power((int)bits - f->bias);
  int m = f->mantissa_bits;
  uint32_t top = (1u << f->exponent_bits) - 1, ones = (1u << m) - 1;
  uint64_t sign = (uint64_t)(bits >> (f->exponent_bits + m) & 1) << 63;
  uint32_t exponent = bits >> m & top, mantissa = bits & ones;
  if (exponent == 0) {
    if (f->specials == FLOAT_SPECIALS_ZERO_NAN && sign && !mantissa) return NAN;
    double magnitude = mantissa * power(1 - f->bias - m);
    return sign ? -magnitude : magnitude;
  }
  if (f->specials == FLOAT_SPECIALS_IEEE && exponent == top) {
    if (mantissa) return sign ? -NAN : NAN;
    return sign ? -INFINITY : INFINITY;
  }
  if (f->specials == FLOAT_SPECIALS_NAN_ONLY && exponent == top && mantissa == ones) return sign ? -NAN : NAN;
  return from_bits(sign | (uint64_t)(exponent - (uint32_t)f->bias + 1023u) << 52 | (uint64_t)mantissa << (52 - m));
}

// Bits of NaN, and of what is too large.
static uint32_t special(const float_format_t* f, bool is_nan, uint32_t sign) {
  uint32_t top = ((1u << f->exponent_bits) - 1) << f->mantissa_bits, ones = (1u << f->mantissa_bits) - 1;
  sign <<= f->exponent_bits + f->mantissa_bits;
  if (f->specials == FLOAT_SPECIALS_ZERO_NAN) return 1u << (f->exponent_bits + f->mantissa_bits);
  if (f->specials == FLOAT_SPECIALS_NONE && is_nan) return sign ^ 1u << (f->exponent_bits + f->mantissa_bits);
  if (f->specials == FLOAT_SPECIALS_IEEE) return sign | top | (is_nan ? 1u << (f->mantissa_bits - 1) : 0);
  return sign | top | ones;
}

static uint32_t largest(const float_format_t* f) {
  uint32_t all = (1u << (f->exponent_bits + f->mantissa_bits)) - 1;
  if (f->specials == FLOAT_SPECIALS_IEEE) return all - (1u << f->mantissa_bits);
  return f->specials == FLOAT_SPECIALS_NAN_ONLY ? all - 1 : all;
}

static uint32_t encode_power(double value) {
  int exponent = 0;
  if (!(value > 0) || isinf(value)) return 0xff;
  exponent = frexp(value, &exponent) >= 0.75 ? exponent + 127 : exponent + 126;
  return exponent < 0 ? 0 : exponent > 254 ? 0xff : (uint32_t)exponent;
}

uint32_t small_float_encode(small_float_t kind, double value) {
  const float_format_t* f = &float_formats[kind];
  if (f->specials == FLOAT_SPECIALS_POWER_ONLY) return encode_power(value);
  uint64_t raw;
  memcpy(&raw, &value, 8);
  uint32_t sign = (uint32_t)(raw >> 63);
  int exponent = (int)(raw >> 52 & 0x7ff);
  uint64_t mantissa = raw & 0xfffffffffffffull;
  if (exponent == 0x7ff) return special(f, mantissa != 0, sign);
  if (exponent) mantissa |= 1ull << 52;
  int biased = exponent - 1023 + f->bias, shift = 52 - f->mantissa_bits;
  if (biased < 1) {
    shift += 1 - biased;
    biased = 1;
  }
  uint64_t units = 0;  // mantissa with its leading one, or a subnormal
  if (shift < 64) {
    uint64_t rest = mantissa & ((1ull << shift) - 1), half = 1ull << (shift - 1);
    units = mantissa >> shift;
    units += rest > half || (rest == half && (units & 1));
  }
  uint32_t bits = (uint32_t)units;
  if (units >= 1ull << f->mantissa_bits) bits += (uint32_t)(biased - 1) << f->mantissa_bits;
  if (biased > 1 << f->exponent_bits || bits > largest(f)) return special(f, false, sign);
  if (bits == 0 && f->specials == FLOAT_SPECIALS_ZERO_NAN) return 0;
  return sign << (f->exponent_bits + f->mantissa_bits) | bits;
}

double small_float_largest(small_float_t kind) {
  const float_format_t* f = &float_formats[kind];
  return small_float_decode(kind, f->specials == FLOAT_SPECIALS_POWER_ONLY ? 0xfe : largest(f));
}
