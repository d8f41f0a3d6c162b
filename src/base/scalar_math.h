// What the expressions of scalar.def call: the corners of integer division, powers, bit counts, and IEEE minimum and
// maximum.
#ifndef IREE_C_BASE_SCALAR_MATH_H_
#define IREE_C_BASE_SCALAR_MATH_H_

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static inline int64_t scalar_popcnt(uint64_t a) { return __builtin_popcountll(a); }
static inline int64_t scalar_clz(uint64_t a, int w) { return a ? __builtin_clzll(a) - (64 - w) : w; }
static inline int64_t scalar_ctz(uint64_t a, int w) { return a ? __builtin_ctzll(a) : w; }
static inline int64_t scalar_div(int64_t a, int64_t b) {
  if (b == 0) return -1;
  return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}
static inline int64_t scalar_rem(int64_t a, int64_t b) {
  if (b == 0) return a;
  return b == -1 ? 0 : a % b;
}
static inline int64_t scalar_pow(int64_t a, int64_t b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
  uint64_t result = 1, base = (uint64_t)a;
  for (; b; b >>= 1, base *= base) {
    if (b & 1) result *= base;
  }
  return (int64_t)result;
}
static inline int64_t scalar_dot_bytes(uint64_t a, uint64_t b, int64_t c, int w) {
  uint64_t sum = (uint64_t)c;
  for (int at = 0; at + 8 <= w; at += 8) sum += (uint64_t)((int64_t)(a >> at & 255) * (int8_t)(b >> at & 255));
  return (int64_t)sum;
}
static inline double scalar_fmin(double a, double b) {
  if (isnan(a) || isnan(b)) return NAN;
  return a < b || (a == b && signbit(a)) ? a : b;
}
static inline double scalar_fmax(double a, double b) {
  if (isnan(a) || isnan(b)) return NAN;
  return a > b || (a == b && !signbit(a)) ? a : b;
}

static inline uint64_t scalar_zero_extend(int64_t value, int width) {
  return width >= 64 ? (uint64_t)value : (uint64_t)value & ((1ull << width) - 1);
}
// Of the low `width` bits; a boolean is 0 or 1.
static inline int64_t scalar_sign_extend(int64_t value, int width) {
  if (width == 1) return value & 1;
  return width >= 64 ? value : (int64_t)((uint64_t)value << (64 - width)) >> (64 - width);
}
// cast and castu. A float becomes an integer: truncated and saturated, NaN is 0; and a boolean: whether it is not 0.
static inline int64_t scalar_float_to_int(double value, int width, bool is_unsigned) {
  if (width == 1) return value != 0;
  if (isnan(value)) return 0;
  if (is_unsigned && width >= 64) return !(value > 0) ? 0 : value >= 0x1p64 ? -1 : (int64_t)(uint64_t)value;
  int64_t high = width >= 64 ? INT64_MAX : (int64_t)((1ull << (width - (is_unsigned ? 0 : 1))) - 1);
  int64_t low = is_unsigned ? 0 : -high - 1;
  value = trunc(value);
  if (value <= (double)low) return low;
  return value >= (double)high ? high : (int64_t)value;
}
// An integer of `width` bits, read as unsigned for castu and booleans; the caller cuts it to its new width, `to`.
static inline int64_t scalar_int_to_int(int64_t value, int width, int to, bool is_unsigned) {
  if (to == 1) return scalar_zero_extend(value, width) != 0;
  return is_unsigned || width == 1 ? (int64_t)scalar_zero_extend(value, width) : value;
}
static inline double scalar_int_to_float(int64_t value, int width, bool is_unsigned) {
  return is_unsigned || width == 1 ? (double)scalar_zero_extend(value, width) : (double)value;
}

#endif  // IREE_C_BASE_SCALAR_MATH_H_
