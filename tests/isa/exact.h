// Floats by whole numbers: exact sums and products of any format, rounded once. Tests compare rows with these; nothing
// here uses the host's floats.
#ifndef IREE_C_TESTS_ISA_EXACT_H_
#define IREE_C_TESTS_ISA_EXACT_H_

#include <stdbool.h>
#include <stdint.h>

typedef unsigned __int128 exact_bits_t;

typedef struct exact_format_t {
  int bits, fraction, bias;
} exact_format_t;
static const exact_format_t EXACT_F16 = {16, 10, 15}, EXACT_F32 = {32, 23, 127}, EXACT_F64 = {64, 52, 1023};
static const exact_format_t EXACT_BF16 = {16, 7, 127};

// MODE for one format.
typedef struct exact_mode_t {
  int round;  // 0 nearest even, 1 up, 2 down, 3 toward zero
  bool keeps_in, keeps_out;
} exact_mode_t;
static inline exact_mode_t exact_mode(const exact_format_t* f, uint32_t mode) {
  int shift = f->bits == 32 ? 0 : 2;
  uint32_t denormal = mode >> (4 + shift) & 3;
  return (exact_mode_t){(int)(mode >> shift & 3), denormal & 1, denormal & 2};
}

typedef enum { EXACT_ZERO, EXACT_NUMBER, EXACT_INFINITE, EXACT_NAN } exact_kind_t;
// (fraction + something below one if `more`) * 2^exponent
typedef struct exact_t {
  exact_kind_t kind;
  bool negative, more;
  int exponent;
  exact_bits_t fraction;
} exact_t;

static inline uint64_t exact_sign(const exact_format_t* f) { return UINT64_C(1) << (f->bits - 1); }
static inline uint64_t exact_infinity(const exact_format_t* f) { return (uint64_t)(2 * f->bias + 1) << f->fraction; }
static inline uint64_t exact_quiet(const exact_format_t* f) { return UINT64_C(1) << (f->fraction - 1); }
static inline uint64_t exact_least(const exact_format_t* f) { return UINT64_C(1) << f->fraction; }
static inline bool exact_is_nan(const exact_format_t* f, uint64_t bits) {
  return (bits & (exact_sign(f) - 1)) > exact_infinity(f);
}
static inline bool exact_is_signaling(const exact_format_t* f, uint64_t bits) {
  return exact_is_nan(f, bits) && !(bits & exact_quiet(f));
}
static inline bool exact_is_denormal(const exact_format_t* f, uint64_t bits) {
  uint64_t size = bits & (exact_sign(f) - 1);
  return size && size < exact_least(f);
}
// Of two random words: anything, a number near one, or an edge value, as 32 bits at most.
static inline uint32_t exact_pick(const exact_format_t* f, uint32_t random, uint32_t any) {
  uint32_t sign = (uint32_t)exact_sign(f), infinity = (uint32_t)exact_infinity(f), least = (uint32_t)exact_least(f);
  uint32_t one = (uint32_t)f->bias << f->fraction;
  any &= sign | (sign - 1);
  if (random % 4 == 0) return any;
  if (random % 4 < 3) return (any & (least - 1)) | (one + ((random >> 8 & 3) << f->fraction)) | (any & sign);
  const uint32_t edges[] = {0,           1,       least - 1,    least,
                            one,         one + 1, infinity - 1, infinity,
                            any % least, 1 << 5,  infinity | 1, infinity | (least >> 1)};
  return edges[(random >> 16) % 12] | (random & 128 ? sign : 0);
}
// An input denormal as zero, unless MODE keeps it.
static inline uint64_t exact_in(const exact_format_t* f, exact_mode_t m, uint64_t bits) {
  return !m.keeps_in && exact_is_denormal(f, bits) ? bits & exact_sign(f) : bits;
}
static inline uint64_t exact_out(const exact_format_t* f, exact_mode_t m, uint64_t bits) {
  return !m.keeps_out && exact_is_denormal(f, bits) ? bits & exact_sign(f) : bits;
}

static inline exact_t exact_of(const exact_format_t* f, uint64_t bits) {
  int field = (int)(bits >> f->fraction & (uint64_t)(2 * f->bias + 1));
  exact_t x = {.negative = bits & exact_sign(f), .fraction = bits & (exact_least(f) - 1)};
  if (field == 2 * f->bias + 1) {
    x.kind = x.fraction ? EXACT_NAN : EXACT_INFINITE;
    return x;
  }
  if (field) x.fraction |= exact_least(f);
  x.exponent = (field ? field : 1) - f->bias - f->fraction;
  x.kind = x.fraction ? EXACT_NUMBER : EXACT_ZERO;
  return x;
}
static inline exact_t exact_integer(__int128 value) {
  exact_t x = {.kind = value ? EXACT_NUMBER : EXACT_ZERO, .negative = value < 0};
  x.fraction = (exact_bits_t)(value < 0 ? -value : value);
  return x;
}

// The highest bit at 125.
static inline void exact_normalize(exact_t* x) {
  while (!(x->fraction >> 125)) x->fraction <<= 1, --x->exponent;
}
static inline void exact_shift_right(exact_t* x, int count) {
  for (; count > 0; --count) {
    if (!x->fraction) {
      x->exponent += count;
      return;
    }
    x->more |= x->fraction & 1;
    x->fraction >>= 1, ++x->exponent;
  }
}

