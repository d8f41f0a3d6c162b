// Integer, comparison and lane rows against the manuals' definitions, written bit by bit: edge values, inactive lanes,
// both sizes of waves, every level of vector instructions.
#include "rows.h"

typedef uint64_t (*reference_t)(uint64_t a, uint64_t b, uint64_t c);
#define S32(x) ((int64_t)(int32_t)(x))
#define S16(x) ((int64_t)(int16_t)(x))
#define S64(x) ((int64_t)(x))

static uint64_t find(uint64_t x, bool from_top) {
  for (uint64_t i = 0; i < 32; ++i) {
    if (x >> (from_top ? 31 - i : i) & 1) return i;
  }
  return UINT32_MAX;
}
static uint64_t find_change(uint64_t x) {
  for (uint64_t i = 1; i < 32; ++i) {
    if ((x >> (31 - i) & 1) != (x >> 31 & 1)) return i;
  }
  return UINT32_MAX;
}
static uint64_t reverse(uint64_t x) {
  uint64_t y = 0;
  for (int i = 0; i < 32; ++i) y |= (x >> i & 1) << (31 - i);
  return y;
}
static uint64_t field(uint64_t x, uint64_t shift, uint64_t width) {
  if (!width) return 0;
  uint64_t value = (uint64_t)(S32(x) >> shift) & ((1ull << width) - 1);
  return value >> (width - 1) & 1 ? value | ~0ull << width : value;
}
static uint64_t bytes_by(uint64_t a, uint64_t b, uint64_t c) {
  uint8_t in[8];
  uint64_t data = a << 32 | b, out = 0;
  memcpy(in, &data, 8);
  for (int i = 0; i < 4; ++i) {
    uint64_t s = c >> 8 * i & 255;
    uint64_t byte = s >= 13 ? 255 : s == 12 ? 0 : s >= 8 ? (in[2 * (s - 8) + 1] >> 7) * 255u : in[s];
    out |= byte << 8 * i;
  }
  return out;
}
static uint64_t distance(uint64_t a, uint64_t b, int bits, bool is_masked) {
  uint64_t sum = 0;
  for (int i = 0; i < 32; i += bits) {
    int64_t x = a >> i & ((1ull << bits) - 1), y = b >> i & ((1ull << bits) - 1);
    sum += is_masked && !y ? 0 : (uint64_t)llabs(x - y);
  }
  return sum;
}
static uint64_t dot(uint64_t a, uint64_t b, int bits, bool is_signed) {
  int64_t sum = 0;
  for (int i = 0; i < 32; i += bits) {
    int64_t x = a >> i & ((1ull << bits) - 1), y = b >> i & ((1ull << bits) - 1);
    if (is_signed && x >> (bits - 1)) x -= 1ll << bits;
    if (is_signed && y >> (bits - 1)) y -= 1ll << bits;
    sum += x * y;
  }
  return (uint64_t)sum;
}
static uint64_t median(int64_t a, int64_t b, int64_t c) {
  int64_t least = a < b ? a : b, most = a > b ? a : b;
  return (uint64_t)(c < least ? least : c > most ? most : c);
}
static int64_t cut(int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; }
static uint64_t windows(uint64_t a, uint64_t b, uint64_t c, bool is_masked) {
  uint64_t out = 0;
  for (int i = 0; i < 4; ++i) {
    uint64_t sum = distance(a >> 8 * i & UINT32_MAX, b, 8, is_masked) + (c >> 16 * i & 0xffff);
    out |= (sum & 0xffff) << 16 * i;
  }
  return out;
}

