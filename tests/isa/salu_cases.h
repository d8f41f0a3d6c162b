// What scalar ALU rows compute, from the manuals' definitions with numbers of unlimited range.
//
//   CASE(row, bits of the result and of the sources, sources, value, SCC)
// In value and SCC: a, b are the sources, A and B the same as wide numbers, d the destination before, s SCC before; in
// SCC also r, the result. Comparisons have no result (0 bits).
#ifndef IREE_C_TESTS_ISA_SALU_CASES_H_
#define IREE_C_TESTS_ISA_SALU_CASES_H_

#include "rows.h"

typedef __int128 wide_t;
#define S32(x) ((wide_t)(int32_t)(x))
#define S16(x) ((wide_t)(int16_t)(x))
#define S64(x) ((wide_t)(int64_t)(x))
#define BIT(x, i) ((wide_t)((x) >> (i) & 1))

static wide_t ones(uint64_t count) { return ((wide_t)1 << count) - 1; }
static bool fits_32(wide_t x) { return x >= INT32_MIN && x <= INT32_MAX; }
static wide_t count(uint64_t x, int bits, int value) {
  wide_t sum = 0;
  for (int i = 0; i < bits; ++i) sum += BIT(x, i) == value;
  return sum;
}
static wide_t first(uint64_t x, int bits, int value, bool from_top) {
  for (int i = 0; i < bits; ++i) {
    if (BIT(x, from_top ? bits - 1 - i : i) == value) return i;
  }
  return -1;
}
// Bits from the top until one differs from the sign.
static wide_t change(uint64_t x, int bits) { return first(x, bits, !BIT(x, bits - 1), true); }
static wide_t reverse(uint64_t x, int bits) {
  wide_t y = 0;
  for (int i = 0; i < bits; ++i) y |= BIT(x, i) << (bits - 1 - i);
  return y;
}
// `width` bits from `at`; those past the end are 0, or the sign.
static wide_t field(wide_t x, uint64_t at, uint64_t width, bool is_signed) {
  if (!width) return 0;
  wide_t value = x >> at & ones(width < 65 ? width : 65);
  return is_signed && value >> (width - 1) & 1 ? value - ((wide_t)1 << width) : value;
}
static wide_t quads(uint64_t x, int bits, bool whole) {
  wide_t y = 0;
  for (int i = 0; i < bits; i += 4) y |= x >> i & 15 ? (whole ? (wide_t)15 << i : (wide_t)1 << i / 4) : 0;
  return y;
}
static wide_t twice(uint64_t x) {
  wide_t y = 0;
  for (int i = 0; i < 32; ++i) y |= BIT(x, i) * 3 << 2 * i;
  return y;
}

