// Branches, ends, messages, waits and hints.
//
// Memory completes at once here, so waits have nothing to do; check_waits.c watches whether they are there.
#include <stdio.h>
#include <time.h>

#include "softgpu/kernel.h"

const inst_t* control_run_illegal(wave_t* w, const inst_t* inst) {
  return wave_fault(w, inst, ENGINE_FAULT_ILLEGAL_INSTRUCTION, inst->address, "%s", (const char*)inst->extra);
}
const inst_t* control_run_jump(wave_t* w, const inst_t* inst) { return inst->target; }

static const inst_t* taken(wave_t* w, const inst_t* inst) {
  if (inst->target) return inst->target;
  return wave_jump(w, inst, inst->address + 4 + (uint64_t)((int64_t)(int16_t)inst->encoding[0] * 4));
}

// BRANCH(mnemonic, condition)
#define BRANCHES(BRANCH)                          \
  BRANCH(s_branch, true)                          \
  BRANCH(s_cbranch_scc0, !w->sgpr[SREG_SCC])      \
  BRANCH(s_cbranch_scc1, w->sgpr[SREG_SCC])       \
  BRANCH(s_cbranch_vccz, !wave_mask(w, SREG_VCC)) \
  BRANCH(s_cbranch_vccnz, wave_mask(w, SREG_VCC)) \
  BRANCH(s_cbranch_execz, !wave_exec(w))          \
  BRANCH(s_cbranch_execnz, wave_exec(w))          \
  BRANCH(s_cbranch_cdbgsys, false)                \
  BRANCH(s_cbranch_cdbguser, false)               \
  BRANCH(s_cbranch_cdbgsys_or_user, false)        \
  BRANCH(s_cbranch_cdbgsys_and_user, false)
#define BRANCH(name, condition) \
  static const inst_t* run_##name(wave_t* w, const inst_t* inst) { return (condition) ? taken(w, inst) : inst + 1; }
BRANCHES(BRANCH)
#undef BRANCH

static const inst_t* run_setpc(wave_t* w, const inst_t* inst) {
  return wave_jump(w, inst, wave_scalar_pair(w, &inst->src[0]));
}
static const inst_t* run_swappc(wave_t* w, const inst_t* inst) {
  uint64_t to = wave_scalar_pair(w, &inst->src[0]);
  wave_set_pair(w, inst->dst[0].index, inst->address + inst->size);
  return wave_jump(w, inst, to);
}
static const inst_t* run_getpc(wave_t* w, const inst_t* inst) {
  wave_set_pair(w, inst->dst[0].index, inst->address + inst->size);
  return inst + 1;
}
static const inst_t* run_call(wave_t* w, const inst_t* inst) {
  wave_set_pair(w, inst->dst[0].index, inst->address + inst->size);
  return taken(w, inst);
}

// Both halves of a wave of 64 lanes in turn. The destination keeps EXEC's other half. Manuals:
// "S_SUBVECTOR_LOOP_BEGIN".
static const inst_t* run_subvector_begin(wave_t* w, const inst_t* inst) {
  uint32_t *low = &w->sgpr[SREG_EXEC], *high = low + 1, *kept = &w->sgpr[inst->dst[0].index];
  if (w->lanes == 32) *high = 0;
  if (!*low && !*high) return taken(w, inst);
  if (!*low) {
    *kept = 0;
  } else {
    *kept = *high;
    *high = 0;
  }
  return inst + 1;
}
static const inst_t* run_subvector_end(wave_t* w, const inst_t* inst) {
  uint32_t *low = &w->sgpr[SREG_EXEC], *high = low + 1, *kept = &w->sgpr[inst->dst[0].index];
  if (*high) {
    *low = *kept;
    return inst + 1;
  }
  if (!*kept) return inst + 1;
  *high = *kept;
  *kept = *low;
  *low = 0;
  return taken(w, inst);
}

// gfx9's stack of forks: where its next entry is, in four registers, stands in MODE[31:29]. Of lanes that pass and fail
// the fewer go on; the others' place and mask are kept until the join.
static uint32_t fork_depth(const wave_t* w) { return w->mode >> 29; }
static void set_fork_depth(wave_t* w, uint32_t depth) { w->mode = (w->mode & 0x1fffffff) | depth << 29; }

