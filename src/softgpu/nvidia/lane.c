// What lanes tell each other: shuffles, votes, matches, reductions. Source: PTX ISA, "shfl.sync", "vote.sync",
// "match.sync", "redux.sync", "activemask", "elect.sync".
#include "softgpu/nvidia/decode.h"

static uint32_t uniform(const warp_t* w, const operand_t* o) {
  return ((const uint32_t*)warp_at(w, o))[__builtin_ctz(w->exec)];
}

// Whether the lanes that an instruction names are here; without .sync those that are.
static bool gather(warp_t* w, const inst_t* inst, const operand_t* mask) {
  if (!(inst->flags & PTX_SYNC)) return true;
  uint32_t wanted = uniform(w, mask);
  if ((wanted & w->exec) != w->exec) {
    warp_fault(w, inst, NV_FAULT_INSTRUCTION, w->exec & ~wanted, 0,
               "lanes 0x%x execute it, which its mask 0x%x does not name", w->exec & ~wanted, wanted);
    return false;
  }
  return warp_gather(w, inst, wanted);
}

// shfl{.sync}.mode.b32 d{|p}, a, b, c{, membermask}
static bool bind_shuffle(decoder_t* d, inst_t* inst) {
  bool sync = inst->flags & PTX_SYNC;
  const arg_t* to = decode_arg(d, 0);
  operand_t* list = ARENA_ARRAY(d->p->arena, operand_t, 1);
  if (!decode_count(d, 4 + sync, 4 + sync)) return false;
  inst->mode = (uint8_t)inst->modifiers.value[PTX_GROUP_MODE];
  inst->count = to->has_second;
  inst->list = list, inst->list_count = inst->list_written = inst->count;
  inst->written = 1;
  for (uint32_t i = 0; i < 4u + sync; ++i) inst->types[i] = PTX_TYPE_b32;
  for (uint32_t i = 1; i < 4u + sync; ++i) {
    if (!decode_read(d, decode_arg(d, i), PTX_TYPE_b32, &inst->op[i])) return false;
  }
  if (to->has_second && !decode_write_register(d, to->second, PTX_TYPE_pred, list)) return false;
  return decode_write(d, to, PTX_TYPE_b32, &inst->op[0]);
}

static const inst_t* run_shuffle(warp_t* w, const inst_t* inst) {
  if (!gather(w, inst, &inst->op[4])) return NULL;
  uint32_t *to = warp_at(w, &inst->op[0]), old[WARP_LANES], inside = 0;
  const uint32_t *b = warp_at(w, &inst->op[2]), *c = warp_at(w, &inst->op[3]);
  memcpy(old, warp_at(w, &inst->op[1]), sizeof(old));
  for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
    uint32_t clamp = c[lane] & 31, segment = c[lane] >> 8 & 31, by = b[lane] & 31;
    uint32_t last = (lane & segment) | (clamp & ~segment), first = lane & segment;
    int32_t from = inst->mode == PTX_UP          ? (int32_t)(lane - by)
                   : inst->mode == PTX_DOWN      ? (int32_t)(lane + by)
                   : inst->mode == PTX_BUTTERFLY ? (int32_t)(lane ^ by)
                                                 : (int32_t)(first | (by & ~segment));
    bool is_inside = inst->mode == PTX_UP ? from >= (int32_t)last : from <= (int32_t)last;
    inside |= (uint32_t)is_inside << lane;
    if (w->exec >> lane & 1) to[lane] = old[is_inside ? (uint32_t)from & 31 : lane];
  }
  if (inst->count) warp_set_predicate(w, &inst->list[0], inside);
  return inst + 1;
}

// vote{.sync}.mode.pred d, {!}a{, membermask}; .ballot.b32
static bool bind_vote(decoder_t* d, inst_t* inst) {
  bool sync = inst->flags & PTX_SYNC;
  inst->mode = (uint8_t)inst->modifiers.value[PTX_GROUP_MODE];
  const arg_t* p = decode_arg(d, 1);
  if (!decode_count(d, 2 + sync, 2 + sync)) return false;
  inst->is_signed = p->is_negated;
  ptx_type_t type = inst->mode == PTX_BALLOT ? PTX_TYPE_b32 : PTX_TYPE_pred;
  inst->written = 1;
  inst->types[0] = (uint8_t)type, inst->types[1] = PTX_TYPE_pred;
  if (sync && !decode_read(d, decode_arg(d, 2), PTX_TYPE_b32, &inst->op[2])) return false;
  return decode_write(d, decode_arg(d, 0), type, &inst->op[0]) && decode_read(d, p, PTX_TYPE_pred, &inst->op[1]);
}

