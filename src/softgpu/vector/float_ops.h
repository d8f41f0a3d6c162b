// Arithmetic of one float format; float_math.h includes it for f32 and for f64. Expects
//   FLOAT_T, FLOAT_BITS               the type, and an integer as wide
//   FLOAT_NAME(name)                  float_<name>_f32
//   FLOAT_MANTISSA, FLOAT_BIAS        23 and 127
//   FLOAT_FMA, FLOAT_SQRT, FLOAT_FLOOR

VALU_INLINE FLOAT_BITS FLOAT_NAME(bits)(FLOAT_T value) {
  union {
    FLOAT_T f;
    FLOAT_BITS u;
  } as = {.f = value};
  return as.u;
}
VALU_INLINE FLOAT_T FLOAT_NAME(from)(FLOAT_BITS bits) {
  union {
    FLOAT_BITS u;
    FLOAT_T f;
  } as = {.u = bits};
  return as.f;
}

#define FLOAT_QUIET ((FLOAT_BITS)1 << (FLOAT_MANTISSA - 1))
#define FLOAT_SIGN ((FLOAT_BITS)1 << (sizeof(FLOAT_T) * 8 - 1))
#define FLOAT_INFINITE ((FLOAT_BITS)(2 * FLOAT_BIAS + 1) << FLOAT_MANTISSA)
#define FLOAT_TWO_TO(n) FLOAT_NAME(from)((FLOAT_BITS)(FLOAT_BIAS + (n)) << FLOAT_MANTISSA)

// Of integers, so that no compiler folds them and no mode of the host matters.
VALU_INLINE int FLOAT_NAME(is_nan)(FLOAT_T x) { return (FLOAT_NAME(bits)(x) & ~FLOAT_SIGN) > FLOAT_INFINITE; }
VALU_INLINE int FLOAT_NAME(is_infinite)(FLOAT_T x) { return (FLOAT_NAME(bits)(x) & ~FLOAT_SIGN) == FLOAT_INFINITE; }
VALU_INLINE int FLOAT_NAME(is_signaling)(FLOAT_T x) {
  return FLOAT_NAME(is_nan)(x) & !(FLOAT_NAME(bits)(x) & FLOAT_QUIET);
}
VALU_INLINE int FLOAT_NAME(is_negative)(FLOAT_T x) { return (FLOAT_NAME(bits)(x) & FLOAT_SIGN) != 0; }
VALU_INLINE FLOAT_T FLOAT_NAME(quiet)(FLOAT_T x) {
  return FLOAT_NAME(from)(FLOAT_NAME(bits)(x) | (FLOAT_NAME(is_nan)(x) ? FLOAT_QUIET : 0));
}
VALU_INLINE FLOAT_T FLOAT_NAME(nan)(void) { return FLOAT_NAME(from)(FLOAT_INFINITE | FLOAT_QUIET); }
VALU_INLINE FLOAT_T FLOAT_NAME(infinity)(bool is_negative) {
  return FLOAT_NAME(from)(FLOAT_INFINITE | (is_negative ? FLOAT_SIGN : 0));
}
VALU_INLINE FLOAT_T FLOAT_NAME(abs)(FLOAT_T x) { return FLOAT_NAME(from)(FLOAT_NAME(bits)(x) & ~FLOAT_SIGN); }
VALU_INLINE FLOAT_T FLOAT_NAME(with_sign)(FLOAT_T x, bool is_negative) {
  return FLOAT_NAME(from)((FLOAT_NAME(bits)(x) & ~FLOAT_SIGN) | (is_negative ? FLOAT_SIGN : 0));
}
// A NaN that an operation made of numbers: the host's has its sign set.
VALU_INLINE FLOAT_T FLOAT_NAME(made)(FLOAT_T result, bool from_nan) {
  return result != result && !from_nan ? FLOAT_NAME(nan)() : result;
}

