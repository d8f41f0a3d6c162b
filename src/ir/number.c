// Numbers in memory form: integers of 1 to 64 bits, IEEE and machine-learning float formats. Floats narrower than 32
// bits are described by one row each and converted by one pair of functions, rounding to nearest even.
#include <math.h>
#include <string.h>

#include "ir/ir.h"

typedef enum { SPECIALS_IEEE, SPECIALS_NAN_ONLY, SPECIALS_UNSIGNED_ZERO_NAN, SPECIALS_NONE } specials_t;
typedef struct small_float_t {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  specials_t specials;  // IEEE: top exponent is inf/NaN; NAN_ONLY: all ones is NaN; UNSIGNED_ZERO_NAN: -0 is NaN
} small_float_t;

static const small_float_t small_floats[IR_FLOAT_COUNT] = {
    [IR_F16] = {5, 10, 15, SPECIALS_IEEE},
    [IR_BF16] = {8, 7, 127, SPECIALS_IEEE},
    [IR_F8E4M3] = {4, 3, 7, SPECIALS_IEEE},
    [IR_F8E4M3FN] = {4, 3, 7, SPECIALS_NAN_ONLY},
    [IR_F8E5M2] = {5, 2, 15, SPECIALS_IEEE},
    [IR_F8E4M3FNUZ] = {4, 3, 8, SPECIALS_UNSIGNED_ZERO_NAN},
    [IR_F8E5M2FNUZ] = {5, 2, 16, SPECIALS_UNSIGNED_ZERO_NAN},
    [IR_F4E2M1FN] = {2, 1, 1, SPECIALS_NONE},
};

static double small_decode(const small_float_t* f, uint32_t bits) {
  int total = 1 + f->exponent_bits + f->mantissa_bits;
  uint32_t sign = bits >> (total - 1) & 1;
  uint32_t exponent = bits >> f->mantissa_bits & ((1u << f->exponent_bits) - 1);
  uint32_t mantissa = bits & ((1u << f->mantissa_bits) - 1);
  uint32_t top = (1u << f->exponent_bits) - 1, ones = (1u << f->mantissa_bits) - 1;
  double value;
  if (f->specials == SPECIALS_IEEE && exponent == top) {
    value = mantissa ? NAN : INFINITY;
  } else if (f->specials == SPECIALS_NAN_ONLY && exponent == top && mantissa == ones) {
    value = NAN;
  } else if (f->specials == SPECIALS_UNSIGNED_ZERO_NAN && sign && !exponent && !mantissa) {
    return NAN;
  } else if (exponent == 0) {
    value = ldexp(mantissa, 1 - f->bias - f->mantissa_bits);
  } else {
    value = ldexp((1u << f->mantissa_bits) | mantissa, (int)exponent - f->bias - f->mantissa_bits);
  }
  return sign ? -value : value;
}

// Bits of NaN, and of what is too large: infinity, the NaN, or the largest number, as the format has them.
static uint32_t small_special(const small_float_t* f, bool is_nan, uint32_t sign) {
  int total = 1 + f->exponent_bits + f->mantissa_bits;
  uint32_t top = ((1u << f->exponent_bits) - 1) << f->mantissa_bits, ones = (1u << f->mantissa_bits) - 1;
  switch (f->specials) {
    case SPECIALS_IEEE:
      return sign << (total - 1) | top | (is_nan ? 1u << (f->mantissa_bits - 1) : 0);
    case SPECIALS_NAN_ONLY:
      return sign << (total - 1) | top | ones;
    case SPECIALS_UNSIGNED_ZERO_NAN:
      return 1u << (total - 1);
    default:
      return sign << (total - 1) | top | ones;
  }
}

