// From the registers of a PM4 dispatch to a launch. Source: the registers of the Linux kernel's amdgpu driver
// (gc_*_sh_mask.h), and LLVM's "User Guide for AMDGPU Backend" for the fields of the resource registers.
//
// Registers say all that a kernel descriptor would. Masks of compute units and limits of waves have no effect here.
// Scratch is the wave's own as ever: where hardware knows its place (gfx940 and gfx11 on), TMPRING_SIZE gives the size;
// elsewhere the kernel would find it by registers that the program made for one place in memory, which is refused.
#include "softgpu/kernel.h"

// DISPATCH_INITIATOR
enum {
  COMPUTE_SHADER_EN = 1 << 0,
  PARTIAL_TG_EN = 1 << 1,
  FORCE_START_AT_000 = 1 << 2,
  USE_THREAD_DIMENSIONS = 1 << 5,
  // In which order workgroups begin, what is cached, how the command processor goes on: no effect here.
  ORDER_MODE = 1 << 6,
  SCALAR_L1_INV_VOL = 1 << 10,
  VECTOR_L1_INV_VOL = 1 << 11,
  TUNNEL_ENABLE = 1 << 13,
  CS_W32_EN = 1 << 15,
  DISABLE_PREEMPTION = 1 << 17,
  KNOWN_BITS = COMPUTE_SHADER_EN | PARTIAL_TG_EN | FORCE_START_AT_000 | USE_THREAD_DIMENSIONS | ORDER_MODE |
               SCALAR_L1_INV_VOL | VECTOR_L1_INV_VOL | TUNNEL_ENABLE | CS_W32_EN | DISABLE_PREEMPTION,
};

static bool check_initiator(const launch_t* launch, uint32_t bits, uint64_t entry, engine_fault_t* fault) {
  uint32_t known = isa_has_wave32(launch->target) ? KNOWN_BITS : KNOWN_BITS & ~(uint32_t)CS_W32_EN;
  if (bits & ~known) {
    return launch_refuse(fault, entry, "PM4 dispatch: DISPATCH_INITIATOR 0x%llx: bits 0x%llx are not supported", bits,
                         bits & ~known);
  }
  return bits & COMPUTE_SHADER_EN ||
         launch_refuse(fault, entry, "PM4 dispatch: DISPATCH_INITIATOR 0x%llx without COMPUTE_SHADER_EN%.0llu", bits,
                       0);
}

// One dimension: work-items of a workgroup, the first and number of workgroups, work-items of the grid. The dimension's
// register is where it ends, not how much there is.
static bool put_dimension(launch_t* launch, uint32_t i, engine_fault_t* fault) {
  const engine_registers_t* r = launch->dispatch->registers;
  uint64_t entry = r->program << 8, size = r->threads[i] & 0xffff, partial = r->threads[i] >> 16, end = r->dim[i];
  if (!size)
    return launch_refuse(fault, entry, "PM4 dispatch: NUM_THREAD of dimension %llu is 0x%llx: no work-item", i,
                         r->threads[i]);
  bool is_cut = !(r->initiator & USE_THREAD_DIMENSIONS) && r->initiator & PARTIAL_TG_EN;
  if (is_cut && (!partial || partial > size)) {
    return launch_refuse(fault, entry, "PM4 dispatch: NUM_THREAD of %llu work-items, and the last workgroup has %llu",
                         size, partial);
  }
  uint64_t items = r->initiator & USE_THREAD_DIMENSIONS ? end : end * size;
  if (is_cut && end) items -= size - partial;
  end = (items + size - 1) / size;
  uint64_t first = r->initiator & FORCE_START_AT_000 ? 0 : r->start[i];
  launch->size[i] = (uint32_t)size, launch->grid[i] = items;
  launch->first[i] = (uint32_t)first, launch->groups[i] = first < end ? (uint32_t)(end - first) : 0;
  return true;
}

// Bytes of one lane; WAVESIZE counts for a wave, in units that differ.
static uint32_t scratch_bytes(const isa_target_t* target, uint32_t lanes, uint32_t ring) {
  if (target->major >= 12) return (ring >> 12 & 0x3ffff) * 256 / lanes;
  if (target->major == 11) return (ring >> 12 & 0x7fff) * 256 / lanes;
  return (ring >> 12 & 0x1fff) * 1024 / lanes;
}

bool launch_from_registers(launch_t* launch, engine_fault_t* fault) {
  const engine_registers_t* r = launch->dispatch->registers;
  const isa_target_t* target = launch->target;
  uint64_t entry = r->program << 8;
  if (!check_initiator(launch, r->initiator, entry, fault)) return false;
  for (uint32_t i = 0; i < 3; ++i) {
    if (!put_dimension(launch, i, fault)) return false;
  }
  launch->lanes = r->initiator & CS_W32_EN ? 32 : 64;
  launch->rsrc1 = r->resource1, launch->rsrc2 = r->resource2;
  launch->entry = code_find_inst(launch->engine, launch->lanes, entry);
  if (!launch->entry)
    return launch_refuse(fault, entry, "PM4 dispatch: PGM is 0x%llx, where no code is%.0llu", entry, 0);
  bool has_large_lds = target->lds_kib > 64;
  launch->lds_size = (r->resource2 >> 15 & 511) * (has_large_lds ? 1280 : 512);
  launch->user_count = r->resource2 >> 1 & 31;
  if (launch->user_count > ENGINE_USER_DATA) {
    return launch_refuse(fault, entry, "PM4 dispatch: PGM_RSRC2 asks for %llu user registers; there are %llu",
                         launch->user_count, ENGINE_USER_DATA);
  }
  memcpy(launch->user, r->user, launch->user_count * sizeof(uint32_t));
  if (!(r->resource2 & 1)) return true;
  launch->scratch_size = scratch_bytes(target, launch->lanes, r->scratch);
  return isa_has_architected_scratch(target) ||
         launch_refuse(fault, entry,
                       "PM4 dispatch: PGM_RSRC2 0x%llx asks for scratch, which dispatches by PM4 do not have before "
                       "gfx940 and on gfx10%.0llu",
                       r->resource2, 0);
}