VALU_INLINE FLOAT_T FLOAT_NAME(add)(FLOAT_T a, FLOAT_T b) { return FLOAT_NAME(made)(a + b, (a != a) | (b != b)); }
VALU_INLINE FLOAT_T FLOAT_NAME(sub)(FLOAT_T a, FLOAT_T b) { return FLOAT_NAME(made)(a - b, (a != a) | (b != b)); }
VALU_INLINE FLOAT_T FLOAT_NAME(mul)(FLOAT_T a, FLOAT_T b) { return FLOAT_NAME(made)(a * b, (a != a) | (b != b)); }
VALU_INLINE FLOAT_T FLOAT_NAME(fma)(FLOAT_T a, FLOAT_T b, FLOAT_T c) {
  return FLOAT_NAME(made)(FLOAT_FMA(a, b, c), (a != a) | (b != b) | (c != c));
}
// Product and sum rounded each.
VALU_INLINE FLOAT_T FLOAT_NAME(mad)(FLOAT_T a, FLOAT_T b, FLOAT_T c) {
  return FLOAT_NAME(add)(FLOAT_NAME(mul)(a, b), c);
}
// Zero times anything is zero.
VALU_INLINE FLOAT_T FLOAT_NAME(mul_legacy)(FLOAT_T a, FLOAT_T b) {
  return ((a == 0) | (b == 0)) ? 0 : FLOAT_NAME(mul)(a, b);
}
VALU_INLINE FLOAT_T FLOAT_NAME(fma_legacy)(FLOAT_T a, FLOAT_T b, FLOAT_T c) {
  return ((a == 0) | (b == 0)) ? c : FLOAT_NAME(fma)(a, b, c);
}
VALU_INLINE FLOAT_T FLOAT_NAME(mad_legacy)(FLOAT_T a, FLOAT_T b, FLOAT_T c) {
  return FLOAT_NAME(add)(FLOAT_NAME(mul_legacy)(a, b), c);
}
VALU_INLINE FLOAT_T FLOAT_NAME(sqrt)(FLOAT_T a) { return FLOAT_NAME(made)(FLOAT_SQRT(a), a != a); }
VALU_INLINE FLOAT_T FLOAT_NAME(rcp)(FLOAT_T a) { return 1 / a; }
// The root's rounding error is taken out again.
VALU_INLINE FLOAT_T FLOAT_NAME(rsq)(FLOAT_T a) {
  FLOAT_T root = FLOAT_SQRT(a), first = 1 / root;
  FLOAT_T rest = FLOAT_FMA(-root, root, a) * (FLOAT_T)-0.5;
  FLOAT_T better = FLOAT_FMA(rest * first * first, first, first);
  FLOAT_T result = ((a > 0) & (first > 0)) ? better : first;
  return FLOAT_NAME(made)(result, a != a);
}

// Flushes a denormal where the mode says so, by a product that compilers do not see through.
VALU_INLINE FLOAT_T FLOAT_NAME(flush)(const float_mode_t* m, FLOAT_T x) { return x * (FLOAT_T)m->one; }

// -0 is less than +0.
VALU_INLINE int FLOAT_NAME(is_less)(FLOAT_T a, FLOAT_T b) { return (a < b) | ((a == b) & FLOAT_NAME(is_negative)(a)); }
VALU_INLINE FLOAT_T FLOAT_NAME(pick_number)(const float_mode_t* m, FLOAT_T a, FLOAT_T b, bool takes_a) {
  FLOAT_T x = FLOAT_NAME(flush)(m, a), y = FLOAT_NAME(flush)(m, b);
  FLOAT_T number = takes_a ? x : y;
  FLOAT_T result = b != b ? x : a != a ? y : number;
  result = (FLOAT_NAME(is_signaling)(b) & m->quiets) ? y : result;
  return (FLOAT_NAME(is_signaling)(a) & m->quiets) ? x : result;
}
// A NaN yields to a number; a signaling one does not in IEEE mode.
VALU_INLINE FLOAT_T FLOAT_NAME(min)(const float_mode_t* m, FLOAT_T a, FLOAT_T b) {
  return FLOAT_NAME(pick_number)(m, a, b, FLOAT_NAME(is_less)(a, b));
}
VALU_INLINE FLOAT_T FLOAT_NAME(max)(const float_mode_t* m, FLOAT_T a, FLOAT_T b) {
  return FLOAT_NAME(pick_number)(m, a, b, FLOAT_NAME(is_less)(b, a));
}
VALU_INLINE FLOAT_T FLOAT_NAME(min3)(const float_mode_t* m, FLOAT_T a, FLOAT_T b, FLOAT_T c) {
  return FLOAT_NAME(min)(m, FLOAT_NAME(min)(m, a, b), c);
}
VALU_INLINE FLOAT_T FLOAT_NAME(max3)(const float_mode_t* m, FLOAT_T a, FLOAT_T b, FLOAT_T c) {
  return FLOAT_NAME(max)(m, FLOAT_NAME(max)(m, a, b), c);
}
VALU_INLINE FLOAT_T FLOAT_NAME(med3)(const float_mode_t* m, FLOAT_T a, FLOAT_T b, FLOAT_T c) {
  FLOAT_T most = FLOAT_NAME(max3)(m, a, b, c);
  FLOAT_T number = most == FLOAT_NAME(flush)(m, a)   ? FLOAT_NAME(max)(m, b, c)
                   : most == FLOAT_NAME(flush)(m, b) ? FLOAT_NAME(max)(m, a, c)
                                                     : FLOAT_NAME(max)(m, a, b);
  return ((a != a) | (b != b) | (c != c)) ? FLOAT_NAME(min3)(m, a, b, c) : number;
}
// A NaN wins; a signaling one first.
VALU_INLINE FLOAT_T FLOAT_NAME(pick_any)(const float_mode_t* m, FLOAT_T a, FLOAT_T b, bool takes_a) {
  FLOAT_T x = FLOAT_NAME(flush)(m, a), y = FLOAT_NAME(flush)(m, b);
  FLOAT_T number = takes_a ? x : y;
  FLOAT_T result = b != b ? y : number;
  result = a != a ? x : result;
  return (FLOAT_NAME(is_signaling)(b) & !FLOAT_NAME(is_signaling)(a)) ? y : result;
}
VALU_INLINE FLOAT_T FLOAT_NAME(minimum)(const float_mode_t* m, FLOAT_T a, FLOAT_T b) {
  return FLOAT_NAME(pick_any)(m, a, b, FLOAT_NAME(is_less)(a, b));
}
VALU_INLINE FLOAT_T FLOAT_NAME(maximum)(const float_mode_t* m, FLOAT_T a, FLOAT_T b) {
  return FLOAT_NAME(pick_any)(m, a, b, FLOAT_NAME(is_less)(b, a));
}

