// What integer rows compute, written from the manuals' definitions with numbers of unlimited range.
//
//   CASE(row, bits of the result and of each source, value)
//     result: 16, 32, 64; KEPT is 16 bits whose upper half gfx9 keeps too; 33 and 65 have a carry above the value
//     sources: 16, 32, 64; 1 is a bit for each lane; OLD the destination's value before
//   UNSIGNED, SIGNED(...)   the same, exact: with clamp the value is cut to the result's range
//   PAIRS(row, how it is cut with clamp, sources, value)   of each half: U or S, N is never
#ifndef IREE_C_TESTS_ISA_INTEGER_CASES_H_
#define IREE_C_TESTS_ISA_INTEGER_CASES_H_

#include "rows.h"

typedef __int128 wide_t;
enum { KEPT = 17, OLD = 99 };

// What a row's definition has besides its sources.
typedef struct place_t {
  uint32_t lane;
  const inst_t* inst;
} place_t;

#define S32(x) ((wide_t)(int32_t)(x))
#define S24(x) ((wide_t)((int32_t)((uint32_t)(x) << 8) >> 8))
#define S16(x) ((wide_t)(int16_t)(x))
#define S64(x) ((wide_t)(int64_t)(x))
#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))

static wide_t ones(uint64_t count) { return ((wide_t)1 << count) - 1; }
static wide_t find(uint64_t x, bool from_top) {
  for (uint32_t i = 0; i < 32; ++i) {
    if (x >> (from_top ? 31 - i : i) & 1) return i;
  }
  return -1;
}
static wide_t find_change(uint64_t x) {
  for (uint32_t i = 1; i < 32; ++i) {
    if ((x >> (31 - i) & 1) != (x >> 31 & 1)) return i;
  }
  return -1;
}
static wide_t reverse(uint64_t x) {
  wide_t y = 0;
  for (int i = 0; i < 32; ++i) y |= (wide_t)(x >> i & 1) << (31 - i);
  return y;
}
static wide_t count(uint64_t x) {
  wide_t sum = 0;
  for (; x; x >>= 1) sum += x & 1;
  return sum;
}
static wide_t field(uint64_t x, uint64_t shift, uint64_t width) {
  if (!width) return 0;
  wide_t value = (S32(x) >> shift) & ones(width);
  return value >> (width - 1) & 1 ? value - ((wide_t)1 << width) : value;
}
static wide_t bytes_by(uint64_t a, uint64_t b, uint64_t c) {
  uint8_t in[8];
  uint64_t data = a << 32 | b;
  wide_t out = 0;
  memcpy(in, &data, 8);
  for (int i = 0; i < 4; ++i) {
    uint64_t s = c >> 8 * i & 255;
    uint64_t byte = s >= 13 ? 255 : s == 12 ? 0 : s >= 8 ? (in[2 * (s - 8) + 1] >> 7) * 255u : in[s];
    out |= (wide_t)byte << 8 * i;
  }
  return out;
}
static wide_t distance(uint64_t a, uint64_t b, int bits, bool is_masked) {
  wide_t sum = 0;
  for (int i = 0; i < 32; i += bits) {
    wide_t x = (a >> i) & ones(bits), y = (b >> i) & ones(bits);
    sum += is_masked && !y ? 0 : x > y ? x - y : y - x;
  }
  return sum;
}
static wide_t dot(uint64_t a, uint64_t b, int bits, bool a_signed, bool b_signed) {
  wide_t sum = 0;
  for (int i = 0; i < 32; i += bits) {
    wide_t x = (a >> i) & ones(bits), y = (b >> i) & ones(bits);
    if (a_signed && x >> (bits - 1)) x -= (wide_t)1 << bits;
    if (b_signed && y >> (bits - 1)) y -= (wide_t)1 << bits;
    sum += x * y;
  }
  return sum;
}
static wide_t median(wide_t a, wide_t b, wide_t c) { return MAX(MIN(a, b), MIN(MAX(a, b), c)); }
static wide_t cut(wide_t x, wide_t low, wide_t high) { return x < low ? low : x > high ? high : x; }
static wide_t windows(uint64_t a, uint64_t b, uint64_t c, bool is_masked) {
  wide_t out = 0;
  for (int i = 0; i < 4; ++i) {
    wide_t sum = distance(a >> 8 * i & UINT32_MAX, b, 8, is_masked) + (c >> 16 * i & 0xffff);
    out |= (sum & 0xffff) << 16 * i;
  }
  return out;
}
static wide_t average(uint64_t a, uint64_t b, uint64_t c) {
  wide_t out = 0;
  for (int i = 0; i < 32; i += 8) out |= (wide_t)(((a >> i & 255) + (b >> i & 255) + (c >> i & 1)) / 2) << i;
  return out;
}
static wide_t by_table(uint64_t a, uint64_t b, uint64_t c, uint32_t table) {
  wide_t out = 0;
  for (int i = 0; i < 32; ++i) {
    uint32_t index = (uint32_t)((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1));
    out |= (wide_t)(table >> index & 1) << i;
  }
  return out;
}
// Bits of lanes below this one.
static wide_t below(uint64_t a, uint32_t lane, uint32_t first) {
  wide_t sum = 0;
  for (uint32_t i = first; i < first + 32 && i < lane; ++i) sum += a >> (i - first) & 1;
  return sum;
}
// A sum of 64 bits with what does not fit above it.
static wide_t with_carry_64(wide_t exact, bool is_signed) {
  wide_t value = exact & ones(64);
  return value | (is_signed ? exact >> 64 & 1 : exact >> 64 != 0) << 64;
}

