// Conversions, f16 and packed rows against base/small_float.h and plain code.
#include <math.h>

#include "base/small_float.h"
#include "rows.h"

static float half_value(uint32_t bits) { return (float)small_float_decode(SMALL_F16, bits & 0xffff); }
static bool is_half_nan(uint32_t bits) { return (bits & 0x7fff) > 0x7c00; }

static void check_bits(const rows_t* r, uint32_t lane, uint32_t got, uint32_t want) {
  if (got == want) return;
  fail_msg("%s on %08x %08x gives %08x, not %08x", r->inst.row->name, r->wave.vgpr[16 * r->wave.lanes + lane],
           r->wave.vgpr[32 * r->wave.lanes + lane], got, want);
}

static void test_halves(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 64, 11, 0, 0);
    for (uint32_t base = 0; base < 65536; base += 64) {
      for (uint32_t i = 0; i < 64; ++i) rows_lanes(&r, 16)[i] = base + i, rows_lanes(&r, 0)[i] = 0xabcd0000;
      rows_make(&r, "v_cvt_f32_f16", level, 1, 1);
      rows_run(&r);
      for (uint32_t i = 0; i < 64; ++i) {
        uint32_t got = rows_lanes(&r, 1)[i];
        if (is_half_nan(base + i)) {
          assert_true((got & 0x7fc00000) == 0x7fc00000);
        } else {
          check_bits(&r, i, got, rows_bits(half_value(base + i)));
        }
      }
      // And back; gfx11 keeps the upper half.
      rows_make(&r, "v_cvt_f16_f32", level, 0, 1);
      r.inst.src[0] = rows_register(&r, 1);
      rows_run(&r);
      for (uint32_t i = 0; i < 64; ++i) {
        uint32_t want = base + i;
        if (is_half_nan(want)) want |= 0x200;
        check_bits(&r, i, rows_lanes(&r, 0)[i], 0xabcd0000 | want);
      }
    }
    rows_close(&r);
  }
}

// Float bits to two of a register, by each row that packs.
static void test_packs(void** state) {
  static const struct {
    const char* name;
    small_float_t format;
    bool truncates;
  } packs[] = {{"v_cvt_pk_f16_f32", SMALL_F16, false},
               {"v_cvt_pk_bf16_f32", SMALL_BF16, false},
               {"v_cvt_pkrtz_f16_f32", SMALL_F16, true},
               {"v_cvt_pk_rtz_f16_f32", SMALL_F16, true}};
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 32, 11, 0, 0);
    uint64_t seed = 9;
    for (int round = 0; round < 3000; ++round) {
      for (uint32_t i = 0; i < 32; ++i) {
        for (uint32_t k = 16; k <= 32; k += 16) {
          // Exponents around those of f16.
          uint32_t bits = rows_random(&seed);
          if (round & 1) bits = (bits & 0x807fffff) | (96 + (bits >> 23) % 50) << 23;
          if ((bits & 0x7fffffff) > 0x7f800000) bits = 0x7f800000;
          rows_lanes(&r, k)[i] = bits;
        }
      }
      for (size_t t = 0; t < 4; ++t) {
        rows_make(&r, packs[t].name, level, 0, 2);
        rows_run(&r);
        for (uint32_t i = 0; i < 32; ++i) {
          uint32_t want = 0;
          for (uint32_t k = 0; k < 2; ++k) {
            uint32_t from = rows_lanes(&r, 16 + 16 * k)[i];
            uint32_t bits = small_float_encode(packs[t].format, rows_float(from));
            if (packs[t].truncates && (from & 0x7fffffff) != 0x7f800000 &&
                fabsf(half_value(bits)) > fabsf(rows_float(from))) {
              --bits;
            }
            want |= bits << 16 * k;
          }
          check_bits(&r, i, rows_lanes(&r, 0)[i], want);
        }
      }
    }
    rows_close(&r);
  }
}

