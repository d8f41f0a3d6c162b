// Conversions, each row against exact.h: special values, saturation, every rounding and setting of denormals, inactive
// lanes. 8-bit floats and pairs of f16 over many values are in convert_test.c.
#define ROWS_TABLES(TABLE) TABLE(valu_integer_table) TABLE(valu_convert_table)
#include <math.h>

#include "base/small_float.h"
#include "exact.h"
#include "rows.h"

// A source or result: h, s, d floats; b bf16; i, u 32 bits; j, v 16 bits; 0 to 3 that byte; 4 a signed nibble.
typedef struct conversion_t {
  const char* name;
  char from, to;
  char how;  // of integers: t toward zero, f down, n floor of the value and a half
} conversion_t;
static const conversion_t conversions[] = {
    {"v_cvt_f32_i32", 'i', 's', 0},       {"v_cvt_f32_u32", 'u', 's', 0},
    {"v_cvt_i32_f32", 's', 'i', 't'},     {"v_cvt_u32_f32", 's', 'u', 't'},
    {"v_cvt_f64_i32", 'i', 'd', 0},       {"v_cvt_f64_u32", 'u', 'd', 0},
    {"v_cvt_i32_f64", 'd', 'i', 't'},     {"v_cvt_u32_f64", 'd', 'u', 't'},
    {"v_cvt_f16_i16", 'j', 'h', 0},       {"v_cvt_f16_u16", 'v', 'h', 0},
    {"v_cvt_i16_f16", 'h', 'j', 't'},     {"v_cvt_u16_f16", 'h', 'v', 't'},
    {"v_cvt_f32_ubyte0", '0', 's', 0},    {"v_cvt_f32_ubyte1", '1', 's', 0},
    {"v_cvt_f32_ubyte2", '2', 's', 0},    {"v_cvt_f32_ubyte3", '3', 's', 0},
    {"v_cvt_rpi_i32_f32", 's', 'i', 'n'}, {"v_cvt_nearest_i32_f32", 's', 'i', 'n'},
    {"v_cvt_flr_i32_f32", 's', 'i', 'f'}, {"v_cvt_floor_i32_f32", 's', 'i', 'f'},
    {"v_cvt_off_f32_i4", '4', 's', 0},    {"v_cvt_f32_f64", 'd', 's', 0},
    {"v_cvt_f64_f32", 's', 'd', 0},       {"v_cvt_f16_f32", 's', 'h', 0},
    {"v_cvt_f32_f16", 'h', 's', 0},       {"v_cvt_f32_bf16", 'b', 's', 0},
};

static const exact_format_t* format_of(char kind) {
  return kind == 'h'   ? &EXACT_F16
         : kind == 's' ? &EXACT_F32
         : kind == 'd' ? &EXACT_F64
         : kind == 'b' ? &EXACT_BF16
                       : NULL;
}

static uint64_t pick(const exact_format_t* f, uint64_t* state) {
  uint32_t random = rows_random(state);
  uint64_t any = rows_random(state) | (uint64_t)rows_random(state) << 32;
  if (!f) {
    const uint64_t edges[] = {0, 1, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x01000001, 0x01000003};
    return random % 3 ? any >> (random % 31) : edges[random / 4 % 10];
  }
  uint64_t sign = exact_sign(f), infinity = exact_infinity(f), least = exact_least(f), one = (uint64_t)f->bias;
  any &= sign | (sign - 1);
  // Whole numbers up to 2^36, and what f16 and f32 have at their ends.
  uint64_t near = (any & (least - 1) & ~((random >> 7 & 1) * (least / 64 - 1))) | (any & sign);
  uint64_t exponent = random % 4 == 1 ? one + (random >> 8) % 37 : one - 30 + (random >> 8) % 60;
  if (f->bits == 64 && random % 8 == 2) exponent = one - 155 + (random >> 8) % 290;
  if (f->fraction == 10 || exponent >= 2 * one) exponent = (random >> 8) % (2 * one + 1);
  if (random % 4 == 0) return any;
  if (random % 4 < 3) return near | exponent << f->fraction;
  const uint64_t list[] = {
      0,          1, least - 1, least, one << f->fraction, infinity - 1, infinity, infinity | least >> 1, infinity | 1,
      any % least};
  return list[(random >> 16) % 10] | (random & 128 ? sign : 0);
}

