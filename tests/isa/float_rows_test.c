// Float rows that are exact, each against its definition (float_cases.h): special values and random ones, every
// rounding and setting of denormals, IEEE and DX10_CLAMP on and off, modifiers, inactive lanes.
#define ROWS_TABLES(TABLE) TABLE(valu_float_table)
#include "float_cases.h"

static const exact_format_t* const formats[] = {&EXACT_F16, &EXACT_F32, &EXACT_F64};

static uint64_t pick(const exact_format_t* f, uint64_t* state) {
  uint32_t random = rows_random(state);
  uint64_t any = rows_random(state) | (uint64_t)rows_random(state) << 32, sign = exact_sign(f);
  uint64_t infinity = exact_infinity(f), one = (uint64_t)f->bias << f->fraction, quiet = exact_quiet(f);
  any &= sign | (sign - 1);
  // Exponents near one, so that sums round and cancel.
  uint64_t near = one + (((uint64_t)(random >> 8 & 7) - 4) << f->fraction);
  if (random % 4 == 0) return any;
  if (random % 4 < 3)
    return (any & (exact_least(f) - 1) & (random & 64 ? UINT64_MAX : ~UINT64_C(7))) | near | (any & sign);
  const uint64_t list[] = {0,
                           1,
                           exact_least(f) - 1,
                           exact_least(f),
                           one,
                           one + 1,
                           one - 1,
                           one - exact_least(f),
                           infinity - 1,
                           infinity,
                           infinity | quiet,
                           infinity | 1,
                           infinity | quiet | 5,
                           any % exact_least(f),
                           any % (exact_least(f) << 2),
                           infinity - exact_least(f)};
  return list[random >> 16 & 15] | (random & 128 ? sign : 0);
}

static uint64_t read_source(rows_t* r, uint32_t reg, uint32_t lane, uint32_t bits) {
  uint64_t value = rows_lanes(r, reg)[lane];
  return bits == 16 ? value & 0xffff : bits == 32 ? value : value | (uint64_t)rows_lanes(r, reg + 1)[lane] << 32;
}

// Source k with its modifiers.
static uint64_t source_of(rows_t* r, const case_t* c, const exact_format_t* f, uint32_t k, uint32_t lane) {
  const operand_t* o = &r->inst.src[k];
  bool is_old = c->formats & OLD && k == 2;
  if (c->formats & SECOND_INTEGER && k == 1) return rows_lanes(r, 32)[lane];
  uint64_t value =
      is_old ? read_source(r, 60, lane, (uint32_t)f->bits) : read_source(r, o->index, lane, (uint32_t)f->bits);
  if (o->modifiers & OPERAND_ABS && !is_old) value &= ~exact_sign(f);
  if (o->modifiers & OPERAND_NEG && !is_old) value ^= exact_sign(f);
  return value;
}

static bool is_same(const ask_t* q, const case_t* c, uint64_t got, uint64_t want) {
  if (is_nan(q, want)) return is_nan(q, got) && (c->formats & PASSES || got & exact_quiet(q->f));
  if (got == exact_out(q->f, q->m, want)) return true;
  // The sign of a zero that a denormal becomes only at the end.
  bool are_zeros = is_zero(q, got) && is_zero(q, exact_out(q->f, q->m, want));
  if (strncmp(c->stem, "med3", 4) == 0 && are_zeros && !q->m.keeps_out) return true;
  // Rounded up to the least normal number: hardware and hosts differ in when they look at what is tiny.
  if (!q->m.keeps_out && size_of(q, want) == exact_least(q->f)) return got == (want & exact_sign(q->f));
  return false;
}

// Clamp to [0, 1]; NaN by DX10_CLAMP.
static uint64_t clamped(const ask_t* q, const rows_t* r, uint64_t bits) {
  uint64_t one = (uint64_t)q->f->bias << q->f->fraction;
  if (is_nan(q, bits)) return r->wave.mode >> 8 & 1 || r->target.major >= 12 ? 0 : bits;
  return bits & exact_sign(q->f) ? 0 : bits > one ? one : bits;
}

