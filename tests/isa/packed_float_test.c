// Packed floats by element against the definitions of the plain rows (float_cases.h), with halves chosen by op_sel,
// signs, clamp, MODE and inactive lanes; mixed precision; dot products.
#define ROWS_TABLES(TABLE) TABLE(valu_packed_float_table)
#include "base/small_float.h"
#include "float_cases.h"

static uint32_t pick(const exact_format_t* f, uint64_t* state) {
  return exact_pick(f, rows_random(state), rows_random(state));
}
static uint32_t pick_pair(uint64_t* state) { return pick(&EXACT_F16, state) | pick(&EXACT_F16, state) << 16; }

typedef struct packed_t {
  const char *name, *stem;
} packed_t;
static const packed_t packed[] = {
    {"v_pk_add_f16", "add"},         {"v_pk_mul_f16", "mul"},           {"v_pk_fma_f16", "fma"},
    {"v_pk_fmac_f16", "fmac"},       {"v_pk_min_f16", "min"},           {"v_pk_max_f16", "max"},
    {"v_pk_min_num_f16", "min_num"}, {"v_pk_max_num_f16", "max_num"},   {"v_pk_minimum_f16", "minimum"},
    {"v_pk_maximum_f16", "maximum"}, {"v_pk_minimum3_f16", "minimum3"}, {"v_pk_maximum3_f16", "maximum3"},
    {"v_pk_add_f32", "add"},         {"v_pk_mul_f32", "mul"},           {"v_pk_fma_f32", "fma"},
};

static const case_t* find_case(const char* stem) {
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    if (strcmp(cases[i].stem, stem) == 0) return &cases[i];
  }
  fail_msg("no case %s", stem);
  return NULL;
}

static bool is_same(const ask_t* q, uint64_t got, uint64_t want) {
  if (is_nan(q, want)) return is_nan(q, got) && got & exact_quiet(q->f);
  if (got == exact_out(q->f, q->m, want)) return true;
  return !q->m.keeps_out && size_of(q, want) == exact_least(q->f) && size_of(q, got) == 0;
}

// Element p of register `reg`.
static uint32_t element(rows_t* r, const exact_format_t* f, uint32_t reg, uint32_t lane, uint32_t p) {
  return f->bits == 32 ? rows_lanes(r, reg + p)[lane] : rows_lanes(r, reg)[lane] >> 16 * p & 0xffff;
}

static void check_packed_lane(rows_t* r, const case_t* c, const exact_format_t* f, uint32_t lane, bool is_active) {
  ask_t q = {.f = f, .m = exact_mode(f, r->wave.mode), .quiets = r->wave.mode >> 9 & 1};
  for (uint32_t p = 0; p < 2; ++p) {
    uint64_t raw[3] = {0}, got = element(r, f, 0, lane, p), old = element(r, f, 60, lane, p);
    for (uint32_t k = 0; k < c->sources; ++k) {
      bool is_old = c->formats & OLD && k == 2;
      uint32_t from = (uint32_t)(p ? r->inst.op_sel_hi : r->inst.op_sel) >> k & 1;
      uint32_t negated_here = (uint32_t)(p ? r->inst.neg_hi : r->inst.neg_lo) >> k & 1;
      raw[k] = is_old ? old : element(r, f, 16 + 16 * k, lane, from);
      if (negated_here && !is_old) raw[k] ^= exact_sign(f);
      q.in[k] = exact_in(f, q.m, raw[k]);
    }
    uint64_t want = c->reference(&q), one = (uint64_t)f->bias << f->fraction;
    if (r->inst.flags & INST_CLAMP) want = is_nan(&q, want) || want & exact_sign(f) ? 0 : want > one ? one : want;
    if (is_active ? !is_same(&q, got, want) : got != old) {
      rows_tell(r, "element %u of lane %u%s: %llx %llx %llx gives %llx, not %llx", p, lane, is_active ? "" : " (off)",
                (unsigned long long)raw[0], (unsigned long long)raw[1], (unsigned long long)raw[2],
                (unsigned long long)got, (unsigned long long)want);
    }
  }
}

