// Float rows against plain scalar code: special values, MODE, inactive lanes, accuracy.
#include <math.h>

#include "exact.h"
#include "rows.h"

static const uint32_t specials[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x3f800000, 0xbf800000,
    0x3f7fffff, 0x40490fdb, 0xc2280000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345,
    0x7f812345, 0xff800001, 0x4b800000, 0x33800000, 0x3f800001, 0x7e800000, 0x00ffffff, 0x5f000000, 0x1f800000,
};
enum { SPECIALS = sizeof(specials) / sizeof(specials[0]) };

static bool is_nan(uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }
static bool is_signaling(uint32_t bits) { return is_nan(bits) && !(bits & 0x400000); }

static volatile float volatile_a, volatile_b, volatile_c;

// One operation by the host under a MXCSR.
typedef enum { ADD, SUB, MUL, FMA } operation_t;
static uint32_t by_host(operation_t operation, uint32_t csr, const uint32_t* in) {
  volatile_a = rows_float(in[0]), volatile_b = rows_float(in[1]), volatile_c = rows_float(in[2]);
  bool has_nan = is_nan(in[0]) || is_nan(in[1]) || (operation == FMA && is_nan(in[2]));
  __builtin_ia32_ldmxcsr(csr);
  volatile float result = operation == ADD   ? volatile_a + volatile_b
                          : operation == SUB ? volatile_a - volatile_b
                          : operation == MUL ? volatile_a * volatile_b
                                             : fmaf(volatile_a, volatile_b, volatile_c);
  __builtin_ia32_ldmxcsr(0x1f80);
  uint32_t bits = rows_bits(result);
  return is_nan(bits) && !has_nan ? 0x7fc00000 : bits;
}

static void check_arithmetic(rows_t* r, const char* name, operation_t operation, int level) {
  rows_make(r, name, level, 0, operation == FMA ? 3 : 2);
  uint64_t state = 1;
  for (int round = 0; round < 200; ++round) {
    for (uint32_t i = 0; i < r->wave.lanes; ++i) {
      for (uint32_t k = 0; k < 3; ++k) {
        uint32_t pick = rows_random(&state);
        rows_lanes(r, 16 + 16 * k)[i] = pick % 3 ? specials[pick / 3 % SPECIALS] : rows_random(&state);
      }
      rows_lanes(r, 0)[i] = 0xdeadbeef;
    }
    uint64_t exec = round % 3 ? rows_random(&state) | (uint64_t)rows_random(&state) << 32 : UINT64_MAX;
    wave_set_mask(&r->wave, SREG_EXEC, exec & r->wave.all);
    rows_run(r);
    for (uint32_t i = 0; i < r->wave.lanes; ++i) {
      uint32_t in[3] = {rows_lanes(r, 16)[i], rows_lanes(r, 32)[i], rows_lanes(r, 48)[i]};
      uint32_t got = rows_lanes(r, 0)[i];
      uint32_t want = exec >> i & 1 ? by_host(operation, r->wave.csr_single, in) : 0xdeadbeef;
      // Which of several NaNs goes on is not fixed here.
      bool same = got == want || (is_nan(got) && is_nan(want) && (got & 0x400000));
      if (is_nan(want) && !is_nan(in[0]) && !is_nan(in[1]) && !is_nan(in[2])) same = got == want;
      if (!same) {
        fail_msg("%s level %d mode %x: %08x %08x %08x gives %08x, not %08x", name, level, r->wave.mode, in[0], in[1],
                 in[2], got, want);
      }
    }
  }
}

static void test_arithmetic(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, level % 2 ? 64 : 32, 11, 0, 0);
    for (uint32_t mode = 0; mode < 16; ++mode) {
      uint32_t round = mode & 3, denormal = mode >> 2;
      // A software fused multiply-add of the host's library knows nearest rounding and denormals only.
      rows_set_mode(&r, 0x200 | denormal << 4 | round);
      check_arithmetic(&r, "v_add_f32", ADD, level);
      check_arithmetic(&r, "v_sub_f32", SUB, level);
      check_arithmetic(&r, "v_mul_f32", MUL, level);
      if (level > 2 || mode == 12) check_arithmetic(&r, "v_fma_f32", FMA, level);
    }
    rows_close(&r);
  }
}