// clang-format off
#define BOTH(CASE, stem, sources, value, scc) \
  CASE(s_##stem##_b32, 32, 32, sources, value, scc) CASE(s_##stem##_b64, 64, 64, sources, value, scc)
#define MOVES(CASE)                                                                  \
  BOTH(CASE, mov, 1, a, s)                                                           \
  BOTH(CASE, cmov, 1, s ? a : d, s)                                                  \
  BOTH(CASE, cselect, 2, s ? a : b, s)                                               \
  CASE(s_sext_i32_i8, 32, 32, 1, (int8_t)a, s)                                       \
  CASE(s_sext_i32_i16, 32, 32, 1, (int16_t)a, s)                                     \
  CASE(s_pack_ll_b32_b16, 32, 32, 2, (a & 0xffff) | (b & 0xffff) << 16, s)           \
  CASE(s_pack_lh_b32_b16, 32, 32, 2, (a & 0xffff) | b >> 16 << 16, s)                \
  CASE(s_pack_hh_b32_b16, 32, 32, 2, a >> 16 | b >> 16 << 16, s)                     \
  CASE(s_pack_hl_b32_b16, 32, 32, 2, a >> 16 | (b & 0xffff) << 16, s)
#define SUMS(CASE)                                                                   \
  CASE(s_add_u32, 32, 32, 2, A + B, A + B > UINT32_MAX)                              \
  CASE(s_add_co_u32, 32, 32, 2, A + B, A + B > UINT32_MAX)                           \
  CASE(s_sub_u32, 32, 32, 2, A - B, B > A)                                           \
  CASE(s_sub_co_u32, 32, 32, 2, A - B, B > A)                                        \
  CASE(s_add_i32, 32, 32, 2, A + B, !fits_32(S32(a) + S32(b)))                       \
  CASE(s_add_co_i32, 32, 32, 2, A + B, !fits_32(S32(a) + S32(b)))                    \
  CASE(s_sub_i32, 32, 32, 2, A - B, !fits_32(S32(a) - S32(b)))                       \
  CASE(s_sub_co_i32, 32, 32, 2, A - B, !fits_32(S32(a) - S32(b)))                    \
  CASE(s_addc_u32, 32, 32, 2, A + B + s, A + B + s > UINT32_MAX)                     \
  CASE(s_add_co_ci_u32, 32, 32, 2, A + B + s, A + B + s > UINT32_MAX)                \
  CASE(s_subb_u32, 32, 32, 2, A - B - s, B + s > A)                                  \
  CASE(s_sub_co_ci_u32, 32, 32, 2, A - B - s, B + s > A)                             \
  CASE(s_min_i32, 32, 32, 2, S32(a) < S32(b) ? a : b, S32(a) < S32(b))               \
  CASE(s_min_u32, 32, 32, 2, a < b ? a : b, a < b)                                   \
  CASE(s_max_i32, 32, 32, 2, S32(a) >= S32(b) ? a : b, S32(a) >= S32(b))             \
  CASE(s_max_u32, 32, 32, 2, a >= b ? a : b, a >= b)                                 \
  CASE(s_mul_i32, 32, 32, 2, A * B, s)                                               \
  CASE(s_mul_hi_u32, 32, 32, 2, A * B >> 32, s)                                      \
  CASE(s_mul_hi_i32, 32, 32, 2, S32(a) * S32(b) >> 32, s)                            \
  CASE(s_mul_u64, 64, 64, 2, a * b, s)                                               \
  CASE(s_add_nc_u64, 64, 64, 2, a + b, s)                                            \
  CASE(s_sub_nc_u64, 64, 64, 2, a - b, s)                                            \
  CASE(s_abs_i32, 32, 32, 1, S32(a) < 0 ? -S32(a) : A, r != 0)                       \
  CASE(s_absdiff_i32, 32, 32, 2, (int32_t)(a - b) < 0 ? -S32(a - b) : A - B, r != 0) \
  CASE(s_lshl1_add_u32, 32, 32, 2, A * 2 + B, A * 2 + B > UINT32_MAX)                \
  CASE(s_lshl2_add_u32, 32, 32, 2, A * 4 + B, A * 4 + B > UINT32_MAX)                \
  CASE(s_lshl3_add_u32, 32, 32, 2, A * 8 + B, A * 8 + B > UINT32_MAX)                \
  CASE(s_lshl4_add_u32, 32, 32, 2, A * 16 + B, A * 16 + B > UINT32_MAX)
#define LOGIC(CASE)                                                                  \
  BOTH(CASE, and, 2, a & b, r != 0)                                                  \
  BOTH(CASE, or, 2, a | b, r != 0)                                                   \
  BOTH(CASE, xor, 2, a ^ b, r != 0)                                                  \
  BOTH(CASE, andn2, 2, a & ~b, r != 0)                                               \
  BOTH(CASE, orn2, 2, a | ~b, r != 0)                                                \
  BOTH(CASE, and_not1, 2, a & ~b, r != 0)                                            \
  BOTH(CASE, or_not1, 2, a | ~b, r != 0)                                             \
  BOTH(CASE, nand, 2, ~(a & b), r != 0)                                              \
  BOTH(CASE, nor, 2, ~(a | b), r != 0)                                               \
  BOTH(CASE, xnor, 2, ~(a ^ b), r != 0)                                              \
  BOTH(CASE, not, 1, ~a, r != 0)
#define FIELDS(CASE)                                                                 \
  BOTH(CASE, lshl, 2, a << (b & (BITS - 1)), r != 0)                                 \
  BOTH(CASE, lshr, 2, a >> (b & (BITS - 1)), r != 0)                                 \
  CASE(s_ashr_i32, 32, 32, 2, S32(a) >> b % 32, r != 0)                              \
  CASE(s_ashr_i64, 64, 64, 2, S64(a) >> b % 64, r != 0)                              \
  BOTH(CASE, bfm, 2, ones(a % BITS) << b % BITS, s)                                  \
  CASE(s_bfe_u32, 32, 32, 2, field(A, b & 31, b >> 16 & 127, false), r != 0)         \
  CASE(s_bfe_i32, 32, 32, 2, field(S32(a), b & 31, b >> 16 & 127, true), r != 0)     \
  CASE(s_bfe_u64, 64, 64, 2, field(A, b & 63, b >> 16 & 127, false), r != 0)         \
  CASE(s_bfe_i64, 64, 64, 2, field(S64(a), b & 63, b >> 16 & 127, true), r != 0)     \
  BOTH(CASE, brev, 1, reverse(a, BITS), s)                                           \
  CASE(s_bcnt0_i32_b32, 32, 32, 1, count(a, 32, 0), r != 0)                          \
  CASE(s_bcnt0_i32_b64, 32, 64, 1, count(a, 64, 0), r != 0)                          \
  CASE(s_bcnt1_i32_b32, 32, 32, 1, count(a, 32, 1), r != 0)                          \
  CASE(s_bcnt1_i32_b64, 32, 64, 1, count(a, 64, 1), r != 0)                          \
  CASE(s_ff0_i32_b32, 32, 32, 1, first(a, 32, 0, false), s)                          \
  CASE(s_ff0_i32_b64, 32, 64, 1, first(a, 64, 0, false), s)                          \
  CASE(s_ff1_i32_b32, 32, 32, 1, first(a, 32, 1, false), s)                          \
  CASE(s_ff1_i32_b64, 32, 64, 1, first(a, 64, 1, false), s)                          \
  CASE(s_ctz_i32_b32, 32, 32, 1, first(a, 32, 1, false), s)                          \
  CASE(s_ctz_i32_b64, 32, 64, 1, first(a, 64, 1, false), s)                          \
  CASE(s_flbit_i32_b32, 32, 32, 1, first(a, 32, 1, true), s)                         \
  CASE(s_flbit_i32_b64, 32, 64, 1, first(a, 64, 1, true), s)                         \
  CASE(s_clz_i32_u32, 32, 32, 1, first(a, 32, 1, true), s)                           \
  CASE(s_clz_i32_u64, 32, 64, 1, first(a, 64, 1, true), s)                           \
  CASE(s_flbit_i32, 32, 32, 1, change(a, 32), s)                                     \
  CASE(s_flbit_i32_i64, 32, 64, 1, change(a, 64), s)                                 \
  CASE(s_cls_i32, 32, 32, 1, change(a, 32), s)                                       \
  CASE(s_cls_i32_i64, 32, 64, 1, change(a, 64), s)                                   \
  CASE(s_bitset0_b32, 32, 32, 1, d & ~((wide_t)1 << a % 32), s)                      \
  CASE(s_bitset1_b32, 32, 32, 1, d | (wide_t)1 << a % 32, s)                         \
  CASE(s_bitset0_b64, 64, 32, 1, d & ~((wide_t)1 << a % 64), s)                      \
  CASE(s_bitset1_b64, 64, 32, 1, d | (wide_t)1 << a % 64, s)                         \
  CASE(s_bitreplicate_b64_b32, 64, 32, 1, twice(a), s)                               \
  BOTH(CASE, quadmask, 1, quads(a, BITS, false), r != 0)                             \
  BOTH(CASE, wqm, 1, quads(a, BITS, true), r != 0)
#define COMPARES(CASE)                                                               \
  CASE(s_cmp_eq_i32, 0, 32, 2, 0, a == b)                                            \
  CASE(s_cmp_lg_i32, 0, 32, 2, 0, a != b)                                            \
  CASE(s_cmp_gt_i32, 0, 32, 2, 0, S32(a) > S32(b))                                   \
  CASE(s_cmp_ge_i32, 0, 32, 2, 0, S32(a) >= S32(b))                                  \
  CASE(s_cmp_lt_i32, 0, 32, 2, 0, S32(a) < S32(b))                                   \
  CASE(s_cmp_le_i32, 0, 32, 2, 0, S32(a) <= S32(b))                                  \
  CASE(s_cmp_eq_u32, 0, 32, 2, 0, a == b)                                            \
  CASE(s_cmp_lg_u32, 0, 32, 2, 0, a != b)                                            \
  CASE(s_cmp_gt_u32, 0, 32, 2, 0, a > b)                                             \
  CASE(s_cmp_ge_u32, 0, 32, 2, 0, a >= b)                                            \
  CASE(s_cmp_lt_u32, 0, 32, 2, 0, a < b)                                             \
  CASE(s_cmp_le_u32, 0, 32, 2, 0, a <= b)                                            \
  CASE(s_cmp_eq_u64, 0, 64, 2, 0, a == b)                                            \
  CASE(s_cmp_lg_u64, 0, 64, 2, 0, a != b)                                            \
  BOTH_BITS(CASE)
#define BOTH_BITS(CASE)                                                              \
  CASE(s_bitcmp0_b32, 0, 32, 2, 0, !BIT(a, b % 32))                                  \
  CASE(s_bitcmp1_b32, 0, 32, 2, 0, BIT(a, b % 32))                                   \
  CASE(s_bitcmp0_b64, 0, 64, 2, 0, !BIT(a, b % 64))                                  \
  CASE(s_bitcmp1_b64, 0, 64, 2, 0, BIT(a, b % 64))
// b is the immediate; one source: the register.
#define IMMEDIATES(CASE)                                                             \
  CASE(s_movk_i32, 32, 32, 0, S16(b), s)                                             \
  CASE(s_cmovk_i32, 32, 32, 0, s ? S16(b) : (wide_t)d, s)                            \
  CASE(s_addk_i32, 32, 32, 0, S32(d) + S16(b), !fits_32(S32(d) + S16(b)))            \
  CASE(s_addk_co_i32, 32, 32, 0, S32(d) + S16(b), !fits_32(S32(d) + S16(b)))         \
  CASE(s_mulk_i32, 32, 32, 0, S32(d) * S16(b), s)                                    \
  CASE(s_cmpk_eq_i32, 0, 32, 1, 0, S32(a) == S16(b))                                 \
  CASE(s_cmpk_lg_i32, 0, 32, 1, 0, S32(a) != S16(b))                                 \
  CASE(s_cmpk_gt_i32, 0, 32, 1, 0, S32(a) > S16(b))                                  \
  CASE(s_cmpk_ge_i32, 0, 32, 1, 0, S32(a) >= S16(b))                                 \
  CASE(s_cmpk_lt_i32, 0, 32, 1, 0, S32(a) < S16(b))                                  \
  CASE(s_cmpk_le_i32, 0, 32, 1, 0, S32(a) <= S16(b))                                 \
  CASE(s_cmpk_eq_u32, 0, 32, 1, 0, a == b)                                           \
  CASE(s_cmpk_lg_u32, 0, 32, 1, 0, a != b)                                           \
  CASE(s_cmpk_gt_u32, 0, 32, 1, 0, a > b)                                            \
  CASE(s_cmpk_ge_u32, 0, 32, 1, 0, a >= b)                                           \
  CASE(s_cmpk_lt_u32, 0, 32, 1, 0, a < b)                                            \
  CASE(s_cmpk_le_u32, 0, 32, 1, 0, a <= b)
// EXEC of a and e (EXEC before).
#define MASKS(MASK)                                                                  \
  MASK(and, saveexec, a & e) MASK(or, saveexec, a | e) MASK(xor, saveexec, a ^ e)    \
  MASK(nand, saveexec, ~(a & e)) MASK(nor, saveexec, ~(a | e)) MASK(xnor, saveexec, ~(a ^ e)) \
  MASK(andn1, saveexec, ~a & e) MASK(andn2, saveexec, a & ~e)                        \
  MASK(orn1, saveexec, ~a | e) MASK(orn2, saveexec, a | ~e)                          \
  MASK(and_not0, saveexec, ~a & e) MASK(and_not1, saveexec, a & ~e)                  \
  MASK(or_not0, saveexec, ~a | e) MASK(or_not1, saveexec, a | ~e)                    \
  MASK(andn1, wrexec, ~a & e) MASK(andn2, wrexec, a & ~e)                            \
  MASK(and_not0, wrexec, ~a & e) MASK(and_not1, wrexec, a & ~e)
// clang-format on
#define CASES(CASE) MOVES(CASE) SUMS(CASE) LOGIC(CASE) FIELDS(CASE) COMPARES(CASE) IMMEDIATES(CASE)

typedef struct case_t {
  const char* name;
  uint32_t to, from, sources;
  bool is_immediate;
  wide_t (*value)(uint64_t a, uint64_t b, uint64_t d, uint64_t s);
  bool (*scc)(uint64_t a, uint64_t b, uint64_t d, uint64_t s, uint64_t r);
} case_t;

#define CASE(name, to, from, sources, result, flag)                                    \
  static wide_t value_##name(uint64_t a, uint64_t b, uint64_t d, uint64_t s) {         \
    enum { BITS = from };                                                              \
    const wide_t A = (wide_t)a, B = (wide_t)b;                                         \
    (void)A, (void)B, (void)d, (void)s;                                                \
    return (wide_t)(result);                                                           \
  }                                                                                    \
  static bool scc_##name(uint64_t a, uint64_t b, uint64_t d, uint64_t s, uint64_t r) { \
    const wide_t A = (wide_t)a, B = (wide_t)b;                                         \
    (void)A, (void)B, (void)d, (void)s, (void)r;                                       \
    return flag;                                                                       \
  }
