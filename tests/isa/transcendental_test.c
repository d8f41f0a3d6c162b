// Approximate float rows, each of f16, f32 and f64 and those on scalar registers: accuracy, special values, denormals
// by MODE (never for f32), inactive lanes. float_test.c looks at f32 more closely and at whole divisions.
#define ROWS_TABLES(TABLE) TABLE(valu_float_table)
#include <math.h>

#include "exact.h"
#include "rows.h"

static long double exact_rcp(long double x) { return 1 / x; }
static long double exact_rsq(long double x) { return x < 0 ? (long double)NAN : 1 / sqrtl(x); }
static long double turn(long double x) {
  const long double pi = 3.141592653589793238462643383279502884L;
  long double r = remainderl(x, 1), size = fabsl(r);
  if (size > 0.25L) size = 0.5L - size;
  long double result = size > 0.125L ? cosl(2 * pi * (0.25L - size)) : sinl(2 * pi * size);
  return r < 0 ? -result : result;
}
static long double exact_sin(long double x) { return isinf(x) ? (long double)NAN : turn(x); }
static long double exact_cos(long double x) { return isinf(x) ? (long double)NAN : turn(remainderl(x, 1) + 0.25L); }

typedef struct function_t {
  const char* stem;
  long double (*exact)(long double);
  const char* formats;  // h, s, d; S and H on scalar registers
} function_t;
static const function_t functions[] = {
    {"rcp", exact_rcp, "hsdSH"}, {"rsq", exact_rsq, "hsdSH"}, {"sqrt", sqrtl, "hsdSH"}, {"exp", exp2l, "hsSH"},
    {"log", log2l, "hsSH"},      {"sin", exact_sin, "hs"},    {"cos", exact_cos, "hs"}, {"rcp_iflag", exact_rcp, "s"},
    {"exp_legacy", exp2l, "s"},  {"log_legacy", log2l, "s"}};

static uint64_t pick(const exact_format_t* f, uint64_t* state) {
  uint32_t random = rows_random(state);
  uint64_t any = rows_random(state) | (uint64_t)rows_random(state) << 32, sign = exact_sign(f);
  uint64_t infinity = exact_infinity(f), least = exact_least(f);
  any &= sign | (sign - 1);
  if (random % 4 == 0) return any;
  uint64_t exponent = (uint64_t)f->bias - 8 + random / 4 % 16;
  if (random % 4 < 3) return (any & (least - 1)) | exponent << f->fraction | (random & 1024 ? any & sign : 0);
  const uint64_t list[] = {0, 1, least - 1, least, infinity - 1, infinity, infinity | least >> 1, any % least};
  return list[(random >> 16) % 8] | (random & 128 ? sign : 0);
}

static long double value_of(const exact_format_t* f, uint64_t bits) {
  exact_t x = exact_of(f, bits);
  long double size = x.kind == EXACT_NAN        ? (long double)NAN
                     : x.kind == EXACT_INFINITE ? (long double)INFINITY
                     : x.kind == EXACT_ZERO     ? 0
                                                : ldexpl((long double)(uint64_t)x.fraction, x.exponent);
  return x.negative ? -size : size;
}

// Within `limit` units in the last place; at the ends of the range, either neighbour.
static bool is_near(const exact_format_t* f, uint64_t got, long double want, bool flushes) {
  long double x = value_of(f, got), least = ldexpl(1, 1 - f->bias), most = ldexpl(2, f->bias);
  if (isnan(want)) return isnan(x);
  if (isinf(want)) return x == want;
  if (isnan(x)) return false;
  int exponent;
  frexpl(fabsl(want) < least ? least : want, &exponent);
  long double unit = ldexpl(1, exponent - 1 - f->fraction);
  if (fabsl(want) >= most - 2 * unit && isinf(x)) return (x > 0) == (want > 0);
  if (flushes && fabsl(want) < least * 1.001L && x == 0) return true;
  // f64 has reciprocals and roots of some 2^-26 on hardware; here they are nearly exact.
  long double limit = f->bits == 64 ? 2 : 1.01L;
  return fabsl(x - want) <= limit * unit;
}

