// Which lanes of a warp run. Lanes that are at the same place are a part; one part runs at a time. Of several, the one
// deepest in calls and furthest up in the text runs, until it comes to where another one waits: there they become one
// part again, which brings the sides of a branch together where they meet. A part that has used its turn stands back
// behind the others, so that lanes may wait for what other lanes of the warp do (sm_70 and later).
#include <pthread.h>
#include <stdlib.h>

#include "softgpu/nvidia/warp.h"

enum { SCHEDULE_TURN = 10000 };

frame_t* frame_make(warp_t* w, const function_t* function, frame_t* caller, const inst_t* call) {
  frame_t* frame = w->free_frames;
  bool tracks = w->launch->tracks_undefined;
  if (frame) {
    w->free_frames = frame->next_free;
  } else {
    frame = calloc(1, sizeof(*frame));
    if (!frame) return NULL;
  }
  if (frame->capacity < function->frame_size) {
    free((void*)frame->registers);
    free(frame->defined);
    size_t size = ((size_t)function->frame_size + 255) & ~(size_t)255;
    frame->registers = (uint64_t)aligned_alloc(64, size);
    frame->defined = tracks ? malloc(size / 64 * 4 + 64) : NULL;
    frame->capacity = frame->registers && (frame->defined || !tracks) ? (uint32_t)size : 0;
    if (!frame->capacity) {
      free((void*)frame->registers);
      free(frame->defined);
      frame->registers = 0, frame->defined = NULL;
      frame->next_free = w->free_frames;
      w->free_frames = frame;
      return NULL;
    }
  }
  // What a register holds that nobody wrote: the same on each run.
  memset((void*)frame->registers, 0, function->frame_size);
  if (tracks) memset(frame->defined, 0, function->frame_size / 64 * 4 + 4);
  frame->caller = caller, frame->function = function, frame->call = call;
  frame->depth = caller ? caller->depth + 1 : 0;
  frame->users = 1;
  frame->local_base = caller ? caller->local_base + caller->function->local_size : 0;
  if (caller) ++caller->users;
  return frame;
}

void frame_leave(warp_t* w, frame_t* frame) {
  while (frame && --frame->users == 0) {
    frame_t* caller = frame->caller;
    frame->next_free = w->free_frames;
    w->free_frames = frame;
    frame = caller;
  }
}

static void set_limit(warp_t* w) {
  const inst_t* limit = (const inst_t*)UINTPTR_MAX;
  for (uint32_t i = 0; i < w->part_count; ++i) {
    const part_t* part = &w->parts[i];
    if (part->state == PART_READY && part->frame == w->call && part->pc < limit && part->pc > w->pc) limit = part->pc;
  }
  w->limit = limit;
}

void warp_put(warp_t* w, uint32_t lanes, const inst_t* pc, part_state_t state, uint32_t detail) {
  for (uint32_t i = 0; i < w->part_count && state == PART_READY; ++i) {
    part_t* part = &w->parts[i];
    if (part->state == PART_READY && part->pc == pc && part->frame == w->call) {
      part->lanes |= lanes;
      return;
    }
  }
  part_t* part = &w->parts[w->part_count++];
  *part = (part_t){.lanes = lanes, .state = state, .pc = pc, .frame = w->call, .turn = w->turns};
  if (state == PART_SYNC) part->wanted = detail;
  if (state == PART_BARRIER) part->barrier = detail;
  ++w->call->users;
}

// The whole part that runs is elsewhere now.
static const inst_t* leave_all(warp_t* w) {
  w->lanes = w->exec = 0;
  return NULL;
}

const inst_t* warp_branch(warp_t* w, const inst_t* inst, const inst_t* target, uint32_t taken) {
  taken &= w->exec;
  if (!taken) return inst + 1;
  if (taken == w->lanes) return target;
  uint32_t rest = w->lanes & ~taken;
  const inst_t* next = inst + 1;
  if (target == next) return next;
  // The part that is further up goes on.
  const inst_t* first = target < next ? target : next;
  const inst_t* second = target < next ? next : target;
  uint32_t lanes = target < next ? taken : rest;
  warp_put(w, w->lanes & ~lanes, second, PART_READY, 0);
  w->lanes = w->exec = lanes;
  w->pc = first;
  set_limit(w);
  return first;
}

