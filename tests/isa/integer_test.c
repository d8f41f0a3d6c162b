// Integer rows against the manuals' definitions (integer_cases.h): edge values, clamp, halves, inactive lanes, scalar
// and constant sources, both sizes of waves, every level of vector instructions.
#define ROWS_TABLES(TABLE) TABLE(valu_integer_table) TABLE(valu_packed_table)
#include "integer_cases.h"

enum { CARRY_SGPR = 20, SOURCE_SGPR = 30 };

static uint64_t pick(uint64_t* state) {
  static const uint64_t edges[] = {0,          1,          2,          15,         16,         31,
                                   32,         33,         63,         0x7f,       0x80,       0xff,
                                   0x7fff,     0x8000,     0xffff,     0x7fffff,   0x800000,   0xffffff,
                                   0x7fffffff, 0x80000000, 0xffffffff, 0x0c0d0b08, 0x00ff00ff, 0x80007fff,
                                   0x7fff8000, 0x80808080, INT64_MAX,  INT64_MIN,  UINT64_MAX};
  uint32_t random = rows_random(state);
  if (random % 2) return edges[random / 2 % (sizeof(edges) / sizeof(edges[0]))];
  return rows_random(state) | (uint64_t)rows_random(state) << 32;
}

static wide_t cut_to(char cuts, uint32_t bits, wide_t x) {
  if (cuts == 'U') return cut(x, 0, ones(bits));
  return cut(x, -((wide_t)1 << (bits - 1)), ones(bits - 1));
}

// Bits of source k as the row reads it.
static uint64_t source_of(rows_t* r, uint32_t k, uint32_t bits, uint32_t lane) {
  const operand_t* o = &r->inst.src[k];
  if (bits == OLD) return rows_lanes(r, 60)[lane];
  if (bits == 1) return wave_mask(&r->wave, CARRY_SGPR) >> lane & 1;
  uint64_t value = o->value;
  if (o->kind == OPERAND_VGPR) {
    const uint32_t* low = rows_lanes(r, o->index);
    value = low[lane] | (uint64_t)low[r->wave.lanes + lane] << 32;
  } else if (o->kind == OPERAND_SGPR) {
    value = wave_pair(&r->wave, o->index);
  }
  if (bits == 16) return value >> (r->inst.op_sel >> k & 1 ? 16 : 0) & 0xffff;
  return bits == 64 ? value : (uint32_t)value;
}

static void check_lane(rows_t* r, const case_t* c, uint32_t lane, bool is_active) {
  place_t at = {lane, &r->inst};
  uint64_t in[3] = {0};
  for (uint32_t k = 0; k < 3; ++k) in[k] = c->bits[k + 1] ? source_of(r, k, c->bits[k + 1], lane) : 0;
  uint32_t bits = c->bits[0] == KEPT ? 16 : c->bits[0] & ~1u;
  wide_t want = c->reference(&at, in[0], in[1], in[2]);
  uint64_t flag = wave_mask(&r->wave, SREG_VCC) >> lane & 1, want_flag = (uint64_t)(want >> bits) & 1;
  if (r->inst.flags & INST_CLAMP) want = cut_to(c->cuts, bits, want);
  uint64_t old = rows_lanes(r, 60)[lane], result = (uint64_t)want, got = rows_lanes(r, 0)[lane];
  if (bits == 16) {
    bool is_high = r->inst.op_sel >> r->inst.source_count & 1;
    uint64_t other = r->target.major >= 10 || c->bits[0] == KEPT || is_high ? old : 0;
    result = is_high ? (other & 0xffff) | (result & 0xffff) << 16 : (other & 0xffff0000) | (result & 0xffff);
  }
  if (bits == 64) {
    got |= (uint64_t)rows_lanes(r, 1)[lane] << 32, old |= (uint64_t)rows_lanes(r, 61)[lane] << 32;
  } else {
    result = (uint32_t)result;
  }
  if (!is_active) result = old, want_flag = 0;
  if (got != result || (c->bits[0] & 1 && bits != 16 && flag != want_flag)) {
    rows_tell(r, "lane %u, op_sel %x, flags %x: %llx %llx %llx gives %llx, not %llx (carry %llu, not %llu)", lane,
              r->inst.op_sel, r->inst.flags, (unsigned long long)in[0], (unsigned long long)in[1],
              (unsigned long long)in[2], (unsigned long long)got, (unsigned long long)result, (unsigned long long)flag,
              (unsigned long long)want_flag);
  }
}

