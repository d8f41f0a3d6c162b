// Hexadecimal text, two digits a byte: hundreds of megabytes of weights, so x86 takes 32 digits at a time.
#include <string.h>

#include "ir/context.h"
#include "ir/parse_state.h"

// The digits' values plus one; 0: no digit.
static const unsigned char digit_values[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static size_t span_by_table(const char* text, size_t size) {
  size_t i = 0;
  while (i < size && digit_values[(unsigned char)text[i]]) ++i;
  return i;
}

static void decode_by_table(const char* digits, size_t bytes, unsigned char* out) {
  const unsigned char* in = (const unsigned char*)digits;
  for (size_t i = 0; i < bytes; ++i) {
    unsigned high = digit_values[in[2 * i]] - 1u, low = digit_values[in[2 * i + 1]] - 1u;
    out[i] = (unsigned char)(high << 4 | (low & 15));
  }
}

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx2"))) static __m256i are_digits(__m256i text) {
  __m256i decimal = _mm256_sub_epi8(text, _mm256_set1_epi8('0'));
  __m256i letter = _mm256_sub_epi8(_mm256_or_si256(text, _mm256_set1_epi8(0x20)), _mm256_set1_epi8('a'));
  return _mm256_or_si256(_mm256_cmpeq_epi8(_mm256_min_epu8(decimal, _mm256_set1_epi8(9)), decimal),
                         _mm256_cmpeq_epi8(_mm256_min_epu8(letter, _mm256_set1_epi8(5)), letter));
}

__attribute__((target("avx2"))) static size_t span_by_vectors(const char* text, size_t size) {
  size_t i = 0;
  for (; i + 128 <= size; i += 128) {
    __m256i all = _mm256_set1_epi8(-1);
    for (size_t j = 0; j < 128; j += 32) {
      all = _mm256_and_si256(all, are_digits(_mm256_loadu_si256((const __m256i*)(text + i + j))));
    }
    if (_mm256_movemask_epi8(all) != -1) break;
  }
  return i;
}

// 32 digits to 32 half bytes: the low four bits, plus nine for letters; then pairs to 16-bit lanes.
__attribute__((target("avx2"))) static __m256i pairs(const char* digits) {
  __m256i text = _mm256_loadu_si256((const __m256i*)digits);
  __m256i letters = _mm256_and_si256(_mm256_srli_epi16(text, 6), _mm256_set1_epi8(1));
  __m256i nine = _mm256_or_si256(_mm256_slli_epi16(letters, 3), letters);
  __m256i halves = _mm256_add_epi8(_mm256_and_si256(text, _mm256_set1_epi8(15)), nine);
  return _mm256_maddubs_epi16(halves, _mm256_set1_epi16(0x0110));
}

__attribute__((target("avx2"))) static size_t decode_by_vectors(const char* digits, size_t bytes, unsigned char* out) {
  size_t i = 0;
  for (; i + 32 <= bytes; i += 32) {
    __m256i packed = _mm256_packus_epi16(pairs(digits + 2 * i), pairs(digits + 2 * i + 32));
    _mm256_storeu_si256((__m256i*)(out + i), _mm256_permute4x64_epi64(packed, 0xD8));
  }
  return i;
}

static bool has_vectors(void) { return __builtin_cpu_supports("avx2"); }
#else
static size_t span_by_vectors(const char* text, size_t size) { return 0; }
static size_t decode_by_vectors(const char* digits, size_t bytes, unsigned char* out) { return 0; }
static bool has_vectors(void) { return false; }
#endif

size_t ir_hex_span(const char* text, size_t size) {
  size_t done = has_vectors() ? span_by_vectors(text, size) : 0;
  return done + span_by_table(text + done, size - done);
}

void ir_hex_decode(const char* digits, size_t bytes, unsigned char* out) {
  size_t done = has_vectors() ? decode_by_vectors(digits, bytes, out) : 0;
  decode_by_table(digits + 2 * done, bytes - done, out + done);
}

typedef struct hex_t {
  ir_lazy_t lazy;
  const char* digits;
} hex_t;

static void hex_read(const ir_lazy_t* lazy, size_t offset, size_t size, unsigned char* out) {
  ir_hex_decode(((const hex_t*)lazy)->digits + 2 * offset, size, out);
}

ir_lazy_t* ir_hex_lazy(ir_context_t* ctx, const char* digits, size_t bytes) {
  hex_t* hex = ARENA_NEW(&ctx->arena, hex_t);
  *hex = (hex_t){{.read = hex_read, .size = bytes, .unit = 1}, digits};
  return &hex->lazy;
}
