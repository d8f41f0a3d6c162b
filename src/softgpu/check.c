// Which checks run when.
#include "softgpu/check.h"

#include "softgpu/check_group.h"
#include "softgpu/check_undefined.h"

enum { CHECK_OF_ORDER = ENGINE_CHECK_WAITS | ENGINE_CHECK_RACES };

bool check_start_group(group_t* group) {
  uint32_t checks = group->launch->checks;
  bool tracks = group->launch->tracks_undefined;
  if ((checks & CHECK_OF_ORDER || tracks) && !check_group_start(group)) return false;
  for (uint32_t i = 0; tracks && i < group->wave_count; ++i) {
    if (!check_undefined_start(&group->waves[i])) return false;
  }
  for (uint32_t i = 0; checks & CHECK_OF_ORDER && i < group->wave_count; ++i) {
    if (!check_waits_start(&group->waves[i])) return false;
  }
  return true;
}

void check_free_group(group_t* group) {
  check_group_free(group);
  for (uint32_t i = 0; i < group->wave_count; ++i) {
    check_waits_free(&group->waves[i]);
    check_undefined_free(&group->waves[i]);
  }
}

// Cache operations are what fences leave in the code.
static bool is_fence(const inst_t* inst) {
  const char* name = inst->row->name;
  return inst->row->klass == INST_CLASS_HINT && (strncmp(name, "buffer_", 7) == 0 || strncmp(name, "global_", 7) == 0);
}

static bool touches_memory(const inst_t* inst) {
  inst_class_t klass = inst->row->klass;
  return klass == INST_CLASS_LDS || klass == INST_CLASS_FLAT ||
         ((klass == INST_CLASS_LOAD || klass == INST_CLASS_STORE) && strncmp(inst->row->name, "scratch_", 8) != 0);
}

// A barrier in a branch that part of a wave took: the other lanes go on after it. Lanes that have returned do not, and
// a wave whose lanes all stay away steps over its barriers with none.
static bool check_barrier(wave_t* w, const inst_t* inst) {
  uint64_t exec = wave_exec(w), late = w->missed & exec;
  if (late && touches_memory(inst)) {
    wave_fault(w, w->barrier, ENGINE_FAULT_CHECK, w->barrier->address,
               "barrier: lane %d goes on after it and was not there, as lanes 0x%llx of the wave",
               __builtin_ctzll(late), (unsigned long long)(w->begun & ~w->missed));
    return false;
  }
  if (inst->row->klass == INST_CLASS_BARRIER) w->missed = exec ? w->begun & ~exec : 0, w->barrier = inst;
  return true;
}

bool check_before(wave_t* wave, const inst_t* inst) {
  if (wave->launch->checks & ENGINE_CHECK_BARRIERS && !check_barrier(wave, inst)) return false;
  if (wave->launch->check && is_fence(inst)) check_global_order(wave);
  if (wave->launch->checks & CHECK_OF_ORDER && !check_waits_before(wave, inst)) return false;
  return !wave->undefined || check_undefined_before(wave, inst);
}

void check_after(wave_t* wave, const inst_t* inst) {
  if (wave->launch->checks & CHECK_OF_ORDER) check_waits_after(wave, inst);
}