static void check_function(rows_t* r, const function_t* c, char kind, int level, uint64_t* state) {
  bool is_scalar = kind == 'S' || kind == 'H', is_half = kind == 'h' || kind == 'H';
  const exact_format_t* f = is_half ? &EXACT_F16 : kind == 'd' ? &EXACT_F64 : &EXACT_F32;
  char name[40];
  snprintf(name, sizeof(name), "v_%s%s_f%d", is_scalar ? "s_" : "", c->stem, f->bits);
  exact_mode_t m = exact_mode(f, r->wave.mode);
  if (f->bits == 32) m.keeps_in = m.keeps_out = false;
  for (int round = 0; round < (is_scalar ? 64 : 6); ++round) {
    rows_make(r, name, level, 0, 1);
    uint64_t exec = round % 2 && !is_scalar ? rows_random(state) | (uint64_t)rows_random(state) << 32 : UINT64_MAX;
    wave_set_mask(&r->wave, SREG_EXEC, exec & r->wave.all);
    for (uint32_t i = 0; i < r->wave.lanes; ++i) {
      uint64_t value = pick(f, state);
      rows_lanes(r, 16)[i] = (uint32_t)value, rows_lanes(r, 17)[i] = (uint32_t)(value >> 32);
      rows_lanes(r, 0)[i] = rows_lanes(r, 1)[i] = 0xdeadbeef;
    }
    if (is_scalar) {
      r->wave.sgpr[8] = rows_lanes(r, 16)[0];
      r->inst.src[0] = (operand_t){.kind = OPERAND_SGPR, .index = 8, .dwords = 1};
      r->inst.dst[0] = (operand_t){.kind = OPERAND_SGPR, .index = 9, .dwords = 1};
    }
    rows_run(r);
    if (is_scalar) rows_lanes(r, 0)[0] = r->wave.sgpr[9];
    for (uint32_t i = 0; i < (is_scalar ? 1 : r->wave.lanes); ++i) {
      uint64_t a = rows_lanes(r, 16)[i], got = rows_lanes(r, 0)[i];
      if (kind == 'd') a |= (uint64_t)rows_lanes(r, 17)[i] << 32, got |= (uint64_t)rows_lanes(r, 1)[i] << 32;
      bool is_right = (uint32_t)got == 0xdeadbeef;
      if (exec >> i & 1) {
        uint64_t part = is_half ? got & 0xffff : got;
        long double x = value_of(f, exact_in(f, m, is_half ? a & 0xffff : a)), want = c->exact(x);
        is_right = is_near(f, part, want, !m.keeps_out);
        // Zeros and infinities keep their sign.
        if (x == 0 && c->exact == exact_rcp) is_right &= !(part & exact_sign(f)) == !signbit(x);
        if (kind == 'h') is_right &= got >> 16 == (r->target.major >= 10 ? 0xdead : 0);
      }
      if (!is_right) {
        rows_tell(r, "level %d, lane %u: %llx gives %llx, not %La", level, i, (unsigned long long)a,
                  (unsigned long long)got, c->exact(value_of(f, exact_in(f, m, a))));
      }
    }
  }
}

static void test_functions(void** unused) {
  for (int level = 2; level <= rows_levels(); ++level) {
    uint64_t state = 61;
    for (int target = 0; target < 2; ++target) {
      rows_t r;
      rows_open(&r, target ? 32 : 64, target ? 12 : 9, 0, 10);
      for (uint32_t denormal = 0; denormal < 16; denormal += 15) {
        rows_set_mode(&r, 0x300 | denormal << 4);
        for (size_t t = 0; t < sizeof(functions) / sizeof(functions[0]) * 4; ++t) {
          const function_t* c = &functions[t / 4];
          for (const char* kind = c->formats; *kind; ++kind) check_function(&r, c, *kind, level, &state);
        }
      }
      rows_close(&r);
    }
  }
  rows_finish();
}

// float_test.c has the steps of divisions.
static bool is_expected(const inst_row_t* row) {
  return row->fidelity == ENGINE_APPROXIMATE && strncmp(row->name, "v_div_scale", 11) != 0;
}
static void test_all_rows_seen(void** unused) { rows_expect_all(is_expected); }

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions), cmocka_unit_test(test_all_rows_seen)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