CASES(CASE)
#undef CASE

static const case_t cases[] = {
#define CASE(name, to, from, sources, result, flag) {#name, to, from, sources, false, value_##name, scc_##name},
    MOVES(CASE) SUMS(CASE) LOGIC(CASE) FIELDS(CASE) COMPARES(CASE)
#undef CASE
#define CASE(name, to, from, sources, result, flag) {#name, to, from, sources, true, value_##name, scc_##name},
        IMMEDIATES(CASE)
#undef CASE
};

typedef struct mask_t {
  const char* name;
  uint32_t bits;
  bool saves;  // the destination is EXEC before, not after
  uint64_t (*value)(uint64_t a, uint64_t e);
} mask_t;
#define MASK(stem, kind, ...) \
  static uint64_t mask_##stem##_##kind(uint64_t a, uint64_t e) { return __VA_ARGS__; }
MASKS(MASK)
#undef MASK
static const mask_t masks[] = {
#define MASK(stem, kind, ...)                                               \
  {"s_" #stem "_" #kind "_b32", 32, #kind[0] == 's', mask_##stem##_##kind}, \
      {"s_" #stem "_" #kind "_b64", 64, #kind[0] == 's', mask_##stem##_##kind},
    MASKS(MASK)
#undef MASK
};

#endif  // IREE_C_TESTS_ISA_SALU_CASES_H_
