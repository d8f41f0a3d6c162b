// How many waves of a kernel a SIMD would hold at once: what vector and scalar registers, workgroup memory and the size
// of a workgroup leave. Numbers by generation are those of LLVM's AMDGPU backend (AMDGPUBaseInfo).
#include "softgpu/kernel.h"

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint32_t round_up(uint32_t value, uint32_t granule) { return (value + granule - 1) / granule * granule; }

// Waves of a SIMD.
static uint32_t most_waves(const isa_target_t* t) {
  if (isa_has_unified_registers(t)) return 8;
  if (t->major == 9) return 10;
  return t->major == 10 && t->minor < 3 ? 20 : 16;
}

// gfx1100 and its like, and gfx12, have half as many vector registers again.
static bool has_more_registers(const isa_target_t* t) {
  return t->major == 12 || (t->major == 11 && (t->minor == 5 ? t->stepping == 1 : t->stepping < 2));
}

static uint32_t by_vector_registers(const launch_t* launch) {
  const isa_target_t* t = launch->target;
  if (t->major == 9) {
    bool unified = isa_has_unified_registers(t);
    return (unified ? 512u : 256u) / round_up(launch->registers, unified ? 8 : 4);
  }
  bool more = has_more_registers(t);
  uint32_t granule = more ? 12 : t->major == 10 && t->minor < 3 ? 4 : 8, all = more ? 768 : 512;
  uint32_t factor = launch->lanes == 32 ? 2 : 1;
  return factor * all / round_up(launch->registers, factor * granule);
}

static uint32_t by_scalar_registers(const launch_t* launch) {
  if (launch->target->major != 9) return UINT32_MAX;
  uint32_t count = ((launch->rsrc1 >> 6 & 15) + 1) * 8;
  return 800 / round_up(count, 16);
}

// Workgroup memory and workgroups are of four SIMDs: a compute unit's before gfx10, then a pair's.
static uint32_t by_workgroup(const launch_t* launch, uint32_t waves, uint32_t most) {
  uint32_t memory = launch->target->lds_kib * 1024u * (launch->target->major == 9 ? 1 : 2), groups = 4 * most / waves;
  if (launch->lds_size) groups = least(groups, memory / round_up(launch->lds_size, 512));
  return least(most, (groups * waves + 3) / 4);
}

static uint32_t waves_of_group(const launch_t* launch) {
  uint32_t items = launch->size[0] * launch->size[1] * launch->size[2];
  return (items + launch->lanes - 1) / launch->lanes;
}

uint32_t occupancy_of(const launch_t* launch) {
  uint32_t most = most_waves(launch->target);
  uint32_t held = least(least(most, by_vector_registers(launch)), by_scalar_registers(launch));
  return least(held, by_workgroup(launch, waves_of_group(launch), most));
}

void occupancy_count(const launch_t* launch, engine_counters_t* counters) {
  uint64_t groups = (uint64_t)launch->groups[0] * launch->groups[1] * launch->groups[2];
  uint64_t all = groups * waves_of_group(launch);
  counters->held += all * occupancy_of(launch);
  counters->held_most += all * most_waves(launch->target);
}
