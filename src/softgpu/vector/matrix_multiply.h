// The product of small matrices of f32 that every matrix instruction comes down to.
//
// Eight rows of a few columns at a time stay in registers. The vector type is the level's.
#ifndef IREE_C_SOFTGPU_VECTOR_MATRIX_MULTIPLY_H_
#define IREE_C_SOFTGPU_VECTOR_MATRIX_MULTIPLY_H_

#include "softgpu/vector/float_math.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
enum { MATRIX_LANES = 16 };
typedef __m512 matrix_lanes_t;
VALU_INLINE matrix_lanes_t matrix_load(const float* from) { return _mm512_loadu_ps(from); }
VALU_INLINE void matrix_store(float* to, matrix_lanes_t x) { _mm512_storeu_ps(to, x); }
VALU_INLINE matrix_lanes_t matrix_add(float a, matrix_lanes_t b, matrix_lanes_t c) {
  return _mm512_fmadd_ps(_mm512_set1_ps(a), b, c);
}
#elif defined(__AVX2__) && defined(__FMA__)
enum { MATRIX_LANES = 8 };
typedef __m256 matrix_lanes_t;
VALU_INLINE matrix_lanes_t matrix_load(const float* from) { return _mm256_loadu_ps(from); }
VALU_INLINE void matrix_store(float* to, matrix_lanes_t x) { _mm256_storeu_ps(to, x); }
VALU_INLINE matrix_lanes_t matrix_add(float a, matrix_lanes_t b, matrix_lanes_t c) {
  return _mm256_fmadd_ps(_mm256_set1_ps(a), b, c);
}
#else
// Without a fused multiply-add each product of f32 is rounded; those of narrower types are exact all the same.
enum { MATRIX_LANES = 4 };
typedef float matrix_lanes_t __attribute__((vector_size(16)));
VALU_INLINE matrix_lanes_t matrix_load(const float* from) {
  matrix_lanes_t x;
  memcpy(&x, from, sizeof(x));
  return x;
}
VALU_INLINE void matrix_store(float* to, matrix_lanes_t x) { memcpy(to, &x, sizeof(x)); }
VALU_INLINE matrix_lanes_t matrix_add(float a, matrix_lanes_t b, matrix_lanes_t c) {
  return (matrix_lanes_t){a, a, a, a} * b + c;
}
#endif

// Rows whose sums stay in registers at a time.
#if defined(__AVX512F__)
enum { MATRIX_ROWS = 16 };
#else
enum { MATRIX_ROWS = 8 };
#endif
enum { MATRIX_MAX_K = 128 };

// out[r][j] = in[r][j] + the sum over k of a[k][r] * b[k][j], for MATRIX_ROWS rows and `columns` columns.
VALU_INLINE void matrix_multiply_rows(const float* const* a, const float* const* b, uint32_t depth, size_t columns,
                                      const float* const* in, float* const* out) {
  for (size_t j = 0; j < columns; j += MATRIX_LANES) {
    matrix_lanes_t sum[MATRIX_ROWS];
    for (size_t r = 0; r < MATRIX_ROWS; ++r) sum[r] = matrix_load(in[r] + j);
    for (uint32_t k = 0; k < depth; ++k) {
      const float* left = a[k];
      matrix_lanes_t right = matrix_load(b[k] + j);
      for (size_t r = 0; r < MATRIX_ROWS; ++r) sum[r] = matrix_add(left[r], right, sum[r]);
    }
    for (size_t r = 0; r < MATRIX_ROWS; ++r) matrix_store(out[r] + j, sum[r]);
  }
}

#endif  // IREE_C_SOFTGPU_VECTOR_MATRIX_MULTIPLY_H_