static void check_lane(rows_t* r, const case_t* c, const exact_format_t* f, uint32_t lane, bool is_active) {
  ask_t q = {.f = f, .m = exact_mode(f, r->wave.mode), .quiets = r->wave.mode >> 9 & 1};
  q.vcc = wave_mask(&r->wave, SREG_VCC) >> lane & 1;
  uint64_t raw[3] = {0}, got = read_source(r, 0, lane, (uint32_t)f->bits);
  for (uint32_t k = 0; k < c->sources; ++k) {
    raw[k] = source_of(r, c, f, k, lane);
    q.in[k] = c->formats & SECOND_INTEGER && k == 1 ? raw[k] : exact_in(f, q.m, raw[k]);
  }
  uint64_t want = c->reference(&q);
  if (r->inst.flags & INST_CLAMP) want = clamped(&q, r, want);
  bool is_right = is_same(&q, c, got, want);
  if (!is_right && c->formats & PASSES) {
    for (uint32_t k = 0; k < 3; ++k)
      is_right |= exact_is_denormal(f, raw[k]) && size_of(&q, got) == size_of(&q, raw[k]);
    // Of a NaN there is no quotient to put right.
    is_right |= strncmp(c->stem, "div_fixup", 9) == 0 && is_nan(&q, raw[0]);
  }
  // The upper half, or the whole register of a lane that is off.
  uint32_t old = rows_lanes(r, 60)[lane], upper = rows_lanes(r, 0)[lane] >> 16;
  if (f->bits == 16) is_right &= upper == (r->target.major >= 10 || c->upper == KEPT ? old >> 16 : 0);
  if (!is_active) {
    is_right = rows_lanes(r, 0)[lane] == old && (f->bits != 64 || rows_lanes(r, 1)[lane] == rows_lanes(r, 61)[lane]);
  }
  if (!is_right) {
    rows_tell(r, "lane %u%s, flags %x: %llx %llx %llx gives %llx, not %llx", lane, is_active ? "" : " off",
              r->inst.flags, (unsigned long long)raw[0], (unsigned long long)raw[1], (unsigned long long)raw[2],
              (unsigned long long)got, (unsigned long long)want);
  }
}

static void fill(rows_t* r, const case_t* c, const exact_format_t* f, uint64_t* state) {
  for (uint32_t i = 0; i < r->wave.lanes; ++i) {
    for (uint32_t k = 0; k < 4; ++k) {
      uint32_t reg = k == 3 ? 60 : 16 + 16 * k;
      uint64_t value = pick(f, state);
      if (c->formats & SECOND_INTEGER && k == 1) {
        value = (uint32_t)((int32_t)(rows_random(state) % 80) - 40);
        if (rows_random(state) % 3 == 0) value = (uint32_t)((int32_t)(rows_random(state) % 4600) - 2300);
        if (rows_random(state) % 8 == 0) value = rows_random(state) & 1 ? 0x80000000 : 0x7fffffff;
      }
      if (f->bits == 16) value |= rows_random(state) & 0xffff0000;
      rows_lanes(r, reg)[i] = (uint32_t)value, rows_lanes(r, reg + 1)[i] = (uint32_t)(value >> 32);
    }
    rows_lanes(r, 0)[i] = rows_lanes(r, 60)[i], rows_lanes(r, 1)[i] = rows_lanes(r, 61)[i];
  }
}