static const inst_t* fork_lanes(wave_t* w, const inst_t* inst, uint64_t target) {
  uint64_t exec = wave_exec(w), pass = wave_scalar_pair(w, &inst->src[0]) & exec, fail = exec & ~pass;
  uint64_t next = inst->address + inst->size;
  if (pass == exec) return wave_jump(w, inst, target);
  if (fail == exec) return inst + 1;
  bool takes_fail = __builtin_popcountll(fail) < __builtin_popcountll(pass);
  uint32_t at = 4 * fork_depth(w);
  wave_set_pair(w, at, takes_fail ? pass : fail);
  wave_set_pair(w, at + 2, takes_fail ? target : next);
  set_fork_depth(w, (fork_depth(w) + 1) & 7);
  wave_set_mask(w, SREG_EXEC, takes_fail ? fail : pass);
  return takes_fail ? inst + 1 : wave_jump(w, inst, target);
}
static const inst_t* run_g_fork(wave_t* w, const inst_t* inst) {
  return fork_lanes(w, inst, wave_scalar_pair(w, &inst->src[1]));
}
static const inst_t* run_i_fork(wave_t* w, const inst_t* inst) {
  return fork_lanes(w, inst, inst->address + 4 + (uint64_t)((int64_t)(int16_t)inst->encoding[0] * 4));
}
static const inst_t* run_join(wave_t* w, const inst_t* inst) {
  if (fork_depth(w) == (wave_scalar(w, &inst->src[0]) & 7)) return inst + 1;
  set_fork_depth(w, (fork_depth(w) - 1) & 7);
  uint32_t at = 4 * fork_depth(w);
  wave_set_mask(w, SREG_EXEC, wave_pair(w, at));
  return wave_jump(w, inst, wave_pair(w, at + 2));
}

static const inst_t* run_trap(wave_t* w, const inst_t* inst) {
  uint32_t id = inst->encoding[0] & 255;
  // 2 is llvm.trap, 3 llvm.debugtrap, which goes on without a debugger.
  if (id == 3) return inst + 1;
  return wave_fault(w, inst, ENGINE_FAULT_TRAP, inst->address, "the kernel aborted (s_trap %u)", id);
}
static const inst_t* run_sendmsghalt(wave_t* w, const inst_t* inst) {
  return wave_fault(w, inst, ENGINE_FAULT_TRAP, inst->address, "the kernel halted itself (s_sendmsghalt)");
}
static const inst_t* run_sethalt(wave_t* w, const inst_t* inst) {
  if (!(inst->encoding[0] & 1)) return inst + 1;
  return wave_fault(w, inst, ENGINE_FAULT_TRAP, inst->address, "the kernel halted itself (s_sethalt)");
}

static const inst_t* run_endpgm(wave_t* w, const inst_t* inst) {
  group_t* group = w->group;
  if (group->arrived && (w->launch->checks & ENGINE_CHECK_BARRIERS)) {
    return wave_fault(w, inst, ENGINE_FAULT_CHECK, inst->address,
                      "barrier: wave %u of the workgroup ends while %u of its %u waves wait at one", w->index,
                      group->arrived, group->wave_count);
  }
  w->state = WAVE_ENDED;
  w->pc = inst;
  barrier_end_wave(w);
  return NULL;
}

static const inst_t* run_setkill(wave_t* w, const inst_t* inst) {
  return inst->encoding[0] & 1 ? run_endpgm(w, inst) : inst + 1;
}

static const inst_t* run_none(wave_t* w, const inst_t* inst) { return inst + 1; }

const inst_row_t control_nothing_row = {.name = "(left out)", .klass = INST_CLASS_NOTHING, .fidelity = ENGINE_HINT};
const inst_t* control_run_nothing(wave_t* w, const inst_t* inst) {
  inst_extra_t* extra = (inst_extra_t*)inst->extra;
  if (extra && !__atomic_exchange_n(&extra->is_reached, true, __ATOMIC_RELAXED)) {
    fprintf(stderr, "softgpu: left out: the instruction is reached\n");
  }
  return inst + 1;
}

// Answers to messages with a result, by number (0x80 and up).
static const inst_t* run_sendmsg_rtn(wave_t* w, const inst_t* inst) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  uint64_t time = (uint64_t)now.tv_sec * 100000000 + (uint64_t)now.tv_nsec / 10;  // ticks of 10 ns
  uint32_t message = inst->encoding[0] & 255;
  uint64_t value = message == 0x83 ? time : message == 0x81 ? w->launch->dispatch->id : 0;
  w->sgpr[inst->dst[0].index] = (uint32_t)value;
  if (inst->dst[0].dwords > 1) w->sgpr[inst->dst[0].index + 1] = (uint32_t)(value >> 32);
  return inst + 1;
}

