// The registers that a wave begins with. Source: LLVM's "User Guide for AMDGPU Backend", Initial Kernel Execution
// State.
#include <stdio.h>

#include "softgpu/kernel.h"

bool launch_refuse(engine_fault_t* fault, uint64_t address, const char* format, unsigned long long a,
                   unsigned long long b) {
  fault->kind = ENGINE_FAULT_INVALID_KERNEL;
  fault->address = address;
  snprintf(fault->message, sizeof(fault->message), format, a, b);
  return false;
}

// What a packet and registers ask for alike.
static bool check(const launch_t* launch, engine_fault_t* fault) {
  const isa_target_t* target = launch->target;
  uint64_t items = 1, groups = 1, address = launch->entry->address;
  for (int i = 0; i < 3; ++i) {
    items *= launch->size[i];
    if (__builtin_mul_overflow(groups, launch->groups[i], &groups) || groups > INT64_MAX) {
      return launch_refuse(fault, address, "more than %llu workgroups%.0llu", INT64_MAX, 0);
    }
  }
  if (items > 1024) {
    return launch_refuse(fault, address, "a workgroup of %llu work-items; at most %llu fit", items, 1024);
  }
  if (launch->lds_size > target->lds_kib * 1024u) {
    return launch_refuse(fault, address, "%llu bytes of workgroup memory; the target has %llu", launch->lds_size,
                         target->lds_kib * 1024u);
  }
  if (launch->registers > target->registers) {
    return launch_refuse(fault, address, "%llu vector registers; the target has %llu", launch->registers,
                         target->registers);
  }
  if (launch->scratch_size > 1 << 20) {
    return launch_refuse(fault, address, "%llu bytes of scratch for each work-item; at most %llu are given",
                         launch->scratch_size, 1 << 20);
  }
  return true;
}

bool launch_prepare(launch_t* launch, engine_fault_t* fault) {
  const engine_options_t* options = &launch->engine->options;
  launch->scratch_descriptor = launch->scratch_address = LAUNCH_NO_REGISTER;
  launch->checks = options->checks & ~(uint32_t)ENGINE_CHECK_UNINITIALIZED;
  launch->tracks_undefined = options->checks & ENGINE_CHECK_UNINITIALIZED;
  launch->stalls = __atomic_load_n(&launch->engine->counting, __ATOMIC_ACQUIRE) > 0;
  launch->counts = options->counts || launch->stalls;
  launch->traces = launch->stalls || __atomic_load_n(&launch->engine->tracing, __ATOMIC_ACQUIRE);
  launch->instrumented = options->checks || launch->counts || launch->traces;
  bool filled = launch->dispatch->packet ? launch_from_packet(launch, fault) : launch_from_registers(launch, fault);
  if (!filled) return false;
  uint32_t granule = isa_has_unified_registers(launch->target) || launch->lanes == 32 ? 8 : 4;
  launch->registers = ((launch->rsrc1 & 63) + 1) * granule;
  if (!check(launch, fault)) return false;
  launch->scratch_size = (launch->scratch_size + 15) & ~15u;
  return true;
}

// Buffer descriptor of scratch: swizzled by dwords over the lanes of a wave, no bound.
static void put_scratch_descriptor(wave_t* w, uint32_t at) {
  uint64_t base = (uint64_t)w->scratch;
  uint32_t index_stride = w->lanes == 64 ? 3 : 2;
  bool gfx9 = w->target->major <= 9;
  w->sgpr[at] = (uint32_t)base;
  w->sgpr[at + 1] = (uint32_t)(base >> 32 & 0xffff) | 1u << 31;
  w->sgpr[at + 2] = UINT32_MAX;
  w->sgpr[at + 3] = index_stride << 21 | 1u << 23 |
                    (gfx9                     ? 1u << 19
                     : w->target->major == 10 ? 22u << 12 | 3u << 28
                                              : 0);
}

static void put_user_registers(wave_t* w) {
  const launch_t* launch = w->launch;
  memcpy(w->sgpr, launch->user, launch->user_count * sizeof(uint32_t));
  if (launch->scratch_descriptor != LAUNCH_NO_REGISTER) put_scratch_descriptor(w, launch->scratch_descriptor);
  if (launch->scratch_address != LAUNCH_NO_REGISTER) wave_set_pair(w, launch->scratch_address, (uint64_t)w->scratch);
}

// Gives the number of scalar registers that are set up.
static uint32_t put_system_registers(wave_t* w, uint32_t at) {
  const uint32_t* id = w->group->id;
  uint32_t rsrc2 = w->launch->rsrc2;
  if (isa_has_architected_ids(w->target)) {
    w->sgpr[SREG_TTMP + 9] = id[0];
    w->sgpr[SREG_TTMP + 7] = (id[1] & 0xffff) | id[2] << 16;
    w->sgpr[SREG_TTMP + 8] = w->index << 25;
    return at;
  }
  for (uint32_t i = 0; i < 3; ++i) {
    if (rsrc2 >> (7 + i) & 1) w->sgpr[at++] = id[i];
  }
  if (rsrc2 >> 10 & 1) w->sgpr[at++] = w->index | w->group->wave_count << 6 | (uint32_t)(w->index == 0) << 31;
  // The scratch descriptor is the wave's own already.
  if ((rsrc2 & 1) && !isa_has_architected_scratch(w->target)) w->sgpr[at++] = 0;
  return at;
}