static void check_packed(rows_t* r, const packed_t* t, int level, uint64_t* state) {
  const case_t* c = find_case(t->stem);
  const exact_format_t* f = strstr(t->name, "f32") ? &EXACT_F32 : &EXACT_F16;
  for (int round = 0; round < 8; ++round) {
    rows_make(r, t->name, level, 0, c->formats & OLD ? 2 : c->sources);
    for (uint32_t i = 0; i < r->wave.lanes; ++i) {
      for (uint32_t k = 0; k < 8; ++k) {
        uint32_t reg = k < 6 ? 16 + k / 2 * 16 + k % 2 : 60 + k % 2;
        rows_lanes(r, reg)[i] = f->bits == 32 ? pick(f, state) : pick_pair(state);
      }
      rows_lanes(r, 0)[i] = rows_lanes(r, 60)[i], rows_lanes(r, 1)[i] = rows_lanes(r, 61)[i];
    }
    uint64_t exec = round % 2 ? rows_random(state) | (uint64_t)rows_random(state) << 32 : UINT64_MAX;
    wave_set_mask(&r->wave, SREG_EXEC, exec & r->wave.all);
    if (round % 4 >= 2 && !(c->formats & OLD)) {
      r->inst.op_sel = (int16_t)(rows_random(state) & 7), r->inst.op_sel_hi = (int16_t)(rows_random(state) & 7);
      r->inst.neg_lo = (int16_t)(rows_random(state) & 7), r->inst.neg_hi = (int16_t)(rows_random(state) & 7);
    }
    if (round >= 6 && !(c->formats & OLD)) r->inst.flags = INST_CLAMP;
    rows_run(r);
    for (uint32_t i = 0; i < r->wave.lanes; ++i) check_packed_lane(r, c, f, i, exec >> i & 1);
  }
}

static void test_packed(void** unused) {
  for (int level = 2; level <= rows_levels(); ++level) {
    uint64_t state = 31;
    for (int target = 0; target < 2; ++target) {
      rows_t r;
      rows_open(&r, target ? 32 : 64, target ? 12 : 9, 4, 2);
      for (uint32_t mode = 0; mode < 32; ++mode) {
        rows_set_mode(&r, 0x100 | (mode / 16) << 9 | (mode / 4 % 4) * 0x50 | (mode % 4) * 5);
        for (size_t t = 0; t < sizeof(packed) / sizeof(packed[0]); ++t) check_packed(&r, &packed[t], level, &state);
      }
      rows_close(&r);
    }
  }
  rows_finish();
}