static uint32_t small_encode(const small_float_t* f, double value) {
  int total = 1 + f->exponent_bits + f->mantissa_bits;
  uint32_t sign = signbit(value) != 0;
  if (isnan(value)) return small_special(f, true, sign);
  double magnitude = fabs(value);
  if (isinf(value)) return small_special(f, false, sign);
  int exponent = 0;
  frexp(magnitude, &exponent);  // magnitude in [2^(exponent-1), 2^exponent)
  int biased = exponent - 1 + f->bias;
  if (biased < 1) biased = 1;
  double scaled = nearbyint(ldexp(magnitude, -(biased - f->bias - f->mantissa_bits)));
  uint32_t units = (uint32_t)scaled;  // mantissa with its leading one, or a subnormal
  uint32_t bits = units >= 1u << f->mantissa_bits ? ((uint32_t)(biased - 1) << f->mantissa_bits) + units : units;
  uint32_t top = (1u << f->exponent_bits) - 1, ones = (1u << f->mantissa_bits) - 1;
  uint32_t largest = f->specials == SPECIALS_IEEE       ? (top << f->mantissa_bits) - 1
                     : f->specials == SPECIALS_NAN_ONLY ? ((top << f->mantissa_bits) | ones) - 1
                                                        : (top << f->mantissa_bits) | ones;
  if (bits > largest) return small_special(f, false, sign);
  if (bits == 0 && f->specials == SPECIALS_UNSIGNED_ZERO_NAN) return 0;
  return sign << (total - 1) | bits;
}

int64_t ir_scalar_load_integer(const ir_type_t* t, const void* data) {
  if (t->kind == IR_TYPE_FLOAT) {
    double value = ir_scalar_load_number(t, data);
    return value != value ? 0 : value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : (int64_t)value;
  }
  uint64_t raw = 0;
  memcpy(&raw, data, ir_type_bytes(t));
  uint32_t width = t->kind == IR_TYPE_INDEX ? 64 : t->width;
  if (width >= 64) return (int64_t)raw;
  if (width == 0) return 0;
  if (width == 1) return raw & 1;
  uint32_t shift = 64 - width;
  return t->sign == IR_UNSIGNED ? (int64_t)(raw << shift >> shift) : (int64_t)(raw << shift) >> shift;
}

double ir_scalar_load_number(const ir_type_t* t, const void* data) {
  if (t->kind != IR_TYPE_FLOAT) {
    int64_t value = ir_scalar_load_integer(t, data);
    return t->sign == IR_UNSIGNED ? (double)(uint64_t)value : (double)value;
  }
  if (t->float_kind == IR_F64) {
    double value;
    memcpy(&value, data, 8);
    return value;
  }
  if (t->float_kind == IR_F32 || t->float_kind == IR_TF32) {
    float value;
    memcpy(&value, data, 4);
    return value;
  }
  uint32_t raw = 0;
  memcpy(&raw, data, ir_type_bytes(t));
  if (t->float_kind == IR_F8E8M0FNU) return raw == 0xff ? NAN : ldexp(1.0, (int)raw - 127);
  return small_decode(&small_floats[t->float_kind], raw);
}

void ir_scalar_store_integer(const ir_type_t* t, int64_t value, void* data) {
  if (t->kind == IR_TYPE_FLOAT) {
    ir_scalar_store_number(t, (double)value, data);
    return;
  }
  if (t->kind == IR_TYPE_INTEGER && t->width == 1) value &= 1;
  memcpy(data, &value, ir_type_bytes(t));
}

void ir_scalar_store_number(const ir_type_t* t, double value, void* data) {
  if (t->kind != IR_TYPE_FLOAT) {
    int64_t integer = value != value ? 0 : value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : (int64_t)value;
    if (t->sign == IR_UNSIGNED && value >= 0x1p63) integer = (int64_t)(value >= 0x1p64 ? UINT64_MAX : (uint64_t)value);
    ir_scalar_store_integer(t, integer, data);
    return;
  }
  if (t->float_kind == IR_F64) {
    memcpy(data, &value, 8);
  } else if (t->float_kind == IR_F32 || t->float_kind == IR_TF32) {
    float narrow = (float)value;
    memcpy(data, &narrow, 4);
  } else {
    uint32_t raw;
    if (t->float_kind == IR_F8E8M0FNU) {
      int exponent = value > 0 && isfinite(value) ? (int)nearbyint(log2(value)) + 127 : -1;
      raw = exponent < 0 || exponent > 254 ? 0xff : (uint32_t)exponent;
    } else {
      raw = small_encode(&small_floats[t->float_kind], value);
    }
    memcpy(data, &raw, ir_type_bytes(t));
  }
}