static bool is_kept(const char* name, const rows_t* r) { return r->target.major >= 10 || strstr(name, "norm"); }

// A number cut to whole ones and to a type's range.
static uint64_t whole_of(exact_t x, char to, int round) {
  int64_t low = to == 'i' ? INT32_MIN : to == 'j' ? INT16_MIN : 0;
  int64_t high = to == 'i' ? INT32_MAX : to == 'u' ? UINT32_MAX : to == 'j' ? INT16_MAX : UINT16_MAX;
  if (x.kind == EXACT_NAN) return 0;
  exact_t whole = exact_whole(x, round);
  if (whole.kind == EXACT_ZERO) return 0;
  bool is_large = whole.kind == EXACT_INFINITE || whole.exponent > 64 || whole.fraction << whole.exponent >> 40;
  int64_t value = is_large ? INT64_MAX / 2 : (int64_t)(whole.fraction << whole.exponent);
  if (whole.negative) value = -value;
  value = value < low ? low : value > high ? high : value;
  return (uint64_t)value & (to == 'j' || to == 'v' ? 0xffff : 0xffffffff);
}

static exact_t read_as(char kind, uint64_t raw, uint32_t mode) {
  const exact_format_t* f = format_of(kind);
  if (f) return exact_of(f, kind == 'b' ? raw & 0xffff : exact_in(f, exact_mode(f, mode), raw));
  if (kind == '4') {
    exact_t x = exact_integer((int)(raw & 7) - (int)(raw & 8));
    x.exponent -= x.kind == EXACT_NUMBER ? 4 : 0;
    return x;
  }
  if (kind >= '0' && kind <= '3') return exact_integer((__int128)(raw >> 8 * (kind - '0') & 255));
  const int64_t value = kind == 'i'   ? (int32_t)raw
                        : kind == 'j' ? (int16_t)raw
                        : kind == 'u' ? (int64_t)(uint32_t)raw
                                      : (int64_t)(uint16_t)raw;
  return exact_integer(value);
}

static void check_conversion(rows_t* r, const conversion_t* c, int level, uint64_t* state) {
  const exact_format_t *f = format_of(c->from), *g = format_of(c->to);
  for (int round = 0; round < 6; ++round) {
    rows_make(r, c->name, level, 0, 1);
    uint64_t exec = round % 2 ? rows_random(state) | (uint64_t)rows_random(state) << 32 : UINT64_MAX;
    wave_set_mask(&r->wave, SREG_EXEC, exec & r->wave.all);
    for (uint32_t i = 0; i < r->wave.lanes; ++i) {
      uint64_t value = pick(f, state);
      rows_lanes(r, 16)[i] = (uint32_t)value | (f && f->bits == 16 ? 0x5a5a0000 : 0);
      rows_lanes(r, 17)[i] = (uint32_t)(value >> 32);
      rows_lanes(r, 0)[i] = rows_lanes(r, 1)[i] = 0xdeadbeef;
    }
    rows_run(r);
    for (uint32_t i = 0; i < r->wave.lanes; ++i) {
      uint64_t raw = rows_lanes(r, 16)[i], got = rows_lanes(r, 0)[i];
      if (c->from == 'd') raw |= (uint64_t)rows_lanes(r, 17)[i] << 32;
      if (c->to == 'd') got |= (uint64_t)rows_lanes(r, 1)[i] << 32;
      if (f && f->bits == 16) raw &= 0xffff;
      exact_t x = read_as(c->from, raw, r->wave.mode);
      uint64_t want, old = c->to == 'd' ? 0xdeadbeefdeadbeef : 0xdeadbeef;
      bool is_right = false;
      if (g) {
        exact_mode_t m = exact_mode(g, r->wave.mode);
        uint64_t rounded = exact_round(g, m.round, x);
        want = exact_out(g, m, rounded);
        uint64_t part = c->to == 'h' ? got & 0xffff : got;
        if (exact_is_nan(g, want)) is_right = exact_is_nan(g, part) && (part & exact_quiet(g) || c->from == 'b');
        // Hosts differ in when they look for what is tiny; a bf16 is as it is.
        if (!m.keeps_out && (rounded & ~exact_sign(g)) == exact_least(g)) is_right = !(part & ~exact_sign(g));
        if (c->from == 'b') is_right |= part == raw << 16;
      } else {
        exact_mode_t m = exact_mode(&EXACT_F32, r->wave.mode);
        if (c->how == 'n') {
          exact_t half = {.kind = EXACT_NUMBER, .fraction = 1, .exponent = -1};
          x = exact_of(&EXACT_F32, exact_round(&EXACT_F32, m.round, exact_add(x, half, m.round)));
        }
        want = whole_of(x, c->to, c->how == 't' ? 3 : 2);
      }
      if (c->to == 'h' || c->to == 'j' || c->to == 'v') {
        is_right = is_right && got >> 16 == (is_kept(c->name, r) ? 0xdead : 0);
        want |= is_kept(c->name, r) ? 0xdead0000 : 0;
      }
      is_right |= got == want;
      if (!(exec >> i & 1)) is_right = got == old;
      if (!is_right) {
        rows_tell(r, "lane %u: %llx gives %llx, not %llx", i, (unsigned long long)raw, (unsigned long long)got,
                  (unsigned long long)want);
      }
    }
  }
}

