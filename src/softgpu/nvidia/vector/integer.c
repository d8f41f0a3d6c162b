// Integer, logic and shift rows.
#include "softgpu/nvidia/vector/rows.h"

INLINE s32 clamp_s32(s64 x) { return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (s32)x; }
INLINE s32 sext24(u32 x) { return (s32)(x << 8) >> 8; }
INLINE u32 pack(u32 low, u32 high) { return (low & 0xffff) | high << 16; }
// Number of the highest bit that is set.
INLINE u32 find_high(u64 x) { return x ? 63 - (u32)__builtin_clzll(x) : UINT32_MAX; }
INLINE u32 reverse32(u32 x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(x);
}
// The bit that is the |offset|-th one set from `base` on, up or down.
INLINE u32 find_nth(u32 mask, u32 base, s32 offset) {
  base &= 31;
  if (offset == 0) return mask >> base & 1 ? base : UINT32_MAX;
  s32 step = offset > 0 ? 1 : -1, left = offset > 0 ? offset : -offset;
  for (s32 at = (s32)base; at >= 0 && at < 32; at += step) {
    if (mask >> at & 1 && --left == 0) return (u32)at;
  }
  return UINT32_MAX;
}
INLINE u64 low_bits(u32 count) { return count > 63 ? UINT64_MAX : (UINT64_C(1) << count) - 1; }
INLINE u64 extract_u(u64 a, u32 b, u32 c, u32 size) {
  u32 at = b & 255, length = c & 255;
  return at >= size ? 0 : (a >> at) & low_bits(length);
}
INLINE s64 extract_s(s64 a, u32 b, u32 c, u32 size) {
  u32 at = b & 255, length = c & 255;
  u32 last = at + length - 1 < size - 1 ? at + length - 1 : size - 1;
  if (!length) return 0;
  s64 sign = a >> (last > 63 ? 63 : last) & 1 ? -1 : 0;
  if (at >= size) return sign;
  u64 field = ((u64)a >> at) & low_bits(last - at + 1);
  return (s64)(field | ((u64)sign & ~low_bits(last - at + 1)));
}
INLINE u64 insert_bits(u64 a, u64 b, u32 c, u32 e, u32 size) {
  u32 at = c & 255, length = e & 255;
  u64 mask = at >= size ? 0 : low_bits(length) << (at & 63);
  return (b & ~mask) | (a << (at & 63) & mask);
}
INLINE u32 extend_u(u32 a, u32 bits) { return bits ? a & (u32)low_bits(bits) : 0; }
INLINE u32 extend_s(u32 a, u32 bits) { return bits ? (u32)((s32)(a << (32 - bits)) >> (32 - bits)) : 0; }
INLINE u32 dot4(u32 a, u32 b, int a_signed, int b_signed) {
  u32 sum = 0;
  for (int k = 0; k < 4; ++k) {
    s32 x = a_signed ? (s8)(a >> 8 * k) : (s32)(a >> 8 * k & 255);
    s32 y = b_signed ? (s8)(b >> 8 * k) : (s32)(b >> 8 * k & 255);
    sum += (u32)(x * y);
  }
  return sum;
}
INLINE u32 dot2(u32 a, u32 b, int a_signed, int b_signed) {
  u32 sum = 0;
  for (int k = 0; k < 2; ++k) {
    s32 x = a_signed ? (s16)(a >> 16 * k) : (s32)(a >> 16 * k & 0xffff);
    s32 y = b_signed ? (s8)(b >> 8 * k) : (s32)(b >> 8 * k & 255);
    sum += (u32)(x * y);
  }
  return sum;
}
// Bit 4a + 2b + c of the table.
INLINE u32 logic3(u32 a, u32 b, u32 c, u32 table) {
  u32 r = 0;
  for (u32 k = 0; k < 8; ++k) {
    u32 term = (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    r |= term & (0 - (table >> k & 1));
  }
  return r;
}
INLINE u32 permute(u32 a, u32 b, u32 selector) {
  u64 both = (u64)b << 32 | a;
  u32 r = 0;
  for (u32 k = 0; k < 4; ++k) {
    u32 sel = selector >> 4 * k;
    u32 byte = (u32)(both >> 8 * (sel & 7)) & 255;
    u32 sign = (0 - (byte >> 7)) & 255;
    r |= (sel & 8 ? sign : byte) << 8 * k;
  }
  return r;
}
// Selectors of prmt's modes ecl and ecr, by the manual's table.
INLINE u32 edge_left(u32 c) { return c == 0 ? 0x3210 : c == 1 ? 0x3211 : c == 2 ? 0x3222 : 0x3333; }
INLINE u32 edge_right(u32 c) { return c == 0 ? 0x0000 : c == 1 ? 0x1110 : c == 2 ? 0x2210 : 0x3210; }

#define UNARY DEFINE_UNARY
#define BINARY DEFINE_BINARY
#define TERNARY DEFINE_TERNARY
#define QUATERNARY DEFINE_QUATERNARY
#include "isa/nvidia/integer.def"
#undef UNARY
#undef BINARY
#undef TERNARY
#undef QUATERNARY

// add.cc and its kin: the condition code is a bit of each lane.
#define CARRY_ROWS(CARRY)                                                        \
  CARRY(add_cc_32, "add.cc.u32 add.cc.s32", u32, a + (wide_t)b, true)            \
  CARRY(add_cc_64, "add.cc.u64 add.cc.s64", u64, a + (wide_t)b, true)            \
  CARRY(addc_32, "addc.u32 addc.s32", u32, a + (wide_t)b + carry, false)         \
  CARRY(addc_64, "addc.u64 addc.s64", u64, a + (wide_t)b + carry, false)         \
  CARRY(addc_cc_32, "addc.cc.u32 addc.cc.s32", u32, a + (wide_t)b + carry, true) \
  CARRY(addc_cc_64, "addc.cc.u64 addc.cc.s64", u64, a + (wide_t)b + carry, true) \
  CARRY(sub_cc_32, "sub.cc.u32 sub.cc.s32", u32, a - (wide_t)b, true)            \
  CARRY(sub_cc_64, "sub.cc.u64 sub.cc.s64", u64, a - (wide_t)b, true)            \
  CARRY(subc_32, "subc.u32 subc.s32", u32, a - (wide_t)b - carry, false)         \
  CARRY(subc_64, "subc.u64 subc.s64", u64, a - (wide_t)b - carry, false)         \
  CARRY(subc_cc_32, "subc.cc.u32 subc.cc.s32", u32, a - (wide_t)b - carry, true) \
  CARRY(subc_cc_64, "subc.cc.u64 subc.cc.s64", u64, a - (wide_t)b - carry, true)
#define CARRY_MADS(MAD)                                                               \
  MAD(mad_lo_cc_u32, "mad.lo.cc.u32 mad.lo.cc.s32", u32, (u32)(a * b), false, true)   \
  MAD(mad_hi_cc_u32, "mad.hi.cc.u32", u32, (u32)((wide_t)a * b >> 32), false, true)   \
  MAD(madc_lo_u32, "madc.lo.u32 madc.lo.s32", u32, (u32)(a * b), true, false)         \
  MAD(madc_hi_u32, "madc.hi.u32", u32, (u32)((wide_t)a * b >> 32), true, false)       \
  MAD(madc_lo_cc_u32, "madc.lo.cc.u32 madc.lo.cc.s32", u32, (u32)(a * b), true, true) \
  MAD(madc_hi_cc_u32, "madc.hi.cc.u32", u32, (u32)((wide_t)a * b >> 32), true, true)  \
  MAD(mad_lo_cc_u64, "mad.lo.cc.u64 mad.lo.cc.s64", u64, (u64)(a * b), false, true)   \
  MAD(mad_hi_cc_u64, "mad.hi.cc.u64", u64, (u64)((wide_t)a * b >> 64), false, true)   \
  MAD(madc_lo_u64, "madc.lo.u64 madc.lo.s64", u64, (u64)(a * b), true, false)         \
  MAD(madc_hi_u64, "madc.hi.u64", u64, (u64)((wide_t)a * b >> 64), true, false)       \
  MAD(madc_lo_cc_u64, "madc.lo.cc.u64 madc.lo.cc.s64", u64, (u64)(a * b), true, true) \
  MAD(madc_hi_cc_u64, "madc.hi.cc.u64", u64, (u64)((wide_t)a * b >> 64), true, true)
typedef unsigned __int128 wide_t;

#define DEFINE_CARRY(id, names, T, value, sets)                                                                    \
  static const inst_t* run_##id(warp_t* w, const inst_t* inst) {                                                   \
    T* d = warp_at(w, &inst->op[0]);                                                                               \
    const T *pa = warp_at(w, &inst->op[1]), *pb = warp_at(w, &inst->op[2]);                                        \
    u32 out = w->carry;                                                                                            \
    EACH_ACTIVE(T, d, T a = pa[i]; T b = pb[i]; wide_t carry = w->carry >> i & 1; wide_t sum = value; (void)carry; \
                r = (T)sum; out = (out & ~(1u << i)) | (u32)((sum >> 8 * sizeof(T)) & 1) << i)                     \
    if (sets) w->carry = out;                                                                                      \
    return inst + 1;                                                                                               \
  }
