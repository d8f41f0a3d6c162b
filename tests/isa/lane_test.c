// Lanes: rows that move values between them, DPP, SDWA, registers by index. Each against the manuals' description,
// with lanes off.
#define ROWS_TABLES(TABLE) TABLE(valu_lane_table) TABLE(valu_integer_table)
#include "rows.h"

enum { OLD = 7000, VALUE = 100 };

// Source v16 is VALUE + lane, the destination OLD + lane.
static void fill(rows_t* r) {
  for (uint32_t i = 0; i < r->wave.lanes; ++i) {
    rows_lanes(r, 16)[i] = VALUE + i, rows_lanes(r, 0)[i] = OLD + i;
  }
}
// Lane i is to hold the source's lane from[i]; -1 is zero, -2 the old value.
static void check(rows_t* r, const int32_t* from) {
  for (uint32_t i = 0; i < r->wave.lanes; ++i) {
    uint32_t want = from[i] == -2 ? OLD + i : from[i] == -1 ? 0 : VALUE + (uint32_t)from[i];
    if (rows_lanes(r, 0)[i] != want) {
      rows_tell(r, "op_sel %x, dpp %d: lane %u is %u, not %u", r->inst.op_sel, r->inst.extra ? r->inst.extra->dpp : 0,
                i, rows_lanes(r, 0)[i], want);
    }
  }
}
static operand_t scalar(uint32_t index) { return (operand_t){.kind = OPERAND_SGPR, .index = index, .dwords = 1}; }

static void test_scalars(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    for (uint32_t lanes = 32; lanes <= 64; lanes += 32) {
      rows_t r;
      rows_open(&r, lanes, 11, 0, 0);
      fill(&r);
      static const uint64_t execs[] = {UINT64_MAX, 0, 0x10, 0x8000000080000000};
      for (size_t e = 0; e < 4; ++e) {
        wave_set_mask(&r.wave, SREG_EXEC, execs[e] & r.wave.all);
        uint32_t first = e == 2 ? 4 : e == 3 ? 31 : 0;
        rows_make(&r, "v_readfirstlane_b32", level, 0, 1);
        r.inst.dst[0] = scalar(5);
        rows_run(&r);
        assert_int_equal(r.wave.sgpr[5], VALUE + first);
        // The lane's number counts modulo the wave's size, whatever EXEC says.
        for (uint32_t lane = 0; lane < 130; lane += 13) {
          r.wave.sgpr[6] = lane;
          rows_make(&r, "v_readlane_b32", level, 0, 2);
          r.inst.dst[0] = scalar(5), r.inst.src[1] = scalar(6);
          rows_run(&r);
          assert_int_equal(r.wave.sgpr[5], VALUE + lane % lanes);
          fill(&r);
          r.wave.sgpr[7] = 0xabcdef01;
          rows_make(&r, "v_writelane_b32", level, 0, 2);
          r.inst.src[0] = scalar(7), r.inst.src[1] = scalar(6);
          rows_run(&r);
          for (uint32_t i = 0; i < lanes; ++i) {
            assert_int_equal(rows_lanes(&r, 0)[i], i == lane % lanes ? 0xabcdef01 : OLD + i);
          }
        }
      }
      // A scalar source is read as it is.
      rows_make(&r, "v_readfirstlane_b32", level, 0, 1);
      r.inst.dst[0] = scalar(5), r.inst.src[0] = scalar(7);
      rows_run(&r);
      assert_int_equal(r.wave.sgpr[5], 0xabcdef01);
      rows_close(&r);
    }
  }
}

