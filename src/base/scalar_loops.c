// Scalar functions over arrays: the rows of base/scalar.def once for each element type that is computed directly. The
// rows are expressions on double and int64_t; results are rounded or cut to the element. Other types go through the
// loops for double, and for integers of any width.
#include "base/scalar_loops.h"

#include <math.h>

#include "base/scalar_math.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3,no-math-errno,no-trapping-math")
#endif

#define SCALAR_FIT_SAME(element, value) (element)(value)
#define SCALAR_FIT_BOOL(element, value) (uint8_t)((value) != 0)
#define SCALAR_FIT_ANY(element, value) (element)(value)
#define SCALAR_OUT_SAME(element) element
#define SCALAR_OUT_BOOL(element) uint8_t
#define SCALAR_OUT_ANY(element) element
#define UNUSED_INT (void)a, (void)b, (void)c, (void)ua, (void)ub, (void)uc, (void)w

#define INT_LOOP(name, suffix, element, bits, mask, result, expression)                                     \
  static void name##_##suffix(void* out, const void* pa, const void* pb, const void* pc, size_t n, int w) { \
    (void)w;                                                                                                \
    for (size_t i = 0; i < n; ++i) {                                                                        \
      int64_t a = ((const element*)pa)[i], b = ((const element*)pb)[i], c = ((const element*)pc)[i];        \
      uint64_t ua = (uint64_t)a & (mask), ub = (uint64_t)b & (mask), uc = (uint64_t)c & (mask);             \
      {                                                                                                     \
        int w = bits;                                                                                       \
        UNUSED_INT;                                                                                         \
        ((SCALAR_OUT_##result(element)*)out)[i] = SCALAR_FIT_##result(element, expression);                 \
      }                                                                                                     \
    }                                                                                                       \
  }
#define ANY_WIDTH_LOOP(name, result, expression)                                                       \
  static void name##_any(void* out, const void* pa, const void* pb, const void* pc, size_t n, int w) { \
    uint64_t mask = w >= 64 ? UINT64_MAX : (1ull << w) - 1;                                            \
    for (size_t i = 0; i < n; ++i) {                                                                   \
      int64_t a = ((const int64_t*)pa)[i], b = ((const int64_t*)pb)[i], c = ((const int64_t*)pc)[i];   \
      uint64_t ua = (uint64_t)a & mask, ub = (uint64_t)b & mask, uc = (uint64_t)c & mask;              \
      UNUSED_INT;                                                                                      \
      ((SCALAR_OUT_##result(int64_t)*)out)[i] = SCALAR_FIT_##result(int64_t, expression);              \
    }                                                                                                  \
  }
#define BOOL_LOOP(name, expression)                                                                         \
  static void name##_bool(void* out, const void* pa, const void* pb, const void* pc, size_t n, int width) { \
    (void)width;                                                                                            \
    for (size_t i = 0; i < n; ++i) {                                                                        \
      int64_t a = ((const uint8_t*)pa)[i], b = ((const uint8_t*)pb)[i], c = ((const uint8_t*)pc)[i];        \
      uint64_t ua = (uint64_t)a, ub = (uint64_t)b, uc = (uint64_t)c;                                        \
      int w = 1;                                                                                            \
      UNUSED_INT;                                                                                           \
      ((uint8_t*)out)[i] = (uint8_t)((expression) & 1);                                                     \
    }                                                                                                       \
  }
#define FLOAT_LOOP(name, suffix, element, result, expression)                                               \
  static void name##_##suffix(void* out, const void* pa, const void* pb, const void* pc, size_t n, int w) { \
    (void)w;                                                                                                \
    for (size_t i = 0; i < n; ++i) {                                                                        \
      double a = ((const element*)pa)[i], b = ((const element*)pb)[i], c = ((const element*)pc)[i];         \
      (void)a, (void)b, (void)c;                                                                            \
      ((SCALAR_OUT_##result(element)*)out)[i] = SCALAR_FIT_##result(element, expression);                   \
    }                                                                                                       \
  }

#define ALL_INT_LOOPS(name, result, expression)                     \
  INT_LOOP(name, i8, int8_t, 8, 0xffu, result, expression)          \
  INT_LOOP(name, i16, int16_t, 16, 0xffffu, result, expression)     \
  INT_LOOP(name, i32, int32_t, 32, 0xffffffffu, result, expression) \
  INT_LOOP(name, i64, int64_t, 64, UINT64_MAX, result, expression)  \
  ANY_WIDTH_LOOP(name, result, expression)                          \
  BOOL_LOOP(name, expression)
// `loop_div` and the like: the functions' names are C library names too.
#define LOOPS_F(name, result, floats, ints) FLOAT_LOOP(name, f64, double, result, floats)
#define LOOPS_I(name, result, floats, ints) ALL_INT_LOOPS(name, result, ints)
#define LOOPS_FI(name, result, floats, ints) LOOPS_F(name, result, floats, ints) LOOPS_I(name, result, floats, ints)
#define SCALAR(name, arity, types, result, traits, floats, ints) LOOPS_##types(loop_##name, result, floats, ints)
#include "base/scalar.def"
#undef SCALAR

// The product of two f32 is exact in double, so that adding it rounds once as fma does.
#define fma(x, y, z) ((x) * (y) + (z))
#define SINGLE_F(name, result, floats) FLOAT_LOOP(name, f32, float, result, floats)
#define SINGLE_I(name, result, floats)
#define SINGLE_FI(name, result, floats) SINGLE_F(name, result, floats)
#define SCALAR(name, arity, types, result, traits, floats, ints) SINGLE_##types(loop_##name, result, floats)
#include "base/scalar.def"
#undef SCALAR
#undef fma

#define FLOATS(name) .f32 = name##_f32, .f64 = name##_f64
#define INTS(name) \
  .i8 = name##_i8, .i16 = name##_i16, .i32 = name##_i32, .i64 = name##_i64, .any = name##_any, .boolean = name##_bool
#define ROW_F(name) FLOATS(name)
#define ROW_I(name) INTS(name)
#define ROW_FI(name) FLOATS(name), INTS(name)
const scalar_loops_t scalar_loops[SCALAR_COUNT] = {
#define SCALAR(name, arity, types, ...) {ROW_##types(loop_##name)},
#include "base/scalar.def"
#undef SCALAR
};
