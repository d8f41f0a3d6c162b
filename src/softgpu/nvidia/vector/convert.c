// cvt. Values pass through 64-bit integers or doubles, which hold all of them; the last step rounds. Source: PTX ISA,
// "cvt".
#include "softgpu/nvidia/small.h"
#include "softgpu/nvidia/vector/rows.h"

typedef union lanes_t {
  s64 integers[WARP_LANES];
  f64 floats[WARP_LANES];
} lanes_t;

INLINE bool is_float(u32 type) { return ptx_type_info((ptx_type_t)type)->kind == PTX_FLOAT; }
INLINE bool is_signed(u32 type) { return ptx_type_info((ptx_type_t)type)->kind == PTX_SIGNED; }

#define READ(T, field, value)                         \
  {                                                   \
    LANES {                                           \
      T a;                                            \
      memcpy(&a, from + (size_t)i * step, sizeof(a)); \
      out->field[i] = value;                          \
    }                                                 \
    return;                                           \
  }

// `step`: bytes of the register, which may be larger than the type.
static void read_lanes(u32 type, const char* from, u32 step, bool flushes, lanes_t* out) {
  switch (type) {
    case PTX_TYPE_u8:
    case PTX_TYPE_b8:
      READ(u8, integers, a)
    case PTX_TYPE_s8:
      READ(s8, integers, a)
    case PTX_TYPE_u16:
    case PTX_TYPE_b16:
      READ(u16, integers, a)
    case PTX_TYPE_s16:
      READ(s16, integers, a)
    case PTX_TYPE_u32:
    case PTX_TYPE_b32:
      READ(u32, integers, a)
    case PTX_TYPE_s32:
      READ(s32, integers, a)
    case PTX_TYPE_f16:
      READ(u16, floats, (f64)small_from_f16(a))
    case PTX_TYPE_bf16:
      READ(u16, floats, (f64)small_from_bf16(a))
    case PTX_TYPE_f32:
      if (flushes) READ(f32, floats, (f64)((bits_of(a) & 0x7f800000) ? a : from_bits(bits_of(a) & 0x80000000)))
      READ(f32, floats, (f64)a)
    case PTX_TYPE_f64:
      READ(f64, floats, a)
    default:
      READ(s64, integers, a)
  }
}

// A float as an integer of a type: out of range goes to the nearest end, NaN to 0 (and the top bit alone in 64 bits).
static void to_integers(const inst_t* inst, u32 type, lanes_t* v) {
  u32 bits = 8u * ptx_type_info((ptx_type_t)type)->bytes;
  bool has_sign = is_signed(type);
  f64 most = has_sign ? ldexp(1, (int)bits - 1) : ldexp(1, (int)bits), least = has_sign ? -most : 0;
  u32 round = inst->modifiers.value[PTX_GROUP_INTEGER];
  for (u32 i = 0; i < WARP_LANES; ++i) {
    f64 x = v->floats[i];
    x = round == PTX_ROUND_ZERO   ? trunc(x)
        : round == PTX_ROUND_DOWN ? floor(x)
        : round == PTX_ROUND_UP   ? ceil(x)
                                  : __builtin_rint(x);
    if (x != x) {
      v->integers[i] = bits == 64 ? INT64_MIN : 0;
    } else if (x >= most) {
      v->integers[i] = bits == 64 ? (has_sign ? INT64_MAX : -1) : (s64)most - 1;
    } else if (x <= least) {
      v->integers[i] = bits == 64 ? (has_sign ? INT64_MIN : 0) : (s64)least;
    } else {
      v->integers[i] = x >= 0x1p63 ? (s64)(u64)x : (s64)x;
    }
  }
}

static void saturate_integers(u32 from, u32 to, lanes_t* v) {
  u32 bits = 8u * ptx_type_info((ptx_type_t)to)->bytes;
  bool to_sign = is_signed(to), from_wide = from == PTX_TYPE_u64;
  for (u32 i = 0; i < WARP_LANES; ++i) {
    __int128 x = from_wide ? (__int128)(u64)v->integers[i] : v->integers[i];
    __int128 most = ((__int128)1 << (bits - to_sign)) - 1, least = to_sign ? -most - 1 : 0;
    v->integers[i] = (s64)(x > most ? most : x < least ? least : x);
  }
}

#define WRITE(T, value)                             \
  {                                                 \
    for (u32 i = 0; i < WARP_LANES; ++i) {          \
      if (!(w->exec >> i & 1)) continue;            \
      T r = (T)(value);                             \
      memcpy(to + (size_t)i * step, &r, sizeof(r)); \
    }                                               \
    return;                                         \
  }