// Minimum and maximum as the manuals' pseudocode has them, by bits.
static uint32_t number_rule(const uint32_t* in, bool is_max, bool ieee) {
  uint32_t a = in[0], b = in[1];
  if (ieee && is_signaling(a)) return a | 0x400000;
  if (ieee && is_signaling(b)) return b | 0x400000;
  if (is_nan(b)) return is_nan(a) ? a | 0x400000 : a;
  if (is_nan(a)) return b;
  float x = rows_float(a), y = rows_float(b);
  bool a_first = x < y || (x == y && a >> 31);
  bool b_first = y < x || (x == y && b >> 31);
  return is_max ? (b_first ? a : b) : a_first ? a : b;
}
static uint32_t any_rule(const uint32_t* in, bool is_max) {
  uint32_t a = in[0], b = in[1];
  if (is_signaling(a)) return a | 0x400000;
  if (is_signaling(b)) return b | 0x400000;
  if (is_nan(a)) return a;
  if (is_nan(b)) return b;
  return number_rule(in, is_max, false);
}

static void test_minima(void** state) {
  static const struct {
    const char* name;
    bool is_max, any;
  } rules[] = {{"v_min_f32", false, false},    {"v_max_f32", true, false},     {"v_min_num_f32", false, false},
               {"v_max_num_f32", true, false}, {"v_minimum_f32", false, true}, {"v_maximum_f32", true, true}};
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 32, 11, 0, 0);
    for (uint32_t ieee = 0; ieee < 2; ++ieee) {
      rows_set_mode(&r, ieee << 9 | 0xf0);
      for (size_t t = 0; t < sizeof(rules) / sizeof(rules[0]); ++t) {
        rows_make(&r, rules[t].name, level, 0, 2);
        for (uint32_t first = 0; first < SPECIALS; ++first) {
          for (uint32_t i = 0; i < 32; ++i) {
            rows_lanes(&r, 16)[i] = specials[first], rows_lanes(&r, 32)[i] = specials[i % SPECIALS];
          }
          rows_run(&r);
          for (uint32_t i = 0; i < 32; ++i) {
            uint32_t in[2] = {specials[first], specials[i % SPECIALS]}, got = rows_lanes(&r, 0)[i];
            uint32_t want = rules[t].any ? any_rule(in, rules[t].is_max) : number_rule(in, rules[t].is_max, ieee);
            if (got != want) {
              fail_msg("%s level %d ieee %u: %08x %08x gives %08x, not %08x", rules[t].name, level, ieee, in[0], in[1],
                       got, want);
            }
          }
        }
      }
    }
    rows_close(&r);
  }
}

static float median(float a, float b, float c) { return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c)); }

static void test_three(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 64, 9, 0, 10);
    uint64_t seed = 7;
    static const char* const names[] = {"v_min3_f32", "v_max3_f32", "v_med3_f32", "v_minmax_f32", "v_maxmin_f32"};
    for (uint32_t t = 0; t < 5; ++t) {
      rows_make(&r, names[t], level, 0, 3);
      for (uint32_t i = 0; i < 64; ++i) {
        for (uint32_t k = 0; k < 3; ++k) {
          rows_lanes(&r, 16 + 16 * k)[i] = rows_bits((float)(int32_t)(rows_random(&seed) % 100 + 1) - 50.5f);
        }
      }
      rows_run(&r);
      for (uint32_t i = 0; i < 64; ++i) {
        float a = rows_float(rows_lanes(&r, 16)[i]), b = rows_float(rows_lanes(&r, 32)[i]);
        float c = rows_float(rows_lanes(&r, 48)[i]), got = rows_float(rows_lanes(&r, 0)[i]);
        float want[] = {fminf(fminf(a, b), c), fmaxf(fmaxf(a, b), c), median(a, b, c), fmaxf(fminf(a, b), c),
                        fminf(fmaxf(a, b), c)};
        assert_true(got == want[t]);
      }
    }
    rows_close(&r);
  }
}

// Distance in units of the last place of the exact value.
static double ulps(float got, long double want) {
  if (isnan(want)) return isnan(got) ? 0 : INFINITY;
  // Denormal results are zero.
  if (fabsl(want) < 0x1p-126L) return fabsf(got) <= 0x1p-126f ? 0 : INFINITY;
  if (fabsl(want) >= 0x1.ffffffp127L) return isinf(got) && (got > 0) == (want > 0) ? 0 : INFINITY;
  int exponent;
  frexpl(want, &exponent);
  return (double)fabsl((got - want) / ldexpl(1, exponent - 24));
}