// CASE(row, bits of the result and of each source, value)
#define CASES(CASE)                                                                                             \
  CASE(v_mov_b32, 32, 32, 0, 0, a)                                                                              \
  CASE(v_mov_b64, 64, 64, 0, 0, a)                                                                              \
  CASE(v_not_b32, 32, 32, 0, 0, ~a)                                                                             \
  CASE(v_xnor_b32, 32, 32, 32, 0, ~(a ^ b))                                                                     \
  CASE(v_bfi_b32, 32, 32, 32, 32, (a & b) | (~a & c))                                                           \
  CASE(v_and_or_b32, 32, 32, 32, 32, (a & b) | c)                                                               \
  CASE(v_lshlrev_b32, 32, 32, 32, 0, b << a % 32)                                                               \
  CASE(v_lshrrev_b32, 32, 32, 32, 0, b >> a % 32)                                                               \
  CASE(v_ashrrev_i32, 32, 32, 32, 0, S32(b) >> a % 32)                                                          \
  CASE(v_lshlrev_b16, 16, 16, 16, 0, b << a % 16)                                                               \
  CASE(v_lshrrev_b16, 16, 16, 16, 0, b >> a % 16)                                                               \
  CASE(v_ashrrev_i16, 16, 16, 16, 0, S16(b) >> a % 16)                                                          \
  CASE(v_lshlrev_b64, 64, 32, 64, 0, b << a % 64)                                                               \
  CASE(v_lshrrev_b64, 64, 32, 64, 0, b >> a % 64)                                                               \
  CASE(v_ashrrev_i64, 64, 32, 64, 0, S64(b) >> a % 64)                                                          \
  CASE(v_lshl_add_u32, 32, 32, 32, 32, (a << b % 32) + c)                                                       \
  CASE(v_lshl_or_b32, 32, 32, 32, 32, (a << b % 32) | c)                                                        \
  CASE(v_add_lshl_u32, 32, 32, 32, 32, (a + b) << c % 32)                                                       \
  CASE(v_lshl_add_u64, 64, 64, 32, 64, (a << b % 8) + c)                                                        \
  CASE(v_alignbit_b32, 32, 32, 32, 32, (a << 32 | b) >> c % 32)                                                 \
  CASE(v_alignbyte_b32, 32, 32, 32, 32, (a << 32 | b) >> c % 4 * 8)                                             \
  CASE(v_bfe_u32, 32, 32, 32, 32, a >> b % 32 & ((1ull << c % 32) - 1))                                         \
  CASE(v_bfe_i32, 32, 32, 32, 32, field(a, b % 32, c % 32))                                                     \
  CASE(v_bfm_b32, 32, 32, 32, 0, ((1ull << a % 32) - 1) << b % 32)                                              \
  CASE(v_bfrev_b32, 32, 32, 0, 0, reverse(a))                                                                   \
  CASE(v_clz_i32_u32, 32, 32, 0, 0, find(a, true))                                                              \
  CASE(v_ctz_i32_b32, 32, 32, 0, 0, find(a, false))                                                             \
  CASE(v_cls_i32, 32, 32, 0, 0, find_change(a))                                                                 \
  CASE(v_bcnt_u32_b32, 32, 32, 32, 0, (uint64_t)__builtin_popcountll(a) + b)                                    \
  CASE(v_perm_b32, 32, 32, 32, 32, bytes_by(a, b, c))                                                           \
  CASE(v_add_nc_u32, 32, 32, 32, 0, a + b)                                                                      \
  CASE(v_subrev_nc_u32, 32, 32, 32, 0, b - a)                                                                   \
  CASE(v_add_u16, 16, 16, 16, 0, a + b)                                                                         \
  CASE(v_sub_nc_i16, 16, 16, 16, 0, a - b)                                                                      \
  CASE(v_add3_u32, 32, 32, 32, 32, a + b + c)                                                                   \
  CASE(v_xad_u32, 32, 32, 32, 32, (a ^ b) + c)                                                                  \
  CASE(v_mul_lo_u32, 32, 32, 32, 0, a* b)                                                                       \
  CASE(v_mul_hi_u32, 32, 32, 32, 0, a* b >> 32)                                                                 \
  CASE(v_mul_hi_i32, 32, 32, 32, 0, S32(a) * S32(b) >> 32)                                                      \
  CASE(v_mul_u32_u24, 32, 32, 32, 0, (a & 0xffffff) * (b & 0xffffff))                                           \
  CASE(v_mul_i32_i24, 32, 32, 32, 0, (S32(a << 8) >> 8) * (S32(b << 8) >> 8))                                   \
  CASE(v_mul_hi_i32_i24, 32, 32, 32, 0, (S32(a << 8) >> 8) * (S32(b << 8) >> 8) >> 32)                          \
  CASE(v_mad_u32_u24, 32, 32, 32, 32, (a & 0xffffff) * (b & 0xffffff) + c)                                      \
  CASE(v_mad_i32_i16, 32, 16, 16, 32, S16(a) * S16(b) + S32(c))                                                 \
  CASE(v_mad_u16, 16, 16, 16, 16, a* b + c)                                                                     \
  CASE(v_min_i32, 32, 32, 32, 0, S32(a) < S32(b) ? a : b)                                                       \
  CASE(v_max_u32, 32, 32, 32, 0, a > b ? a : b)                                                                 \
  CASE(v_min_i16, 16, 16, 16, 0, S16(a) < S16(b) ? a : b)                                                       \
  CASE(v_med3_i32, 32, 32, 32, 32, median(S32(a), S32(b), S32(c)))                                              \
  CASE(v_med3_u32, 32, 32, 32, 32, median((int64_t)a, (int64_t)b, (int64_t)c))                                  \
  CASE(v_med3_i16, 16, 16, 16, 16, median(S16(a), S16(b), S16(c)))                                              \
  CASE(v_cvt_pk_u16_u32, 32, 32, 32, 0, (a > 65535 ? 65535 : a) | (b > 65535 ? 65535 : b) << 16)                \
  CASE(v_cvt_pk_i16_i32, 32, 32, 32, 0,                                                                         \
       (uint16_t)cut(S32(a), -32768, 32767) | (uint64_t)(uint16_t)cut(S32(b), -32768, 32767) << 16)             \
  CASE(v_sat_pk_u8_i16, 16, 32, 0, 0, (uint64_t)cut(S16(a), 0, 255) | (uint64_t)cut(S16(a >> 16), 0, 255) << 8) \
  CASE(v_pack_b32_f16, 32, 16, 16, 0, a | b << 16)                                                              \
  CASE(v_sad_u8, 32, 32, 32, 32, distance(a, b, 8, false) + c)                                                  \
  CASE(v_sad_hi_u8, 32, 32, 32, 32, (distance(a, b, 8, false) << 16) + c)                                       \
  CASE(v_sad_u16, 32, 32, 32, 32, distance(a, b, 16, false) + c)                                                \
  CASE(v_msad_u8, 32, 32, 32, 32, distance(a, b, 8, true) + c)                                                  \
  CASE(v_qsad_pk_u16_u8, 64, 64, 32, 64, windows(a, b, c, false))                                               \
  CASE(v_mqsad_pk_u16_u8, 64, 64, 32, 64, windows(a, b, c, true))                                               \
  CASE(v_dot2_i32_i16, 32, 32, 32, 32, dot(a, b, 16, true) + c)                                                 \
  CASE(v_dot2_u32_u16, 32, 32, 32, 32, dot(a, b, 16, false) + c)                                                \
  CASE(v_dot4_i32_i8, 32, 32, 32, 32, dot(a, b, 8, true) + c)                                                   \
  CASE(v_dot4_u32_u8, 32, 32, 32, 32, dot(a, b, 8, false) + c)                                                  \
  CASE(v_dot8_i32_i4, 32, 32, 32, 32, dot(a, b, 4, true) + c)                                                   \
  CASE(v_pk_add_u16, 32, 32, 32, 0, ((a + b) & 0xffff) | (((a >> 16) + (b >> 16)) & 0xffff) << 16)              \
  CASE(v_pk_lshlrev_b16, 32, 32, 32, 0, (b << a % 16 & 0xffff) | ((b >> 16) << (a >> 16) % 16 & 0xffff) << 16)  \
  CASE(v_cmp_lt_i32, 1, 32, 32, 0, S32(a) < S32(b))                                                             \
  CASE(v_cmp_ge_u16, 1, 16, 16, 0, a >= b)                                                                      \
  CASE(v_cmp_gt_i64, 1, 64, 64, 0, S64(a) > S64(b))                                                             \
  CASE(v_cmp_ne_u64, 1, 64, 64, 0, a != b)                                                                      \
  CASE(v_cmp_eq_u32, 1, 32, 32, 0, a == b)                                                                      \
  CASE(v_add_co_u32, 33, 32, 32, 0, a + b)                                                                      \
  CASE(v_sub_co_u32, 33, 32, 32, 0, (a - b) & 0x1ffffffff)                                                      \
  CASE(v_subrev_co_u32, 33, 32, 32, 0, (b - a) & 0x1ffffffff)