VALU_INLINE FLOAT_T FLOAT_NAME(fract)(FLOAT_T x) {
  const FLOAT_T below_one = 1 - FLOAT_TWO_TO(-FLOAT_MANTISSA - 1);
  FLOAT_T result = FLOAT_NAME(sub)(x, FLOAT_FLOOR(x));
  return result > below_one ? below_one : result;
}

// Mantissa in [0.5, 1) and its exponent.
VALU_INLINE FLOAT_T FLOAT_NAME(normal)(FLOAT_T x, int32_t* exponent) {
  FLOAT_T magnitude = FLOAT_NAME(abs)(x);
  int is_small = magnitude < FLOAT_TWO_TO(1 - FLOAT_BIAS);
  FLOAT_T scaled = is_small ? x * FLOAT_TWO_TO(64) : x;
  int32_t field = (int32_t)(FLOAT_NAME(bits)(scaled) >> FLOAT_MANTISSA & (2 * FLOAT_BIAS + 1));
  *exponent = field - (FLOAT_BIAS - 1) - (is_small ? 64 : 0);
  return scaled;
}
VALU_INLINE FLOAT_T FLOAT_NAME(frexp_mantissa)(FLOAT_T x) {
  int32_t exponent;
  FLOAT_T scaled = FLOAT_NAME(normal)(x, &exponent);
  FLOAT_BITS bits = FLOAT_NAME(bits)(scaled);
  FLOAT_BITS half = (FLOAT_BITS)(FLOAT_BIAS - 1) << FLOAT_MANTISSA;
  FLOAT_T result = FLOAT_NAME(from)((bits & ~FLOAT_INFINITE) | half);
  int is_finite = (bits & FLOAT_INFINITE) != FLOAT_INFINITE;
  return scaled == 0 ? scaled : is_finite ? result : FLOAT_NAME(quiet)(x);
}
VALU_INLINE int32_t FLOAT_NAME(frexp_exponent)(FLOAT_T x) {
  int32_t exponent;
  FLOAT_T scaled = FLOAT_NAME(normal)(x, &exponent);
  int is_finite = (FLOAT_NAME(bits)(scaled) & FLOAT_INFINITE) != FLOAT_INFINITE;
  return ((scaled != 0) & is_finite) ? exponent : 0;
}