static long double exact_exp2(float x) { return exp2l(x); }
static long double exact_log2(float x) { return log2l(x); }
static long double exact_rcp(float x) { return 1 / (long double)x; }
static long double exact_rsq(float x) { return x < 0 ? NAN : 1 / sqrtl(x); }
static long double exact_sqrt(float x) { return sqrtl(x); }
// Turns are brought to an eighth of one first, where pi's rounding does no harm.
static long double exact_turn(long double x) {
  const long double turn = 2 * 3.141592653589793238462643383279502884L;
  long double r = remainderl(x, 1), size = fabsl(r);
  if (size > 0.25L) size = 0.5L - size;
  long double result = size > 0.125L ? cosl(turn * (0.25L - size)) : sinl(turn * size);
  return r < 0 ? -result : result;
}
static long double exact_sin(float x) { return exact_turn(x); }
static long double exact_cos(float x) { return exact_turn((long double)x + 0.25L); }

typedef struct accuracy_t {
  const char* name;
  long double (*exact)(float);
  float low, high;
  double limit;  // ulps
} accuracy_t;

static void check_accuracy(rows_t* r, const accuracy_t* t, int level) {
  rows_make(r, t->name, level, 0, 1);
  uint64_t seed = 3;
  double worst = 0;
  for (int round = 0; round < 4000; ++round) {
    for (uint32_t i = 0; i < r->wave.lanes; ++i) {
      float x = t->low + (t->high - t->low) * (float)(rows_random(&seed) >> 8) * 0x1p-24f;
      // Half of them over all exponents.
      uint32_t bits = rows_random(&seed);
      if ((round & 1) && (bits >> 23 & 255) && rows_float(bits) >= t->low && rows_float(bits) <= t->high) {
        x = rows_float(bits);
      }
      if (fabsf(x) < 0x1p-126f) x = 1;
      rows_lanes(r, 16)[i] = rows_bits(x);
    }
    rows_run(r);
    for (uint32_t i = 0; i < r->wave.lanes; ++i) {
      float x = rows_float(rows_lanes(r, 16)[i]);
      double error = ulps(rows_float(rows_lanes(r, 0)[i]), t->exact(x));
      if (error > worst) worst = error;
      if (error > t->limit) {
        fail_msg("%s level %d: %a gives %a, not %La: %f ulps", t->name, level, x, rows_float(rows_lanes(r, 0)[i]),
                 t->exact(x), error);
      }
    }
  }
  print_message("%s level %d: at most %.3f ulps\n", t->name, level, worst);
}

static void test_accuracy(void** state) {
  static const accuracy_t rows[] = {
      {"v_exp_f32", exact_exp2, -126, 128, 1},       {"v_log_f32", exact_log2, 0x1p-126f, 3e38f, 1},
      {"v_log_f32", exact_log2, 0.5f, 2, 1},         {"v_rcp_f32", exact_rcp, -1e30f, 1e30f, 1},
      {"v_rsq_f32", exact_rsq, 0x1p-100f, 3e38f, 1}, {"v_sqrt_f32", exact_sqrt, 0, 3e38f, 1},
      {"v_sin_f32", exact_sin, -256, 256, 1},        {"v_cos_f32", exact_cos, -256, 256, 1},
      {"v_sin_f32", exact_sin, -0.25f, 0.25f, 1},
  };
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 32, 11, 0, 0);
    for (size_t t = 0; t < sizeof(rows) / sizeof(rows[0]); ++t) check_accuracy(&r, &rows[t], level);
    rows_close(&r);
  }
}