static void broadcast(warp_t* w, const operand_t* o, uint32_t value) {
  uint32_t* to = warp_at(w, o);
  for (uint32_t i = 0; i < WARP_LANES; ++i) to[i] = w->exec >> i & 1 ? value : to[i];
}

static const inst_t* run_vote(warp_t* w, const inst_t* inst) {
  if (!gather(w, inst, &inst->op[2])) return NULL;
  uint32_t p = *(const uint32_t*)warp_at(w, &inst->op[1]);
  if (inst->is_signed) p = ~p;
  p &= w->exec;
  if (inst->mode == PTX_BALLOT) {
    broadcast(w, &inst->op[0], p);
    return inst + 1;
  }
  bool result = inst->mode == PTX_ALL ? p == w->exec : inst->mode == PTX_ANY ? p != 0 : p == w->exec || !p;
  warp_set_predicate(w, &inst->op[0], result ? UINT32_MAX : 0);
  return inst + 1;
}

// match.any.sync.type d, a, membermask; match.all.sync.type d{|p}, a, membermask
static bool bind_match(decoder_t* d, inst_t* inst) {
  const arg_t* to = decode_arg(d, 0);
  if (!decode_count(d, 3, 3)) return false;
  ptx_type_t type = inst->modifiers.type_count ? (ptx_type_t)inst->modifiers.types[0] : PTX_TYPE_b32;
  inst->mode = (uint8_t)inst->modifiers.value[PTX_GROUP_MODE];
  inst->flags |= PTX_SYNC;
  inst->element = ptx_type_info(type)->bytes;
  if (inst->element != 4 && inst->element != 8) return decode_fail(d, "a type of %u bytes", inst->element);
  operand_t* list = ARENA_ARRAY(d->p->arena, operand_t, 1);
  inst->list = list, inst->count = inst->list_count = inst->list_written = to->has_second;
  inst->written = 1;
  inst->types[0] = inst->types[2] = PTX_TYPE_b32, inst->types[1] = (uint8_t)type;
  if (to->has_second && !decode_write_register(d, to->second, PTX_TYPE_pred, list)) return false;
  return decode_write(d, to, PTX_TYPE_b32, &inst->op[0]) && decode_read(d, decode_arg(d, 1), type, &inst->op[1]) &&
         decode_read(d, decode_arg(d, 2), PTX_TYPE_b32, &inst->op[2]);
}

static const inst_t* run_match(warp_t* w, const inst_t* inst) {
  if (!gather(w, inst, &inst->op[2])) return NULL;
  uint32_t* to = warp_at(w, &inst->op[0]);
  const uint8_t* from = warp_at(w, &inst->op[1]);
  uint32_t results[WARP_LANES] = {0};
  bool all = true;
  for (uint32_t i = 0; i < WARP_LANES; ++i) {
    for (uint32_t k = 0; k < WARP_LANES && w->exec >> i & 1; ++k) {
      bool same = memcmp(from + i * inst->element, from + k * inst->element, inst->element) == 0;
      if (w->exec >> k & 1) results[i] |= (uint32_t)same << k, all &= same;
    }
  }
  for (uint32_t i = 0; i < WARP_LANES; ++i) {
    if (!(w->exec >> i & 1)) continue;
    to[i] = inst->mode == PTX_ALL ? (all ? w->exec : 0) : results[i];
  }
  if (inst->count) warp_set_predicate(w, &inst->list[0], all ? UINT32_MAX : 0);
  return inst + 1;
}

// redux.sync.op.type d, a, membermask
static bool bind_reduce(decoder_t* d, inst_t* inst) {
  inst->types[0] = inst->types[1] = inst->types[2] = PTX_TYPE_b32;
  inst->written = 1;
  return decode_count(d, 3, 3) && decode_write(d, decode_arg(d, 0), PTX_TYPE_b32, &inst->op[0]) &&
         decode_read(d, decode_arg(d, 1), PTX_TYPE_b32, &inst->op[1]) &&
         decode_read(d, decode_arg(d, 2), PTX_TYPE_b32, &inst->op[2]);
}