// Waits, and hints that have no effect. NAME(mnemonic)
// clang-format off
#define WAITS(NAME)                                                                                                    \
  NAME(s_waitcnt)                                                                                                      \
  NAME(s_waitcnt_vscnt)                                                                                                \
  NAME(s_waitcnt_vmcnt)                                                                                                \
  NAME(s_waitcnt_expcnt)                                                                                               \
  NAME(s_waitcnt_lgkmcnt)                                                                                              \
  NAME(s_waitcnt_depctr)                                                                                               \
  NAME(s_wait_idle)                                                                                                    \
  NAME(s_wait_event) NAME(s_wait_loadcnt) NAME(s_wait_storecnt) NAME(s_wait_samplecnt) NAME(s_wait_bvhcnt)             \
      NAME(s_wait_expcnt) NAME(s_wait_dscnt) NAME(s_wait_kmcnt) NAME(s_wait_loadcnt_dscnt) NAME(s_wait_storecnt_dscnt) \
          NAME(s_wait_alu) NAME(s_wait_xcnt)
#define HINTS(NAME)                                                                                                    \
  NAME(s_nop)                                                                                                          \
  NAME(s_delay_alu)                                                                                                    \
  NAME(s_clause)                                                                                                       \
  NAME(s_sleep)                                                                                                        \
  NAME(s_sleep_var)                                                                                                    \
  NAME(s_setprio)                                                                                                      \
  NAME(s_inst_prefetch)                                                                                                \
  NAME(s_set_inst_prefetch_distance) NAME(s_icache_inv) NAME(s_ttracedata) NAME(s_ttracedata_imm) NAME(s_incperflevel) \
      NAME(s_decperflevel) NAME(s_version) NAME(s_wakeup) NAME(s_singleuse_vdst) NAME(v_nop)           \
          NAME(v_pipeflush) NAME(v_clrexcp) NAME(s_code_end)
// clang-format on

// clang-format off
static const inst_row_t rows[] = {
#define BRANCH(name, condition) INST_ROW(name, BRANCH, EXACT, run_##name, 0, INST_I32)
    BRANCHES(BRANCH)
#undef BRANCH
#define NAME(name) INST_ROW(name, WAIT, EXACT, run_none, 0, INST_NONE)
    WAITS(NAME)
#undef NAME
#define NAME(name) INST_ROW(name, HINT, HINT, run_none, 0, INST_NONE)
    HINTS(NAME)
#undef NAME
    INST_ROW(s_rfe_b64, BRANCH, EXACT, run_setpc, 0, INST_B64)
    INST_ROW(s_rfe_restore_b64, BRANCH, EXACT, run_setpc, 0, INST_B64)
    INST_ROW(s_subvector_loop_begin, BRANCH, EXACT, run_subvector_begin, 1, INST_B32)
    INST_ROW(s_subvector_loop_end, BRANCH, EXACT, run_subvector_end, 1, INST_B32)
    INST_ROW(s_cbranch_g_fork, BRANCH, EXACT, run_g_fork, 0, INST_B64)
    INST_ROW(s_cbranch_i_fork, BRANCH, EXACT, run_i_fork, 0, INST_B64)
    INST_ROW(s_cbranch_join, BRANCH, EXACT, run_join, 0, INST_B32)
    INST_ROW(s_setpc_b64, BRANCH, EXACT, run_setpc, 0, INST_B64)
    INST_ROW(s_swappc_b64, BRANCH, EXACT, run_swappc, 1, INST_B64)
    INST_ROW(s_getpc_b64, SALU, EXACT, run_getpc, 1, INST_B64)
    INST_ROW(s_call_b64, BRANCH, EXACT, run_call, 1, INST_B64)
    INST_ROW(s_endpgm, BRANCH, EXACT, run_endpgm, 0, INST_NONE)
    INST_ROW(s_endpgm_saved, BRANCH, EXACT, run_endpgm, 0, INST_NONE)
    INST_ROW(s_endpgm_ordered_ps_done, BRANCH, EXACT, run_endpgm, 0, INST_NONE)
    INST_ROW(s_trap, MESSAGE, EXACT, run_trap, 0, INST_NONE)
    INST_ROW(s_sethalt, MESSAGE, EXACT, run_sethalt, 0, INST_NONE)
    INST_ROW(s_sendmsg, MESSAGE, HINT, run_none, 0, INST_NONE)
    INST_ROW(s_sendmsghalt, MESSAGE, EXACT, run_sendmsghalt, 0, INST_NONE)
    INST_ROW(s_setkill, MESSAGE, EXACT, run_setkill, 0, INST_NONE)
    INST_ROW(s_sendmsg_rtn_b32, SALU, APPROXIMATE, run_sendmsg_rtn, 1, INST_B32)
    INST_ROW(s_sendmsg_rtn_b64, SALU, APPROXIMATE, run_sendmsg_rtn, 1, INST_B64)
};
// clang-format on
const inst_table_t control_table = {rows, sizeof(rows) / sizeof(rows[0])};