static void test_transcendental_specials(void** state) {
  static const struct {
    const char* name;
    uint32_t in, out;
  } cases[] = {
      {"v_exp_f32", 0x00000000, 0x3f800000},
      {"v_exp_f32", 0x7f800000, 0x7f800000},
      {"v_exp_f32", 0xff800000, 0},
      {"v_exp_f32", 0x43000000, 0x7f800000},
      {"v_exp_f32", 0xc3160000, 0},
      {"v_exp_f32", 0x7f800001, 0x7fc00001},
      {"v_log_f32", 0x00000000, 0xff800000},
      {"v_log_f32", 0x80000000, 0xff800000},
      {"v_log_f32", 0x00000001, 0xff800000},
      {"v_log_f32", 0x3f800000, 0},
      {"v_log_f32", 0xbf800000, 0x7fc00000},
      {"v_log_f32", 0x7f800000, 0x7f800000},
      {"v_log_f32", 0xff800000, 0x7fc00000},
      {"v_rcp_f32", 0x80000000, 0xff800000},
      {"v_rcp_f32", 0xff800000, 0x80000000},
      {"v_rcp_f32", 0x00000001, 0x7f800000},
      {"v_rcp_f32", 0x7f000000, 0},
      {"v_rsq_f32", 0x00000000, 0x7f800000},
      {"v_rsq_f32", 0xbf800000, 0x7fc00000},
      {"v_rsq_f32", 0x7f800000, 0},
      {"v_sqrt_f32", 0x80000000, 0x80000000},
      {"v_sqrt_f32", 0xbf800000, 0x7fc00000},
      {"v_sqrt_f32", 0x7f800000, 0x7f800000},
      {"v_sin_f32", 0x7f800000, 0x7fc00000},
      {"v_sin_f32", 0x80000000, 0x80000000},
      {"v_cos_f32", 0x00000000, 0x3f800000},
      {"v_cos_f32", 0x3f000000, 0xbf800000},
      {"v_sin_f32", 0x3e800000, 0x3f800000},
      {"v_fract_f32", 0xb0000000, 0x3f7fffff},
      {"v_fract_f32", 0xbfa00000, 0x3f400000},
      {"v_rndne_f32", 0x40200000, 0x40000000},
      {"v_rndne_f32", 0xbf000000, 0x80000000},
      {"v_floor_f32", 0xbf000000, 0xbf800000},
      {"v_ceil_f32", 0xbf000000, 0x80000000},
      {"v_trunc_f32", 0x40200000, 0x40000000},
      {"v_frexp_mant_f32", 0x41200000, 0x3f200000},
      {"v_frexp_exp_i32_f32", 0x41200000, 4},
      {"v_frexp_mant_f32", 0x00000003, 0x3f400000},
      {"v_frexp_exp_i32_f32", 0x00000003, (uint32_t)-147},
      {"v_frexp_exp_i32_f32", 0x7f800000, 0},
      {"v_frexp_exp_i32_f32", 0, 0},
      {"v_frexp_mant_f32", 0xff800000, 0xff800000},
  };
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 32, 11, 0, 0);
    for (size_t t = 0; t < sizeof(cases) / sizeof(cases[0]); ++t) {
      rows_make(&r, cases[t].name, level, 0, 1);
      for (uint32_t i = 0; i < 32; ++i) rows_lanes(&r, 16)[i] = cases[t].in;
      rows_run(&r);
      for (uint32_t i = 0; i < 32; ++i) {
        if (rows_lanes(&r, 0)[i] != cases[t].out) {
          fail_msg("%s level %d: %08x gives %08x, not %08x", cases[t].name, level, cases[t].in, rows_lanes(&r, 0)[i],
                   cases[t].out);
        }
      }
    }
    rows_close(&r);
  }
}

// Runs a row on registers of the caller's choice.
static void step(rows_t* r, const char* name, int level, uint32_t d, uint32_t a, uint32_t b, uint32_t c,
                 uint32_t negated) {
  rows_make(r, name, level, d, 3);
  const uint32_t from[] = {a, b, c};
  for (uint32_t k = 0; k < 3; ++k) {
    r->inst.src[k] = rows_register(r, from[k]);
    if (negated >> k & 1) r->inst.src[k].modifiers = OPERAND_NEG;
  }
  rows_run(r);
}