static float single(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

static uint32_t reduce_two(uint32_t operation, ptx_type_t type, uint32_t flags, uint32_t a, uint32_t b) {
  if (type == PTX_TYPE_f32) {
    float x = single(flags & PTX_ABS ? a & INT32_MAX : a), y = single(flags & PTX_ABS ? b & INT32_MAX : b);
    if (x != x || y != y) return flags & PTX_NAN ? 0x7fffffffu : x != x ? b : a;
    return (operation == PTX_MIN ? x < y : x > y) ? a : b;
  }
  switch (operation) {
    case PTX_AND:
      return a & b;
    case PTX_OR:
      return a | b;
    case PTX_XOR:
      return a ^ b;
    case PTX_ADD:
      return a + b;
    case PTX_MIN:
      return type == PTX_TYPE_s32 ? ((int32_t)a < (int32_t)b ? a : b) : a < b ? a : b;
    default:
      return type == PTX_TYPE_s32 ? ((int32_t)a > (int32_t)b ? a : b) : a > b ? a : b;
  }
}

static const inst_t* run_reduce(warp_t* w, const inst_t* inst) {
  if (!gather(w, inst, &inst->op[2])) return NULL;
  const uint32_t* from = warp_at(w, &inst->op[1]);
  uint32_t first = (uint32_t)__builtin_ctz(w->exec), value = from[first];
  for (uint32_t lanes = w->exec & (w->exec - 1); lanes; lanes &= lanes - 1) {
    value = reduce_two(inst->modifiers.value[PTX_GROUP_OPERATION], (ptx_type_t)inst->modifiers.types[0], inst->flags,
                       value, from[__builtin_ctz(lanes)]);
  }
  if (inst->modifiers.types[0] == PTX_TYPE_f32 && inst->flags & PTX_ABS) value &= INT32_MAX;
  broadcast(w, &inst->op[0], value);
  return inst + 1;
}

static bool bind_active(decoder_t* d, inst_t* inst) {
  inst->written = 1;
  inst->types[0] = PTX_TYPE_b32;
  return decode_count(d, 1, 1) && decode_write(d, decode_arg(d, 0), PTX_TYPE_b32, &inst->op[0]);
}
static const inst_t* run_active(warp_t* w, const inst_t* inst) {
  broadcast(w, &inst->op[0], w->exec);
  return inst + 1;
}

// elect.sync d|p, membermask
static bool bind_elect(decoder_t* d, inst_t* inst) {
  const arg_t* to = decode_arg(d, 0);
  operand_t* list = ARENA_ARRAY(d->p->arena, operand_t, 1);
  inst->list = list, inst->list_count = inst->list_written = 1, inst->flags |= PTX_SYNC;
  inst->written = 1;
  inst->types[0] = inst->types[1] = PTX_TYPE_b32;
  if (!decode_count(d, 2, 2)) return false;
  if (!to->has_second) return decode_fail(d, "a predicate expected behind the result");
  return decode_write(d, to, PTX_TYPE_b32, &inst->op[0]) && decode_write_register(d, to->second, PTX_TYPE_pred, list) &&
         decode_read(d, decode_arg(d, 1), PTX_TYPE_b32, &inst->op[1]);
}
static const inst_t* run_elect(warp_t* w, const inst_t* inst) {
  if (!gather(w, inst, &inst->op[1])) return NULL;
  uint32_t leader = (uint32_t)__builtin_ctz(w->exec);
  broadcast(w, &inst->op[0], leader);
  warp_set_predicate(w, &inst->list[0], 1u << leader);
  return inst + 1;
}

static const row_t rows[] = {
    {"shfl.up.b32 shfl.down.b32 shfl.bfly.b32 shfl.idx.b32", "", bind_shuffle, run_shuffle},
    {"shfl.sync.up.b32 shfl.sync.down.b32 shfl.sync.bfly.b32 shfl.sync.idx.b32", "", bind_shuffle, run_shuffle},
    {"vote.all.pred vote.any.pred vote.uni.pred vote.ballot.b32", "", bind_vote, run_vote},
    {"vote.sync.all.pred vote.sync.any.pred vote.sync.uni.pred vote.sync.ballot.b32", "", bind_vote, run_vote},
    {"match.any.sync match.all.sync", "@type", bind_match, run_match},
    {"redux.sync.add redux.sync.min redux.sync.max redux.sync.and redux.sync.or redux.sync.xor",
     "abs NaN u32 s32 b32 f32", bind_reduce, run_reduce},
    {"activemask.b32", "", bind_active, run_active},
    {"elect.sync", "", bind_elect, run_elect},
};
const row_table_t lane_table = {rows, sizeof(rows) / sizeof(rows[0])};