// clang-format off
#define MOVES(CASE)                                                                    \
  CASE(v_mov_b32, 32, 32, 0, 0, a)                                                     \
  CASE(v_mov_b16, 16, 16, 0, 0, a)                                                     \
  CASE(v_mov_b64, 64, 64, 0, 0, a)                                                     \
  CASE(v_accvgpr_read_b32, 32, 32, 0, 0, a)                                            \
  CASE(v_accvgpr_write_b32, 32, 32, 0, 0, a)                                           \
  CASE(v_accvgpr_mov_b32, 32, 32, 0, 0, a)                                             \
  CASE(v_cndmask_b32, 32, 32, 32, 1, c ? b : a)                                        \
  CASE(v_cndmask_b16, 16, 16, 16, 1, c ? b : a)                                        \
  CASE(v_cvt_i32_i16, 32, 16, 0, 0, S16(a))                                            \
  CASE(v_cvt_u32_u16, 32, 16, 0, 0, a)                                                 \
  CASE(v_cvt_pk_u16_u32, 32, 32, 32, 0, MIN(a, 65535) | MIN(b, 65535) << 16)           \
  CASE(v_cvt_pk_i16_i32, 32, 32, 32, 0,                                                \
       (cut(S32(a), -32768, 32767) & 0xffff) | cut(S32(b), -32768, 32767) * 65536)      \
  CASE(v_sat_pk_u8_i16, 16, 32, 0, 0, cut(S16(a), 0, 255) | cut(S16(a >> 16), 0, 255) << 8) \
  CASE(v_pack_b32_f16, 32, 16, 16, 0, a | b << 16)

#define LOGIC(CASE)                                                                    \
  CASE(v_not_b32, 32, 32, 0, 0, ~a)                                                    \
  CASE(v_not_b16, 16, 16, 0, 0, ~a)                                                    \
  CASE(v_and_b32, 32, 32, 32, 0, a & b)                                                \
  CASE(v_or_b32, 32, 32, 32, 0, a | b)                                                 \
  CASE(v_xor_b32, 32, 32, 32, 0, a ^ b)                                                \
  CASE(v_xnor_b32, 32, 32, 32, 0, ~(a ^ b))                                            \
  CASE(v_and_b16, 16, 16, 16, 0, a & b)                                                \
  CASE(v_or_b16, 16, 16, 16, 0, a | b)                                                 \
  CASE(v_xor_b16, 16, 16, 16, 0, a ^ b)                                                \
  CASE(v_and_or_b32, 32, 32, 32, 32, (a & b) | c)                                      \
  CASE(v_or3_b32, 32, 32, 32, 32, a | b | c)                                           \
  CASE(v_xor3_b32, 32, 32, 32, 32, a ^ b ^ c)                                          \
  CASE(v_bfi_b32, 32, 32, 32, 32, (a & b) | (~a & c))                                  \
  CASE(v_bitop3_b32, 32, 32, 32, 32, by_table(a, b, c, (uint32_t)at->inst->bitop3))    \
  CASE(v_bitop3_b16, KEPT, 16, 16, 16, by_table(a, b, c, (uint32_t)at->inst->bitop3))