static void test_conversions(void** unused) {
  for (int level = 2; level <= rows_levels(); ++level) {
    uint64_t state = 43;
    for (int target = 0; target < 2; ++target) {
      rows_t r;
      rows_open(&r, target ? 32 : 64, target ? 12 : 9, 0, 10);
      for (uint32_t mode = 0; mode < 16; ++mode) {
        rows_set_mode(&r, 0x300 | (mode / 4) * 0x50 | (mode % 4) * 5);
        for (size_t t = 0; t < sizeof(conversions) / sizeof(conversions[0]); ++t) {
          check_conversion(&r, &conversions[t], level, &state);
        }
      }
      rows_close(&r);
    }
  }
  rows_finish();
}

// Two sources to the halves of a result: whole numbers, and fractions of the largest one.
static void test_pairs(void** unused) {
  static const struct {
    const char* name;
    char from, to;
    bool is_fraction, is_single;
  } list[] = {{"v_cvt_pk_i16_f32", 's', 'j', false, false},     {"v_cvt_pk_u16_f32", 's', 'v', false, false},
              {"v_cvt_pk_i16_i32", 'i', 'j', false, false},     {"v_cvt_pk_u16_u32", 'u', 'v', false, false},
              {"v_cvt_pknorm_i16_f32", 's', 'j', true, false},  {"v_cvt_pknorm_u16_f32", 's', 'v', true, false},
              {"v_cvt_pk_norm_i16_f32", 's', 'j', true, false}, {"v_cvt_pk_norm_u16_f32", 's', 'v', true, false},
              {"v_cvt_pknorm_i16_f16", 'h', 'j', true, false},  {"v_cvt_pknorm_u16_f16", 'h', 'v', true, false},
              {"v_cvt_pk_norm_i16_f16", 'h', 'j', true, false}, {"v_cvt_pk_norm_u16_f16", 'h', 'v', true, false},
              {"v_cvt_norm_i16_f16", 'h', 'j', true, true},     {"v_cvt_norm_u16_f16", 'h', 'v', true, true}};
  for (int level = 2; level <= rows_levels(); ++level) {
    uint64_t state = 47;
    rows_t r;
    rows_open(&r, 32, 11, 0, 0);
    for (size_t t = 0; t < sizeof(list) / sizeof(list[0]) * 16; ++t) {
      char from = list[t / 16].from, to = list[t / 16].to;
      const exact_format_t* f = format_of(from);
      rows_set_mode(&r, 0x300 | (uint32_t)(t % 2) * 0xf0 | (uint32_t)(t / 2 % 4) * 5);
      rows_make(&r, list[t / 16].name, level, 0, list[t / 16].is_single ? 1 : 2);
      uint32_t exec = t % 3 ? UINT32_MAX : 0x5ff0c3a1;
      wave_set_mask(&r.wave, SREG_EXEC, exec);
      for (uint32_t i = 0; i < 32; ++i) {
        rows_lanes(&r, 16)[i] = (uint32_t)pick(f, &state), rows_lanes(&r, 32)[i] = (uint32_t)pick(f, &state);
        rows_lanes(&r, 0)[i] = 0xdeadbeef;
      }
      rows_run(&r);
      for (uint32_t i = 0; i < 32; ++i) {
        for (uint32_t p = 0; p < 2; ++p) {
          uint32_t raw = rows_lanes(&r, 16 + 16 * p)[i], got = rows_lanes(&r, 0)[i] >> 16 * p & 0xffff;
          if (f && f->bits == 16) raw &= 0xffff;
          exact_t x = read_as(from, raw, r.wave.mode);
          uint32_t want = (uint32_t)whole_of(x, to, 3);
          bool is_right = got == want;
          if (list[t / 16].is_fraction) {
            exact_t most = exact_integer(to == 'j' ? 32767 : 65535), one = exact_integer(1);
            bool is_one = x.kind == EXACT_INFINITE;
            if (x.kind == EXACT_NUMBER) {
              exact_t over = x, under = one;
              over.negative = false, under.negative = true;
              exact_t difference = exact_add(over, under, 0);
              is_one = difference.kind == EXACT_NUMBER && !difference.negative;
            }
            if (is_one) one.negative = x.negative, x = one;
            exact_t product = exact_multiply(x, most);
            want = (uint32_t)whole_of(product, to, 0);
            // The product is rounded before it is made a whole number: next to a half, either is right.
            is_right =
                got == want || got == (uint32_t)whole_of(product, to, 1) || got == (uint32_t)whole_of(product, to, 2);
            bool is_near = product.kind != EXACT_NUMBER || product.exponent >= 0;
            if (is_near) is_right = got == want;
          }
          if (list[t / 16].is_single && p) is_right = got == 0xdead;
          if (!(exec >> i & 1)) is_right = got == (p ? 0xdead : 0xbeef);
          if (!is_right) rows_tell(&r, "element %u of lane %u: %x gives %x, not %x", p, i, raw, got, want);
        }
      }
    }
    rows_close(&r);
  }
  rows_finish();
}