static void check_case(rows_t* r, const case_t* c, int kind, int level, uint64_t* state) {
  static const char* const names[] = {"f16", "f32", "f64"};
  const exact_format_t* f = formats[kind];
  char name[40];
  snprintf(name, sizeof(name), "v_%s_%s", c->stem, names[kind]);
  for (int round = 0; round < 4; ++round) {
    rows_make(r, name, level, 0, c->formats & OLD ? 2 : c->sources);
    fill(r, c, f, state);
    uint64_t exec = round % 2 ? rows_random(state) | (uint64_t)rows_random(state) << 32 : UINT64_MAX;
    wave_set_mask(&r->wave, SREG_EXEC, exec & r->wave.all);
    wave_set_mask(&r->wave, SREG_VCC, rows_random(state) | (uint64_t)rows_random(state) << 32);
    if (round >= 2) {
      for (uint32_t k = 0; k < r->inst.source_count; ++k) {
        if (!(c->formats & SECOND_INTEGER) || k == 0) r->inst.src[k].modifiers = (uint8_t)(rows_random(state) & 3);
      }
      if (rows_random(state) & 1) r->inst.flags = INST_CLAMP;
    }
    rows_run(r);
    for (uint32_t i = 0; i < r->wave.lanes; ++i) check_lane(r, c, f, i, exec >> i & 1);
  }
}

static void check_all(rows_t* r, int level, uint64_t* state) {
  for (size_t t = 0; t < sizeof(cases) / sizeof(cases[0]); ++t) {
    if (r->target.major == 9 && cases[t].upper == LATER) continue;
    for (int kind = 0; kind < 3; ++kind) {
      // mad rows have no denormals on hardware: used where MODE has none.
      uint32_t denormals = kind == 1 ? 0x30 : 0xc0;
      if (cases[t].formats & FLUSHED && r->wave.mode & denormals) continue;
      if (cases[t].formats >> kind & 1) check_case(r, &cases[t], kind, level, state);
    }
  }
}

static void test_rows(void** unused) {
  for (int level = 2; level <= rows_levels(); ++level) {
    uint64_t state = 23;
    for (int target = 0; target < 3; ++target) {
      rows_t r;
      rows_open(&r, target == 1 ? 32 : 64, target == 2 ? 9 : 11, 0, 0);
      for (uint32_t denormal = 0; denormal < 16; denormal += 5) {
        for (uint32_t round = 0; round < 16; round += 5) {
          rows_set_mode(&r, (rows_random(&state) & 0x300) | denormal << 4 | round);
          check_all(&r, level, &state);
        }
      }
      rows_close(&r);
    }
  }
  rows_finish();
}

// Exponents, as integers.
static void test_exponents(void** unused) {
  static const char* const names[] = {"v_frexp_exp_i16_f16", "v_frexp_exp_i32_f32", "v_frexp_exp_i32_f64"};
  for (int level = 2; level <= rows_levels(); ++level) {
    uint64_t state = 29;
    rows_t r;
    rows_open(&r, 32, 11, 0, 0);
    for (int round = 0; round < 48; ++round) {
      int kind = round % 3;
      const case_t c = {.sources = 1};
      rows_set_mode(&r, round % 2 ? 0x3f0 : 0x300);
      rows_make(&r, names[kind], level, 0, 1);
      fill(&r, &c, formats[kind], &state);
      ask_t q = {.f = formats[kind], .m = exact_mode(formats[kind], r.wave.mode)};
      rows_run(&r);
      for (uint32_t i = 0; i < 32; ++i) {
        uint64_t a = read_source(&r, 16, i, (uint32_t)q.f->bits);
        uint32_t want = (uint32_t)exponent_of(&q, exact_in(q.f, q.m, a)), got = rows_lanes(&r, 0)[i];
        if (kind == 0) want = (want & 0xffff) | (rows_lanes(&r, 60)[i] & 0xffff0000);
        if (got != want) rows_tell(&r, "%llx gives %x, not %x", (unsigned long long)a, got, want);
      }
    }
    rows_close(&r);
  }
  rows_finish();
}

// What is approximate, float_test.c has.
static bool is_expected(const inst_row_t* row) {
  return row->fidelity == ENGINE_EXACT && strcmp(row->name, "v_trig_preop_f64") != 0;
}
static void test_all_rows_seen(void** unused) { rows_expect_all(is_expected); }

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_exponents),
                                     cmocka_unit_test(test_all_rows_seen)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