// The three steps around a division: operands that would leave the format's range are scaled, and the quotient is
// scaled back (VCC tells); special operands are put right at the end. `a` is the one of b (denominator) and c
// (numerator) that is asked for.
VALU_INLINE int32_t FLOAT_NAME(field)(FLOAT_T x) {
  return (int32_t)(FLOAT_NAME(bits)(x) >> FLOAT_MANTISSA & (2 * FLOAT_BIAS + 1));
}
VALU_INLINE FLOAT_T FLOAT_NAME(div_scale)(FLOAT_T a, FLOAT_T b, FLOAT_T c, int* scales) {
  enum { WIDE = FLOAT_BIAS == 127 ? 96 : 768, FEW = FLOAT_BIAS == 127 ? 23 : 53 };
  const FLOAT_T up = FLOAT_TWO_TO(FLOAT_BIAS == 127 ? 64 : 128), down = FLOAT_TWO_TO(FLOAT_BIAS == 127 ? -64 : -128);
  const FLOAT_T least = FLOAT_TWO_TO(1 - FLOAT_BIAS);
  int32_t b_field = FLOAT_NAME(field)(b), c_field = FLOAT_NAME(field)(c);
  FLOAT_T quotient = FLOAT_NAME(abs)(c / b);
  int is_finite = b_field <= 2 * FLOAT_BIAS;
  int is_tiny_inverse = (FLOAT_NAME(abs)(b) > FLOAT_TWO_TO(FLOAT_BIAS - 1)) & is_finite;
  int is_tiny_quotient = ((quotient < least) | (c_field - b_field <= 1 - FLOAT_BIAS)) & is_finite;
  int is_zero = (b == 0) | (c == 0), is_far = c_field - b_field >= WIDE, is_denormal = b_field == 0;
  FLOAT_T for_numerator = FLOAT_NAME(bits)(a) == FLOAT_NAME(bits)(c) ? up : 1;
  FLOAT_T for_denominator = FLOAT_NAME(bits)(a) == FLOAT_NAME(bits)(b) ? up : 1;
  FLOAT_T for_large = FLOAT_NAME(bits)(a) == FLOAT_NAME(bits)(b) ? down : 1;
  FLOAT_T factor = c_field <= FEW ? up : 1;
  factor = is_tiny_quotient ? for_numerator : factor;
  factor = is_tiny_inverse ? down : factor;
  factor = (is_tiny_inverse & is_tiny_quotient) ? for_large : factor;
  factor = is_denormal ? up : factor;
  factor = is_far ? for_denominator : factor;
  *scales = is_zero | is_far | (is_tiny_quotient & (b_field != 0));
  return is_zero ? FLOAT_NAME(nan)() : a * factor;
}
// The scale is part of the operation, so what becomes denormal is rounded once: where a rounded sum that is scaled lies
// in the middle between two denormals, what the first rounding took from it decides.
VALU_INLINE FLOAT_T FLOAT_NAME(div_fmas)(FLOAT_T a, FLOAT_T b, FLOAT_T c, bool scales, bool is_nearest) {
  enum { STEP = FLOAT_BIAS == 127 ? 64 : 128 };
  const FLOAT_T up = FLOAT_TWO_TO(STEP), down = FLOAT_TWO_TO(-STEP);
  const FLOAT_T half = FLOAT_TWO_TO(STEP - FLOAT_BIAS - FLOAT_MANTISSA);  // of the least denormal, before the scale
  int is_large = FLOAT_NAME(field)(c) > FLOAT_BIAS;
  FLOAT_T result = FLOAT_NAME(fma)(a, b, c), scaled = result * (is_large ? up : down);
  FLOAT_T product = a * b, product_rest = FLOAT_FMA(a, b, -product);
  FLOAT_T sum = c + product, back = sum - c, sum_rest = (c - (sum - back)) + (product - back);
  FLOAT_T lost = ((sum - result) + sum_rest) + product_rest;
  int is_lost = (product == 0) & (a != 0) & (b != 0);
  lost = is_lost ? FLOAT_NAME(with_sign)(1, FLOAT_NAME(is_negative)(a) != FLOAT_NAME(is_negative)(b)) : lost;
  FLOAT_T rest = FLOAT_FMA(-scaled, up, result), other = (result + rest) * down;
  int is_middle = is_nearest & !is_large & (FLOAT_NAME(abs)(rest) == half) & (lost != 0);
  int is_wrong = is_middle & (FLOAT_NAME(is_negative)(rest) == FLOAT_NAME(is_negative)(lost));
  scaled = is_wrong ? other : scaled;
  return scales ? scaled : result;
}
VALU_INLINE FLOAT_T FLOAT_NAME(div_fixup)(FLOAT_T a, FLOAT_T b, FLOAT_T c) {
  int sign = FLOAT_NAME(is_negative)(b) != FLOAT_NAME(is_negative)(c);
  int b_infinite = FLOAT_NAME(is_infinite)(b), c_infinite = FLOAT_NAME(is_infinite)(c);
  enum { FAR = FLOAT_BIAS == 127 ? -150 : -1075 };
  FLOAT_T result = FLOAT_NAME(abs)(a);
  result = FLOAT_NAME(field)(c) - FLOAT_NAME(field)(b) < FAR ? 0 : result;
  // The steps before make a NaN of a quotient that is too large.
  result = a != a ? FLOAT_NAME(infinity)(false) : result;
  result = (b_infinite | (c == 0)) ? 0 : result;
  result = ((b == 0) | c_infinite) ? FLOAT_NAME(infinity)(false) : result;
  result = FLOAT_NAME(with_sign)(result, sign);
  int is_invalid = ((b == 0) & (c == 0)) | (b_infinite & c_infinite);
  // The one NaN whose sign is set.
  result = is_invalid ? FLOAT_NAME(with_sign)(FLOAT_NAME(nan)(), true) : result;
  result = b != b ? FLOAT_NAME(quiet)(b) : result;
  return c != c ? FLOAT_NAME(quiet)(c) : result;
}
