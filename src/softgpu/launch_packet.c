// From an AQL packet and a kernel descriptor to a launch. Source: LLVM's "User Guide for AMDGPU Backend", Kernel
// Descriptor.
#include "softgpu/kernel.h"

// hsa_kernel_dispatch_packet_t
typedef struct launch_packet_t {
  uint16_t header, setup;
  uint16_t workgroup[3], reserved0;
  uint32_t grid[3];
  uint32_t private_size, group_size;
  uint64_t kernel, kernarg, reserved1, signal;
} launch_packet_t;

static bool put_sizes(launch_t* launch, const launch_packet_t* packet, engine_fault_t* fault) {
  uint32_t dimensions = packet->setup & 3;
  for (uint32_t i = 0; i < 3; ++i) {
    bool used = i < dimensions;
    uint32_t size = used || packet->workgroup[i] ? packet->workgroup[i] : 1;
    uint32_t grid = used || packet->grid[i] ? packet->grid[i] : 1;
    if (!size || !grid) {
      return launch_refuse(fault, packet->kernel, "dispatch of %llu x %llu..., an empty grid or workgroup", grid, size);
    }
    launch->size[i] = size, launch->grid[i] = grid;
    launch->groups[i] = (uint32_t)(((uint64_t)grid + size - 1) / size);
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

static bool put_preloaded(launch_t* launch, const launch_packet_t* packet, uint32_t bits, engine_fault_t* fault) {
  uint32_t room = LAUNCH_USER_REGISTERS - launch->user_count;
  preload_t from = {launch->user + launch->user_count, packet->kernarg + 4 * (bits >> 7), bits & 127};
  if (from.dwords > LAUNCH_USER_REGISTERS) {
    return launch_refuse(fault, packet->kernel, "kernel descriptor: %llu preloaded registers; at most %llu are there",
                         from.dwords, LAUNCH_USER_REGISTERS);
  }
  if (from.dwords > room) from.dwords = room;
  launch->user_count += from.dwords;
  return !from.dwords || run_guarded(copy_preloaded, &from) ||
         launch_refuse(fault, packet->kernel, "arguments to preload at 0x%llx, where nothing is%.0llu", from.from, 0);
}

static uint8_t put_pair(launch_t* launch, uint64_t value) {
  uint8_t at = launch->user_count;
  launch->user[at] = (uint32_t)value;
  launch->user[at + 1] = (uint32_t)(value >> 32);
  launch->user_count += 2;
  return at;
}

// User SGPRs, in the order of the descriptor's property bits.
static bool put_user_registers(launch_t* launch, const launch_packet_t* packet, const kernel_descriptor_t* descriptor,
                               engine_fault_t* fault) {
  uint32_t wants = descriptor->properties;
  if (wants & 1) launch->scratch_descriptor = 0, launch->user_count = 4;
  if (wants & 2) put_pair(launch, (uint64_t)packet);
  if (wants & 4) put_pair(launch, (uint64_t)launch->dispatch->queue);
  if (wants & 8) put_pair(launch, packet->kernarg);
  if (wants & 16) put_pair(launch, launch->dispatch->id);
  if (wants & 32) launch->scratch_address = put_pair(launch, 0);
  if (wants & 64) launch->user[launch->user_count++] = launch->scratch_size;
  if (!put_preloaded(launch, packet, descriptor->kernarg_preload, fault)) return false;
  uint32_t count = descriptor->rsrc2 >> 1 & 31;
  if (count > launch->user_count) launch->user_count = (uint8_t)count;
  return true;
}

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

bool launch_from_packet(launch_t* launch, engine_fault_t* fault) {
  const launch_packet_t* packet = launch->dispatch->packet;
  memory_range_t range;
  memory_map_t* memory = launch->engine->options.memory;
  if (packet->kernel % 64 || (memory && (!memory_map_find(memory, packet->kernel, &range) ||
                                         packet->kernel + sizeof(kernel_descriptor_t) > range.base + range.size))) {
    return launch_refuse(fault, packet->kernel,
                         "kernel object 0x%llx is no kernel descriptor in memory of the GPU%.0llu", packet->kernel, 0);
  }
  kernel_t kernel;
  if (!code_find_kernel(launch->engine, packet->kernel, &kernel, fault)) return false;
  const kernel_descriptor_t* descriptor = &kernel.descriptor;
  launch->entry = kernel.entry, launch->lanes = kernel.lanes;
  launch->rsrc1 = descriptor->rsrc1, launch->rsrc2 = descriptor->rsrc2;
  launch->lds_size = larger(packet->group_size, descriptor->group_segment_size);
  launch->scratch_size = larger(packet->private_size, descriptor->private_segment_size);
  // A dynamic stack (bit 11) may need more than is known here.
  if (descriptor->properties >> 11 & 1) launch->scratch_size = larger(launch->scratch_size, 16384);
  return put_sizes(launch, packet, fault) && put_user_registers(launch, packet, descriptor, fault);
}