// One or the other source in a scalar register, or a constant.
static void vary_sources(rows_t* r, const case_t* c, uint64_t* state, uint32_t* constant) {
  uint32_t choice = rows_random(state) % 8, k = choice % 2;
  uint32_t bits = c->bits[k + 1];
  if (choice >= 4 || !bits || bits == 1 || bits == OLD) return;
  uint64_t value = pick(state);
  if (bits != 64) value = (uint32_t)value;
  if (choice >= 2) {
    wave_set_pair(&r->wave, SOURCE_SGPR, value);
    r->inst.src[k] = (operand_t){.kind = OPERAND_SGPR, .index = SOURCE_SGPR, .dwords = bits == 64 ? 2 : 1};
    return;
  }
  for (uint32_t i = 0; i < WAVE_MAX_LANES; ++i) {
    constant[i] = (uint32_t)value, constant[WAVE_MAX_LANES + i] = (uint32_t)(value >> 32);
  }
  r->inst.src[k] = (operand_t){.kind = OPERAND_CONSTANT, .value = value, .lanes = constant, .dwords = 1};
}

static void fill(rows_t* r, uint64_t* state) {
  for (uint32_t i = 0; i < r->wave.lanes; ++i) {
    for (uint32_t k = 0; k < 3; ++k) {
      uint64_t value = pick(state);
      uint32_t* low = rows_lanes(r, 16 + 16 * k);
      low[i] = (uint32_t)value, low[r->wave.lanes + i] = (uint32_t)(value >> 32);
    }
    for (uint32_t d = 0; d < 2; ++d) rows_lanes(r, d)[i] = rows_lanes(r, 60 + d)[i] = (uint32_t)pick(state);
  }
}

static uint64_t some_lanes(rows_t* r, int round, uint64_t* state) {
  uint64_t exec = round % 2 ? rows_random(state) | (uint64_t)rows_random(state) << 32 : UINT64_MAX;
  wave_set_mask(&r->wave, SREG_EXEC, exec & r->wave.all);
  return exec;
}

static void check_case(rows_t* r, const case_t* c, int level) {
  uint32_t constant[2 * WAVE_MAX_LANES], sources = 0;
  for (uint32_t k = 1; k < 4; ++k) sources += c->bits[k] && c->bits[k] != OLD;
  uint64_t state = 7;
  for (int round = 0; round < 24; ++round) {
    rows_make(r, c->name, level, 0, sources);
    fill(r, &state);
    uint64_t exec = some_lanes(r, round, &state);
    wave_set_mask(&r->wave, SREG_VCC, r->wave.all);
    wave_set_pair(&r->wave, CARRY_SGPR, pick(&state) ^ pick(&state));
    if (c->bits[3] == 1) r->inst.src[2] = (operand_t){.kind = OPERAND_SGPR, .index = CARRY_SGPR, .dwords = 2};
    vary_sources(r, c, &state, constant);
    r->inst.bitop3 = (int16_t)(rows_random(&state) & 255);
    if (strstr(c->name, "_iu")) r->inst.neg_lo = (int16_t)(rows_random(&state) & 3);
    if (c->cuts != 'N' && round % 4 >= 2) r->inst.flags = INST_CLAMP;
    for (uint32_t k = 0; k <= sources && round % 3 == 2; ++k) {
      uint32_t bits = k == sources ? (c->bits[0] == KEPT ? 16 : c->bits[0]) : c->bits[k + 1];
      if (bits == 16 && rows_random(&state) & 1) r->inst.op_sel |= (int16_t)(1 << k);
    }
    rows_run(r);
    for (uint32_t i = 0; i < r->wave.lanes; ++i) check_lane(r, c, i, exec >> i & 1);
  }
}

static void test_rows(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    for (int target = 0; target < 3; ++target) {
      rows_t r;
      rows_open(&r, target == 1 ? 32 : 64, target ? 11 : 9, 0, 0);
      for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) check_case(&r, &cases[i], level);
      rows_close(&r);
    }
  }
  rows_finish();
}