#define SHIFTS(CASE)                                                                   \
  CASE(v_lshlrev_b32, 32, 32, 32, 0, (wide_t)b << a % 32)                              \
  CASE(v_lshrrev_b32, 32, 32, 32, 0, b >> a % 32)                                      \
  CASE(v_ashrrev_i32, 32, 32, 32, 0, S32(b) >> a % 32)                                 \
  CASE(v_lshlrev_b16, 16, 16, 16, 0, b << a % 16)                                      \
  CASE(v_lshrrev_b16, 16, 16, 16, 0, b >> a % 16)                                      \
  CASE(v_ashrrev_i16, 16, 16, 16, 0, S16(b) >> a % 16)                                 \
  CASE(v_lshlrev_b64, 64, 32, 64, 0, (wide_t)b << a % 64)                              \
  CASE(v_lshrrev_b64, 64, 32, 64, 0, b >> a % 64)                                      \
  CASE(v_ashrrev_i64, 64, 32, 64, 0, S64(b) >> a % 64)                                 \
  CASE(v_lshl_add_u32, 32, 32, 32, 32, ((wide_t)a << b % 32) + c)                      \
  CASE(v_lshl_or_b32, 32, 32, 32, 32, ((wide_t)a << b % 32) | c)                       \
  CASE(v_add_lshl_u32, 32, 32, 32, 32, (wide_t)(a + b) << c % 32)                      \
  CASE(v_lshl_add_u64, 64, 64, 32, 64, ((wide_t)a << b % 8) + c)                       \
  CASE(v_alignbit_b32, 32, 32, 32, 32, (a << 32 | b) >> c % 32)                        \
  CASE(v_alignbyte_b32, 32, 32, 32, 32, (a << 32 | b) >> c % 4 * 8)                    \
  CASE(v_bfe_u32, 32, 32, 32, 32, a >> b % 32 & ones(c % 32))                          \
  CASE(v_bfe_i32, 32, 32, 32, 32, field(a, b % 32, c % 32))                            \
  CASE(v_bfm_b32, 32, 32, 32, 0, ones(a % 32) << b % 32)                               \
  CASE(v_bfrev_b32, 32, 32, 0, 0, reverse(a))                                          \
  CASE(v_ffbh_u32, 32, 32, 0, 0, find(a, true))                                        \
  CASE(v_ffbl_b32, 32, 32, 0, 0, find(a, false))                                       \
  CASE(v_ffbh_i32, 32, 32, 0, 0, find_change(a))                                       \
  CASE(v_clz_i32_u32, 32, 32, 0, 0, find(a, true))                                     \
  CASE(v_ctz_i32_b32, 32, 32, 0, 0, find(a, false))                                    \
  CASE(v_cls_i32, 32, 32, 0, 0, find_change(a))                                        \
  CASE(v_bcnt_u32_b32, 32, 32, 32, 0, count(a) + b)                                    \
  CASE(v_mbcnt_lo_u32_b32, 32, 32, 32, 0, below(a, at->lane, 0) + b)                   \
  CASE(v_mbcnt_hi_u32_b32, 32, 32, 32, 0, below(a, at->lane, 32) + b)                  \
  CASE(v_perm_b32, 32, 32, 32, 32, bytes_by(a, b, c))                                  \
  CASE(v_prng_b32, 32, 32, 0, 0, a >> 31 ? a << 1 ^ 0xc5 : a << 1)