#define CASE(name, d, x, y, z, ...)                               \
  static uint64_t of_##name(uint64_t a, uint64_t b, uint64_t c) { \
    (void)a, (void)b, (void)c;                                    \
    return (uint64_t)(__VA_ARGS__);                               \
  }
CASES(CASE)
#undef CASE

typedef struct case_t {
  const char* name;
  uint32_t bits[4];  // result: 1 is a comparison, 33 has a carry
  reference_t reference;
} case_t;
static const case_t cases[] = {
#define CASE(name, d, x, y, z, ...) {#name, {d, x, y, z}, of_##name},
    CASES(CASE)
#undef CASE
};

static uint64_t pick(uint64_t* state) {
  static const uint64_t edges[] = {0,
                                   1,
                                   2,
                                   15,
                                   16,
                                   31,
                                   32,
                                   33,
                                   63,
                                   0x7f,
                                   0x80,
                                   0xff,
                                   0x7fff,
                                   0x8000,
                                   0xffff,
                                   0x7fffff,
                                   0x800000,
                                   0xffffff,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xffffffffffffffff,
                                   0x0c0d0b08,
                                   0x00ff00ff};
  uint32_t random = rows_random(state);
  if (random % 2) return edges[random / 2 % (sizeof(edges) / sizeof(edges[0]))];
  return rows_random(state) | (uint64_t)rows_random(state) << 32;
}

