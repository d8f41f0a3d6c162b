// Barriers: the workgroup's, which gfx12 splits into a signal and a wait, and gfx12's named ones.
//
// A barrier counts signals. With as many as it has members it opens: its count starts again, and each member that waits
// goes on; one that comes later finds that it opened, once. Members of the workgroup's barrier are its waves that have
// not ended; of a named one the waves that joined it, whose number the program sets. A wave is member of one named
// barrier at a time, but signals any.
#include "softgpu/kernel.h"

// What a wave waits for, as bits of wave->opened and wave->awaited.
enum { BARRIER_NAMED = 1, BARRIER_WORKGROUP = 2 };

// How instructions name barriers: 0 is none, 1 to GROUP_BARRIERS named ones.
enum { NUMBER_NONE = 0, NUMBER_WORKGROUP = -1, NUMBER_TRAP = -2 };

static void open_for(group_t* group, uint32_t kind, uint32_t number) {
  ++group->barrier_phase;
  for (uint32_t i = 0; i < group->wave_count; ++i) {
    wave_t* w = &group->waves[i];
    if (kind == BARRIER_NAMED && w->joined != number) continue;
    if (w->state == WAVE_BARRIER && w->awaited == kind) {
      w->state = WAVE_RUNNING;
    } else {
      w->opened |= kind;
    }
  }
}

static void open_workgroup(group_t* group) {
  if (!group->arrived || group->arrived < group->wave_count - group->ended) return;
  group->arrived = 0;
  open_for(group, BARRIER_WORKGROUP, 0);
}

static void open_named(group_t* group, uint32_t number) {
  group_barrier_t* b = &group->named[number];
  if (!b->signals || b->signals < b->members) return;
  b->signals = 0;
  open_for(group, BARRIER_NAMED, number);
}

static const inst_t* wait_for(wave_t* w, const inst_t* inst, uint32_t kind) {
  if (w->opened & kind) return w->opened &= (uint8_t)~kind, inst + 1;
  w->state = WAVE_BARRIER;
  w->awaited = (uint8_t)kind;
  w->pc = inst + 1;
  return NULL;
}

static void signal_workgroup(wave_t* w) {
  ++w->group->arrived;
  open_workgroup(w->group);
}

void barrier_end_wave(wave_t* w) {
  ++w->group->ended;
  open_workgroup(w->group);
}

void barrier_start_group(group_t* group) { memset(group->named, 0, sizeof(group->named)); }

// The number that an instruction with one scalar source means: a constant of its encoding, or M0, which holds the
// number of members above it; 0 there leaves them as they are. False after wave_fault.
static bool read_number(wave_t* w, const inst_t* inst, int32_t* number, uint32_t* members) {
  uint32_t source = inst->encoding[0] & 255, m0 = w->sgpr[SREG_M0];
  bool is_m0 = source == 125;
  *number = is_m0 ? (int32_t)(m0 & 63) : source >= 193 ? 192 - (int32_t)source : (int32_t)source - 128;
  *members = is_m0 ? m0 >> 16 & 127 : 0;
  if (*number >= NUMBER_TRAP && *number <= GROUP_BARRIERS) return true;
  return wave_fault(w, inst, ENGINE_FAULT_ILLEGAL_INSTRUCTION, inst->address, "there is no barrier %d", *number), false;
}

static const inst_t* run_barrier(wave_t* w, const inst_t* inst) {
  signal_workgroup(w);
  return wait_for(w, inst, BARRIER_WORKGROUP);
}

static const inst_t* run_signal(wave_t* w, const inst_t* inst, bool tells_first) {
  int32_t number;
  uint32_t members;
  if (!read_number(w, inst, &number, &members)) return NULL;
  // Signals for the barrier of trap handlers, and for none, are lost.
  if (number == NUMBER_TRAP || number == NUMBER_NONE) return inst + 1;
  group_barrier_t* b = number > 0 ? &w->group->named[number] : NULL;
  if (tells_first) w->sgpr[SREG_SCC] = !(b ? b->signals : w->group->arrived);
  if (!b) return signal_workgroup(w), inst + 1;
  if (members) b->members = (uint8_t)members;
  ++b->signals;
  open_named(w->group, (uint32_t)number);
  return inst + 1;
}
static const inst_t* run_barrier_signal(wave_t* w, const inst_t* inst) { return run_signal(w, inst, false); }
static const inst_t* run_barrier_signal_isfirst(wave_t* w, const inst_t* inst) { return run_signal(w, inst, true); }