static void test_integers(void** state) {
  static const struct {
    const char* name;
    uint32_t in, out;
  } cases[] = {
      {"v_cvt_i32_f32", 0x7fc00000, 0},
      {"v_cvt_i32_f32", 0x4f000000, 0x7fffffff},
      {"v_cvt_i32_f32", 0xcf000000, 0x80000000},
      {"v_cvt_i32_f32", 0xcf000001, 0x80000000},
      {"v_cvt_i32_f32", 0xbfc00000, 0xffffffff},
      {"v_cvt_i32_f32", 0x7f800000, 0x7fffffff},
      {"v_cvt_u32_f32", 0xbf800000, 0},
      {"v_cvt_u32_f32", 0x4f800000, 0xffffffff},
      {"v_cvt_u32_f32", 0x4f7fffff, 0xffffff00},
      {"v_cvt_u32_f32", 0x7fc00000, 0},
      {"v_cvt_u32_f32", 0x4effffff, 0x7fffff80},
      {"v_cvt_u32_f32", 0x3fffffff, 1},
      {"v_cvt_f32_u32", 0xffffffff, 0x4f800000},
      {"v_cvt_f32_u32", 0x80000001, 0x4f000000},
      {"v_cvt_f32_i32", 0x80000000, 0xcf000000},
      {"v_cvt_f32_u32", 0x01000001, 0x4b800000},
      {"v_cvt_f32_u32", 0x01000003, 0x4b800002},
      {"v_cvt_f32_ubyte0", 0x12345678, 0x42f00000},
      {"v_cvt_f32_ubyte3", 0xff345678, 0x437f0000},
      {"v_cvt_off_f32_i4", 8, 0xbf000000},
      {"v_cvt_off_f32_i4", 7, 0x3ee00000},
      {"v_cvt_floor_i32_f32", 0xbf000000, 0xffffffff},
      {"v_cvt_nearest_i32_f32", 0x40200000, 3},
      {"v_cvt_nearest_i32_f32", 0xc0200000, 0xfffffffe},
      {"v_cvt_flr_i32_f32", 0x40200000, 2},
      {"v_cvt_rpi_i32_f32", 0xbf000000, 0},
      {"v_cvt_i32_i16", 0x1234ffff, 0xffffffff},
      {"v_cvt_u32_u16", 0x1234ffff, 0xffff},
      {"v_cvt_f32_bf16", 0x12343f80, 0x3f800000},
  };
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 32, 12, 0, 1);
    for (size_t t = 0; t < sizeof(cases) / sizeof(cases[0]); ++t) {
      for (uint32_t i = 0; i < 32; ++i) rows_lanes(&r, 16)[i] = cases[t].in;
      rows_make(&r, cases[t].name, level, 0, 1);
      rows_run(&r);
      for (uint32_t i = 0; i < 32; ++i) check_bits(&r, i, rows_lanes(&r, 0)[i], cases[t].out);
    }
    // 16-bit results.
    static const struct {
      const char* name;
      uint16_t in, out;
    } halves[] = {{"v_cvt_i16_f16", 0x7bff, 0x7fff},      {"v_cvt_i16_f16", 0xfc00, 0x8000},
                  {"v_cvt_u16_f16", 0x7c00, 0xffff},      {"v_cvt_u16_f16", 0xbc00, 0},
                  {"v_cvt_f16_u16", 0xffff, 0x7c00},      {"v_cvt_f16_i16", 0x8000, 0xf800},
                  {"v_cvt_norm_i16_f16", 0x3c00, 0x7fff}, {"v_cvt_norm_i16_f16", 0xbc00, 0x8001},
                  {"v_cvt_norm_u16_f16", 0x4000, 0xffff}, {"v_cvt_norm_u16_f16", 0x3800, 0x8000},
                  {"v_frexp_mant_f16", 0x4900, 0x3900},   {"v_frexp_exp_i16_f16", 0x4900, 4},
                  {"v_rndne_f16", 0x4100, 0x4000},        {"v_fract_f16", 0xbd00, 0x3a00}};
    for (size_t t = 0; t < sizeof(halves) / sizeof(halves[0]); ++t) {
      for (uint32_t i = 0; i < 32; ++i) rows_lanes(&r, 16)[i] = halves[t].in, rows_lanes(&r, 0)[i] = 0x55550000;
      rows_make(&r, halves[t].name, level, 0, 1);
      rows_run(&r);
      for (uint32_t i = 0; i < 32; ++i) check_bits(&r, i, rows_lanes(&r, 0)[i], 0x55550000u | halves[t].out);
    }
    rows_close(&r);
  }
}