#define SUMS(CASE, UNSIGNED, SIGNED)                                                   \
  UNSIGNED(v_add_nc_u32, 32, 32, 32, 0, A + B)                                         \
  UNSIGNED(v_sub_nc_u32, 32, 32, 32, 0, A - B)                                         \
  UNSIGNED(v_subrev_nc_u32, 32, 32, 32, 0, B - A)                                      \
  UNSIGNED(v_add_u32, 32, 32, 32, 0, A + B)                                            \
  UNSIGNED(v_sub_u32, 32, 32, 32, 0, A - B)                                            \
  UNSIGNED(v_subrev_u32, 32, 32, 32, 0, B - A)                                         \
  SIGNED(v_add_nc_i32, 32, 32, 32, 0, S32(a) + S32(b))                                 \
  SIGNED(v_sub_nc_i32, 32, 32, 32, 0, S32(a) - S32(b))                                 \
  SIGNED(v_add_i32, 32, 32, 32, 0, S32(a) + S32(b))                                    \
  SIGNED(v_sub_i32, 32, 32, 32, 0, S32(a) - S32(b))                                    \
  UNSIGNED(v_add_u16, 16, 16, 16, 0, A + B)                                            \
  UNSIGNED(v_sub_u16, 16, 16, 16, 0, A - B)                                            \
  UNSIGNED(v_subrev_u16, 16, 16, 16, 0, B - A)                                         \
  UNSIGNED(v_add_nc_u16, 16, 16, 16, 0, A + B)                                         \
  UNSIGNED(v_sub_nc_u16, 16, 16, 16, 0, A - B)                                         \
  SIGNED(v_add_i16, KEPT, 16, 16, 0, S16(a) + S16(b))                                  \
  SIGNED(v_sub_i16, KEPT, 16, 16, 0, S16(a) - S16(b))                                  \
  SIGNED(v_add_nc_i16, KEPT, 16, 16, 0, S16(a) + S16(b))                               \
  SIGNED(v_sub_nc_i16, KEPT, 16, 16, 0, S16(a) - S16(b))                               \
  CASE(v_add3_u32, 32, 32, 32, 32, a + b + c)                                          \
  CASE(v_xad_u32, 32, 32, 32, 32, (a ^ b) + c)                                         \
  CASE(v_add_co_u32, 33, 32, 32, 0, (A + B) & ones(33))                                \
  CASE(v_sub_co_u32, 33, 32, 32, 0, (A - B) & ones(33))                                \
  CASE(v_subrev_co_u32, 33, 32, 32, 0, (B - A) & ones(33))                             \
  CASE(v_add_co_ci_u32, 33, 32, 32, 1, (A + B + C) & ones(33))                         \
  CASE(v_sub_co_ci_u32, 33, 32, 32, 1, (A - B - C) & ones(33))                         \
  CASE(v_subrev_co_ci_u32, 33, 32, 32, 1, (B - A - C) & ones(33))                      \
  CASE(v_addc_co_u32, 33, 32, 32, 1, (A + B + C) & ones(33))                           \
  CASE(v_subb_co_u32, 33, 32, 32, 1, (A - B - C) & ones(33))                           \
  CASE(v_subbrev_co_u32, 33, 32, 32, 1, (B - A - C) & ones(33))