static uint64_t source_of(const rows_t* r, uint32_t k, uint32_t bits, uint32_t lane) {
  const uint32_t* low = rows_lanes((rows_t*)r, 16 + 16 * k);
  uint64_t value = low[lane] | (uint64_t)low[r->wave.lanes + lane] << 32;
  return bits == 64 ? value : value & ((1ull << bits) - 1);
}

static void check_lane(rows_t* r, const case_t* c, uint32_t lane, bool is_active, bool keeps) {
  uint32_t* d = rows_lanes(r, 0);
  uint64_t in[3] = {0};
  for (uint32_t k = 0; k < 3; ++k) in[k] = c->bits[k + 1] ? source_of(r, k, c->bits[k + 1], lane) : 0;
  uint64_t want = c->reference(in[0], in[1], in[2]), got = d[lane] | (uint64_t)d[r->wave.lanes + lane] << 32;
  uint64_t flag = wave_mask(&r->wave, SREG_VCC) >> lane & 1;
  uint32_t bits = c->bits[0];
  if (bits == 1) {
    got = flag, want = is_active && want;
  } else if (bits == 33) {
    got = (uint32_t)got | flag << 32, want = is_active ? want : 0xdeadbeef;
  } else {
    if (bits == 16) want = (want & 0xffff) | (keeps ? 0xdead0000 : 0);
    if (bits != 64) got = (uint32_t)got, want = (uint32_t)want;
    if (!is_active) want = bits == 64 ? 0xdeadbeefdeadbeef : 0xdeadbeef;
  }
  if (got != want) {
    fail_msg("%s, lane %u of %u: %llx %llx %llx gives %llx, not %llx", c->name, lane, r->wave.lanes,
             (unsigned long long)in[0], (unsigned long long)in[1], (unsigned long long)in[2], (unsigned long long)got,
             (unsigned long long)want);
  }
}

static void check_case(rows_t* r, const case_t* c, int level) {
  uint32_t sources = c->bits[3] ? 3 : c->bits[2] ? 2 : 1;
  rows_make(r, c->name, level, 0, sources);
  if (c->bits[0] == 1) r->inst.dst[0] = r->inst.dst[1];
  bool keeps = r->target.major >= 10 || strcmp(c->name, "v_mad_u16") == 0 || strcmp(c->name, "v_sub_nc_i16") == 0;
  uint64_t state = 7;
  for (int round = 0; round < 40; ++round) {
    for (uint32_t i = 0; i < r->wave.lanes; ++i) {
      for (uint32_t k = 0; k < 3; ++k) {
        uint64_t value = pick(&state);
        uint32_t* low = rows_lanes(r, 16 + 16 * k);
        low[i] = (uint32_t)value, low[r->wave.lanes + i] = (uint32_t)(value >> 32);
      }
      rows_lanes(r, 0)[i] = rows_lanes(r, 1)[i] = 0xdeadbeef;
    }
    uint64_t exec = round % 2 ? rows_random(&state) | (uint64_t)rows_random(&state) << 32 : UINT64_MAX;
    wave_set_mask(&r->wave, SREG_EXEC, exec & r->wave.all);
    wave_set_mask(&r->wave, SREG_VCC, r->wave.all);
    rows_run(r);
    for (uint32_t i = 0; i < r->wave.lanes; ++i) check_lane(r, c, i, exec >> i & 1, keeps);
  }
}