// gfx942 has the forms without negative zero, gfx12 those of OCP.
static void test_bytes(void** state) {
  static const struct {
    const char *from, *to;
    small_float_t old_format, ocp_format;
  } rows[] = {{"v_cvt_f32_fp8", "v_cvt_pk_fp8_f32", SMALL_F8E4M3FNUZ, SMALL_F8E4M3FN},
              {"v_cvt_f32_bf8", "v_cvt_pk_bf8_f32", SMALL_F8E5M2FNUZ, SMALL_F8E5M2}};
  for (int level = 2; level <= rows_levels(); ++level) {
    for (int ocp = 0; ocp < 2; ++ocp) {
      rows_t r;
      rows_open(&r, ocp ? 32 : 64, ocp ? 12 : 9, ocp ? 0 : 4, 2);
      uint64_t seed = 4;
      for (size_t t = 0; t < 2; ++t) {
        small_float_t format = ocp ? rows[t].ocp_format : rows[t].old_format;
        for (uint32_t base = 0; base < 256; base += 32) {
          for (uint32_t i = 0; i < 32; ++i) rows_lanes(&r, 16)[i] = (base + i) << 16;
          rows_make(&r, rows[t].from, level, 0, 1);
          r.inst.byte_sel = 2;
          rows_run(&r);
          for (uint32_t i = 0; i < 32; ++i) {
            double want = small_float_decode(format, base + i);
            float got = rows_float(rows_lanes(&r, 0)[i]);
            if (!(got == want && !signbit(got) == !signbit(want)) && !(isnan(want) && isnan(got))) {
              fail_msg("%s of %02x is %g, not %g", rows[t].from, base + i, got, want);
            }
          }
        }
        // Two of them, over their source.
        for (uint32_t i = 0; i < 32; ++i) rows_lanes(&r, 16)[i] = (0x30 + i) | (0x51 + i) << 8;
        rows_make(&r, t ? "v_cvt_pk_f32_bf8" : "v_cvt_pk_f32_fp8", level, 16, 1);
        rows_run(&r);
        for (uint32_t i = 0; i < 32; ++i) {
          assert_true(rows_float(rows_lanes(&r, 16)[i]) == small_float_decode(format, 0x30 + i));
          assert_true(rows_float(rows_lanes(&r, 17)[i]) == small_float_decode(format, 0x51 + i));
        }
        for (int round = 0; round < 500; ++round) {
          for (uint32_t i = 0; i < 32; ++i) {
            uint32_t bits = rows_random(&seed);
            if (round & 1) bits = (bits & 0x807fffff) | (100 + (bits >> 23) % 45) << 23;
            if ((bits & 0x7fffffff) >= 0x7f800000) bits = 0;
            rows_lanes(&r, 16)[i] = rows_lanes(&r, 32)[i] = bits;
          }
          rows_make(&r, rows[t].to, level, 0, 2);
          rows_run(&r);
          for (uint32_t i = 0; i < 32; ++i) {
            uint32_t want = small_float_encode(format, rows_float(rows_lanes(&r, 16)[i]));
            uint32_t got = rows_lanes(&r, 0)[i] & 0xffff;
            // A sign of a NaN does not matter.
            if (isnan(small_float_decode(format, want)) && isnan(small_float_decode(format, got & 255))) continue;
            check_bits(&r, i, got, want | want << 8);
          }
        }
      }
      rows_close(&r);
    }
  }
}

// A half rounded once from an exact value.
static uint32_t round_half(double value) { return small_float_encode(SMALL_F16, value); }