// f32, or a half of f16, widened; the result f32, or one half of f16 rounded again.
static void check_mix(rows_t* r, const char* name, int level, uint64_t* state) {
  bool is_fused = name[2] == 'f', is_low = strstr(name, "lo"), is_high = strstr(name, "hi");
  const exact_format_t *s = &EXACT_F32, *h = &EXACT_F16;
  ask_t q = {.f = s, .m = exact_mode(s, r->wave.mode)}, half = {.f = h, .m = exact_mode(h, r->wave.mode)};
  rows_make(r, name, level, 0, 3);
  r->inst.op_sel_hi = (int16_t)(rows_random(state) & 7), r->inst.op_sel = (int16_t)(rows_random(state) & 7);
  for (uint32_t k = 0; k < 3; ++k) r->inst.src[k].modifiers = (uint8_t)(rows_random(state) & 3);
  uint64_t exec = rows_random(state) | (uint64_t)rows_random(state) << 32;
  wave_set_mask(&r->wave, SREG_EXEC, exec & r->wave.all);
  for (uint32_t i = 0; i < r->wave.lanes; ++i) {
    for (uint32_t k = 0; k < 3; ++k) {
      bool is_half = r->inst.op_sel_hi >> k & 1;
      rows_lanes(r, 16 + 16 * k)[i] = is_half ? pick_pair(state) : pick(s, state);
    }
    rows_lanes(r, 0)[i] = rows_lanes(r, 60)[i] = rows_random(state);
  }
  rows_run(r);
  for (uint32_t i = 0; i < r->wave.lanes; ++i) {
    for (uint32_t k = 0; k < 3; ++k) {
      uint64_t value = rows_lanes(r, 16 + 16 * k)[i];
      if (r->inst.op_sel_hi >> k & 1) {
        value = exact_in(h, half.m, value >> (r->inst.op_sel >> k & 1 ? 16 : 0) & 0xffff);
        value = exact_round(s, 0, exact_of(h, value)) | (exact_is_nan(h, value) && value >> 15 ? exact_sign(s) : 0);
      }
      if (r->inst.src[k].modifiers & OPERAND_ABS) value &= ~exact_sign(s);
      if (r->inst.src[k].modifiers & OPERAND_NEG) value ^= exact_sign(s);
      q.in[k] = exact_in(s, q.m, value);
    }
    uint64_t want = is_fused ? fused(&q, q.in[0], q.in[1], q.in[2]) : unfused(&q, q.in[0], q.in[1], q.in[2]);
    uint32_t old = rows_lanes(r, 60)[i], got = rows_lanes(r, 0)[i];
    bool is_right = got == old;
    if (exec >> i & 1 && !is_low && !is_high) is_right = is_same(&q, got, want);
    if (exec >> i & 1 && (is_low || is_high)) {
      // Where hosts look for what is tiny, f32's least number is nothing to f16.
      want = exact_round(h, half.m.round, exact_of(s, exact_out(s, q.m, want)));
      uint32_t part = is_high ? got >> 16 : got & 0xffff, other = is_high ? got & 0xffff : got >> 16;
      is_right = is_same(&half, part, want) && other == (is_high ? old & 0xffff : old >> 16);
    }
    if (!is_right) {
      rows_tell(r, "lane %u: %llx %llx %llx gives %x, not %llx", i, (unsigned long long)q.in[0],
                (unsigned long long)q.in[1], (unsigned long long)q.in[2], got, (unsigned long long)want);
    }
  }
}

static void test_mixed(void** unused) {
  static const char* const names[] = {"v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16",
                                      "v_mad_mix_f32", "v_mad_mixlo_f16", "v_mad_mixhi_f16"};
  for (int level = 2; level <= rows_levels(); ++level) {
    uint64_t state = 37;
    rows_t r;
    rows_open(&r, 64, 9, 0, 10);
    for (uint32_t mode = 0; mode < 64; ++mode) {
      rows_set_mode(&r, 0x300 | (mode / 4 % 4) * 0x50 | (mode % 4) * 5);
      for (size_t t = 0; t < 6; ++t) check_mix(&r, names[t], level, &state);
    }
    rows_close(&r);
  }
  rows_finish();
}

// Products of small whole numbers, whose sums every order of additions gives.
enum { SINGLE = 99 };
static uint32_t encoded(int kind, double value) {
  return kind == SINGLE ? rows_bits((float)value) : small_float_encode((small_float_t)kind, value);
}

