// f16, bf16 and 8-bit floats as bits, exactly. Rounding to f16 follows MXCSR; the others round as they are told.
// Source: IEEE 754; PTX ISA, "Alternate Floating-Point Data Formats"; OCP "8-bit Floating Point Specification".
#ifndef IREE_C_SOFTGPU_NVIDIA_SMALL_H_
#define IREE_C_SOFTGPU_NVIDIA_SMALL_H_

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline float small_as_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}
static inline uint32_t small_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits;
}

static inline float small_from_f16(uint16_t half) {
  uint32_t sign = (half & 0x8000u) << 16, exponent = half & 0x7c00u, rest = half & 0x7fffu;
  uint32_t tiny = small_bits((float)(int32_t)rest * 0x1p-24f);
  uint32_t normal = (rest << 13) + (112u << 23), special = 0x7f800000u | rest << 13;
  return small_as_float(sign | (exponent == 0 ? tiny : exponent == 0x7c00u ? special : normal));
}

// Adding 1.5 * 2^(e + 13) rounds at the last of the 10 bits behind 2^e, as MXCSR says; 2^-14 is the least e.
static inline uint16_t small_to_f16(float value) {
  uint32_t bits = small_bits(value), sign = bits & 0x80000000u, size = bits & 0x7fffffffu;
  uint32_t exponent = size >> 23 < 113 ? 113 : size >> 23 > 143 ? 143 : size >> 23;
  float big = small_as_float((exponent + 13) << 23 | 0x400000u | sign);
  float rounded = (value + big) - big;
  uint32_t r = small_bits(rounded) & 0x7fffffffu;
  uint32_t normal = r < 0x38800000u ? (uint32_t)(int32_t)(small_as_float(r) * 0x1p24f) : (r >> 13) - (112u << 10);
  float edge = small_as_float(0x7f7fffffu | sign);
  uint32_t over = (small_bits(edge + edge) & 0x7fffffffu) == 0x7f800000u ? 0x7c00u : 0x7bffu;
  uint32_t result = r >= 0x47800000u ? over : normal;
  result = size == 0x7f800000u ? 0x7c00u : result;
  return size > 0x7f800000u ? 0x7fffu : (uint16_t)(sign >> 16 | result);
}

// What is left when a double is cut to a float's bits, the last one set where something was lost: rounding it further
// to fewer bits is as rounding the double itself.
static inline float small_odd(double value) {
  uint64_t bits;
  memcpy(&bits, &value, 8);
  uint64_t lost = bits & ((UINT64_C(1) << 29) - 1);
  bits = (bits & ~((UINT64_C(1) << 29) - 1)) | (uint64_t)(lost != 0 && value == value) << 29;
  memcpy(&value, &bits, 8);
  return (float)value;
}

static inline float small_from_bf16(uint16_t bits) { return small_as_float((uint32_t)bits << 16); }
// `keep` bits of the float's 32 stay, nearest even or cut off.
static inline uint32_t small_round_bits(float value, uint32_t drop, bool cuts) {
  uint32_t bits = small_bits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fffffffu;
  if (!cuts) bits += (bits >> drop & 1) + (1u << (drop - 1)) - 1;
  return bits & ~((1u << drop) - 1);
}
static inline uint16_t small_to_bf16(float value) { return (uint16_t)(small_round_bits(value, 16, false) >> 16); }
static inline uint16_t small_to_bf16_zero(float value) { return (uint16_t)(small_round_bits(value, 16, true) >> 16); }

// 8-bit floats: `mantissa` 3 for e4m3 (no infinities), 2 for e5m2.
static inline float small_from_f8(uint8_t bits, uint32_t mantissa) {
  uint32_t bias = mantissa == 3 ? 7 : 15, rest = bits & 0x7f, sign = (bits & 0x80u) << 24;
  uint32_t exponent = rest >> mantissa, fraction = rest & ((1u << mantissa) - 1);
  if (mantissa == 3 ? rest == 0x7f : rest > 0x7c) return small_as_float(0x7fffffffu);
  if (mantissa == 2 && rest == 0x7c) return small_as_float(sign | 0x7f800000u);
  float size = exponent ? small_as_float((exponent + 127 - bias) << 23 | fraction << (23 - mantissa))
                        : (float)fraction * small_as_float((127 + 1 - bias - mantissa) << 23);
  return small_as_float(small_bits(size) | sign);
}

// Nearest even; what is too large becomes the largest number (.satfinite).
static inline uint8_t small_to_f8(float value, uint32_t mantissa) {
  uint32_t bits = small_bits(value), sign = bits >> 24 & 0x80, size = bits & 0x7fffffffu;
  uint32_t least = mantissa == 3 ? 127 - 6 : 127 - 14, most = mantissa == 3 ? 0x7e : 0x7b;
  if (size > 0x7f800000u) return 0x7f;
  uint32_t exponent = size >> 23 < least ? least : size >> 23 > 200 ? 200 : size >> 23;
  float unit = small_as_float((exponent - mantissa) << 23);
  float steps = __builtin_rintf(small_as_float(size) / unit);  // at most 2^(mantissa + 1), or far too large
  if (exponent == 200) return (uint8_t)(sign | most);
  uint32_t whole = (uint32_t)steps + ((exponent - least) << mantissa);
  return (uint8_t)(sign | (whole > most ? most : whole));
}

#endif  // IREE_C_SOFTGPU_NVIDIA_SMALL_H_