// The immediate says of which kind; a named one is that which the wave joined.
static const inst_t* run_barrier_wait(wave_t* w, const inst_t* inst) {
  int16_t kind = (int16_t)inst->encoding[0];
  if (kind == NUMBER_WORKGROUP) return wait_for(w, inst, BARRIER_WORKGROUP);
  if (kind < 0 || !w->joined) return inst + 1;
  return wait_for(w, inst, BARRIER_NAMED);
}

static const inst_t* run_barrier_init(wave_t* w, const inst_t* inst) {
  int32_t number;
  uint32_t members;
  if (!read_number(w, inst, &number, &members)) return NULL;
  if (number <= 0) return inst + 1;
  group_barrier_t* b = &w->group->named[number];
  if (members) b->members = (uint8_t)members;
  b->signals = 0;
  return inst + 1;
}

static const inst_t* run_barrier_join(wave_t* w, const inst_t* inst) {
  int32_t number;
  uint32_t members;
  if (!read_number(w, inst, &number, &members)) return NULL;
  w->joined = number > 0 ? (uint8_t)number : 0;
  w->opened &= (uint8_t)~BARRIER_NAMED;
  return inst + 1;
}

// The barrier has one member less, and the others need not wait for it. SCC tells whether the wave was one.
static const inst_t* run_barrier_leave(wave_t* w, const inst_t* inst) {
  uint32_t number = w->joined;
  w->sgpr[SREG_SCC] = number != 0;
  if (!number) return inst + 1;
  group_barrier_t* b = &w->group->named[number];
  w->joined = 0;
  w->opened &= (uint8_t)~BARRIER_NAMED;
  if (b->members) --b->members;
  open_named(w->group, number);
  return inst + 1;
}

// Valid in bit 0, members in 10:4, signals in 22:16.
static const inst_t* run_get_barrier_state(wave_t* w, const inst_t* inst) {
  int32_t number;
  uint32_t unused, members = 0, signals = 0;
  if (!read_number(w, inst, &number, &unused)) return NULL;
  if (number == NUMBER_WORKGROUP) members = w->group->wave_count - w->group->ended, signals = w->group->arrived;
  if (number > 0) members = w->group->named[number].members, signals = w->group->named[number].signals;
  w->sgpr[inst->dst[0].index] = (members != 0) | (members & 127) << 4 | (signals & 127) << 16;
  return inst + 1;
}

// clang-format off
static const inst_row_t rows[] = {
    INST_ROW(s_barrier, BARRIER, EXACT, run_barrier, 0, INST_NONE)
    INST_ROW(s_barrier_signal, BARRIER, EXACT, run_barrier_signal, 0, INST_NONE)
    INST_ROW(s_barrier_signal_isfirst, BARRIER, EXACT, run_barrier_signal_isfirst, 0, INST_NONE)
    INST_ROW(s_barrier_wait, BARRIER, EXACT, run_barrier_wait, 0, INST_NONE)
    INST_ROW(s_barrier_init, MESSAGE, EXACT, run_barrier_init, 0, INST_NONE)
    INST_ROW(s_barrier_join, MESSAGE, EXACT, run_barrier_join, 0, INST_NONE)
    INST_ROW(s_barrier_leave, MESSAGE, APPROXIMATE, run_barrier_leave, 0, INST_NONE)
    INST_ROW(s_get_barrier_state, SMEM, EXACT, run_get_barrier_state, 1, INST_B32)
};
// clang-format on
const inst_table_t barrier_table = {rows, sizeof(rows) / sizeof(rows[0])};