// One byte of the destination, or of the third source, is replaced.
static void test_bytes(void** unused) {
  for (int level = 2; level <= rows_levels(); ++level) {
    uint64_t state = 53;
    rows_t r;
    rows_open(&r, 32, 11, 0, 0);
    for (uint32_t t = 0; t < 64; ++t) {
      bool adds = t % 2;
      rows_make(&r, adds ? "v_cvt_pkaccum_u8_f32" : "v_cvt_pk_u8_f32", level, 0, adds ? 2 : 3);
      uint32_t exec = t % 3 ? UINT32_MAX : 0x5ff0c3a1;
      wave_set_mask(&r.wave, SREG_EXEC, exec);
      for (uint32_t i = 0; i < 32; ++i) {
        rows_lanes(&r, 16)[i] = i % 2 ? rows_bits((float)(int)(rows_random(&state) % 600) * 0.75f - 60)
                                      : (uint32_t)pick(&EXACT_F32, &state);
        rows_lanes(&r, 32)[i] = rows_random(&state);
        rows_lanes(&r, 48)[i] = rows_random(&state), rows_lanes(&r, 0)[i] = rows_lanes(&r, 60)[i] = rows_random(&state);
      }
      rows_run(&r);
      for (uint32_t i = 0; i < 32; ++i) {
        uint64_t byte = whole_of(exact_of(&EXACT_F32, rows_lanes(&r, 16)[i]), 'v', 3);
        uint32_t into = rows_lanes(&r, adds ? 60 : 48)[i], at = rows_lanes(&r, 32)[i] % 4 * 8;
        uint32_t want = (into & ~(255u << at)) | (uint32_t)(byte > 255 ? 255 : byte) << at;
        if (!(exec >> i & 1)) want = rows_lanes(&r, 60)[i];
        uint32_t got = rows_lanes(&r, 0)[i];
        if (got != want) rows_tell(&r, "%x into %x at %u gives %x, not %x", rows_lanes(&r, 16)[i], into, at, got, want);
      }
    }
    rows_close(&r);
  }
  rows_finish();
}