static void test_half_arithmetic(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 32, 10, 3, 0);
    uint64_t seed = 21;
    for (int round = 0; round < 3000; ++round) {
      for (uint32_t i = 0; i < 32; ++i) {
        for (uint32_t k = 16; k <= 48; k += 16) {
          uint32_t bits = rows_random(&seed);
          // Exponents near each other show roundings.
          if (round & 1) bits = (bits & 0x83ff83ff) | 0x30003000 | (bits & 0x0c000c00);
          for (uint32_t shift = 0; shift < 32; shift += 16) {
            if ((bits >> shift & 0x7c00) == 0x7c00) bits &= ~(0x4000u << shift);
          }
          rows_lanes(&r, k)[i] = bits;
        }
      }
      static const char* const names[] = {"v_pk_add_f16", "v_pk_mul_f16", "v_pk_fma_f16"};
      for (uint32_t t = 0; t < 3; ++t) {
        rows_make(&r, names[t], level, 0, t == 2 ? 3 : 2);
        rows_run(&r);
        for (uint32_t i = 0; i < 32; ++i) {
          uint32_t want = 0, got = rows_lanes(&r, 0)[i];
          for (uint32_t shift = 0; shift < 32; shift += 16) {
            double a = half_value(rows_lanes(&r, 16)[i] >> shift), b = half_value(rows_lanes(&r, 32)[i] >> shift);
            double c = half_value(rows_lanes(&r, 48)[i] >> shift);
            want |= round_half(t == 0 ? a + b : t == 1 ? a * b : a * b + c) << shift;
          }
          if (got != want) {
            fail_msg("%s level %d of %08x %08x %08x gives %08x, not %08x", names[t], level, rows_lanes(&r, 16)[i],
                     rows_lanes(&r, 32)[i], rows_lanes(&r, 48)[i], got, want);
          }
        }
      }
    }
    rows_close(&r);
  }
}

// Some lanes, with denormals and flushed: the two ways that packed rows go.
static void test_packed_lanes(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 64, 9, 4, 2);
    for (uint32_t flushes = 0; flushes < 2; ++flushes) {
      rows_set_mode(&r, flushes ? 0x230 : 0x2f0);
      wave_set_mask(&r.wave, SREG_EXEC, 0xf0f0123456789abcu);
      for (uint32_t i = 0; i < 64; ++i) {
        rows_lanes(&r, 16)[i] = 0x00013c00 + (i << 16), rows_lanes(&r, 32)[i] = 0x80004000;
        rows_lanes(&r, 48)[i] = 0x00003c00, rows_lanes(&r, 0)[i] = rows_lanes(&r, 1)[i] = 0x12345678;
      }
      rows_make(&r, "v_pk_add_f16", level, 0, 2);
      rows_run(&r);
      rows_make(&r, "v_pk_fma_f16", level, 1, 3);
      r.inst.src[1] = (operand_t){.kind = OPERAND_SGPR, .index = 7, .dwords = 1};
      r.wave.sgpr[7] = 0x3c004000;
      rows_run(&r);
      for (uint32_t i = 0; i < 64; ++i) {
        bool active = wave_exec(&r.wave) >> i & 1;
        uint32_t small = flushes ? 0 : 1 + i;
        check_bits(&r, i, rows_lanes(&r, 0)[i], active ? small << 16 | 0x4200 : 0x12345678);
        check_bits(&r, i, rows_lanes(&r, 1)[i], active ? small << 16 | 0x4200 : 0x12345678);
      }
    }
    rows_close(&r);
  }
}

typedef struct half_case_t {
  const char* name;
  long double (*exact)(long double);
} half_case_t;
static long double exact_rcp(long double x) { return 1 / x; }
static long double exact_rsq(long double x) { return 1 / sqrtl(x); }