// The halves of each source that the two results take, by op_sel and op_sel_hi.
static void check_pair(rows_t* r, const case_t* c, int level) {
  uint32_t sources = c->bits[3] ? 3 : 2;
  uint64_t state = 11;
  for (int round = 0; round < 24; ++round) {
    rows_make(r, c->name, level, 0, sources);
    fill(r, &state);
    uint64_t exec = some_lanes(r, round, &state);
    if (c->cuts != 'N' && round % 4 >= 2) r->inst.flags = INST_CLAMP;
    uint32_t halves[2] = {0, 7};
    if (round % 3 == 2) {
      halves[0] = rows_random(&state) & 7, halves[1] = rows_random(&state) & 7;
      r->inst.op_sel = (int16_t)halves[0], r->inst.op_sel_hi = (int16_t)halves[1];
    }
    rows_run(r);
    for (uint32_t i = 0; i < r->wave.lanes; ++i) {
      uint32_t want = 0, got = rows_lanes(r, 0)[i];
      for (uint32_t p = 0; p < 2; ++p) {
        uint64_t in[3];
        for (uint32_t k = 0; k < 3; ++k)
          in[k] = rows_lanes(r, 16 + 16 * k)[i] >> (halves[p] >> k & 1 ? 16 : 0) & 0xffff;
        wide_t value = c->reference(NULL, in[0], in[1], in[2]);
        if (r->inst.flags & INST_CLAMP) value = cut_to(c->cuts, 16, value);
        want |= (uint32_t)(uint16_t)value << 16 * p;
      }
      if (!(exec >> i & 1)) want = rows_lanes(r, 60)[i];
      if (got != want) {
        rows_tell(r, "%08x %08x %08x gives %08x, not %08x", rows_lanes(r, 16)[i], rows_lanes(r, 32)[i],
                  rows_lanes(r, 48)[i], got, want);
      }
    }
  }
}

static void test_pairs(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    for (int target = 0; target < 2; ++target) {
      rows_t r;
      rows_open(&r, target ? 32 : 64, target ? 11 : 9, 0, 0);
      for (size_t i = 0; i < sizeof(pair_cases) / sizeof(pair_cases[0]); ++i) check_pair(&r, &pair_cases[i], level);
      // Two whole registers, chosen by op_sel.
      for (int16_t op_sel = 0; op_sel < 4; ++op_sel) {
        uint64_t seed = 5, exec = UINT64_C(0xf00ff00fa5a5c3c3) & r.wave.all;
        rows_make(&r, "v_pk_mov_b32", level, 0, 2);
        fill(&r, &seed);
        wave_set_mask(&r.wave, SREG_EXEC, exec);
        r.inst.op_sel = op_sel;
        rows_run(&r);
        for (uint32_t i = 0; i < r.wave.lanes; ++i) {
          bool is_on = exec >> i & 1;
          uint32_t low = rows_lanes(&r, 16 + (op_sel & 1))[i], high = rows_lanes(&r, 32 + (op_sel >> 1))[i];
          assert_int_equal(rows_lanes(&r, 0)[i], is_on ? low : rows_lanes(&r, 60)[i]);
          assert_int_equal(rows_lanes(&r, 1)[i], is_on ? high : rows_lanes(&r, 61)[i]);
        }
      }
      rows_close(&r);
    }
  }
  rows_finish();
}

// Four sums of 32 bits, of four windows of source 0 a byte apart.
static void test_wide_differences(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 32, 11, 0, 0);
    uint64_t seed = 13;
    for (int round = 0; round < 16; ++round) {
      rows_make(&r, "v_mqsad_u32_u8", level, 0, 3);
      r.inst.flags = round % 4 == 1 ? INST_CLAMP : 0;
      fill(&r, &seed);
      for (uint32_t p = 0; p < 4; ++p) {
        for (uint32_t i = 0; i < 32; ++i) rows_lanes(&r, 48 + p)[i] = (uint32_t)pick(&seed), rows_lanes(&r, p)[i] = 77;
      }
      uint64_t exec = some_lanes(&r, round, &seed);
      rows_run(&r);
      for (uint32_t i = 0; i < 32; ++i) {
        uint64_t bytes = rows_lanes(&r, 16)[i] | (uint64_t)rows_lanes(&r, 17)[i] << 32;
        for (uint32_t p = 0; p < 4; ++p) {
          wide_t sum =
              distance(bytes >> 8 * p & UINT32_MAX, rows_lanes(&r, 32)[i], 8, true) + rows_lanes(&r, 48 + p)[i];
          if (r.inst.flags) sum = cut_to('U', 32, sum);
          assert_int_equal(rows_lanes(&r, p)[i], exec >> i & 1 ? (uint32_t)sum : 77);
        }
      }
    }
    rows_close(&r);
  }
}

