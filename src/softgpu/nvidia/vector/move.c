// Moves, selections and logic of predicates. Source: PTX ISA, "mov", "selp", "slct", "Logic and Shift Instructions".
#include "softgpu/nvidia/vector/rows.h"

#define MOVES(MOVE)                                         \
  MOVE(16, "mov.b16 mov.u16 mov.s16 mov.f16 mov.bf16", u16) \
  MOVE(32, "mov.b32 mov.u32 mov.s32 mov.f32", u32)          \
  MOVE(64, "mov.b64 mov.u64 mov.s64 mov.f64", u64)

#define DEFINE_MOVE(id, names, T)                                         \
  static const inst_t* run_mov_##id(warp_t* w, const inst_t* inst) {      \
    T* d = warp_at(w, &inst->op[0]);                                      \
    const T* a = warp_at(w, &inst->op[1]);                                \
    EACH_LANE(T, d, r = a[i])                                             \
    return inst + 1;                                                      \
  }                                                                       \
  static const inst_t* run_selp_##id(warp_t* w, const inst_t* inst) {     \
    T* d = warp_at(w, &inst->op[0]);                                      \
    const T *a = warp_at(w, &inst->op[1]), *b = warp_at(w, &inst->op[2]); \
    u32 p = *(const u32*)warp_at(w, &inst->op[3]);                        \
    EACH_LANE(T, d, r = p >> i & 1 ? a[i] : b[i])                         \
    return inst + 1;                                                      \
  }                                                                       \
  static const inst_t* run_slct_##id(warp_t* w, const inst_t* inst) {     \
    T* d = warp_at(w, &inst->op[0]);                                      \
    const T *a = warp_at(w, &inst->op[1]), *b = warp_at(w, &inst->op[2]); \
    const s32* c = warp_at(w, &inst->op[3]);                              \
    EACH_LANE(T, d, r = c[i] >= 0 ? a[i] : b[i])                          \
    return inst + 1;                                                      \
  }                                                                       \
  static const inst_t* run_slct_f_##id(warp_t* w, const inst_t* inst) {   \
    T* d = warp_at(w, &inst->op[0]);                                      \
    const T *a = warp_at(w, &inst->op[1]), *b = warp_at(w, &inst->op[2]); \
    const f32* c = warp_at(w, &inst->op[3]);                              \
    EACH_LANE(T, d, r = c[i] >= 0 ? a[i] : b[i])                          \
    return inst + 1;                                                      \
  }
MOVES(DEFINE_MOVE)

static const inst_t* run_mov_pred(warp_t* w, const inst_t* inst) {
  warp_set_predicate(w, &inst->op[0], *(const u32*)warp_at(w, &inst->op[1]));
  return inst + 1;
}

static const inst_t* run_mov_128(warp_t* w, const inst_t* inst) {
  char* to = warp_at(w, &inst->op[0]);
  const char* from = warp_at(w, &inst->op[1]);
  for (u32 i = 0; i < WARP_LANES; ++i) {
    if (w->exec >> i & 1) memmove(to + 16 * i, from + 16 * i, 16);
  }
  return inst + 1;
}

// mov.b32 %r, {%h0, %h1} and back: list holds the parts, op[0] the whole.
static const inst_t* run_pack(warp_t* w, const inst_t* inst) {
  char* whole = warp_at(w, &inst->op[0]);
  u32 part = inst->bytes, size = part * inst->count;
  char packed[16 * WARP_LANES];
  for (u32 k = 0; k < inst->count; ++k) {
    const char* from = warp_at(w, &inst->list[k]);
    for (u32 i = 0; i < WARP_LANES; ++i) memcpy(packed + i * size + k * part, from + i * part, part);
  }
  for (u32 i = 0; i < WARP_LANES; ++i) {
    if (w->exec >> i & 1) memcpy(whole + i * size, packed + i * size, size);
  }
  return inst + 1;
}
static const inst_t* run_unpack(warp_t* w, const inst_t* inst) {
  u32 part = inst->bytes, size = part * inst->count;
  char packed[16 * WARP_LANES];
  memcpy(packed, warp_at(w, &inst->op[0]), (size_t)size * WARP_LANES);
  for (u32 k = 0; k < inst->count; ++k) {
    char* to = warp_at(w, &inst->list[k]);
    for (u32 i = 0; i < WARP_LANES; ++i) {
      if (w->exec >> i & 1) memcpy(to + i * part, packed + i * size + k * part, part);
    }
  }
  return inst + 1;
}

// The part of a list: a register of any type, or a constant.
static bool bind_parts(decoder_t* d, inst_t* inst, const arg_t* list, u32 size, bool is_read) {
  static const ptx_type_t types[] = {0, PTX_TYPE_b8, PTX_TYPE_b16, 0, PTX_TYPE_b32, 0, 0, 0, PTX_TYPE_b64};
  if (!list->count || list->count > 4 || size % list->count) return decode_fail(d, "%u parts", list->count);
  inst->count = (u8)list->count, inst->bytes = (u8)(size / list->count);
  if (inst->bytes > 8 || !types[inst->bytes]) return decode_fail(d, "parts of %u bytes", inst->bytes);
  operand_t* operands = ARENA_ARRAY(d->p->arena, operand_t, list->count);
  inst->list = operands, inst->list_count = list->count, inst->list_written = is_read ? 0 : (u8)list->count;
  for (u32 k = 0; k < list->count; ++k) {
    ptx_type_t type = types[inst->bytes];
    const arg_t* arg = &list->list[k];
    if (is_read ? !decode_read(d, arg, type, &operands[k]) : !decode_write(d, arg, type, &operands[k])) return false;
  }
  return true;
}

