// From an AQL packet and a kernel descriptor to the registers that a wave begins with. Source: LLVM's "User Guide for
// AMDGPU Backend", Initial Kernel Execution State.
#include <stdio.h>

#include "softgpu/kernel.h"

// hsa_kernel_dispatch_packet_t
typedef struct launch_packet_t {
  uint16_t header, setup;
  uint16_t workgroup[3], reserved0;
  uint32_t grid[3];
  uint32_t private_size, group_size;
  uint64_t kernel, kernarg, reserved1, signal;
} launch_packet_t;

static bool refuse(engine_fault_t* fault, uint64_t address, const char* format, unsigned long long a,
                   unsigned long long b) {
  fault->kind = ENGINE_FAULT_INVALID_KERNEL;
  fault->address = address;
  snprintf(fault->message, sizeof(fault->message), format, a, b);
  return false;
}

static bool check_packet(const launch_t* launch, const launch_packet_t* packet, engine_fault_t* fault) {
  uint64_t items = 1;
  for (int i = 0; i < 3; ++i) {
    if (!launch->size[i] || !launch->grid[i]) {
      return refuse(fault, packet->kernel, "dispatch of %llu x %llu..., an empty grid or workgroup", launch->grid[i],
                    launch->size[i]);
    }
    items *= launch->size[i];
  }
  if (items > 1024) {
    return refuse(fault, packet->kernel, "a workgroup of %llu work-items; at most %llu fit", items, 1024);
  }
  if (launch->lds_size > launch->target->lds_kib * 1024u) {
    return refuse(fault, packet->kernel, "%llu bytes of workgroup memory; the target has %llu", launch->lds_size,
                  launch->target->lds_kib * 1024u);
  }
  uint32_t registers = launch->kernel->registers;
  if (registers > launch->target->registers) {
    return refuse(fault, packet->kernel, "kernel descriptor: %llu vector registers; the target has %llu", registers,
                  launch->target->registers);
  }
  if (launch->scratch_size > 1 << 20) {
    return refuse(fault, packet->kernel, "%llu bytes of scratch for each work-item; at most %llu are given",
                  launch->scratch_size, 1 << 20);
  }
  return true;
}

// Arguments are anyone's address: copied where a bad one does not end the process.
typedef struct preload_t {
  uint32_t* to;
  uint64_t from;
  uint32_t dwords;
} preload_t;

static void copy_preloaded(void* data) {
  const preload_t* preload = data;
  memcpy(preload->to, (const void*)preload->from, 4 * preload->dwords);
}

static bool preload(launch_t* launch, const launch_packet_t* packet, engine_fault_t* fault) {
  uint32_t bits = launch->kernel->descriptor.kernarg_preload, most = sizeof(launch->preloaded) / 4;
  preload_t from = {launch->preloaded, packet->kernarg + 4 * (bits >> 7), bits & 127};
  if (from.dwords > most) {
    return refuse(fault, packet->kernel, "kernel descriptor: %llu preloaded registers; at most %llu are there",
                  from.dwords, most);
  }
  return !from.dwords || run_guarded(copy_preloaded, &from) ||
         refuse(fault, packet->kernel, "arguments to preload at 0x%llx, where nothing is%.0llu", from.from, 0);
}

bool launch_prepare(launch_t* launch, engine_fault_t* fault) {
  const launch_packet_t* packet = launch->dispatch->packet;
  memory_range_t range;
  memory_map_t* memory = launch->engine->options.memory;
  if (packet->kernel % 64 || (memory && (!memory_map_find(memory, packet->kernel, &range) ||
                                         packet->kernel + sizeof(kernel_descriptor_t) > range.base + range.size))) {
    return refuse(fault, packet->kernel, "kernel object 0x%llx is no kernel descriptor in memory of the GPU%.0llu",
                  packet->kernel, 0);
  }
  launch->kernel = code_find_kernel(launch->engine, packet->kernel, fault);
  if (!launch->kernel) return false;
  const kernel_descriptor_t* descriptor = &launch->kernel->descriptor;
  uint32_t dimensions = packet->setup & 3;
  for (uint32_t i = 0; i < 3; ++i) {
    bool used = i < dimensions;
    launch->size[i] = used || packet->workgroup[i] ? packet->workgroup[i] : 1;
    launch->grid[i] = used || packet->grid[i] ? packet->grid[i] : 1;
    if (launch->size[i])
      launch->groups[i] = (uint32_t)(((uint64_t)launch->grid[i] + launch->size[i] - 1) / launch->size[i]);
  }
  launch->lanes = launch->kernel->lanes;
  launch->lds_size =
      packet->group_size > descriptor->group_segment_size ? packet->group_size : descriptor->group_segment_size;
  launch->scratch_size =
      packet->private_size > descriptor->private_segment_size ? packet->private_size : descriptor->private_segment_size;
  // A dynamic stack (bit 11) may need more than is known here.
  if (descriptor->properties >> 11 & 1 && launch->scratch_size < 16384) launch->scratch_size = 16384;
  launch->checks = launch->engine->options.checks;
  launch->counts = launch->engine->options.counts;
  launch->instrumented = launch->checks || launch->counts;
  if (!check_packet(launch, packet, fault)) return false;
  launch->scratch_size = (launch->scratch_size + 15) & ~15u;
  return preload(launch, packet, fault);
}

