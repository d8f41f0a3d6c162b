// Floats of any format below 64 bits (formats.def), as bits.
#ifndef IREE_C_BASE_SMALL_FLOAT_H_
#define IREE_C_BASE_SMALL_FLOAT_H_

#include <stdint.h>

typedef enum {
#define FORMAT(NAME, ...) SMALL_##NAME,
#include "base/formats.def"
#undef FORMAT
  SMALL_FLOAT_COUNT
} small_float_t;

typedef enum {
  FLOAT_SPECIALS_IEEE,
  FLOAT_SPECIALS_NAN_ONLY,
  FLOAT_SPECIALS_ZERO_NAN,
  FLOAT_SPECIALS_NONE,
  FLOAT_SPECIALS_POWER_ONLY
} float_specials_t;
typedef struct float_format_t {
  const char* text;
  uint8_t bits, bytes, exponent_bits, mantissa_bits;
  int16_t bias;
  uint8_t specials;  // float_specials_t
} float_format_t;
extern const float_format_t float_formats[SMALL_FLOAT_COUNT];

// Bits above the format's own do not count. Not for F64.
double small_float_decode(small_float_t format, uint32_t bits);
// Rounds to nearest even (powers of two: upwards from the middle). Too large: infinity, the NaN, or the largest number,
// as the format has them.
uint32_t small_float_encode(small_float_t format, double value);
// The largest finite number.
double small_float_largest(small_float_t format);

#endif  // IREE_C_BASE_SMALL_FLOAT_H_