// The sequence that compilers emit for a division; operands in registers 2 (numerator) and 4 (denominator), result in
// 6, the constant 1 in 8.
static void divide(rows_t* r, const char* type, int level) {
  char scale[32], rcp[32], fma[32], mul[32], fmas[32], fixup[32];
  snprintf(scale, sizeof(scale), "v_div_scale_%s", type);
  snprintf(rcp, sizeof(rcp), "v_rcp_%s", type);
  snprintf(fma, sizeof(fma), "v_fma_%s", type);
  snprintf(mul, sizeof(mul), "v_mul_%s", type);
  snprintf(fmas, sizeof(fmas), "v_div_fmas_%s", type);
  snprintf(fixup, sizeof(fixup), "v_div_fixup_%s", type);
  step(r, scale, level, 10, 4, 4, 2, 0);  // denominator
  step(r, scale, level, 12, 2, 4, 2, 0);  // numerator, and VCC
  step(r, rcp, level, 14, 10, 10, 10, 0);
  step(r, fma, level, 16, 10, 14, 8, 1);
  step(r, fma, level, 14, 16, 14, 14, 0);
  if (strcmp(type, "f64") == 0) {
    step(r, fma, level, 16, 10, 14, 8, 1);
    step(r, fma, level, 14, 16, 14, 14, 0);
  }
  step(r, mul, level, 18, 12, 14, 0, 0);
  step(r, fma, level, 16, 10, 18, 12, 1);
  if (strcmp(type, "f32") == 0) {
    step(r, fma, level, 18, 16, 14, 18, 0);
    step(r, fma, level, 16, 10, 18, 12, 1);
  }
  step(r, fmas, level, 20, 16, 14, 18, 0);
  step(r, fixup, level, 6, 20, 4, 2, 0);
}

// A number of any size, an edge value, or for numerators one that is less than the denominator by so much that the
// quotient is denormal or nearly so.
static uint64_t pick_operand(uint64_t* seed, bool is_wide, uint64_t denominator) {
  uint32_t pick = rows_random(seed);
  uint64_t any = is_wide ? rows_random(seed) | (uint64_t)rows_random(seed) << 32 : rows_random(seed);
  int fraction = is_wide ? 52 : 23, bias = is_wide ? 1023 : 127;
  uint64_t sign = UINT64_C(1) << (is_wide ? 63 : 31), least = UINT64_C(1) << fraction;
  int64_t field = (int64_t)(denominator >> fraction & (2 * (uint64_t)bias + 1)) - bias + 2 - pick / 16 % (fraction + 5);
  if (denominator && pick % 4 && field > 0) {
    // Few bits make quotients in the middle between two numbers.
    uint64_t kept = pick & 8 ? ~UINT64_C(0) << (pick / 4096 % fraction) : ~UINT64_C(0);
    return (any & (least - 1) & kept) | (uint64_t)field << fraction | (any & sign);
  }
  return pick % 4 == 1 && !is_wide ? specials[pick / 16 % SPECIALS] : any;
}

static uint64_t lane_of(rows_t* r, uint32_t at, uint32_t i, bool is_wide) {
  return rows_lanes(r, at)[i] | (is_wide ? (uint64_t)rows_lanes(r, at + 1)[i] << 32 : 0);
}
static void set_lane(rows_t* r, uint32_t at, uint32_t i, uint64_t value) {
  rows_lanes(r, at)[i] = (uint32_t)value;
  rows_lanes(r, at + 1)[i] = (uint32_t)(value >> 32);
}

static uint64_t host_quotient(uint64_t a, uint64_t b, bool is_wide) {
  static volatile double wide_a, wide_b;
  if (!is_wide) {
    volatile_a = rows_float((uint32_t)a), volatile_b = rows_float((uint32_t)b);
    return rows_bits(volatile_a / volatile_b);
  }
  double x;
  memcpy(&x, &a, sizeof(x)), wide_a = x;
  memcpy(&x, &b, sizeof(x)), wide_b = x;
  x = wide_a / wide_b;
  memcpy(&a, &x, sizeof(a));
  return a;
}

// Quotients are rounded correctly, denormal ones too.
static void check_division(const char* type, int rounds) {
  bool is_wide = strcmp(type, "f64") == 0;
  const exact_format_t* f = is_wide ? &EXACT_F64 : &EXACT_F32;
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 32, 11, 0, 0);
    uint64_t seed = 5;
    for (int round = 0; round < rounds; ++round) {
      for (uint32_t i = 0; i < 32; ++i) {
        uint64_t b = pick_operand(&seed, is_wide, 0);
        set_lane(&r, 4, i, b);
        set_lane(&r, 2, i, pick_operand(&seed, is_wide, b));
        set_lane(&r, 8, i, is_wide ? UINT64_C(0x3ff0000000000000) : 0x3f800000);
      }
      divide(&r, type, level);
      for (uint32_t i = 0; i < 32; ++i) {
        uint64_t a = lane_of(&r, 2, i, is_wide), b = lane_of(&r, 4, i, is_wide), got = lane_of(&r, 6, i, is_wide);
        uint64_t want = host_quotient(a, b, is_wide);
        if (got != want && !(exact_is_nan(f, got) && exact_is_nan(f, want))) {
          fail_msg("level %d: %016llx / %016llx gives %016llx, not %016llx", level, (unsigned long long)a,
                   (unsigned long long)b, (unsigned long long)got, (unsigned long long)want);
        }
      }
    }
    rows_close(&r);
  }
}
static void test_division_single(void** state) { check_division("f32", 6000); }
static void test_division_double(void** state) { check_division("f64", 3000); }