static uint32_t put_pair(wave_t* w, uint32_t at, uint64_t value) {
  wave_set_pair(w, at, value);
  return at + 2;
}

// Buffer descriptor of scratch: swizzled by dwords over the lanes of a wave, no bound.
static uint32_t put_scratch_descriptor(wave_t* w, uint32_t at) {
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
  return at + 4;
}

// User SGPRs, in the order of the descriptor's property bits.
static uint32_t put_user_registers(wave_t* w) {
  const launch_t* launch = w->launch;
  const launch_packet_t* packet = launch->dispatch->packet;
  const kernel_descriptor_t* descriptor = &launch->kernel->descriptor;
  uint32_t wants = descriptor->properties, at = 0;
  if (wants & 1) at = put_scratch_descriptor(w, at);
  if (wants & 2) at = put_pair(w, at, (uint64_t)packet);
  if (wants & 4) at = put_pair(w, at, (uint64_t)launch->dispatch->queue);
  if (wants & 8) at = put_pair(w, at, packet->kernarg);
  if (wants & 16) at = put_pair(w, at, launch->dispatch->id);
  if (wants & 32) at = put_pair(w, at, (uint64_t)w->scratch);
  if (wants & 64) w->sgpr[at++] = launch->scratch_size;
  for (uint32_t i = 0; i < (descriptor->kernarg_preload & 127u) && at < 32; ++i) w->sgpr[at++] = launch->preloaded[i];
  uint32_t count = descriptor->rsrc2 >> 1 & 31;
  return count > at ? count : at;
}

static void put_system_registers(wave_t* w, uint32_t at) {
  const uint32_t* id = w->group->id;
  uint32_t rsrc2 = w->launch->kernel->descriptor.rsrc2;
  if (isa_has_architected_ids(w->target)) {
    w->sgpr[SREG_TTMP + 9] = id[0];
    w->sgpr[SREG_TTMP + 7] = (id[1] & 0xffff) | id[2] << 16;
    w->sgpr[SREG_TTMP + 8] = w->index << 25;
    return;
  }
  for (uint32_t i = 0; i < 3; ++i) {
    if (rsrc2 >> (7 + i) & 1) w->sgpr[at++] = id[i];
  }
  if (rsrc2 >> 10 & 1) w->sgpr[at++] = w->index | w->group->wave_count << 6 | (uint32_t)(w->index == 0) << 31;
  // The scratch descriptor is the wave's own already.
  if ((rsrc2 & 1) && !isa_has_architected_scratch(w->target)) w->sgpr[at++] = 0;
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
  uint32_t ids = launch->kernel->descriptor.rsrc2 >> 11 & 3, first = w->index * w->lanes;
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
  wave_set_mask(w, SREG_EXEC, mask);
}

static void start_wave(launch_t* launch, group_t* group, uint32_t index) {
  wave_t* w = &group->waves[index];
  uint32_t* vgpr = w->vgpr;
  check_wave_t* check = w->check;
  memset(w, 0, sizeof(*w));
  w->vgpr = vgpr, w->check = check;
  w->index = index, w->slot = index, w->lanes = launch->lanes;
  w->all = launch->lanes == 64 ? UINT64_MAX : UINT32_MAX;
  w->group = group, w->launch = launch, w->target = launch->target;
  w->scratch_size = launch->scratch_size;
  w->scratch = group->scratch + (size_t)index * launch->scratch_size * launch->lanes;
  w->pc = launch->kernel->entry;
  uint32_t rsrc1 = launch->kernel->descriptor.rsrc1;
  uint32_t clamp = rsrc1 >> 21 & 1, ieee = rsrc1 >> 23 & 1;
  if (launch->target->major >= 12) clamp = 1, ieee = 0;
  wave_set_mode(w, (rsrc1 >> 12 & 0xff) | clamp << 8 | ieee << 9 | (rsrc1 >> 26 & 1) << 23);
  put_system_registers(w, put_user_registers(w));
  wave_set_pair(w, SREG_SHARED_BASE, WAVE_SHARED_BASE);
  wave_set_pair(w, SREG_SHARED_LIMIT, WAVE_SHARED_BASE + WAVE_APERTURE_SIZE - 1);
  wave_set_pair(w, SREG_PRIVATE_BASE, WAVE_PRIVATE_BASE);
  wave_set_pair(w, SREG_PRIVATE_LIMIT, WAVE_PRIVATE_BASE + WAVE_APERTURE_SIZE - 1);
  w->sgpr[SREG_M0] = launch->lds_size;
  put_lanes(w);
}

void launch_start_group(launch_t* launch, group_t* group, uint64_t number) {
  group->launch = launch;
  group->id[0] = (uint32_t)(number % launch->groups[0]);
  group->id[1] = (uint32_t)(number / launch->groups[0] % launch->groups[1]);
  group->id[2] = (uint32_t)(number / launch->groups[0] / launch->groups[1]);
  group->arrived = group->ended = group->barrier_phase = 0;
  group->lds_size = launch->lds_size;
  for (uint32_t i = 0; i < group->wave_count; ++i) start_wave(launch, group, i);
}
