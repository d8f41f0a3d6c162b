// f16 to f32 and back, for arrays of lanes.
#ifndef IREE_C_SOFTGPU_VECTOR_HALF_H_
#define IREE_C_SOFTGPU_VECTOR_HALF_H_

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "softgpu/vector/valu.h"

// Low halves of `from`; `lanes` is a multiple of 16. Exact, a signaling NaN stays one; `flushes` makes denormal ones
// zero.
VALU_INLINE void half_to_single(const uint32_t* from, uint32_t* to, uint32_t lanes, bool flushes) {
#if defined(__AVX512F__)
  for (uint32_t i = 0; i < lanes; i += 16) {
    __m512i bits = _mm512_loadu_si512(from + i);
    if (flushes) {
      __mmask16 zero = _mm512_testn_epi32_mask(bits, _mm512_set1_epi32(0x7c00));
      bits = _mm512_mask_and_epi32(bits, zero, bits, _mm512_set1_epi32(0x8000));
    }
    __m512i single = _mm512_castps_si512(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(bits)));
    // The conversion makes NaNs quiet.
    __m512i upper = _mm512_and_si512(bits, _mm512_set1_epi32(0x7e00));
    __mmask16 signaling = _mm512_cmpeq_epi32_mask(upper, _mm512_set1_epi32(0x7c00));
    __m512i quiet = _mm512_set1_epi32(0x400000), rest = _mm512_and_si512(bits, _mm512_set1_epi32(0x1ff));
    signaling &= _mm512_test_epi32_mask(rest, rest);
    _mm512_storeu_si512(to + i, _mm512_mask_andnot_epi32(single, signaling, quiet, single));
  }
#else
  for (uint32_t i = 0; i < lanes; ++i) {
    uint32_t sign = (from[i] & 0x8000u) << 16, exponent = from[i] & 0x7c00, rest = from[i] & 0x7fff;
    // Denormal: the significand in units of 2^-24, exact as a float.
    uint32_t small = flushes ? 0 : valu_of_f32((float)(int32_t)rest * 0x1p-24f);
    uint32_t special = 0x7f800000u | rest << 13;
    uint32_t normal = (rest << 13) + (112u << 23);
    to[i] = sign | (exponent == 0 ? small : exponent == 0x7c00 ? special : normal);
  }
#endif
}

// Rounds by MXCSR's direction into the low halves; upper halves become zero.
VALU_INLINE void half_from_single(const uint32_t* from, uint32_t* to, uint32_t lanes, bool flushes) {
#if defined(__AVX512F__)
  for (uint32_t i = 0; i < lanes; i += 16) {
    __m256i half = _mm512_cvtps_ph(_mm512_loadu_ps(from + i), _MM_FROUND_CUR_DIRECTION | _MM_FROUND_NO_EXC);
    __m512i bits = _mm512_cvtepu16_epi32(half);
    if (flushes) {
      __mmask16 zero = _mm512_testn_epi32_mask(bits, _mm512_set1_epi32(0x7c00));
      bits = _mm512_mask_and_epi32(bits, zero, bits, _mm512_set1_epi32(0x8000));
    }
    _mm512_storeu_si512(to + i, bits);
  }
#else
  for (uint32_t i = 0; i < lanes; ++i) {
    uint32_t bits = from[i], sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    // Adding 1.5 * 2^(e + 13) of the same sign rounds to the 10 bits below 2^e, in the direction that MXCSR says; 2^-14
    // is the least e.
    uint32_t exponent = size >> 23 < 113 ? 113 : size >> 23 > 143 ? 143 : size >> 23;
    float big = valu_as_f32((exponent + 13) << 23 | 0x400000u | (bits & 0x80000000u));
    float rounded = (valu_as_f32(bits) + big) - big;
    uint32_t r = valu_of_f32(rounded) & 0x7fffffffu;
    uint32_t normal = r < 0x38800000u ? (uint32_t)(int32_t)(valu_as_f32(r) * 0x1p24f) : (r >> 13) - (112u << 10);
    if (flushes && normal < 0x400) normal = 0;
    // Too large: infinity, or the largest number where rounding goes towards zero or away from that sign.
    float edge = valu_as_f32(0x7f7fffffu | (bits & 0x80000000u));
    uint32_t over = (valu_of_f32(edge + edge) & 0x7fffffffu) == 0x7f800000u ? 0x7c00u : 0x7bffu;
    uint32_t nan = 0x7e00u | (size >> 13 & 0x3ff);
    uint32_t value = r >= 0x47800000u ? over : normal;
    value = size > 0x7f800000u ? nan : size == 0x7f800000u ? 0x7c00u : value;
    to[i] = sign | value;
  }
#endif
}

#endif  // IREE_C_SOFTGPU_VECTOR_HALF_H_