static void write_integers(warp_t* w, u32 type, char* to, u32 step, const lanes_t* v) {
  bool has_sign = is_signed(type);
  u32 bits = 8u * ptx_type_info((ptx_type_t)type)->bytes;
  lanes_t wide;
  for (u32 i = 0; i < WARP_LANES; ++i) {
    s64 x = v->integers[i];
    wide.integers[i] =
        has_sign ? (s64)((u64)x << (64 - bits)) >> (64 - bits) : (s64)((u64)x << (64 - bits) >> (64 - bits));
  }
  switch (step) {
    case 1:
      WRITE(u8, wide.integers[i])
    case 2:
      WRITE(u16, wide.integers[i])
    case 4:
      WRITE(u32, wide.integers[i])
    default:
      WRITE(u64, wide.integers[i])
  }
}

static void write_floats(warp_t* w, const inst_t* inst, u32 type, char* to, u32 step, const lanes_t* v) {
  bool cuts = inst->modifiers.value[PTX_GROUP_ROUND] == PTX_ROUND_ZERO;
  switch (type) {
    case PTX_TYPE_f16:
      WRITE(u16, small_to_f16(small_odd(v->floats[i])))
    case PTX_TYPE_bf16:
      WRITE(u16, cuts ? small_to_bf16_zero(small_odd(v->floats[i])) : small_to_bf16(small_odd(v->floats[i])))
    case PTX_TYPE_f32:
      WRITE(f32, canonical((f32)v->floats[i]))
    default:
      WRITE(f64, v->floats[i])
  }
}

// Of floats that become floats: an integral value, saturation, the sign of what is negative.
static void adjust_floats(const inst_t* inst, lanes_t* v) {
  u32 round = inst->modifiers.value[PTX_GROUP_INTEGER];
  for (u32 i = 0; i < WARP_LANES; ++i) {
    f64 x = v->floats[i];
    if (round) {
      x = round == PTX_ROUND_ZERO   ? trunc(x)
          : round == PTX_ROUND_DOWN ? floor(x)
          : round == PTX_ROUND_UP   ? ceil(x)
                                    : __builtin_rint(x);
    }
    if (inst->flags & PTX_SAT) x = x > 1 ? 1 : x > 0 ? x : 0;
    if (inst->flags & PTX_RELU) x = x > 0 || x != x ? x : 0;
    v->floats[i] = x;
  }
}

// 64-bit integers that a double does not hold are rounded once, to what they become.
static void integers_to_floats(u32 from, u32 to, lanes_t* v) {
  bool wide = from == PTX_TYPE_u64;
  for (u32 i = 0; i < WARP_LANES; ++i) {
    s64 x = v->integers[i];
    if (to == PTX_TYPE_f32) {
      v->floats[i] = wide ? (f64)(f32)(u64)x : (f64)(f32)x;
    } else if (to == PTX_TYPE_f64) {
      v->floats[i] = wide ? (f64)(u64)x : (f64)x;
    } else {
      v->floats[i] = wide ? (f64)(u64)x : (f64)x;  // beyond 2^53 all is too large for f16, or has bits to spare
    }
  }
}

static const inst_t* run_convert(warp_t* w, const inst_t* inst) {
  u32 to = inst->modifiers.types[0], from = inst->modifiers.types[1];
  lanes_t v;
  bool flushes = inst->flags & PTX_FTZ;
  read_lanes(from, warp_at(w, &inst->op[1]), inst->bytes, flushes, &v);
  char* d = warp_at(w, &inst->op[0]);
  if (is_float(to)) {
    if (!is_float(from)) integers_to_floats(from, to, &v);
    adjust_floats(inst, &v);
    write_floats(w, inst, to, d, inst->element, &v);
    return inst + 1;
  }
  if (is_float(from)) {
    to_integers(inst, to, &v);
  } else if (inst->flags & PTX_SAT) {
    saturate_integers(from, to, &v);
  }
  write_integers(w, to, d, inst->element, &v);
  return inst + 1;
}