// All numbers of f16: nearest, or next to it.
static void test_half_functions(void** state) {
  static const half_case_t cases[] = {{"v_exp_f16", exp2l},     {"v_log_f16", log2l},    {"v_rcp_f16", exact_rcp},
                                      {"v_rsq_f16", exact_rsq}, {"v_sqrt_f16", sqrtl},   {"v_floor_f16", floorl},
                                      {"v_ceil_f16", ceill},    {"v_trunc_f16", truncl}, {"v_rndne_f16", rintl}};
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 32, 11, 0, 0);
    for (size_t t = 0; t < sizeof(cases) / sizeof(cases[0]); ++t) {
      rows_make(&r, cases[t].name, level, 0, 1);
      for (uint32_t base = 0; base < 65536; base += 32) {
        for (uint32_t i = 0; i < 32; ++i) rows_lanes(&r, 16)[i] = base + i, rows_lanes(&r, 0)[i] = 0;
        rows_run(&r);
        for (uint32_t i = 0; i < 32; ++i) {
          uint32_t got = rows_lanes(&r, 0)[i];
          long double want = cases[t].exact(half_value(base + i));
          uint32_t nearest = small_float_encode(SMALL_F16, (double)want);
          bool is_near = t < 5 ? got - nearest + 1 <= 2 : got == nearest;
          if (isnan(want) ? !is_half_nan(got) : !is_near) {
            fail_msg("%s level %d of %04x gives %04x, not %04x", cases[t].name, level, base + i, got, nearest);
          }
        }
      }
    }
    rows_close(&r);
  }
}

static void test_mix_and_dot(void** state) {
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 64, 9, 4, 2);
    for (uint32_t i = 0; i < 64; ++i) {
      rows_lanes(&r, 16)[i] = 0x40003c00;  // f16 1, 2
      rows_lanes(&r, 32)[i] = 0x42004000;  // f16 2, 3
      rows_lanes(&r, 48)[i] = rows_bits(10.0f + (float)i);
      rows_lanes(&r, 0)[i] = 0x11112222;
    }
    rows_make(&r, "v_fma_mix_f32", level, 1, 3);
    r.inst.op_sel_hi = 3, r.inst.op_sel = 2;
    r.inst.src[0].modifiers = OPERAND_NEG;
    rows_run(&r);
    rows_make(&r, "v_fma_mixhi_f16", level, 0, 3);
    r.inst.op_sel_hi = 3, r.inst.op_sel = 1;
    rows_run(&r);
    rows_make(&r, "v_dot2_f32_f16", level, 2, 3);
    rows_run(&r);
    rows_make(&r, "v_dot2c_f32_f16", level, 48, 2);
    rows_run(&r);
    for (uint32_t i = 0; i < 64; ++i) {
      check_bits(&r, i, rows_lanes(&r, 1)[i], rows_bits(-1.0f * 3 + 10 + (float)i));
      check_bits(&r, i, rows_lanes(&r, 0)[i], 0x2222 | round_half(2 * 2 + 10 + i) << 16);
      check_bits(&r, i, rows_lanes(&r, 2)[i], rows_bits(1 * 2 + 2 * 3 + 10 + (float)i));
      check_bits(&r, i, rows_lanes(&r, 48)[i], rows_bits(1 * 2 + 2 * 3 + 10 + (float)i));
    }
    // Pairs of f32, with halves exchanged and negated.
    for (uint32_t i = 0; i < 64; ++i) {
      for (uint32_t k = 16; k <= 48; k += 16) {
        rows_lanes(&r, k)[i] = rows_bits((float)k + (float)i);
        rows_lanes(&r, k + 1)[i] = rows_bits((float)k - (float)i);
      }
    }
    rows_make(&r, "v_pk_fma_f32", level, 4, 3);
    r.inst.op_sel = 1, r.inst.op_sel_hi = 6, r.inst.neg_lo = 4;
    rows_run(&r);
    for (uint32_t i = 0; i < 64; ++i) {
      float x = (float)i;
      check_bits(&r, i, rows_lanes(&r, 4)[i], rows_bits((16 - x) * (32 + x) - (48 + x)));
      check_bits(&r, i, rows_lanes(&r, 5)[i], rows_bits((16 + x) * (32 - x) + (48 - x)));
    }
    rows_close(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_halves),       cmocka_unit_test(test_packs),
      cmocka_unit_test(test_integers),     cmocka_unit_test(test_bytes),
      cmocka_unit_test(test_mix_and_dot),  cmocka_unit_test(test_half_arithmetic),
      cmocka_unit_test(test_packed_lanes), cmocka_unit_test(test_half_functions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
