// Functions of integers that rows use, written so that loops of them become vector code.
#ifndef IREE_C_SOFTGPU_VECTOR_BITS_H_
#define IREE_C_SOFTGPU_VECTOR_BITS_H_

#include "softgpu/vector/valu.h"

VALU_INLINE uint32_t count_bits(uint32_t x) {
  x -= x >> 1 & 0x55555555u;
  x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
  x = (x + (x >> 4)) & 0x0f0f0f0fu;
  x += x >> 8;
  return (x + (x >> 16)) & 63;
}
VALU_INLINE uint32_t reverse_bits(uint32_t x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
  return x >> 16 | x << 16;
}
// All ones where there is no bit.
VALU_INLINE uint32_t leading_zeros(uint32_t x) {
  uint32_t y = x | x >> 1;
  y |= y >> 2, y |= y >> 4, y |= y >> 8, y |= y >> 16;
  return x ? 32 - count_bits(y) : UINT32_MAX;
}
VALU_INLINE uint32_t lanes_below(size_t lane) { return lane < 32 ? (1u << (uint32_t)lane) - 1 : UINT32_MAX; }
VALU_INLINE int32_t signed_24(uint32_t x) { return (int32_t)(x << 8) >> 8; }
VALU_INLINE int32_t signed_field(int32_t x, uint32_t width) {
  uint32_t sign = 1u << width >> 1, field = (uint32_t)x & ((1u << width) - 1);
  return (int32_t)((field ^ sign) - sign);
}
VALU_INLINE uint32_t bitop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (uint32_t k = 0; k < 8; ++k) {
    uint32_t chosen = table >> k & 1 ? UINT32_MAX : 0;
    result |= chosen & (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
  }
  return result;
}
// Bit 64 of the sum with both extended by their signs.
VALU_INLINE bool signed_carry(int64_t a, int64_t b) {
  int64_t sum = (int64_t)((uint64_t)a + (uint64_t)b);
  return ((a & b) | ((a ^ b) & sum)) < 0;
}
VALU_INLINE int32_t saturate_i16(int32_t x) { return x < -32768 ? -32768 : x > 32767 ? 32767 : x; }
VALU_INLINE uint32_t saturate_u8(int32_t x) { return (uint32_t)(x < 0 ? 0 : x > 255 ? 255 : x); }

// Selectors: 0 to 7 a byte, 8 to 11 the sign of bytes 1, 3, 5, 7, 12 zero, others all ones.
VALU_INLINE uint32_t permute_byte(uint64_t bytes, uint32_t selector) {
  uint32_t byte = (uint32_t)(bytes >> (selector & 7) * 8) & 255;
  uint32_t sign = (uint32_t)(bytes >> ((selector & 3) * 16 + 15)) & 1 ? 255 : 0;
  uint32_t other = selector == 12 ? 0 : 255;
  return selector < 8 ? byte : selector < 12 ? sign : other;
}
VALU_INLINE uint32_t permute_bytes(uint64_t bytes, uint32_t selectors) {
  return permute_byte(bytes, selectors & 255) | permute_byte(bytes, selectors >> 8 & 255) << 8 |
         permute_byte(bytes, selectors >> 16 & 255) << 16 | permute_byte(bytes, selectors >> 24) << 24;
}

VALU_INLINE uint32_t average_bytes(uint32_t a, uint32_t b, uint32_t round) {
  uint32_t result = 0;
  for (uint32_t k = 0; k < 32; k += 8) result |= ((a >> k & 255) + (b >> k & 255) + (round >> k & 1)) >> 1 << k;
  return result;
}
VALU_INLINE uint32_t difference(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }
VALU_INLINE uint32_t byte_differences(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (uint32_t k = 0; k < 32; k += 8) sum += difference(a >> k & 255, b >> k & 255);
  return sum;
}
VALU_INLINE uint32_t half_differences(uint32_t a, uint32_t b) {
  return difference(a & 0xffff, b & 0xffff) + difference(a >> 16, b >> 16);
}
// Bytes of b that are 0 do not count.
VALU_INLINE uint32_t masked_differences(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (uint32_t k = 0; k < 32; k += 8) sum += b >> k & 255 ? difference(a >> k & 255, b >> k & 255) : 0;
  return sum;
}
// Four windows of `a`, a byte apart, each added to 16 bits of c.
VALU_INLINE uint64_t four_differences(uint64_t a, uint32_t b, uint64_t c, bool is_masked) {
  uint64_t result = 0;
  for (uint32_t k = 0; k < 4; ++k) {
    uint32_t window = (uint32_t)(a >> 8 * k);
    uint32_t sum = is_masked ? masked_differences(window, b) : byte_differences(window, b);
    result |= (uint64_t)(uint16_t)(sum + (uint32_t)(c >> 16 * k)) << 16 * k;
  }
  return result;
}

VALU_INLINE int32_t element(uint32_t x, uint32_t index, uint32_t bits, bool is_signed) {
  uint32_t value = x >> index * bits << (32 - bits);
  return is_signed ? (int32_t)value >> (32 - bits) : (int32_t)(value >> (32 - bits));
}
VALU_INLINE int64_t dot2_i16(uint32_t a, uint32_t b) {
  return (int64_t)((int32_t)(int16_t)a * (int16_t)b) + ((int32_t)a >> 16) * ((int32_t)b >> 16);
}
VALU_INLINE uint64_t dot2_u16(uint32_t a, uint32_t b) {
  return (uint64_t)((a & 0xffff) * (b & 0xffff)) + (a >> 16) * (b >> 16);
}
VALU_INLINE int32_t dot4(uint32_t a, uint32_t b, bool a_signed, bool b_signed) {
  int32_t sum = 0;
  for (uint32_t k = 0; k < 4; ++k) sum += element(a, k, 8, a_signed) * element(b, k, 8, b_signed);
  return sum;
}
VALU_INLINE int32_t dot8(uint32_t a, uint32_t b, bool a_signed, bool b_signed) {
  int32_t sum = 0;
  for (uint32_t k = 0; k < 8; ++k) sum += element(a, k, 4, a_signed) * element(b, k, 4, b_signed);
  return sum;
}

#endif  // IREE_C_SOFTGPU_VECTOR_BITS_H_
