// Branches, ends, special registers and what has no effect here. Source: PTX ISA, "Control Flow Instructions",
// "Special Registers", "Miscellaneous Instructions".
#include <time.h>

#include "softgpu/nvidia/decode.h"

static bool bind_branch(decoder_t* d, inst_t* inst) {
  return decode_count(d, 1, 1) && decode_label(d, decode_arg(d, 0), d->count, NULL);
}
static const inst_t* run_branch(warp_t* w, const inst_t* inst) { return warp_branch(w, inst, inst->target, w->exec); }

static bool bind_branch_table(decoder_t* d, inst_t* inst) {
  const arg_t* list = decode_arg(d, 1);
  if (!decode_count(d, 2, 2) || !decode_read(d, decode_arg(d, 0), PTX_TYPE_u32, &inst->op[0])) return false;
  if (list->kind != ARG_SYMBOL || !list->symbol || list->symbol->kind != SYMBOL_LIST) {
    return decode_fail(d, "a list of .branchtargets expected");
  }
  const target_list_t* targets = list->symbol->targets;
  const inst_t** table = ARENA_ARRAY(d->p->arena, const inst_t*, targets->count + 1);
  for (uint32_t i = 0; i < targets->count; ++i) {
    if (!decode_label(d, &targets->labels[i], 0, &table[i])) return false;
  }
  inst->extra = table, inst->imm = targets->count;
  return true;
}
static const inst_t* run_branch_table(warp_t* w, const inst_t* inst) {
  const uint32_t* index = warp_at(w, &inst->op[0]);
  const inst_t* const* table = inst->extra;
  uint32_t left = w->exec, rest = w->lanes & ~left;
  uint32_t first = index[__builtin_ctz(left)];
  for (uint32_t lanes = left; lanes; lanes &= lanes - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(lanes);
    if (index[lane] >= inst->imm) {
      return warp_fault(w, inst, NV_FAULT_INSTRUCTION, 1u << lane, 0, "brx.idx with index %u of %u targets",
                        index[lane], (uint32_t)inst->imm);
    }
    if (index[lane] == first) left &= ~(1u << lane);
  }
  if (!left && !rest) return table[first];
  if (rest) warp_put(w, rest, inst + 1, PART_READY, 0);
  for (uint32_t lanes = w->exec; lanes; lanes &= lanes - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(lanes);
    warp_put(w, 1u << lane, table[index[lane]], PART_READY, 0);
  }
  frame_leave(w, w->call);
  w->lanes = w->exec = 0;
  return NULL;
}

// Lanes of exec are over; the others of the part go on.
static const inst_t* end_lanes(warp_t* w, const inst_t* inst, uint32_t lanes) {
  uint32_t rest = w->lanes & ~lanes;
  w->alive &= ~lanes;
  if (!rest) {
    frame_leave(w, w->call);
    w->lanes = w->exec = 0;
    barrier_lanes_ended(w, lanes);
    if (!w->alive) w->state = WARP_ENDED;
    return NULL;
  }
  w->lanes = w->exec = rest;
  barrier_lanes_ended(w, lanes);
  return inst + 1;
}

static const inst_t* run_exit(warp_t* w, const inst_t* inst) { return end_lanes(w, inst, w->exec); }

static const inst_t* run_return(warp_t* w, const inst_t* inst) {
  frame_t* frame = w->call;
  if (!frame->call) return end_lanes(w, inst, w->exec);
  uint32_t lanes = w->exec, rest = w->lanes & ~lanes;
  call_return(w, frame, lanes);
  const inst_t* next = frame->call + 1;
  if (!rest && !w->part_count) {
    // The only part: straight back.
    ++frame->caller->users;
    w->call = frame->caller;
    w->frame = w->call->registers;
    frame_leave(w, frame);
    return next;
  }
  if (rest) warp_put(w, rest, inst + 1, PART_READY, 0);
  w->call = frame->caller;
  warp_put(w, lanes, next, PART_READY, 0);
  frame_leave(w, frame);
  w->lanes = w->exec = 0;
  return NULL;
}

static const inst_t* run_trap(warp_t* w, const inst_t* inst) {
  return warp_fault(w, inst, NV_FAULT_TRAP, w->exec, 0, "trap");
}
static const inst_t* run_nothing(warp_t* w, const inst_t* inst) { return inst + 1; }
static bool bind_anything(decoder_t* d, inst_t* inst) { return true; }

