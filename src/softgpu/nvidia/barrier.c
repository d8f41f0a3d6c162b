// Barriers of a block: bar, barrier. A barrier counts threads; lanes that wait are put aside until it opens. Source:
// PTX ISA, "bar, barrier".
#include "softgpu/nvidia/decode.h"

enum { BARRIER_SYNC, BARRIER_ARRIVE, BARRIER_REDUCE };

static bool bind_barrier(decoder_t* d, inst_t* inst) {
  uint32_t least = inst->mode == BARRIER_ARRIVE ? 2 : 1;
  if (!decode_count(d, least, 2) || !decode_read(d, decode_arg(d, 0), PTX_TYPE_u32, &inst->op[0])) return false;
  inst->imm = d->s->arg_count == 2;
  inst->types[0] = PTX_TYPE_u32;
  if (inst->imm) inst->types[1] = PTX_TYPE_u32;
  return !inst->imm || decode_read(d, decode_arg(d, 1), PTX_TYPE_u32, &inst->op[1]);
}
static bool bind_sync(decoder_t* d, inst_t* inst) {
  inst->mode = BARRIER_SYNC;
  return bind_barrier(d, inst);
}
static bool bind_arrive(decoder_t* d, inst_t* inst) {
  inst->mode = BARRIER_ARRIVE;
  return bind_barrier(d, inst);
}

// bar.red.op.type d, a{, b}, {!}p
static bool bind_reduce(decoder_t* d, inst_t* inst) {
  uint32_t count = d->s->arg_count;
  if (!decode_count(d, 3, 4)) return false;
  ptx_type_t type = inst->modifiers.type_count ? (ptx_type_t)inst->modifiers.types[0] : PTX_TYPE_pred;
  inst->mode = BARRIER_REDUCE;
  inst->imm = count == 4;
  const arg_t* p = decode_arg(d, count - 1);
  inst->is_signed = p->is_negated;
  inst->element = ptx_type_info(type)->bytes;
  operand_t* list = ARENA_ARRAY(d->p->arena, operand_t, 2);
  inst->list = list, inst->list_count = 2, inst->list_written = 1;
  inst->count = type == PTX_TYPE_pred;
  return decode_read(d, decode_arg(d, 1), PTX_TYPE_u32, &inst->op[0]) &&
         (count == 3 || decode_read(d, decode_arg(d, 2), PTX_TYPE_u32, &inst->op[1])) &&
         decode_write(d, decode_arg(d, 0), type, &list[0]) && decode_read(d, p, PTX_TYPE_pred, &list[1]);
}

// A warp's lanes that have ended, or never were, count as there once all others are.
static uint32_t threads_of(const warp_t* w, const barrier_t* barrier, uint32_t lanes) {
  return (uint32_t)__builtin_popcount(lanes) +
         (barrier->expected && lanes == w->alive ? WARP_LANES - (uint32_t)__builtin_popcount(w->alive) : 0);
}

static bool is_complete(const block_t* block, const barrier_t* barrier) {
  return barrier->arrived && barrier->arrived >= (barrier->expected ? barrier->expected : block->alive);
}

static void deliver(warp_t* w, const part_t* part, const barrier_t* barrier) {
  const inst_t* inst = part->pc;
  if (inst->mode != BARRIER_REDUCE) return;
  uint32_t operation = inst->modifiers.value[PTX_GROUP_OPERATION];
  uint32_t value = operation == PTX_AND ? -barrier->all : operation == PTX_OR ? -barrier->any : barrier->count;
  uint64_t at = part->frame->registers + inst->list[0].offset;
  uint32_t* to = (uint32_t*)at;
  if (inst->count) {
    *to = (*to & ~part->lanes) | (value & part->lanes);
    return;
  }
  for (uint32_t i = 0; i < WARP_LANES; ++i) {
    if (part->lanes >> i & 1) to[i] = value;
  }
}

void block_release(block_t* block, uint32_t number) {
  barrier_t* barrier = &block->barriers[number];
  for (uint32_t i = 0; i < block->warp_count; ++i) {
    warp_t* w = &block->warps[i];
    for (uint32_t k = 0; k < w->part_count; ++k) {
      part_t* part = &w->parts[k];
      if (part->state != PART_BARRIER || part->barrier != number) continue;
      deliver(w, part, barrier);
      part->state = PART_READY;
      ++part->pc;
      if (w->state == WARP_WAITING) w->state = WARP_READY;
    }
  }
  uint32_t phase = barrier->phase + 1;
  *barrier = (barrier_t){.phase = phase, .all = 1};
  ++block->opened;
  if (block->check) check_order_block(block);
}

void barrier_lanes_ended(warp_t* w, uint32_t lanes) {
  block_t* block = w->block;
  block->alive -= (uint32_t)__builtin_popcount(lanes);
  for (uint32_t i = 0; i < BLOCK_BARRIERS; ++i) {
    barrier_t* barrier = &block->barriers[i];
    if (is_complete(block, barrier)) block_release(block, i);
  }
}