// permlane16 and permlanex16: op_sel[0] reads inactive lanes, op_sel[1] gives zero for those that are not read.
static void test_rows_of_lanes(void** state) {
  static const char* const names[] = {"v_permlane16_b32", "v_permlanex16_b32", "v_permlane16_var_b32",
                                      "v_permlanex16_var_b32"};
  for (int level = 2; level <= rows_levels(); ++level) {
    uint64_t seed = 3;
    for (uint32_t round = 0; round < 64; ++round) {
      rows_t r;
      rows_open(&r, round & 4 ? 64 : 32, 12, 0, 0);
      fill(&r);
      bool is_var = round & 2;
      uint64_t exec = round & 8 ? rows_random(&seed) | (uint64_t)rows_random(&seed) << 32 : UINT64_MAX;
      wave_set_mask(&r.wave, SREG_EXEC, exec & r.wave.all);
      rows_make(&r, names[round & 3], level, 0, is_var ? 2 : 3);
      r.inst.op_sel = (int16_t)(round >> 4);
      r.wave.sgpr[8] = rows_random(&seed), r.wave.sgpr[9] = rows_random(&seed);
      if (!is_var) r.inst.src[1] = scalar(8), r.inst.src[2] = scalar(9);
      int32_t from[64];
      for (uint32_t i = 0; i < r.wave.lanes; ++i) {
        rows_lanes(&r, 32)[i] = rows_random(&seed);
        uint32_t within = is_var ? rows_lanes(&r, 32)[i] & 15 : r.wave.sgpr[i % 16 < 8 ? 8 : 9] >> i % 8 * 4 & 15;
        uint32_t lane = ((i / 16) ^ (round & 1)) * 16 + within;
        bool is_read = exec >> lane & 1 || r.inst.op_sel & 1;
        from[i] = !(exec >> i & 1) ? -2 : is_read ? (int32_t)lane : r.inst.op_sel & 2 ? -1 : -2;
      }
      rows_run(&r);
      check(&r, from);
      rows_close(&r);
    }
  }
  rows_finish();
}

static void test_halves_of_waves(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 64, 11, 0, 0);
    const uint64_t exec = 0xf0f0123456789abc;
    int32_t from[64];
    for (int32_t i = 0; i < 64; ++i) from[i] = exec >> i & 1 ? i ^ 32 : -2;
    fill(&r);
    wave_set_mask(&r.wave, SREG_EXEC, exec);
    rows_make(&r, "v_permlane64_b32", level, 0, 1);
    rows_run(&r);
    check(&r, from);
    // Odd rows of the destination and even rows of the source change places.
    static const char* const names[] = {"v_permlane16_swap_b32", "v_permlane32_swap_b32"};
    for (uint32_t k = 0; k < 2; ++k) {
      uint32_t size = 16 << k;
      wave_set_mask(&r.wave, SREG_EXEC, UINT64_MAX);
      fill(&r);
      rows_make(&r, names[k], level, 0, 1);
      rows_run(&r);
      for (uint32_t i = 0; i < 64; ++i) {
        assert_int_equal(rows_lanes(&r, 0)[i], i & size ? VALUE + i - size : OLD + i);
        assert_int_equal(rows_lanes(&r, 16)[i], i & size ? VALUE + i : OLD + i + size);
      }
      wave_set_mask(&r.wave, SREG_EXEC, 0);
      rows_run(&r);
      for (uint32_t i = 0; i < 64; ++i) assert_int_equal(rows_lanes(&r, 0)[i], i & size ? VALUE + i - size : OLD + i);
    }
    rows_close(&r);
    // A wave of 32 has no other half: nothing happens.
    rows_open(&r, 32, 11, 0, 0);
    fill(&r);
    for (int32_t i = 0; i < 32; ++i) from[i] = -2;
    rows_make(&r, "v_permlane64_b32", level, 0, 1);
    rows_run(&r);
    check(&r, from);
    rows_close(&r);
  }
  rows_finish();
}

// Where lane i reads by a DPP control; -1 outside.
static int32_t dpp_from(uint32_t kind, uint32_t argument, int32_t i, int32_t lanes) {
  int32_t row = i / 16 * 16, n = i % 16, by = (int32_t)argument;
  switch (kind) {
    case DPP_QUAD_PERM:
      return i / 4 * 4 + (int32_t)(argument >> i % 4 * 2 & 3);
    case DPP_ROW_SHL:
      return n + by > 15 ? -1 : i + by;
    case DPP_ROW_SHR:
      return n - by < 0 ? -1 : i - by;
    case DPP_ROW_ROR:
      return row + (n + 16 - by) % 16;
    case DPP_WAVE_SHL:
      return i == lanes - 1 ? -1 : i + 1;
    case DPP_WAVE_ROL:
      return i == lanes - 1 ? 0 : i + 1;
    case DPP_WAVE_SHR:
      return i - 1;
    case DPP_WAVE_ROR:
      return i ? i - 1 : lanes - 1;
    case DPP_ROW_MIRROR:
      return row + 15 - n;
    case DPP_ROW_HALF_MIRROR:
      return i / 8 * 8 + 7 - i % 8;
    case DPP_ROW_BCAST:
      // 15: each row's last lane to the next row; 31: lane 31 to the upper half.
      return argument == 15 ? (row ? row - 1 : -1) : i < 32 ? -1 : 31;
    case DPP_ROW_SHARE:
      return row + by;
    case DPP_ROW_XMASK:
      return row + (n ^ by);
    default:
      return i / 8 * 8 + (int32_t)(argument >> i % 8 * 3 & 7);
  }
}