static void mark(rows_t* r) {
  for (uint32_t reg = 0; reg < 70; ++reg) {
    for (uint32_t i = 0; i < r->wave.lanes; ++i) rows_lanes(r, reg)[i] = reg << 16 | i;
  }
}

static void test_swaps(void** state) {
  const uint32_t exec = 0x3c5a0ff1;
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 32, 11, 0, 0);
    wave_set_mask(&r.wave, SREG_EXEC, exec);
    mark(&r);
    rows_make(&r, "v_swap_b32", level, 0, 1);
    rows_run(&r);
    for (uint32_t i = 0; i < 32; ++i) {
      assert_int_equal(rows_lanes(&r, 0)[i], (exec >> i & 1 ? 16u << 16 : 0) | i);
      assert_int_equal(rows_lanes(&r, 16)[i], (exec >> i & 1 ? 0 : 16u << 16) | i);
    }
    // Destination's high half with source's low half, and the other ways.
    for (uint32_t halves = 0; halves < 4; ++halves) {
      mark(&r);
      rows_make(&r, "v_swap_b16", level, 1, 1);
      r.inst.dst[0].modifiers = halves & 1 ? OPERAND_HIGH : OPERAND_LOW;
      r.inst.src[0].modifiers = halves & 2 ? OPERAND_HIGH : OPERAND_LOW;
      rows_run(&r);
      for (uint32_t i = 0; i < 32; ++i) {
        uint16_t x[2] = {(uint16_t)i, 1}, y[2] = {(uint16_t)i, 16}, kept = x[halves & 1];
        if (exec >> i & 1) x[halves & 1] = y[halves >> 1], y[halves >> 1] = kept;
        assert_int_equal(rows_lanes(&r, 1)[i], x[0] | (uint32_t)x[1] << 16);
        assert_int_equal(rows_lanes(&r, 16)[i], y[0] | (uint32_t)y[1] << 16);
      }
    }
    rows_close(&r);
  }
}

// M0 is added to the number of the destination (bits 25:16, where both have one), of the source, or of both.
static void test_relative_registers(void** state) {
  static const struct {
    const char* name;
    uint32_t m0, to, from;  // registers in the end, of v1 and v16
    bool swaps;
  } list[] = {{"v_movreld_b32", 5, 6, 16, false},
              {"v_movrels_b32", 5, 1, 21, false},
              {"v_movrelsd_b32", 5, 6, 21, false},
              {"v_movrelsd_2_b32", 7u << 16 | 5, 8, 21, false},
              {"v_swaprel_b32", 7u << 16 | 5, 8, 21, true}};
  const uint32_t exec = 0xff00f0c3;
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 32, 11, 0, 0);
    wave_set_mask(&r.wave, SREG_EXEC, exec);
    for (size_t t = 0; t < sizeof(list) / sizeof(list[0]); ++t) {
      mark(&r);
      rows_make(&r, list[t].name, level, 1, 1);
      r.wave.sgpr[SREG_M0] = list[t].m0;
      rows_run(&r);
      for (uint32_t reg = 0; reg < 70; ++reg) {
        for (uint32_t i = 0; i < 32; ++i) {
          uint32_t want = reg;
          if (exec >> i & 1 && reg == list[t].to) want = list[t].from;
          if (exec >> i & 1 && list[t].swaps && reg == list[t].from) want = list[t].to;
          assert_int_equal(rows_lanes(&r, reg)[i], want << 16 | i);
        }
      }
    }
    rows_close(&r);
  }
}

static void test_all_rows_seen(void** state) { rows_expect_all(NULL); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows),
      cmocka_unit_test(test_pairs),
      cmocka_unit_test(test_wide_differences),
      cmocka_unit_test(test_swaps),
      cmocka_unit_test(test_relative_registers),
      cmocka_unit_test(test_all_rows_seen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