CARRY_ROWS(DEFINE_CARRY)
#define DEFINE_MAD(id, names, T, value, takes, sets)                                                        \
  static const inst_t* run_##id(warp_t* w, const inst_t* inst) {                                            \
    T* d = warp_at(w, &inst->op[0]);                                                                        \
    const T *pa = warp_at(w, &inst->op[1]), *pb = warp_at(w, &inst->op[2]), *pc = warp_at(w, &inst->op[3]); \
    u32 out = w->carry;                                                                                     \
    EACH_ACTIVE(T, d, T a = pa[i]; T b = pb[i]; wide_t sum = (wide_t)(value) + pc[i];                       \
                if (takes) sum += w->carry >> i & 1; r = (T)sum;                                            \
                out = (out & ~(1u << i)) | (u32)((sum >> 8 * sizeof(T)) & 1) << i)                          \
    if (sets) w->carry = out;                                                                               \
    return inst + 1;                                                                                        \
  }
CARRY_MADS(DEFINE_MAD)

#define ROW_CARRY(id, names, T, value, sets) {names, "", NULL, run_##id, {ROW_TYPE(T), ROW_TYPE(T), ROW_TYPE(T)}, 3},
#define ROW_MAD(id, names, T, value, takes, sets) \
  {names, "", NULL, run_##id, {ROW_TYPE(T), ROW_TYPE(T), ROW_TYPE(T), ROW_TYPE(T)}, 4},

static const row_t rows[] = {
#define UNARY ROW_UNARY
#define BINARY ROW_BINARY
#define TERNARY ROW_TERNARY
#define QUATERNARY ROW_QUATERNARY
#include "isa/nvidia/integer.def"
    CARRY_ROWS(ROW_CARRY) CARRY_MADS(ROW_MAD)};
LEVEL_TABLE(integer_table, rows);
