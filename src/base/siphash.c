// See siphash.h.
#include "base/siphash.h"

#include <string.h>

typedef struct siphash_t {
  uint64_t v[4];
} siphash_t;

static uint64_t rotate(uint64_t x, int count) { return x << count | x >> (64 - count); }

static void mix(siphash_t* s, int rounds) {
  uint64_t* v = s->v;
  while (rounds--) {
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
  }
}

static void add_word(siphash_t* s, uint64_t word) {
  s->v[3] ^= word;
  mix(s, 2);
  s->v[0] ^= word;
}

uint64_t siphash_bytes(const uint8_t* data, size_t size) {
  const uint64_t k0 = 0x0706050403020100u, k1 = 0x0f0e0d0c0b0a0908u;
  siphash_t s = {
      {k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du, k0 ^ 0x6c7967656e657261u, k1 ^ 0x7465646279746573u}};
  uint64_t word, last = (uint64_t)size << 56;
  for (; size >= 8; data += 8, size -= 8) {
    memcpy(&word, data, 8);  // little-endian hosts only, as everywhere
    add_word(&s, word);
  }
  for (size_t i = 0; i < size; ++i) last |= (uint64_t)data[i] << (8 * i);
  add_word(&s, last);
  s.v[2] ^= 0xff;
  mix(&s, 4);
  return s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
}