static inline exact_t exact_negate(exact_t x) { return x.negative = !x.negative, x; }

static inline exact_t exact_add(exact_t a, exact_t b, int round) {
  if (a.kind == EXACT_NAN || b.kind == EXACT_NAN) return (exact_t){.kind = EXACT_NAN};
  if (a.kind == EXACT_INFINITE || b.kind == EXACT_INFINITE) {
    bool is_invalid = a.kind == b.kind && a.negative != b.negative;
    return is_invalid ? (exact_t){.kind = EXACT_NAN} : a.kind == EXACT_INFINITE ? a : b;
  }
  if (a.kind == EXACT_ZERO && b.kind == EXACT_ZERO) {
    a.negative = a.negative == b.negative ? a.negative : round == 2;
    return a;
  }
  if (a.kind == EXACT_ZERO) return b;
  if (b.kind == EXACT_ZERO) return a;
  exact_normalize(&a), exact_normalize(&b);
  if (a.exponent < b.exponent || (a.exponent == b.exponent && a.fraction < b.fraction)) {
    exact_t swapped = a;
    a = b, b = swapped;
  }
  exact_shift_right(&b, a.exponent - b.exponent);
  exact_t sum = a;
  sum.more = b.more;
  // What is below the last bit of b is taken from the next one.
  sum.fraction = a.negative == b.negative ? a.fraction + b.fraction : a.fraction - b.fraction - (b.more ? 1 : 0);
  if (!sum.fraction && !sum.more) sum.kind = EXACT_ZERO, sum.negative = round == 2;
  return sum;
}

// Both of at most 62 bits.
static inline exact_t exact_multiply(exact_t a, exact_t b) {
  exact_t x = {.kind = EXACT_NAN, .negative = a.negative != b.negative};
  if (a.kind == EXACT_NAN || b.kind == EXACT_NAN) return x;
  bool has_zero = a.kind == EXACT_ZERO || b.kind == EXACT_ZERO;
  if (a.kind == EXACT_INFINITE || b.kind == EXACT_INFINITE) {
    x.kind = has_zero ? EXACT_NAN : EXACT_INFINITE;
    return x;
  }
  x.kind = has_zero ? EXACT_ZERO : EXACT_NUMBER;
  x.fraction = a.fraction * b.fraction;
  x.exponent = a.exponent + b.exponent;
  return x;
}

static inline bool exact_rounds_up(int round, bool negative, bool odd, bool half, bool rest) {
  if (!half && !rest) return false;
  switch (round) {
    case 0:
      return half && (rest || odd);
    case 1:
      return !negative;
    case 2:
      return negative;
    default:
      return false;
  }
}

// To a whole number, as MODE or the caller rounds.
static inline exact_t exact_whole(exact_t x, int round) {
  if (x.kind != EXACT_NUMBER || x.exponent >= 0) return x;
  exact_shift_right(&x, -x.exponent - 1);
  bool half = x.fraction & 1, rest = x.more;
  x.fraction >>= 1, x.exponent = 0, x.more = false;
  x.fraction += exact_rounds_up(round, x.negative, x.fraction & 1, half, rest);
  if (!x.fraction) x.kind = EXACT_ZERO;
  return x;
}

// Bits of the number; a NaN is the quiet positive one. Denormals are kept: exact_out.
static inline uint64_t exact_round(const exact_format_t* f, int round, exact_t x) {
  uint64_t sign = x.negative ? exact_sign(f) : 0, infinity = exact_infinity(f);
  if (x.kind == EXACT_NAN) return infinity | exact_quiet(f);
  if (x.kind == EXACT_INFINITE) return sign | infinity;
  if (x.kind == EXACT_ZERO || (!x.fraction && !x.more)) return sign;
  // One bit below the last one that stays, and whether there is more.
  int least = 1 - f->bias - f->fraction;
  while (!(x.fraction >> (f->fraction + 1)) && x.exponent > least - 1) x.fraction <<= 1, --x.exponent;
  int drop = least - 1 - x.exponent;
  exact_shift_right(&x, drop > 0 ? drop : 0);
  while (x.fraction >> (f->fraction + 2)) exact_shift_right(&x, 1);
  bool half = x.fraction & 1, rest = x.more;
  uint64_t kept = (uint64_t)(x.fraction >> 1);
  int exponent = x.exponent + 1;
  kept += exact_rounds_up(round, x.negative, kept & 1, half, rest);
  uint64_t field = kept >= exact_least(f) ? (uint64_t)(exponent - least + 1) : 0;
  uint64_t bits = field ? (field << f->fraction) + (kept - exact_least(f)) : kept;
  if (field >= (uint64_t)(2 * f->bias + 1) || bits >= infinity) {
    bool to_most = round == 3 || (round == 1 && x.negative) || (round == 2 && !x.negative);
    bits = to_most ? infinity - 1 : infinity;
  }
  return sign | bits;
}

#endif  // IREE_C_TESTS_ISA_EXACT_H_