// Output modifiers: multiplications only without IEEE mode and denormal results; clamp always.
static void test_output_modifiers(void** state) {
  static const struct {
    uint32_t mode, flags, in, out;
  } cases[] = {{0x100, INST_MUL_X2, 0x3f800000, 0x40000000},
               {0x100, INST_MUL_X4, 0x3f800000, 0x40800000},
               {0x100, INST_DIV_X2, 0x3f800000, 0x3f000000},
               {0x300, INST_MUL_X2, 0x3f800000, 0x3f800000},
               {0x130, INST_MUL_X2, 0x3f800000, 0x3f800000},
               {0x3f0, INST_CLAMP, 0x40000000, 0x3f800000},
               {0x100, INST_CLAMP | INST_DIV_X2, 0x3f800000, 0x3f000000},
               {0x3f0, INST_CLAMP, 0xbf800000, 0},
               {0x100, INST_CLAMP, 0x7fc00000, 0}};
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 32, 10, 3, 0);
    for (size_t t = 0; t < sizeof(cases) / sizeof(cases[0]); ++t) {
      rows_set_mode(&r, cases[t].mode);
      // a * b + 0, by the two rows that accumulate and that do not.
      for (uint32_t i = 0; i < 32; ++i) {
        rows_lanes(&r, 16)[i] = cases[t].in, rows_lanes(&r, 32)[i] = 0x3f800000, rows_lanes(&r, 0)[i] = 0;
      }
      rows_make(&r, t % 2 ? "v_mul_f32" : "v_fmac_f32", level, 0, 2);
      r.inst.flags = cases[t].flags;
      rows_run(&r);
      assert_int_equal(rows_lanes(&r, 0)[31], cases[t].out);
    }
    rows_close(&r);
  }
}

// Values that hardware is known to give.
static void test_division_steps(void** state) {
  static const struct {
    uint32_t scale_in, denominator, numerator, scaled, vcc;
  } scales[] = {
      {0x3f800000, 0, 0x3f800000, 0x7fc00000, 1},           // by zero
      {0, 0x3f800000, 0, 0x7fc00000, 1},                    // of zero
      {0x3f800000, 0x3f800000, 0x7f7fffff, 0x5f800000, 1},  // large quotient
      {0x00800000, 0x3f800000, 0x00800000, 0x20800000, 1},  // small one
      {0x3f800000, 0x7f000000, 0x3f800000, 0x3f800000, 1},  // and of a large denominator
      {0x40000000, 0x3f800000, 0x40000000, 0x40000000, 0},
  };
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 32, 11, 0, 0);
    for (size_t t = 0; t < sizeof(scales) / sizeof(scales[0]); ++t) {
      for (uint32_t i = 0; i < 32; ++i) {
        rows_lanes(&r, 1)[i] = scales[t].scale_in, rows_lanes(&r, 4)[i] = scales[t].denominator;
        rows_lanes(&r, 2)[i] = scales[t].numerator;
      }
      step(&r, "v_div_scale_f32", level, 10, 1, 4, 2, 0);
      assert_int_equal(rows_lanes(&r, 10)[9], scales[t].scaled);
      assert_int_equal(wave_mask(&r.wave, SREG_VCC) >> 9 & 1, scales[t].vcc);
    }
    static const struct {
      uint32_t estimate, denominator, numerator, out;
    } fixups[] = {{0x7fc00000, 0x3f800000, 0x3f800000, 0x7f800000},
                  {0x7fc00000, 0xbf800000, 0x3f800000, 0xff800000},
                  {0x3f800000, 0, 0, 0xffc00000},
                  {0x3f800000, 0x80000000, 0x3f800000, 0xff800000},
                  {0x3f800000, 0xff800000, 0x3f800000, 0x80000000},
                  {0x40000000, 0x3f800000, 0xc0000000, 0xc0000000}};
    for (size_t t = 0; t < sizeof(fixups) / sizeof(fixups[0]); ++t) {
      for (uint32_t i = 0; i < 32; ++i) {
        rows_lanes(&r, 1)[i] = fixups[t].estimate, rows_lanes(&r, 4)[i] = fixups[t].denominator;
        rows_lanes(&r, 2)[i] = fixups[t].numerator;
      }
      step(&r, "v_div_fixup_f32", level, 10, 1, 4, 2, 0);
      assert_int_equal(rows_lanes(&r, 10)[3], fixups[t].out);
    }
    rows_close(&r);
  }
}