static void test_dots(void** unused) {
  static const struct {
    const char* name;
    uint32_t count;
    int a, b, d;
    bool accumulates;
  } dots[] = {{"v_dot2_f32_f16", 2, SMALL_F16, SMALL_F16, SINGLE, false},
              {"v_dot2_f32_bf16", 2, SMALL_BF16, SMALL_BF16, SINGLE, false},
              {"v_dot2_f16_f16", 2, SMALL_F16, SMALL_F16, SMALL_F16, false},
              {"v_dot2_bf16_bf16", 2, SMALL_BF16, SMALL_BF16, SMALL_BF16, false},
              {"v_dot2c_f32_f16", 2, SMALL_F16, SMALL_F16, SINGLE, true},
              {"v_dot2acc_f32_f16", 2, SMALL_F16, SMALL_F16, SINGLE, true},
              {"v_dot2c_f32_bf16", 2, SMALL_BF16, SMALL_BF16, SINGLE, true},
              {"v_dot2acc_f32_bf16", 2, SMALL_BF16, SMALL_BF16, SINGLE, true},
              {"v_dot4_f32_fp8_fp8", 4, SMALL_F8E4M3FN, SMALL_F8E4M3FN, SINGLE, false},
              {"v_dot4_f32_fp8_bf8", 4, SMALL_F8E4M3FN, SMALL_F8E5M2, SINGLE, false},
              {"v_dot4_f32_bf8_fp8", 4, SMALL_F8E5M2, SMALL_F8E4M3FN, SINGLE, false},
              {"v_dot4_f32_bf8_bf8", 4, SMALL_F8E5M2, SMALL_F8E5M2, SINGLE, false}};
  for (int level = 2; level <= rows_levels(); ++level) {
    uint64_t state = 41;
    rows_t r;
    rows_open(&r, 32, 12, 0, 1);
    for (size_t t = 0; t < sizeof(dots) / sizeof(dots[0]) * 8; ++t) {
      size_t d = t / 8;
      uint32_t exec = t % 2 ? rows_random(&state) : UINT32_MAX, bits = 32 / dots[d].count, want[32];
      rows_make(&r, dots[d].name, level, 0, dots[d].accumulates ? 2 : 3);
      wave_set_mask(&r.wave, SREG_EXEC, exec);
      for (uint32_t i = 0; i < 32; ++i) {
        int c = (int)(rows_random(&state) % 17) - 8, sum = c;
        uint32_t words[2] = {0, 0}, old = 0xdead0000;
        for (uint32_t e = 0; e < dots[d].count; ++e) {
          int x = (int)(rows_random(&state) % 9) - 4, y = (int)(rows_random(&state) % 9) - 4;
          sum += x * y;
          words[0] |= encoded(dots[d].a, x) << e * bits, words[1] |= encoded(dots[d].b, y) << e * bits;
        }
        rows_lanes(&r, 16)[i] = words[0], rows_lanes(&r, 32)[i] = words[1];
        rows_lanes(&r, 48)[i] = encoded(dots[d].d, c);
        if (dots[d].accumulates) old = encoded(SINGLE, c);
        rows_lanes(&r, 0)[i] = old;
        want[i] = encoded(dots[d].d, sum) | (dots[d].d == SINGLE ? 0 : 0xdead0000);
        if (!(exec >> i & 1)) want[i] = old;
      }
      rows_run(&r);
      for (uint32_t i = 0; i < 32; ++i) {
        uint32_t got = rows_lanes(&r, 0)[i];
        if (got != want[i]) rows_tell(&r, "lane %u gives %x, not %x", i, got, want[i]);
      }
      // A NaN and opposite infinities are NaN, an infinity stays.
      uint32_t infinity = dots[d].a == SMALL_F16 ? 0x7c00 : 0x7f80, one = dots[d].a == SMALL_F16 ? 0x3c00 : 0x3f80;
      if (dots[d].count != 2 || t % 8) continue;
      for (uint32_t i = 0; i < 32; ++i) {
        rows_lanes(&r, 16)[i] = infinity | (i & 1 ? (infinity | 0x8000) << 16 : one << 16);
        rows_lanes(&r, 32)[i] = one | one << 16;
      }
      rows_run(&r);
      const exact_format_t* f = dots[d].d == SINGLE ? &EXACT_F32 : dots[d].d == SMALL_F16 ? &EXACT_F16 : &EXACT_BF16;
      for (uint32_t i = 0; i < 32; ++i) {
        uint64_t got = rows_lanes(&r, 0)[i] & (exact_sign(f) * 2 - 1);
        if (i & 1 ? !exact_is_nan(f, got) : got != exact_infinity(f))
          rows_tell(&r, "infinities give %llx", (unsigned long long)got);
      }
    }
    rows_close(&r);
  }
  rows_finish();
}

static void test_all_rows_seen(void** unused) { rows_expect_all(NULL); }

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_packed), cmocka_unit_test(test_mixed),
                                     cmocka_unit_test(test_dots), cmocka_unit_test(test_all_rows_seen)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