// Stochastic rounding: without noise it cuts, with all of it it rounds away unless the number is exact; one byte of the
// destination changes.
static void test_stochastic(void** unused) {
  static const struct {
    const char* name;
    small_float_t old_format, ocp_format;
  } list[] = {{"v_cvt_sr_fp8_f32", SMALL_F8E4M3FNUZ, SMALL_F8E4M3FN},
              {"v_cvt_sr_bf8_f32", SMALL_F8E5M2FNUZ, SMALL_F8E5M2}};
  for (int level = 2; level <= rows_levels(); ++level) {
    uint64_t state = 59;
    for (uint32_t t = 0; t < 32; ++t) {
      rows_t r;
      bool is_ocp = t & 1;
      rows_open(&r, is_ocp ? 32 : 64, is_ocp ? 12 : 9, is_ocp ? 0 : 4, 2);
      small_float_t format = is_ocp ? list[t / 2 % 2].ocp_format : list[t / 2 % 2].old_format;
      uint32_t byte = rows_random(&state) % 4;
      rows_make(&r, list[t / 2 % 2].name, level, 0, 2);
      r.inst.op_sel = is_ocp ? 0 : (int16_t)(byte << 2), r.inst.byte_sel = is_ocp ? (int16_t)byte : 0;
      for (uint32_t i = 0; i < r.wave.lanes; ++i) {
        uint32_t bits = rows_random(&state);
        rows_lanes(&r, 16)[i] = (bits & 0x807fffff) | (118 + (bits >> 23) % 16) << 23;
        rows_lanes(&r, 32)[i] = t / 4 % 3 == 0 ? 0 : t / 4 % 3 == 1 ? UINT32_MAX : rows_random(&state);
        rows_lanes(&r, 0)[i] = rows_lanes(&r, 60)[i] = rows_random(&state);
      }
      rows_run(&r);
      for (uint32_t i = 0; i < r.wave.lanes; ++i) {
        uint32_t got = rows_lanes(&r, 0)[i], kept = ~(255u << 8 * byte);
        double x = rows_float(rows_lanes(&r, 16)[i]), y = small_float_decode(format, got >> 8 * byte & 255);
        uint32_t code = small_float_encode(format, x), size = code & 0x7f;
        // The numbers on both sides of x.
        if (fabs(small_float_decode(format, code)) > fabs(x)) --size;
        double below = fabs(small_float_decode(format, size)), above = fabs(small_float_decode(format, size + 1));
        uint32_t noise = rows_lanes(&r, 32)[i];
        bool is_right = fabs(y) == below || fabs(y) == above;
        if (noise == 0) is_right = fabs(y) == below;
        if (noise == UINT32_MAX && fabs(x) - below > (above - below) * 0x1p-10) is_right = fabs(y) == above;
        if (fabs(x) == below) is_right = fabs(y) == below;
        is_right = is_right && (y == 0 || !signbit(x) == !signbit(y));
        if (!is_right || ((got ^ rows_lanes(&r, 60)[i]) & kept)) {
          rows_tell(&r, "%a with %x gives %a (%x, before %x)", x, noise, y, got, rows_lanes(&r, 60)[i]);
        }
      }
      rows_close(&r);
    }
  }
  rows_finish();
}

// The others are convert_test.c's.
static bool is_expected(const inst_row_t* row) {
  static const char* const elsewhere[] = {
      "v_cvt_f32_fp8",    "v_cvt_f32_bf8",    "v_cvt_pk_f32_fp8",  "v_cvt_pk_f32_bf8",    "v_cvt_pk_fp8_f32",
      "v_cvt_pk_bf8_f32", "v_cvt_pk_f16_f32", "v_cvt_pk_bf16_f32", "v_cvt_pkrtz_f16_f32", "v_cvt_pk_rtz_f16_f32"};
  for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); ++i) {
    if (strcmp(row->name, elsewhere[i]) == 0) return false;
  }
  return strncmp(row->name, "v_cvt_", 6) == 0 && !strstr(row->name, "i32_i16") && !strstr(row->name, "u32_u16");
}
static void test_all_rows_seen(void** unused) { rows_expect_all(is_expected); }

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_conversions), cmocka_unit_test(test_pairs),
                                     cmocka_unit_test(test_bytes), cmocka_unit_test(test_stochastic),
                                     cmocka_unit_test(test_all_rows_seen)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