static bool bind_move(decoder_t* d, inst_t* inst) {
  ptx_type_t type = (ptx_type_t)inst->modifiers.types[0];
  const arg_t *to = decode_arg(d, 0), *from = decode_arg(d, 1);
  if (!decode_count(d, 2, 2)) return false;
  u32 size = ptx_type_info(type)->bytes;
  inst->types[0] = (u8)type;
  if (from->kind == ARG_LIST) {
    inst->run_row = run_pack;
    inst->written = 1;
    return bind_parts(d, inst, from, size, true) && decode_write(d, to, type, &inst->op[0]);
  }
  if (to->kind == ARG_LIST) {
    inst->run_row = run_unpack;
    inst->mode = 1;
    return decode_read(d, from, type, &inst->op[0]) && bind_parts(d, inst, to, size, false);
  }
  inst->types[1] = (u8)type;
  inst->written = 1;
  return decode_write(d, to, type, &inst->op[0]) && decode_read(d, from, type, &inst->op[1]);
}

// selp.type d, a, b, p; slct.dtype.ctype d, a, b, c
static bool bind_select(decoder_t* d, inst_t* inst) {
  const ptx_modifiers_t* m = &inst->modifiers;
  bool is_slct = d->s->parts[0].text[1] == 'l';
  ptx_type_t type = (ptx_type_t)m->types[0];
  ptx_type_t chooser = is_slct ? (ptx_type_t)m->types[1] : PTX_TYPE_pred;
  if (is_slct && chooser != PTX_TYPE_s32 && chooser != PTX_TYPE_f32) return decode_fail(d, "a choice by .s32 or .f32");
  if (!decode_count(d, 4, 4)) return false;
  inst->written = 1;
  inst->types[0] = inst->types[1] = inst->types[2] = (u8)type, inst->types[3] = (u8)chooser;
  bool by_float = chooser == PTX_TYPE_f32;
  switch (ptx_type_info(type)->bytes) {
#define PICK(id, names, T)                                                                 \
  case sizeof(T):                                                                          \
    inst->run_row = !is_slct ? run_selp_##id : by_float ? run_slct_f_##id : run_slct_##id; \
    break;
    MOVES(PICK)
    default:
      return decode_fail(d, "a type of %u bytes", ptx_type_info(type)->bytes);
  }
  return decode_write(d, decode_arg(d, 0), type, &inst->op[0]) &&
         decode_read(d, decode_arg(d, 1), type, &inst->op[1]) && decode_read(d, decode_arg(d, 2), type, &inst->op[2]) &&
         decode_read(d, decode_arg(d, 3), chooser, &inst->op[3]);
}

#define PREDICATES(P)                         \
  P(and, "and.pred", PTX_TYPE_pred, 3, a& b)  \
  P(or, "or.pred", PTX_TYPE_pred, 3, a | b)   \
  P(xor, "xor.pred", PTX_TYPE_pred, 3, a ^ b) \
  P(not, "not.pred", PTX_TYPE_NONE, 2, (b = 0, ~a))
#define DEFINE_PREDICATE(id, names, second, count, value)             \
  static const inst_t* run_pred_##id(warp_t* w, const inst_t* inst) { \
    u32 a = *(const u32*)warp_at(w, &inst->op[1]);                    \
    u32 b = count == 3 ? *(const u32*)warp_at(w, &inst->op[2]) : 0;   \
    (void)b;                                                          \
    warp_set_predicate(w, &inst->op[0], value);                       \
    return inst + 1;                                                  \
  }
PREDICATES(DEFINE_PREDICATE)

// Operands of logic on predicates may be negated.
static bool bind_predicates(decoder_t* d, inst_t* inst) {
  u32 count = inst->row->type_count;
  if (!decode_count(d, count, count)) return false;
  inst->written = 1;
  for (u32 k = 0; k < count; ++k) {
    const arg_t* arg = decode_arg(d, k);
    inst->types[k] = PTX_TYPE_pred;
    if (arg->is_negated) return decode_fail(d, "a negated operand");
    if (k ? !decode_read(d, arg, PTX_TYPE_pred, &inst->op[k]) : !decode_write(d, arg, PTX_TYPE_pred, &inst->op[k])) {
      return false;
    }
  }
  return true;
}

#define ROW_MOVE(id, names, T) {names, "", bind_move, run_mov_##id, {0}, 0},
#define ROW_PREDICATE(id, names, second, count, value) {names, "", bind_predicates, run_pred_##id, {0}, count},
static const row_t rows[] = {
    MOVES(ROW_MOVE) PREDICATES(ROW_PREDICATE){"mov.pred", "", bind_move, run_mov_pred, {0}, 0},
    {"mov.b128", "", bind_move, run_mov_128, {0}, 0},
    {"selp slct", "@type ftz", bind_select, run_selp_32, {0}, 0},
};
LEVEL_TABLE(move_table, rows);
