// setp and set. Source: PTX ISA, "Comparison and Selection Instructions".
#include "softgpu/nvidia/small.h"
#include "softgpu/nvidia/vector/rows.h"

typedef u32 (*compare_t)(const void* a, const void* b);

#define UNORDERED(a, b) (a != a || b != b)
#define COMPARES(COMPARE, T)                         \
  COMPARE(T, PTX_EQ, eq, a == b)                     \
  COMPARE(T, PTX_NE, ne, !UNORDERED(a, b) && a != b) \
  COMPARE(T, PTX_LT, lt, a < b)                      \
  COMPARE(T, PTX_LE, le, a <= b)                     \
  COMPARE(T, PTX_GT, gt, a > b)                      \
  COMPARE(T, PTX_GE, ge, a >= b)
#define FLOAT_COMPARES(COMPARE, T)                    \
  COMPARES(COMPARE, T)                                \
  COMPARE(T, PTX_EQU, equ, a == b || UNORDERED(a, b)) \
  COMPARE(T, PTX_NEU, neu, a != b)                    \
  COMPARE(T, PTX_LTU, ltu, !(a >= b))                 \
  COMPARE(T, PTX_LEU, leu, !(a > b))                  \
  COMPARE(T, PTX_GTU, gtu, !(a <= b))                 \
  COMPARE(T, PTX_GEU, geu, !(a < b))                  \
  COMPARE(T, PTX_NUM, num, !UNORDERED(a, b))          \
  COMPARE(T, PTX_ISNAN, nan, UNORDERED(a, b))

#define DEFINE_COMPARE(T, index, name, value)                       \
  static u32 compare_##name##_##T(const void* pa, const void* pb) { \
    const T *ta = pa, *tb = pb;                                     \
    u8 bytes[WARP_LANES];                                           \
    LANES {                                                         \
      T a = ta[i], b = tb[i];                                       \
      bytes[i] = value;                                             \
    }                                                               \
    return mask_of(bytes);                                          \
  }
COMPARES(DEFINE_COMPARE, u16)
COMPARES(DEFINE_COMPARE, s16)
COMPARES(DEFINE_COMPARE, u32)
COMPARES(DEFINE_COMPARE, s32)
COMPARES(DEFINE_COMPARE, u64)
COMPARES(DEFINE_COMPARE, s64)
FLOAT_COMPARES(DEFINE_COMPARE, f32)
FLOAT_COMPARES(DEFINE_COMPARE, f64)

#define TABLE_ENTRY(T, index, name, value) [index] = compare_##name##_##T,
static const struct {
  u8 type;
  compare_t compares[PTX_ISNAN + 1];
} tables[] = {
    {PTX_TYPE_b16, {COMPARES(TABLE_ENTRY, u16)}},          {PTX_TYPE_u16, {COMPARES(TABLE_ENTRY, u16)}},
    {PTX_TYPE_s16, {COMPARES(TABLE_ENTRY, s16)}},          {PTX_TYPE_b32, {COMPARES(TABLE_ENTRY, u32)}},
    {PTX_TYPE_u32, {COMPARES(TABLE_ENTRY, u32)}},          {PTX_TYPE_s32, {COMPARES(TABLE_ENTRY, s32)}},
    {PTX_TYPE_b64, {COMPARES(TABLE_ENTRY, u64)}},          {PTX_TYPE_u64, {COMPARES(TABLE_ENTRY, u64)}},
    {PTX_TYPE_s64, {COMPARES(TABLE_ENTRY, s64)}},          {PTX_TYPE_f32, {FLOAT_COMPARES(TABLE_ENTRY, f32)}},
    {PTX_TYPE_f64, {FLOAT_COMPARES(TABLE_ENTRY, f64)}},    {PTX_TYPE_f16, {FLOAT_COMPARES(TABLE_ENTRY, f32)}},
    {PTX_TYPE_bf16, {FLOAT_COMPARES(TABLE_ENTRY, f32)}},   {PTX_TYPE_f16x2, {FLOAT_COMPARES(TABLE_ENTRY, f32)}},
    {PTX_TYPE_bf16x2, {FLOAT_COMPARES(TABLE_ENTRY, f32)}},
};

static void* find_compare(ptx_type_t type, u32 operation) {
  for (size_t k = 0; k < sizeof(tables) / sizeof(tables[0]); ++k) {
    if (tables[k].type == type) return (void*)tables[k].compares[operation];
  }
  return NULL;
}

static bool is_half(ptx_type_t type) { return type == PTX_TYPE_f16 || type == PTX_TYPE_f16x2; }
static bool is_brain(ptx_type_t type) { return type == PTX_TYPE_bf16 || type == PTX_TYPE_bf16x2; }

// Halves as f32, the low ones or the high ones of pairs.
static void widen(const inst_t* inst, const void* from, u32 part, f32* to) {
  ptx_type_t type = (ptx_type_t)inst->types[1];
  u32 step = type == PTX_TYPE_f16x2 || type == PTX_TYPE_bf16x2 ? 2 : 1;
  const u16* halves = from;
  for (u32 i = 0; i < WARP_LANES; ++i) {
    u16 half = halves[i * step + part];
    if (inst->flags & PTX_FTZ && is_half(type) && !(half & 0x7c00)) half &= 0x8000;
    to[i] = is_half(type) ? small_from_f16(half) : small_from_bf16(half);
  }
}

static u32 compare(warp_t* w, const inst_t* inst, u32 part) {
  const void *a = warp_at(w, &inst->op[1]), *b = warp_at(w, &inst->op[2]);
  f32 wide_a[WARP_LANES], wide_b[WARP_LANES];
  if (is_half((ptx_type_t)inst->types[1]) || is_brain((ptx_type_t)inst->types[1])) {
    widen(inst, a, part, wide_a);
    widen(inst, b, part, wide_b);
    a = wide_a, b = wide_b;
  }
  return ((compare_t)inst->extra)(a, b);
}

