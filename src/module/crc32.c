// CRC-32 of archive entries. Weights are hundreds of megabytes, so x86 folds 64 bytes at a time with carry-less
// multiplication (Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ", 2009); the rest, and
// other processors, go eight bytes at a time through tables.

#include "module/crc32.h"

#include <pthread.h>
#include <string.h>

static uint32_t crc_tables[8][256];
static pthread_once_t crc_tables_once = PTHREAD_ONCE_INIT;

static void make_tables(void) {
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    crc_tables[0][i] = crc;
  }
  for (uint32_t i = 0; i < 256; ++i) {
    for (int t = 1; t < 8; ++t) {
      uint32_t previous = crc_tables[t - 1][i];
      crc_tables[t][i] = previous >> 8 ^ crc_tables[0][previous & 0xFF];
    }
  }
}

// All update functions work on the inverted value.
static uint32_t update_by_tables(uint32_t crc, const uint8_t* data, size_t length) {
  for (; length >= 8; length -= 8, data += 8) {
    uint32_t low, high;
    memcpy(&low, data, 4);
    memcpy(&high, data + 4, 4);
    low ^= crc;
    crc = crc_tables[7][low & 0xFF] ^ crc_tables[6][low >> 8 & 0xFF] ^ crc_tables[5][low >> 16 & 0xFF] ^
          crc_tables[4][low >> 24] ^ crc_tables[3][high & 0xFF] ^ crc_tables[2][high >> 8 & 0xFF] ^
          crc_tables[1][high >> 16 & 0xFF] ^ crc_tables[0][high >> 24];
  }
  for (; length; --length) crc = crc >> 8 ^ crc_tables[0][(crc ^ *data++) & 0xFF];
  return crc;
}

#if defined(__x86_64__)
#include <immintrin.h>

// x * x^distance (mod P) for both halves, added to the data that lies `distance` bits ahead.
__attribute__((target("pclmul,sse4.1"))) static __m128i fold(__m128i x, __m128i powers, __m128i ahead) {
  __m128i low = _mm_clmulepi64_si128(x, powers, 0x00);
  __m128i high = _mm_clmulepi64_si128(x, powers, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), ahead);
}

// `length` is a multiple of 16 and at least 64.
__attribute__((target("pclmul,sse4.1"))) static uint32_t update_by_folding(uint32_t crc, const uint8_t* data,
                                                                           size_t length) {
  const __m128i by_512 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
  const __m128i by_128 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
  const __m128i* at = (const __m128i*)data;
  __m128i x[4];
  for (int i = 0; i < 4; ++i) x[i] = _mm_loadu_si128(at + i);
  x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128((int)crc));
  at += 4;
  length -= 64;
  for (; length >= 64; length -= 64, at += 4) {
    for (int i = 0; i < 4; ++i) x[i] = fold(x[i], by_512, _mm_loadu_si128(at + i));
  }
  for (int i = 1; i < 4; ++i) x[0] = fold(x[0], by_128, x[i]);
  for (; length >= 16; length -= 16, ++at) x[0] = fold(x[0], by_128, _mm_loadu_si128(at));
  // What is left is a 128-bit message with the same remainder.
  uint8_t rest[16];
  _mm_storeu_si128((__m128i*)rest, x[0]);
  return update_by_tables(0, rest, sizeof(rest));
}
#endif

uint32_t module_crc32(uint32_t crc, const void* data, size_t length) {
  pthread_once(&crc_tables_once, make_tables);
  const uint8_t* at = data;
  crc = ~crc;
#if defined(__x86_64__)
  if (length >= 64 && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1")) {
    size_t folded = length & ~(size_t)15;
    crc = update_by_folding(crc, at, folded);
    at += folded;
    length -= folded;
  }
#endif
  return ~update_by_tables(crc, at, length);
}