// The conversions that addresses are made of, and the usual ones of numbers.
#define FAST_CONVERSIONS(FAST)                                           \
  FAST(u64_u32, PTX_TYPE_u64, PTX_TYPE_u32, u64, u32, a)                 \
  FAST(s64_u32, PTX_TYPE_s64, PTX_TYPE_u32, u64, u32, a)                 \
  FAST(s64_s32, PTX_TYPE_s64, PTX_TYPE_s32, s64, s32, a)                 \
  FAST(u64_s32, PTX_TYPE_u64, PTX_TYPE_s32, s64, s32, a)                 \
  FAST(u32_u64, PTX_TYPE_u32, PTX_TYPE_u64, u32, u64, a)                 \
  FAST(u32_s64, PTX_TYPE_u32, PTX_TYPE_s64, u32, u64, a)                 \
  FAST(s32_s64, PTX_TYPE_s32, PTX_TYPE_s64, u32, u64, a)                 \
  FAST(u32_u16, PTX_TYPE_u32, PTX_TYPE_u16, u32, u16, a)                 \
  FAST(s32_s16, PTX_TYPE_s32, PTX_TYPE_s16, s32, s16, a)                 \
  FAST(u16_u32, PTX_TYPE_u16, PTX_TYPE_u32, u16, u32, a)                 \
  FAST(f32_s32, PTX_TYPE_f32, PTX_TYPE_s32, f32, s32, a)                 \
  FAST(f32_u32, PTX_TYPE_f32, PTX_TYPE_u32, f32, u32, (f64)a)            \
  FAST(f32_f16, PTX_TYPE_f32, PTX_TYPE_f16, f32, u16, small_from_f16(a)) \
  FAST(f16_f32, PTX_TYPE_f16, PTX_TYPE_f32, u16, f32, small_to_f16(a))
#define DEFINE_FAST(id, to, from, D, A, value) DEFINE_UNARY_AS(EACH_LANE, id, D, A, value)
FAST_CONVERSIONS(DEFINE_FAST)

static void pick_fast(inst_t* inst) {
  static const struct {
    u8 to, from;
    run_t run;
  } fast[] = {
#define FAST_ENTRY(id, to, from, D, A, value) {to, from, run_##id},
      FAST_CONVERSIONS(FAST_ENTRY)};
  u32 to = inst->modifiers.types[0], from = inst->modifiers.types[1];
  if (inst->flags || inst->modifiers.value[PTX_GROUP_INTEGER]) return;
  if (inst->element != ptx_type_info((ptx_type_t)to)->bytes || inst->bytes != ptx_type_info((ptx_type_t)from)->bytes) {
    return;
  }
  for (size_t k = 0; k < sizeof(fast) / sizeof(fast[0]); ++k) {
    if (fast[k].to == to && fast[k].from == from) inst->run_row = fast[k].run;
  }
}

// Two floats become a packed pair, and back: cvt.rn.f16x2.f32 d, a, b; cvt.rn.satfinite.e4m3x2.f32; cvt.rn.f16x2.e4m3x2
static u32 pack_one(const inst_t* inst, u32 type, f32 x) {
  bool cuts = inst->modifiers.value[PTX_GROUP_ROUND] == PTX_ROUND_ZERO;
  if (inst->flags & PTX_RELU && x < 0) x = 0;
  switch (type) {
    case PTX_TYPE_f16x2: {
      u16 half = small_to_f16(x);
      if (inst->flags & PTX_SATFINITE && (half & 0x7fff) == 0x7c00) half = (u16)(half - 1);
      return half;
    }
    case PTX_TYPE_bf16x2:
      return cuts ? small_to_bf16_zero(x) : small_to_bf16(x);
    case PTX_TYPE_e4m3x2:
      return small_to_f8(x, 3);
    default:
      return small_to_f8(x, 2);
  }
}

static const inst_t* run_pack(warp_t* w, const inst_t* inst) {
  u32 to = inst->modifiers.types[0], from = inst->modifiers.types[1];
  u32* wide = warp_at(w, &inst->op[0]);
  u16* narrow = warp_at(w, &inst->op[0]);
  const f32 *high = warp_at(w, &inst->op[1]), *low = warp_at(w, &inst->op[2]);
  const u16* bytes = warp_at(w, &inst->op[1]);
  const u32* pairs = warp_at(w, &inst->op[1]);
  for (u32 i = 0; i < WARP_LANES; ++i) {
    if (!(w->exec >> i & 1)) continue;
    f32 a = 0, b = 0;
    if (from == PTX_TYPE_f32) {
      a = high[i], b = low[i];
    } else if (from == PTX_TYPE_f16x2) {
      a = small_from_f16((u16)(pairs[i] >> 16)), b = small_from_f16((u16)pairs[i]);
    } else {
      u32 mantissa = from == PTX_TYPE_e4m3x2 ? 3 : 2;
      a = small_from_f8((u8)(bytes[i] >> 8), mantissa), b = small_from_f8((u8)bytes[i], mantissa);
    }
    if (inst->element == 4) {
      wide[i] = pack_one(inst, to, a) << 16 | pack_one(inst, to, b);
    } else {
      narrow[i] = (u16)(pack_one(inst, to, a) << 8 | pack_one(inst, to, b));
    }
  }
  return inst + 1;
}

