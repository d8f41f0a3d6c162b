// Float formats narrower than 32 bits, as bits: one row each, one pair of functions.
#ifndef IREE_C_BASE_SMALL_FLOAT_H_
#define IREE_C_BASE_SMALL_FLOAT_H_

#include <stdint.h>

// FORMAT(NAME, bytes, exponent bits, mantissa bits, bias, specials). Specials: IEEE: the top exponent is infinity and
// NaN; NAN_ONLY: all ones is NaN; ZERO_NAN: no negative zero, its bits are NaN; NONE: numbers only, saturates.
#define SMALL_FLOATS(FORMAT)                \
  FORMAT(F16, 2, 5, 10, 15, IEEE)           \
  FORMAT(BF16, 2, 8, 7, 127, IEEE)          \
  FORMAT(F8E4M3, 1, 4, 3, 7, IEEE)          \
  FORMAT(F8E4M3FN, 1, 4, 3, 7, NAN_ONLY)    \
  FORMAT(F8E5M2, 1, 5, 2, 15, IEEE)         \
  FORMAT(F8E4M3FNUZ, 1, 4, 3, 8, ZERO_NAN)  \
  FORMAT(F8E5M2FNUZ, 1, 5, 2, 16, ZERO_NAN) \
  FORMAT(F4E2M1FN, 1, 2, 1, 1, NONE)        \
  FORMAT(F8E8M0FNU, 1, 8, 0, 127, POWER_ONLY)
typedef enum {
#define FORMAT(NAME, ...) SMALL_##NAME,
  SMALL_FLOATS(FORMAT)
#undef FORMAT
      SMALL_FLOAT_COUNT
} small_float_t;

double small_float_decode(small_float_t format, uint32_t bits);
// Rounds to nearest even. Too large: infinity, the NaN, or the largest number, as the format has them.
uint32_t small_float_encode(small_float_t format, double value);

#endif  // IREE_C_BASE_SMALL_FLOAT_H_