// The next work-item of a workgroup, x first.
static inline void next_item(const uint32_t* size, uint32_t* id) {
  if (++id[0] < size[0]) return;
  id[0] = 0;
  if (++id[1] < size[1]) return;
  id[1] = 0;
  ++id[2];
}

// Work-item ids and the lanes that have one.
static void put_lanes(wave_t* w) {
  const launch_t* launch = w->launch;
  const uint32_t* size = launch->size;
  bool packed = isa_packs_ids(w->target);
  uint32_t ids = launch->rsrc2 >> 11 & 3, first = w->index * w->lanes;
  uint32_t count = size[0] * size[1] * size[2] - first;
  uint32_t id[3] = {first % size[0], first / size[0] % size[1], first / size[0] / size[1]};
  // Of the last workgroups, part may lie outside the grid.
  uint32_t inside[3];
  for (int i = 0; i < 3; ++i) {
    uint64_t left = launch->grid[i] - (uint64_t)w->group->id[i] * size[i];
    inside[i] = left < size[i] ? (uint32_t)left : size[i];
  }
  uint64_t mask = 0;
  for (uint32_t lane = 0; lane < w->lanes; ++lane, next_item(size, id)) {
    bool is_there = lane < count && id[0] < inside[0] && id[1] < inside[1] && id[2] < inside[2];
    mask |= (uint64_t)is_there << lane;
    if (packed) {
      w->vgpr[lane] = (id[0] & 1023) | (id[1] & 1023) << 10 | (id[2] & 1023) << 20;
    } else {
      for (uint32_t i = 0; i <= ids && i < 3; ++i) w->vgpr[i * w->lanes + lane] = id[i];
    }
  }
  w->begun = mask;
  w->begun_vectors = (uint8_t)(packed ? 1 : ids < 2 ? ids + 1 : 3);
  wave_set_mask(w, SREG_EXEC, mask);
}

static void start_wave(launch_t* launch, group_t* group, uint32_t index) {
  wave_t* w = &group->waves[index];
  uint32_t* vgpr = w->vgpr;
  check_wave_t* check = w->check;
  check_undefined_t* undefined = w->undefined;
  memset(w, 0, sizeof(*w));
  w->vgpr = vgpr, w->check = check, w->undefined = undefined;
  w->index = index, w->slot = index, w->lanes = launch->lanes;
  w->all = launch->lanes == 64 ? UINT64_MAX : UINT32_MAX;
  w->group = group, w->launch = launch, w->target = launch->target;
  w->scratch_size = launch->scratch_size;
  w->scratch = group->scratch + (size_t)index * launch->scratch_size * launch->lanes;
  w->pc = launch->entry;
  uint32_t rsrc1 = launch->rsrc1;
  uint32_t clamp = rsrc1 >> 21 & 1, ieee = rsrc1 >> 23 & 1;
  if (launch->target->major >= 12) clamp = 1, ieee = 0;
  wave_set_mode(w, (rsrc1 >> 12 & 0xff) | clamp << 8 | ieee << 9 | (rsrc1 >> 26 & 1) << 23);
  put_user_registers(w);
  w->begun_scalars = (uint8_t)put_system_registers(w, launch->user_count);
  wave_set_pair(w, SREG_SHARED_BASE, WAVE_SHARED_BASE);
  wave_set_pair(w, SREG_SHARED_LIMIT, WAVE_SHARED_BASE + WAVE_APERTURE_SIZE - 1);
  wave_set_pair(w, SREG_PRIVATE_BASE, WAVE_PRIVATE_BASE);
  wave_set_pair(w, SREG_PRIVATE_LIMIT, WAVE_PRIVATE_BASE + WAVE_APERTURE_SIZE - 1);
  w->sgpr[SREG_M0] = launch->lds_size;
  put_lanes(w);
}

void launch_start_group(launch_t* launch, group_t* group, uint64_t number) {
  group->launch = launch;
  const uint32_t *first = launch->first, *groups = launch->groups;
  group->id[0] = first[0] + (uint32_t)(number % groups[0]);
  group->id[1] = first[1] + (uint32_t)(number / groups[0] % groups[1]);
  group->id[2] = first[2] + (uint32_t)(number / groups[0] / groups[1]);
  group->arrived = group->ended = group->barrier_phase = 0;
  group->lds_size = launch->lds_size;
  for (uint32_t i = 0; i < group->wave_count; ++i) start_wave(launch, group, i);
}