// cvt.rna.tf32.f32, .rn and .rz: a float of 10 bits behind the point.
static const inst_t* run_tf32(warp_t* w, const inst_t* inst) {
  u32* d = warp_at(w, &inst->op[0]);
  const f32* a = warp_at(w, &inst->op[1]);
  u32 round = inst->modifiers.value[PTX_GROUP_ROUND];
  for (u32 i = 0; i < WARP_LANES; ++i) {
    if (!(w->exec >> i & 1)) continue;
    u32 bits = bits_of(a[i]);
    bool special = (bits & 0x7f800000) == 0x7f800000;
    u32 away = (bits + 0x1000) & ~0x1fffu;
    u32 r = round == PTX_ROUND_AWAY && !special ? away : small_round_bits(a[i], 13, round == PTX_ROUND_ZERO || special);
    d[i] = inst->flags & PTX_RELU && bits >> 31 && a[i] == a[i] ? 0 : r;
  }
  return inst + 1;
}

static bool is_pair(u32 type) {
  return type == PTX_TYPE_f16x2 || type == PTX_TYPE_bf16x2 || type == PTX_TYPE_e4m3x2 || type == PTX_TYPE_e5m2x2;
}

static bool bind_pack(decoder_t* d, inst_t* inst) {
  ptx_type_t to = (ptx_type_t)inst->modifiers.types[0], from = (ptx_type_t)inst->modifiers.types[1];
  u32 count = from == PTX_TYPE_f32 ? 3 : 2;
  inst->run_row = run_pack;
  inst->element = ptx_type_info(to)->bytes;
  if (!decode_count(d, count, count)) return false;
  inst->types[0] = (u8)to, inst->types[1] = (u8)from, inst->types[2] = count == 3 ? (u8)from : 0;
  if (from != PTX_TYPE_f32 && !is_pair(from)) return decode_fail(d, "no conversion of these types");
  return decode_write(d, decode_arg(d, 0), to, &inst->op[0]) && decode_read(d, decode_arg(d, 1), from, &inst->op[1]) &&
         (count == 2 || decode_read(d, decode_arg(d, 2), from, &inst->op[2]));
}

static bool bind_convert(decoder_t* d, inst_t* inst) {
  if (inst->modifiers.type_count != 2) return decode_fail(d, "two types expected");
  ptx_type_t to = (ptx_type_t)inst->modifiers.types[0], from = (ptx_type_t)inst->modifiers.types[1];
  inst->written = 1;
  if (is_pair(to)) return bind_pack(d, inst);
  if (to == PTX_TYPE_tf32) {
    inst->run_row = run_tf32, inst->csr = 0;
    inst->types[0] = PTX_TYPE_b32, inst->types[1] = PTX_TYPE_f32;
    return decode_count(d, 2, 2) && decode_write(d, decode_arg(d, 0), PTX_TYPE_b32, &inst->op[0]) &&
           decode_read(d, decode_arg(d, 1), PTX_TYPE_f32, &inst->op[1]);
  }
  u32 kinds = 1u << ptx_type_info(to)->kind | 1u << ptx_type_info(from)->kind;
  if (kinds & (1u << PTX_PACKED | 1u << PTX_PREDICATE) || ptx_type_info(to)->bytes > 8 ||
      ptx_type_info(from)->bytes > 8) {
    return decode_fail(d, "no conversion of these types");
  }
  if (!decode_count(d, 2, 2)) return false;
  inst->types[0] = (u8)to, inst->types[1] = (u8)from;
  if (!decode_wide_write(d, decode_arg(d, 0), ptx_type_info(to)->bytes, &inst->op[0], &inst->element) ||
      !decode_wide_read(d, decode_arg(d, 1), from, &inst->op[1], &inst->bytes)) {
    return false;
  }
  pick_fast(inst);
  return true;
}

// cvt.pack.sat.convertType.abType{.cType} is the video instructions' kin.
static const row_t rows[] = {
    {"cvt", "@round @integer @type ftz sat satfinite relu", bind_convert, run_convert, {0}, 0},
};
LEVEL_TABLE(convert_table, rows);