static void check_dpp(rows_t* r, uint32_t kind, int level, uint64_t* seed) {
  for (uint32_t round = 0; round < 24; ++round) {
    uint32_t argument = kind == DPP_QUAD_PERM   ? rows_random(seed) & 255
                        : kind == DPP_8         ? rows_random(seed) & 0xffffff
                        : kind == DPP_ROW_BCAST ? (round & 1 ? 15 : 31)
                                                : 1 + rows_random(seed) % 15;
    inst_extra_t extra = {.dpp = (uint8_t)kind, .dpp_argument = argument, .row_mask = 15, .bank_mask = 15};
    if (round & 2 && kind != DPP_8) extra.row_mask = (uint8_t)(rows_random(seed) & 15), extra.bank_mask = 11;
    extra.bound_control = round & 4, extra.fetch_inactive = round & 8;
    uint64_t exec = round & 16 ? rows_random(seed) | (uint64_t)rows_random(seed) << 32 : UINT64_MAX;
    wave_set_mask(&r->wave, SREG_EXEC, exec & r->wave.all);
    fill(r);
    rows_make(r, "v_mov_b32", level, 0, 1);
    r->inst.extra = &extra, r->inst.flags = INST_HAS_EXTRA;
    int32_t from[64];
    for (int32_t i = 0; i < (int32_t)r->wave.lanes; ++i) {
      int32_t lane = dpp_from(kind, argument, i, (int32_t)r->wave.lanes);
      bool is_read = lane >= 0 && (extra.fetch_inactive || exec >> lane & 1);
      bool is_zero = !is_read && (extra.bound_control || kind == DPP_8);
      bool is_on = exec >> i & 1 && extra.row_mask >> i / 16 & 1 && extra.bank_mask >> i / 4 % 4 & 1;
      from[i] = !is_on ? -2 : is_read ? lane : is_zero ? -1 : -2;
    }
    rows_run(r);
    check(r, from);
    r->inst.extra = NULL;
  }
}

static void test_dpp(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    uint64_t seed = 7;
    rows_t r;
    rows_open(&r, 64, 9, 0, 10);
    for (uint32_t kind = DPP_QUAD_PERM; kind <= DPP_ROW_SHARE; ++kind) check_dpp(&r, kind, level, &seed);
    rows_close(&r);
    rows_open(&r, 32, 11, 0, 0);
    for (uint32_t kind = DPP_QUAD_PERM; kind <= DPP_8; ++kind) {
      bool is_old = (kind >= DPP_WAVE_SHL && kind <= DPP_WAVE_ROR) || kind == DPP_ROW_BCAST;
      if (!is_old) check_dpp(&r, kind, level, &seed);
    }
    rows_close(&r);
  }
  rows_finish();
}

static uint32_t part_of(uint32_t value, uint32_t part, bool is_signed) {
  switch (part) {
    case SDWA_DWORD:
      return value;
    case SDWA_WORD_0:
    case SDWA_WORD_1:
      value = value >> (part == SDWA_WORD_1 ? 16 : 0) & 0xffff;
      return is_signed && value >> 15 ? value | 0xffff0000 : value;
    default:
      value = value >> (part - SDWA_BYTE_0) * 8 & 0xff;
      return is_signed && value >> 7 ? value | 0xffffff00 : value;
  }
}
static uint32_t joined(uint32_t old, uint32_t result, uint32_t part, uint32_t unused) {
  if (part == SDWA_DWORD) return result;
  bool is_word = part >= SDWA_WORD_0;
  uint32_t bits = is_word ? 16 : 8, at = is_word ? 16 * (part - SDWA_WORD_0) : 8 * (part - SDWA_BYTE_0);
  uint32_t field = ((1u << bits) - 1) << at, placed = result << at & field;
  if (unused == SDWA_PRESERVE) return (old & ~field) | placed;
  bool is_negative = result >> (bits - 1) & 1;
  // Sign extension fills what is above; below there are zeros.
  return unused == SDWA_SEXT && is_negative ? placed | (uint32_t)(~UINT64_C(0) << (at + bits)) : placed;
}