static void test_rows(void** state) {
  (void)state;
  for (int level = 2; level <= rows_levels(); ++level) {
    for (int target = 0; target < 3; ++target) {
      rows_t r;
      rows_open(&r, target == 1 ? 32 : 64, target ? 11 : 9, 0, 0);
      for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) check_case(&r, &cases[i], level);
      rows_close(&r);
    }
  }
}

// Carries in, with every lane's carry its own.
static void test_carry_in(void** state) {
  (void)state;
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 64, 9, 0, 10);
    rows_make(&r, "v_addc_co_u32", level, 0, 2);
    r.inst.source_count = 3;
    r.inst.src[2] = r.inst.dst[1];
    uint64_t seed = 3, carry = 0xaaaaccccf0f0ff00;
    for (uint32_t i = 0; i < 64; ++i) {
      rows_lanes(&r, 16)[i] = (uint32_t)pick(&seed), rows_lanes(&r, 32)[i] = (uint32_t)pick(&seed);
    }
    wave_set_mask(&r.wave, SREG_VCC, carry);
    rows_run(&r);
    for (uint32_t i = 0; i < 64; ++i) {
      uint64_t sum = (uint64_t)rows_lanes(&r, 16)[i] + rows_lanes(&r, 32)[i] + (carry >> i & 1);
      assert_int_equal(rows_lanes(&r, 0)[i], (uint32_t)sum);
      assert_int_equal(wave_mask(&r.wave, SREG_VCC) >> i & 1, sum >> 32);
    }
    rows_close(&r);
  }
}

static void test_saturation(void** state) {
  (void)state;
  static const struct {
    const char* name;
    uint32_t a, b, want;
  } list[] = {{"v_add_nc_u32", 0xfffffff0, 0x20, 0xffffffff},       {"v_sub_nc_u32", 1, 2, 0},
              {"v_add_nc_i32", 0x7fffffff, 1, 0x7fffffff},          {"v_sub_nc_i32", 0x80000000, 1, 0x80000000},
              {"v_pk_add_i16", 0x7fff8000, 0x0001ffff, 0x7fff8000}, {"v_pk_sub_u16", 0x00010005, 0x00020003, 2}};
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 32, 11, 0, 0);
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); ++i) {
      rows_make(&r, list[i].name, level, 0, 2);
      r.inst.flags = INST_CLAMP;
      rows_lanes(&r, 16)[5] = list[i].a, rows_lanes(&r, 32)[5] = list[i].b;
      rows_run(&r);
      assert_int_equal(rows_lanes(&r, 0)[5], list[i].want);
    }
    rows_close(&r);
  }
}

// Lanes moved by DPP: bounds, masks, inactive sources.
static void test_dpp(void** state) {
  (void)state;
  for (int level = 2; level <= rows_levels(); ++level) {
    rows_t r;
    rows_open(&r, 32, 11, 0, 0);
    rows_make(&r, "v_mov_b32", level, 0, 1);
    inst_extra_t extra = {.dpp = DPP_ROW_SHR, .dpp_argument = 1, .row_mask = 1, .bank_mask = 15};
    r.inst.extra = &extra;
    r.inst.flags = INST_HAS_EXTRA;
    for (int is_bounded = 0; is_bounded < 2; ++is_bounded) {
      extra.bound_control = is_bounded;
      for (uint32_t i = 0; i < 32; ++i) rows_lanes(&r, 16)[i] = 100 + i, rows_lanes(&r, 0)[i] = 7;
      wave_set_mask(&r.wave, SREG_EXEC, 0xffffffff & ~(1u << 4));
      rows_run(&r);
      for (uint32_t i = 0; i < 32; ++i) {
        bool is_outside = i == 0 || i == 5;
        uint32_t want = i >= 16 || i == 4 ? 7 : is_outside ? (is_bounded ? 0 : 7) : 99 + i;
        assert_int_equal(rows_lanes(&r, 0)[i], want);
      }
    }
    rows_close(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_carry_in),
                                     cmocka_unit_test(test_saturation), cmocka_unit_test(test_dpp)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