static void reduce(warp_t* w, const inst_t* inst, barrier_t* barrier) {
  uint32_t p = *(const uint32_t*)warp_at(w, &inst->list[1]);
  if (inst->is_signed) p = ~p;
  barrier->all &= !(w->exec & ~p), barrier->any |= (w->exec & p) != 0;
  barrier->count += (uint32_t)__builtin_popcount(w->exec & p);
}

// Whether other lanes of the warp wait here, or run and may come here yet.
static bool others_come(const warp_t* w, const inst_t* inst) {
  bool found = w->lanes != w->exec;
  for (uint32_t i = 0; i < w->part_count; ++i) {
    const part_t* part = &w->parts[i];
    found |= part->state == PART_READY || (part->state == PART_SYNC && part->pc == inst);
  }
  return found;
}

// Lanes and threads that a barrier of the whole block misses. barrier without .aligned may be reached lane by lane;
// one with it by a branch whose sides meet there, wherever in the text they are.
static bool check_barrier(warp_t* w, const inst_t* inst) {
  bool is_aligned = inst->name[3] == '.' || inst->flags & PTX_ALIGNED;
  if (is_aligned && w->exec != w->alive) {
    if (others_come(w, inst)) return warp_gather(w, inst, w->alive);
    warp_fault(w, inst, NV_FAULT_CHECK, w->alive & ~w->exec, 0, "barrier: lanes 0x%x of the warp are not at it",
               w->alive & ~w->exec);
    return false;
  }
  if (w->block->alive == w->block->threads) return true;
  warp_fault(w, inst, NV_FAULT_CHECK, w->exec, 0, "barrier: %u of the block's %u threads have ended before it",
             w->block->threads - w->block->alive, w->block->threads);
  return false;
}

static const inst_t* run_barrier(warp_t* w, const inst_t* inst) {
  uint32_t first = (uint32_t)__builtin_ctz(w->exec), number = ((const uint32_t*)warp_at(w, &inst->op[0]))[first];
  uint32_t expected = inst->imm ? ((const uint32_t*)warp_at(w, &inst->op[1]))[first] : 0;
  if (number >= BLOCK_BARRIERS) {
    return warp_fault(w, inst, NV_FAULT_INSTRUCTION, w->exec, 0, "barrier %u: there are %d", number, BLOCK_BARRIERS);
  }
  if (expected % WARP_LANES) {
    return warp_fault(w, inst, NV_FAULT_INSTRUCTION, w->exec, 0, "a barrier of %u threads, no multiple of %d", expected,
                      WARP_LANES);
  }
  barrier_t* barrier = &w->block->barriers[number];
  if (!barrier->arrived) barrier->expected = expected, barrier->all = 1, barrier->any = barrier->count = 0;
  if (barrier->expected != expected) {
    return warp_fault(w, inst, NV_FAULT_INSTRUCTION, w->exec, 0, "barrier %u of %u threads, while others wait for %u",
                      number, expected, barrier->expected);
  }
  if (w->launch->checks & ENGINE_CHECK_BARRIERS && !expected && !check_barrier(w, inst)) return NULL;
  barrier->arrived += threads_of(w, barrier, w->exec);
  if (inst->mode == BARRIER_REDUCE) reduce(w, inst, barrier);
  bool opens = is_complete(w->block, barrier);
  if (inst->mode == BARRIER_ARRIVE) {
    if (opens) block_release(w->block, number);
    return inst + 1;
  }
  uint32_t lanes = w->exec, rest = w->lanes & ~lanes;
  // The usual case: the last warp comes with all its lanes.
  if (opens && !rest && !w->part_count && inst->mode == BARRIER_SYNC) {
    block_release(w->block, number);
    return inst + 1;
  }
  warp_put(w, lanes, inst, PART_BARRIER, number);
  if (rest) warp_put(w, rest, inst + 1, PART_READY, 0);
  if (opens) block_release(w->block, number);
  frame_leave(w, w->call);
  w->lanes = w->exec = 0;
  return NULL;
}

// bar.warp.sync and activemask-free synchronisation of a warp.
static bool bind_warp_sync(decoder_t* d, inst_t* inst) {
  inst->types[0] = PTX_TYPE_u32;
  return decode_count(d, 1, 1) && decode_read(d, decode_arg(d, 0), PTX_TYPE_u32, &inst->op[0]);
}
static const inst_t* run_warp_sync(warp_t* w, const inst_t* inst) {
  uint32_t wanted = ((const uint32_t*)warp_at(w, &inst->op[0]))[__builtin_ctz(w->exec)];
  return warp_gather(w, inst, wanted) ? inst + 1 : NULL;
}

static const row_t rows[] = {
    {"bar.sync barrier.sync bar.cta.sync barrier.cta.sync", "aligned", bind_sync, run_barrier},
    {"bar.arrive barrier.arrive bar.cta.arrive barrier.cta.arrive", "aligned", bind_arrive, run_barrier},
    {"bar.red barrier.red bar.cta.red barrier.cta.red", "aligned @operation @type", bind_reduce, run_barrier},
    {"bar.warp.sync", "", bind_warp_sync, run_warp_sync},
};
const row_table_t warp_barrier_table = {rows, sizeof(rows) / sizeof(rows[0])};