bool warp_gather(warp_t* w, const inst_t* inst, uint32_t wanted) {
  uint32_t missing = wanted & w->alive & ~w->exec;
  if (!missing) return true;
  uint32_t lanes = w->exec, rest = w->lanes & ~lanes;
  // Others may wait at this very instruction.
  for (uint32_t i = 0; i < w->part_count; ++i) {
    part_t* part = &w->parts[i];
    if (part->state == PART_SYNC && part->pc == inst && part->frame == w->call && part->wanted == wanted) {
      part->lanes |= lanes;
      if (!(wanted & w->alive & ~part->lanes)) part->state = PART_READY;
      if (rest) warp_put(w, rest, inst + 1, PART_READY, 0);
      frame_leave(w, w->call);
      leave_all(w);
      return false;
    }
  }
  warp_put(w, lanes, inst, PART_SYNC, wanted);
  if (rest) warp_put(w, rest, inst + 1, PART_READY, 0);
  frame_leave(w, w->call);
  leave_all(w);
  return false;
}

// Whether lanes that wait for others have them, since those ended.
static void wake(warp_t* w) {
  for (uint32_t i = 0; i < w->part_count; ++i) {
    part_t* part = &w->parts[i];
    if (part->state == PART_SYNC && !(part->wanted & w->alive & ~part->lanes)) part->state = PART_READY;
  }
}

static bool goes_before(const part_t* a, const part_t* b, bool is_fair) {
  if (is_fair && a->turn != b->turn) return a->turn < b->turn;
  if (a->frame->depth != b->frame->depth) return a->frame->depth > b->frame->depth;
  return a->pc < b->pc;
}

// Takes a part that can go on, with all that are at the same place; false when there is none.
static bool choose(warp_t* w, bool is_fair) {
  wake(w);
  uint32_t best = UINT32_MAX;
  for (uint32_t i = 0; i < w->part_count; ++i) {
    if (w->parts[i].state != PART_READY) continue;
    if (best == UINT32_MAX || goes_before(&w->parts[i], &w->parts[best], is_fair)) best = i;
  }
  if (best == UINT32_MAX) return false;
  part_t part = w->parts[best];
  w->parts[best] = w->parts[--w->part_count];
  for (uint32_t i = 0; i < w->part_count;) {
    if (w->parts[i].state == PART_READY && w->parts[i].pc == part.pc && w->parts[i].frame == part.frame) {
      part.lanes |= w->parts[i].lanes;
      --part.frame->users;
      w->parts[i] = w->parts[--w->part_count];
    } else {
      ++i;
    }
  }
  w->lanes = w->exec = part.lanes;
  w->pc = part.pc, w->call = part.frame, w->frame = part.frame->registers;
  set_limit(w);
  return true;
}

static uint64_t run_part(warp_t* w, uint64_t budget) {
  const inst_t* inst = w->pc;
  uint64_t left = budget;
  if (w->launch->is_instrumented) {
    for (; left && inst < w->limit && inst; --left) {
      w->pc = inst;
      inst = check_run(w, inst);
    }
  } else {
    for (; left && inst < w->limit && inst; --left) inst = inst->run(w, inst);
  }
  w->pc = inst;
  return budget - left;
}

void warp_run(warp_t* w, uint64_t budget) {
  uint64_t limit = w->launch->engine->options.warp_limit;
  bool is_fair = false;
  while (budget && w->state == WARP_READY) {
    if (!w->lanes && !choose(w, is_fair)) {
      w->state = w->alive ? WARP_WAITING : WARP_ENDED;
      return;
    }
    uint64_t turn = w->part_count && budget > SCHEDULE_TURN ? SCHEDULE_TURN : budget;
    uint64_t done = run_part(w, turn);
    w->executed += done, budget -= done;
    if (limit && w->executed >= limit && w->state == WARP_READY && w->alive) {
      const inst_t* at = w->lanes && w->pc ? w->pc : &w->call->function->insts[0];
      warp_fault(w, at, NV_FAULT_LIMIT, w->lanes, 0, "a warp has executed %llu instructions, the limit",
                 (unsigned long long)w->executed);
      return;
    }
    if (!w->lanes || w->state != WARP_READY) {
      is_fair = false;
      continue;
    }
    // It stands before another part, or has used its turn.
    if (w->part_count) {
      is_fair = done == turn;
      ++w->turns;
      warp_put(w, w->lanes, w->pc, PART_READY, 0);
      frame_leave(w, w->call);
      leave_all(w);
    }
  }
}