static void test_sdwa(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    uint64_t seed = 13;
    rows_t r;
    rows_open(&r, 64, 9, 0, 8);
    for (uint32_t round = 0; round < 400; ++round) {
      inst_extra_t extra = {.is_sdwa = true};
      extra.destination_part = (uint8_t)(round % 7), extra.destination_unused = (uint8_t)(round / 7 % 3);
      for (int k = 0; k < 2; ++k) extra.source_part[k] = (uint8_t)(rows_random(&seed) % 7);
      rows_make(&r, round & 1 ? "v_add_u32" : "v_xor_b32", level, 0, 2);
      r.inst.extra = &extra, r.inst.flags = INST_HAS_EXTRA;
      for (int k = 0; k < 2; ++k) r.inst.src[k].modifiers = rows_random(&seed) & 1 ? OPERAND_SEXT : 0;
      uint64_t exec = round & 8 ? 0xff00ff0f12345678 : UINT64_MAX;
      wave_set_mask(&r.wave, SREG_EXEC, exec);
      for (uint32_t i = 0; i < 64; ++i) {
        rows_lanes(&r, 16)[i] = rows_random(&seed), rows_lanes(&r, 32)[i] = rows_random(&seed);
        rows_lanes(&r, 0)[i] = rows_lanes(&r, 60)[i] = rows_random(&seed);
      }
      rows_run(&r);
      for (uint32_t i = 0; i < 64; ++i) {
        uint32_t a = part_of(rows_lanes(&r, 16)[i], extra.source_part[0], r.inst.src[0].modifiers);
        uint32_t b = part_of(rows_lanes(&r, 32)[i], extra.source_part[1], r.inst.src[1].modifiers);
        uint32_t old = rows_lanes(&r, 60)[i], got = rows_lanes(&r, 0)[i];
        uint32_t want = joined(old, round & 1 ? a + b : a ^ b, extra.destination_part, extra.destination_unused);
        if (!(exec >> i & 1)) want = old;
        if (got != want) {
          rows_tell(&r, "part %u, unused %u: %08x and %08x give %08x, not %08x", extra.destination_part,
                    extra.destination_unused, a, b, got, want);
        }
      }
      r.inst.extra = NULL;
    }
    rows_close(&r);
  }
  rows_finish();
}

// gfx9's s_set_gpr_idx: each operand may be displaced; what leaves the file is v0.
static void test_displaced_registers(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 64, 9, 0, 8);
    for (uint32_t which = 0; which < 16; ++which) {
      for (uint32_t reg = 0; reg < 256; ++reg) {
        for (uint32_t i = 0; i < 64; ++i) rows_lanes(&r, reg)[i] = reg * 1000 + i;
      }
      r.wave.gpr_index = which << 12 | 9;
      rows_make(&r, "v_sub_u32", level, 100, 2);
      rows_run(&r);
      uint32_t a = which & 1 ? 25 : 16, b = which & 2 ? 41 : 32, d = which & 8 ? 109 : 100;
      for (uint32_t i = 0; i < 64; ++i) assert_int_equal(rows_lanes(&r, d)[i], (a - b) * 1000);
      assert_int_equal(rows_lanes(&r, d ^ 100 ^ 109)[5], (d ^ 100 ^ 109) * 1000 + 5);
    }
    r.wave.gpr_index = 1 << 12 | 250;
    rows_make(&r, "v_mov_b32", level, 100, 1);
    rows_run(&r);
    assert_int_equal(rows_lanes(&r, 100)[3], 3);
    r.wave.gpr_index = 0;
    rows_close(&r);
  }
}

// The integer rows themselves are integer_test.c's.
static bool is_expected(const inst_row_t* row) {
  return strncmp(row->name, "v_permlane", 10) == 0 || strstr(row->name, "lane_b32");
}
static void test_all_rows_seen(void** state) { rows_expect_all(is_expected); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scalars),
      cmocka_unit_test(test_rows_of_lanes),
      cmocka_unit_test(test_halves_of_waves),
      cmocka_unit_test(test_dpp),
      cmocka_unit_test(test_sdwa),
      cmocka_unit_test(test_displaced_registers),
      cmocka_unit_test(test_all_rows_seen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