static const inst_t* run_fence(warp_t* w, const inst_t* inst) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (w->block->check) check_order_block(w->block);
  return inst + 1;
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t special_value(const warp_t* w, const inst_t* inst, uint32_t lane) {
  const block_t* block = w->block;
  const nv_launch_t* launch = w->launch->launch;
  uint32_t axis, cluster[3];
  switch (inst->mode) {
    case SPECIAL_NONE:
      return w->call->local_base + inst->imm;
    case SPECIAL_DYNAMIC_BASE:
      return w->launch->dynamic_base + inst->imm;
    case SPECIAL_TID_X:
    case SPECIAL_TID_Y:
    case SPECIAL_TID_Z:
      return w->tid[inst->mode - SPECIAL_TID_X][lane];
    case SPECIAL_NTID_X:
    case SPECIAL_NTID_Y:
    case SPECIAL_NTID_Z:
      return launch->block[inst->mode - SPECIAL_NTID_X];
    case SPECIAL_CTAID_X:
    case SPECIAL_CTAID_Y:
    case SPECIAL_CTAID_Z:
      return block->id[inst->mode - SPECIAL_CTAID_X];
    case SPECIAL_NCTAID_X:
    case SPECIAL_NCTAID_Y:
    case SPECIAL_NCTAID_Z:
      return launch->grid[inst->mode - SPECIAL_NCTAID_X];
    case SPECIAL_LANEID:
      return lane;
    case SPECIAL_WARPID:
      return w->index;
    case SPECIAL_NWARPID:
      return w->launch->engine->options.target->threads_per_unit / WARP_LANES;
    case SPECIAL_SMID:
      return block->unit;
    case SPECIAL_NSMID:
      return w->launch->engine->options.target->units;
    case SPECIAL_GRIDID:
      return w->launch->number;
    case SPECIAL_LANEMASK_EQ:
      return 1u << lane;
    case SPECIAL_LANEMASK_LE:
      return (2u << lane) - 1;
    case SPECIAL_LANEMASK_LT:
      return (1u << lane) - 1;
    case SPECIAL_LANEMASK_GE:
      return UINT32_MAX << lane;
    case SPECIAL_LANEMASK_GT:
      return lane == 31 ? 0 : UINT32_MAX << (lane + 1);
    case SPECIAL_CLOCK:
    case SPECIAL_CLOCK64:
      return now();
    case SPECIAL_CLOCK_HI:
    case SPECIAL_GLOBALTIMER_HI:
      return now() >> 32;
    case SPECIAL_GLOBALTIMER:
    case SPECIAL_GLOBALTIMER_LO:
      return now();
    case SPECIAL_DYNAMIC_SMEM_SIZE:
      return launch->dynamic_shared;
    case SPECIAL_TOTAL_SMEM_SIZE:
    case SPECIAL_AGGR_SMEM_SIZE:
      return w->launch->shared_size;
    default:
      break;
  }
  for (int i = 0; i < 3; ++i) cluster[i] = launch->cluster[i] ? launch->cluster[i] : 1;
  axis = (uint32_t)(inst->mode - SPECIAL_CLUSTERID_X) % 3;
  if (inst->mode <= SPECIAL_CLUSTERID_Z) return block->id[axis] / cluster[axis];
  if (inst->mode <= SPECIAL_NCLUSTERID_Z) return (launch->grid[axis] + cluster[axis] - 1) / cluster[axis];
  if (inst->mode <= SPECIAL_CLUSTER_CTAID_Z) return block->id[axis] % cluster[axis];
  if (inst->mode <= SPECIAL_CLUSTER_NCTAID_Z) return cluster[axis];
  if (inst->mode == SPECIAL_CLUSTER_NCTARANK) return (uint64_t)cluster[0] * cluster[1] * cluster[2];
  return block->id[0] % cluster[0] +
         (uint64_t)cluster[0] * (block->id[1] % cluster[1] + (uint64_t)cluster[1] * (block->id[2] % cluster[2]));
}

static bool differs_by_lane(uint32_t special) {
  return special == SPECIAL_LANEID || (special >= SPECIAL_TID_X && special <= SPECIAL_TID_Z) ||
         (special >= SPECIAL_LANEMASK_EQ && special <= SPECIAL_LANEMASK_GT);
}

static const inst_t* run_special(warp_t* w, const inst_t* inst) {
  uint32_t* low = warp_at(w, &inst->op[0]);
  uint64_t* wide = warp_at(w, &inst->op[0]);
  bool differs = differs_by_lane(inst->mode);
  uint64_t value = differs ? 0 : special_value(w, inst, 0);
  if (inst->mode == SPECIAL_IS_EXPLICIT_CLUSTER) {
    *low = w->launch->launch->cluster[0] ? UINT32_MAX : 0;
    return inst + 1;
  }
  for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
    if (differs) value = special_value(w, inst, lane);
    if (inst->element == 8) {
      wide[lane] = value;
    } else {
      low[lane] = (uint32_t)value;
    }
  }
  return inst + 1;
}
const row_t special_row = {.names = "", .options = "", .run = run_special};
// Where a body's text ends.
const row_t end_row = {.names = "", .options = "", .run = run_return};

static const row_t rows[] = {
    {"bra", "uni", bind_branch, run_branch},
    {"brx.idx", "uni", bind_branch_table, run_branch_table},
    {"exit", "", bind_anything, run_exit},
    {"ret", "uni", bind_anything, run_return},
    {"trap", "", bind_anything, run_trap},
    {"brkpt pmevent nanosleep.u32 pmevent.mask", "", bind_anything, run_nothing},
    {"prefetch prefetchu.L1 discard applypriority", "@space @hint L1 L2 tensormap L2::128", bind_anything, run_nothing},
    {"griddepcontrol setmaxnreg", "wait launch_dependents inc dec sync aligned u32", bind_anything, run_nothing},
    {"membar fence", "@scope @order proxy alias async generic @space sync_restrict::shared::cluster", bind_anything,
     run_fence},
};
const row_table_t warp_control_table = {rows, sizeof(rows) / sizeof(rows[0])};
