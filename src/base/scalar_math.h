// What the expressions of scalar.def call: the corners of integer division, powers, bit counts, and IEEE minimum and
// maximum.
#ifndef IREE_C_BASE_SCALAR_MATH_H_
#define IREE_C_BASE_SCALAR_MATH_H_

#include <math.h>
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
static inline double scalar_fmin(double a, double b) {
  if (isnan(a) || isnan(b)) return NAN;
  return a < b || (a == b && signbit(a)) ? a : b;
}
static inline double scalar_fmax(double a, double b) {
  if (isnan(a) || isnan(b)) return NAN;
  return a > b || (a == b && !signbit(a)) ? a : b;
}

#endif  // IREE_C_BASE_SCALAR_MATH_H_