static double read_double(rows_t* r, uint32_t reg, uint32_t lane) {
  uint64_t bits = rows_lanes(r, reg)[lane] | (uint64_t)rows_lanes(r, reg + 1)[lane] << 32;
  double value;
  memcpy(&value, &bits, 8);
  return value;
}
static void write_double(rows_t* r, uint32_t reg, uint32_t lane, double value) {
  uint64_t bits;
  memcpy(&bits, &value, 8);
  rows_lanes(r, reg)[lane] = (uint32_t)bits;
  rows_lanes(r, reg + 1)[lane] = (uint32_t)(bits >> 32);
}

static void test_double(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 64, 9, 4, 2);
    uint64_t seed = 11;
    for (int round = 0; round < 500; ++round) {
      for (uint32_t i = 0; i < 64; ++i) {
        for (uint32_t reg = 2; reg <= 4; reg += 2) {
          double value = ldexp((double)rows_random(&seed) + 0x1p-20 * rows_random(&seed) - 0x1p31,
                               (int)(rows_random(&seed) % 1800) - 930);
          write_double(&r, reg, i, round == 0 && i < 8 ? (double[]){0, -0.0, INFINITY, NAN}[i * reg / 2 % 4] : value);
        }
        write_double(&r, 8, i, 1);
      }
      divide(&r, "f64", level);
      for (uint32_t i = 0; i < 64; ++i) {
        double a = read_double(&r, 2, i), b = read_double(&r, 4, i), got = read_double(&r, 6, i), want = a / b;
        bool is_near = fabs(want) < 0x1p-1020 && fabs(got - want) <= 0x1p-1073;
        if (got != want && !(isnan(got) && isnan(want)) && !is_near) {
          fail_msg("level %d: %a / %a gives %a, not %a", level, a, b, got, want);
        }
      }
      for (uint32_t i = 0; i < 64; ++i) rows_lanes(&r, 32)[i] = rows_random(&seed) % 2300 - 1150;
      rows_make(&r, "v_ldexp_f64", level, 12, 2);
      r.inst.src[0] = rows_register(&r, 2);
      rows_run(&r);
      for (uint32_t i = 0; i < 64; ++i) {
        double want = ldexp(read_double(&r, 2, i), (int32_t)rows_lanes(&r, 32)[i]), got = read_double(&r, 12, i);
        if (got != want && !isnan(want)) fail_msg("v_ldexp_f64 gives %a, not %a", got, want);
      }
    }
    rows_close(&r);
  }
}

// v_trig_preop_f64: three parts sum up to 2/pi, cut to what they hold.
static void test_trig_preop(void** state) {
  rows_t r;
  rows_open(&r, 32, 11, 0, 0);
  long double sum = 0;
  for (uint32_t part = 0; part < 3; ++part) {
    for (uint32_t i = 0; i < 32; ++i) {
      write_double(&r, 16, i, 1.0);
      rows_lanes(&r, 32)[i] = part;
    }
    rows_make(&r, "v_trig_preop_f64", 2, 0, 2);
    rows_run(&r);
    sum += read_double(&r, 0, 5);
  }
  assert_true(fabsl(sum - 0.636619772367581343075535053490057448L) < 1e-19L);
  rows_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arithmetic),
      cmocka_unit_test(test_minima),
      cmocka_unit_test(test_three),
      cmocka_unit_test(test_accuracy),
      cmocka_unit_test(test_division_single),
      cmocka_unit_test(test_division_double),
      cmocka_unit_test(test_division_steps),
      cmocka_unit_test(test_output_modifiers),
      cmocka_unit_test(test_transcendental_specials),
      cmocka_unit_test(test_double),
      cmocka_unit_test(test_trig_preop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