static u32 combine(u32 operation, u32 a, u32 c) {
  return operation == PTX_AND ? a & c : operation == PTX_OR ? a | c : operation == PTX_XOR ? a ^ c : a;
}

// Operands a, b and, with a boolean operation, {!}c.
static bool bind_compare(decoder_t* d, inst_t* inst, ptx_type_t type) {
  u32 operation = inst->modifiers.value[PTX_GROUP_OPERATION];
  if (!decode_count(d, operation ? 4 : 3, operation ? 4 : 3)) return false;
  inst->extra = find_compare(type, inst->modifiers.value[PTX_GROUP_COMPARE]);
  if (!inst->extra) return decode_fail(d, "no comparison of .%s", ptx_type_info(type)->name);
  inst->written = 1;
  inst->types[1] = inst->types[2] = (u8)type;
  if (operation) {
    const arg_t* c = decode_arg(d, 3);
    inst->is_signed = c->is_negated;
    inst->types[3] = PTX_TYPE_pred;
    if (!decode_read(d, c, PTX_TYPE_pred, &inst->op[3])) return false;
  }
  return decode_read(d, decode_arg(d, 1), type, &inst->op[1]) && decode_read(d, decode_arg(d, 2), type, &inst->op[2]);
}

static bool bind_setp(decoder_t* d, inst_t* inst) {
  if (inst->modifiers.type_count != 1) return decode_fail(d, "one type expected");
  if (!bind_compare(d, inst, (ptx_type_t)inst->modifiers.types[0])) return false;
  const arg_t* to = decode_arg(d, 0);
  inst->types[0] = PTX_TYPE_pred;
  inst->count = to->has_second;
  inst->mode = inst->modifiers.types[0] == PTX_TYPE_f16x2 || inst->modifiers.types[0] == PTX_TYPE_bf16x2;
  if (to->has_second) {
    operand_t* list = ARENA_ARRAY(d->p->arena, operand_t, 1);
    inst->list = list, inst->list_count = inst->list_written = 1;
    if (!decode_write_register(d, to->second, PTX_TYPE_pred, list)) return false;
  }
  return decode_write(d, to, PTX_TYPE_pred, &inst->op[0]);
}

static const inst_t* run_setp(warp_t* w, const inst_t* inst) {
  u32 operation = inst->modifiers.value[PTX_GROUP_OPERATION], c = 0;
  if (operation) c = *(const u32*)warp_at(w, &inst->op[3]);
  if (inst->is_signed) c = ~c;
  u32 bits = compare(w, inst, 0);
  u32 second = inst->mode ? compare(w, inst, 1) : ~bits;
  warp_set_predicate(w, &inst->op[0], combine(operation, bits, c));
  if (inst->count) warp_set_predicate(w, &inst->list[0], combine(operation, second, c));
  return inst + 1;
}

// set.cmp{.bool}.dtype.stype d, a, b{, c}: all ones or 1.0
static bool bind_set(decoder_t* d, inst_t* inst) {
  if (inst->modifiers.type_count != 2) return decode_fail(d, "two types expected");
  ptx_type_t type = (ptx_type_t)inst->modifiers.types[0];
  inst->types[0] = (u8)type;
  inst->bytes = ptx_type_info(type)->bytes;
  inst->mode = inst->modifiers.types[1] == PTX_TYPE_f16x2 || inst->modifiers.types[1] == PTX_TYPE_bf16x2;
  if (inst->bytes != 2 && inst->bytes != 4) return decode_fail(d, "a result of %u bytes", inst->bytes);
  inst->imm = type == PTX_TYPE_f32      ? 0x3f800000
              : type == PTX_TYPE_f16    ? 0x3c00
              : type == PTX_TYPE_f16x2  ? 0x3c003c00
              : type == PTX_TYPE_bf16   ? 0x3f80
              : type == PTX_TYPE_bf16x2 ? 0x3f803f80
                                        : UINT32_MAX;
  return bind_compare(d, inst, (ptx_type_t)inst->modifiers.types[1]) &&
         decode_write(d, decode_arg(d, 0), type, &inst->op[0]);
}

static const inst_t* run_set(warp_t* w, const inst_t* inst) {
  u32 operation = inst->modifiers.value[PTX_GROUP_OPERATION], c = 0;
  if (operation) c = *(const u32*)warp_at(w, &inst->op[3]);
  if (inst->is_signed) c = ~c;
  u32 low = combine(operation, compare(w, inst, 0), c);
  u32 high = inst->mode ? combine(operation, compare(w, inst, 1), c) : low;
  u32* wide = warp_at(w, &inst->op[0]);
  u16* narrow = warp_at(w, &inst->op[0]);
  for (u32 i = 0; i < WARP_LANES; ++i) {
    u32 mask = (low >> i & 1 ? 0xffffu : 0) | (high >> i & 1 ? 0xffff0000u : 0);
    if (!(w->exec >> i & 1)) continue;
    if (inst->bytes == 2) {
      narrow[i] = (u16)(inst->imm & mask);
    } else {
      wide[i] = (u32)inst->imm & mask;
    }
  }
  return inst + 1;
}

static const row_t rows[] = {
    {"setp", "@compare and or xor @type ftz", bind_setp, run_setp, {0}, 0},
    {"set", "@compare and or xor @type ftz", bind_set, run_set, {0}, 0},
};
LEVEL_TABLE(compare_table, rows);