#define PRODUCTS(CASE, UNSIGNED, SIGNED)                                               \
  CASE(v_mul_lo_u32, 32, 32, 32, 0, A * B)                                             \
  CASE(v_mul_lo_i32, 32, 32, 32, 0, A * B)                                             \
  CASE(v_mul_hi_u32, 32, 32, 32, 0, A * B >> 32)                                       \
  CASE(v_mul_hi_i32, 32, 32, 32, 0, S32(a) * S32(b) >> 32)                             \
  CASE(v_mul_u32_u24, 32, 32, 32, 0, (A & 0xffffff) * (B & 0xffffff))                  \
  CASE(v_mul_i32_i24, 32, 32, 32, 0, S24(a) * S24(b))                                  \
  CASE(v_mul_hi_u32_u24, 32, 32, 32, 0, (A & 0xffffff) * (B & 0xffffff) >> 32)         \
  CASE(v_mul_hi_i32_i24, 32, 32, 32, 0, S24(a) * S24(b) >> 32)                         \
  CASE(v_mul_lo_u16, 16, 16, 16, 0, A * B)                                             \
  UNSIGNED(v_mad_u32_u24, 32, 32, 32, 32, (A & 0xffffff) * (B & 0xffffff) + C)         \
  SIGNED(v_mad_i32_i24, 32, 32, 32, 32, S24(a) * S24(b) + S32(c))                      \
  UNSIGNED(v_mad_u32_u16, 32, 16, 16, 32, A * B + C)                                   \
  SIGNED(v_mad_i32_i16, 32, 16, 16, 32, S16(a) * S16(b) + S32(c))                      \
  UNSIGNED(v_mad_u16, KEPT, 16, 16, 16, A * B + C)                                     \
  SIGNED(v_mad_i16, KEPT, 16, 16, 16, S16(a) * S16(b) + S16(c))                        \
  UNSIGNED(v_mad_legacy_u16, 16, 16, 16, 16, A * B + C)                                \
  SIGNED(v_mad_legacy_i16, 16, 16, 16, 16, S16(a) * S16(b) + S16(c))                   \
  CASE(v_mad_u64_u32, 65, 32, 32, 64, with_carry_64(A * B + C, false))                 \
  CASE(v_mad_co_u64_u32, 65, 32, 32, 64, with_carry_64(A * B + C, false))              \
  CASE(v_mad_i64_i32, 65, 32, 32, 64, with_carry_64(S32(a) * S32(b) + S64(c), true))   \
  CASE(v_mad_co_i64_i32, 65, 32, 32, 64, with_carry_64(S32(a) * S32(b) + S64(c), true)) \
  SIGNED(v_dot2_i32_i16, 32, 32, 32, 32, dot(a, b, 16, true, true) + S32(c))           \
  UNSIGNED(v_dot2_u32_u16, 32, 32, 32, 32, dot(a, b, 16, false, false) + C)            \
  SIGNED(v_dot4_i32_i8, 32, 32, 32, 32, dot(a, b, 8, true, true) + S32(c))             \
  UNSIGNED(v_dot4_u32_u8, 32, 32, 32, 32, dot(a, b, 8, false, false) + C)              \
  SIGNED(v_dot4_i32_iu8, 32, 32, 32, 32,                                               \
         dot(a, b, 8, at->inst->neg_lo & 1, at->inst->neg_lo & 2) + S32(c))            \
  SIGNED(v_dot8_i32_i4, 32, 32, 32, 32, dot(a, b, 4, true, true) + S32(c))             \
  UNSIGNED(v_dot8_u32_u4, 32, 32, 32, 32, dot(a, b, 4, false, false) + C)              \
  SIGNED(v_dot8_i32_iu4, 32, 32, 32, 32,                                               \
         dot(a, b, 4, at->inst->neg_lo & 1, at->inst->neg_lo & 2) + S32(c))            \
  SIGNED(v_dot2c_i32_i16, 32, 32, 32, OLD, dot(a, b, 16, true, true) + S32(c))         \
  SIGNED(v_dot4c_i32_i8, 32, 32, 32, OLD, dot(a, b, 8, true, true) + S32(c))           \
  SIGNED(v_dot8c_i32_i4, 32, 32, 32, OLD, dot(a, b, 4, true, true) + S32(c))

#define EXTREMA_OF(CASE, type, bits, D3, T)                                            \
  CASE(v_min_##type, bits, bits, bits, 0, MIN(T(a), T(b)))                             \
  CASE(v_max_##type, bits, bits, bits, 0, MAX(T(a), T(b)))                             \
  CASE(v_min3_##type, D3, bits, bits, bits, MIN(MIN(T(a), T(b)), T(c)))                \
  CASE(v_max3_##type, D3, bits, bits, bits, MAX(MAX(T(a), T(b)), T(c)))                \
  CASE(v_med3_##type, D3, bits, bits, bits, median(T(a), T(b), T(c)))
#define EXTREMA(CASE)                                                                  \
  EXTREMA_OF(CASE, u32, 32, 32, (wide_t))                                              \
  EXTREMA_OF(CASE, i32, 32, 32, S32)                                                   \
  EXTREMA_OF(CASE, u16, 16, KEPT, (wide_t))                                            \
  EXTREMA_OF(CASE, i16, 16, KEPT, S16)                                                 \
  CASE(v_minmax_u32, 32, 32, 32, 32, MAX(MIN(a, b), c))                                \
  CASE(v_maxmin_u32, 32, 32, 32, 32, MIN(MAX(a, b), c))                                \
  CASE(v_minmax_i32, 32, 32, 32, 32, MAX(MIN(S32(a), S32(b)), S32(c)))                 \
  CASE(v_maxmin_i32, 32, 32, 32, 32, MIN(MAX(S32(a), S32(b)), S32(c)))

#define BYTES(CASE, UNSIGNED, SIGNED)                                                  \
  CASE(v_lerp_u8, 32, 32, 32, 32, average(a, b, c))                                    \
  UNSIGNED(v_sad_u8, 32, 32, 32, 32, distance(a, b, 8, false) + C)                     \
  UNSIGNED(v_sad_hi_u8, 32, 32, 32, 32, (distance(a, b, 8, false) << 16) + C)          \
  UNSIGNED(v_sad_u16, 32, 32, 32, 32, distance(a, b, 16, false) + C)                   \
  UNSIGNED(v_sad_u32, 32, 32, 32, 32, distance(a, b, 32, false) + C)                   \
  UNSIGNED(v_msad_u8, 32, 32, 32, 32, distance(a, b, 8, true) + C)                     \
  CASE(v_qsad_pk_u16_u8, 64, 64, 32, 64, windows(a, b, c, false))                      \
  CASE(v_mqsad_pk_u16_u8, 64, 64, 32, 64, windows(a, b, c, true))

#define CASES(CASE, UNSIGNED, SIGNED)                                                  \
  MOVES(CASE) LOGIC(CASE) SHIFTS(CASE) EXTREMA(CASE)                                   \
  SUMS(CASE, UNSIGNED, SIGNED) PRODUCTS(CASE, UNSIGNED, SIGNED) BYTES(CASE, UNSIGNED, SIGNED)

#define PAIR_CASES(PAIRS)                                                              \
  PAIRS(v_pk_add_u16, U, 2, A + B)                                                     \
  PAIRS(v_pk_sub_u16, U, 2, A - B)                                                     \
  PAIRS(v_pk_add_i16, S, 2, S16(a) + S16(b))                                           \
  PAIRS(v_pk_sub_i16, S, 2, S16(a) - S16(b))                                           \
  PAIRS(v_pk_mad_u16, U, 3, A * B + C)                                                 \
  PAIRS(v_pk_mad_i16, S, 3, S16(a) * S16(b) + S16(c))                                  \
  PAIRS(v_pk_mul_lo_u16, N, 2, A * B)                                                  \
  PAIRS(v_pk_min_u16, N, 2, MIN(a, b))                                                 \
  PAIRS(v_pk_max_u16, N, 2, MAX(a, b))                                                 \
  PAIRS(v_pk_min_i16, N, 2, MIN(S16(a), S16(b)))                                       \
  PAIRS(v_pk_max_i16, N, 2, MAX(S16(a), S16(b)))                                       \
  PAIRS(v_pk_lshlrev_b16, N, 2, b << a % 16)                                           \
  PAIRS(v_pk_lshrrev_b16, N, 2, b >> a % 16)                                           \
  PAIRS(v_pk_ashrrev_i16, N, 2, S16(b) >> a % 16)
// clang-format on

typedef wide_t (*reference_t)(const place_t* at, uint64_t a, uint64_t b, uint64_t c);
#define CASE(name, d, x, y, z, ...)                                                \
  static wide_t of_##name(const place_t* at, uint64_t a, uint64_t b, uint64_t c) { \
    const wide_t A = (wide_t)a, B = (wide_t)b, C = (wide_t)c;                      \
    (void)at, (void)A, (void)B, (void)C;                                           \
    return (wide_t)(__VA_ARGS__);                                                  \
  }
#define PAIRS(name, cuts, sources, ...) CASE(name, 0, 0, 0, 0, __VA_ARGS__)
CASES(CASE, CASE, CASE)
PAIR_CASES(PAIRS)
#undef CASE
#undef PAIRS

typedef struct case_t {
  const char* name;
  char cuts;         // with clamp: U, S; N when it has none
  uint32_t bits[4];  // result and sources
  reference_t reference;
} case_t;
static const case_t cases[] = {
#define CASE(name, d, x, y, z, ...) {#name, 'N', {d, x, y, z}, of_##name},
#define UNSIGNED(name, d, x, y, z, ...) {#name, 'U', {d, x, y, z}, of_##name},
#define SIGNED(name, d, x, y, z, ...) {#name, 'S', {d, x, y, z}, of_##name},
    CASES(CASE, UNSIGNED, SIGNED)
#undef CASE
#undef UNSIGNED
#undef SIGNED
};
static const case_t pair_cases[] = {
#define PAIRS(name, cuts, sources, ...) {#name, #cuts[0], {32, 32, 32, sources == 3 ? 32 : 0}, of_##name},
    PAIR_CASES(PAIRS)
#undef PAIRS
};

#endif  // IREE_C_TESTS_ISA_INTEGER_CASES_H_
