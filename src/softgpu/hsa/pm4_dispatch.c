// Dispatches by PM4, and the registers that they go by. Source: gc_*_offset.h of the Linux kernel's amdgpu driver; the
// registers that are used here have the same place in every family.
#include <string.h>

#include "softgpu/hsa/pm4.h"

// Registers, from PM4_COMPUTE on.
enum {
  COMPUTE_DISPATCH_INITIATOR = 0x00,
  COMPUTE_START = 0x04,
  COMPUTE_NUM_THREAD = 0x07,
  COMPUTE_PGM = 0x0c,
  COMPUTE_PGM_RSRC1 = 0x12,
  COMPUTE_PGM_RSRC2 = 0x13,
  COMPUTE_TMPRING_SIZE = 0x18,
  COMPUTE_USER_DATA = 0x40,
};

// SET_SH_REG and SET_SH_REG_INDEX: first register 15:0 (from 0x2c00), values. Registers of graphics are kept by nobody.
bool pm4_set_registers(pm4_t* pm4, const uint32_t* words, uint32_t count) {
  uint32_t first = words[0] & 0xffff;
  if (first >= PM4_SH_REGISTERS || count - 1 > PM4_SH_REGISTERS - first) {
    return pm4_refuse(pm4, "PM4 SET_SH_REG of %u registers from 0x%x on: there are 0x%x", count - 1, first,
                      PM4_SH_REGISTERS);
  }
  for (uint32_t i = 1; i < count; ++i, ++first) {
    uint32_t at = first - PM4_COMPUTE;
    if (at >= PM4_COMPUTE_REGISTERS) continue;
    if (at == COMPUTE_DISPATCH_INITIATOR) {
      return pm4_refuse(pm4, "PM4 SET_SH_REG of DISPATCH_INITIATOR is not supported, DISPATCH_DIRECT is");
    }
    pm4->compute[at] = words[i];
  }
  return true;
}

static bool dispatch(pm4_t* pm4, const uint32_t* dim, uint32_t initiator) {
  const uint32_t* compute = pm4->compute;
  engine_registers_t registers = {.initiator = initiator,
                                  .program = compute[COMPUTE_PGM] | (uint64_t)(compute[COMPUTE_PGM + 1] & 255) << 32,
                                  .resource1 = compute[COMPUTE_PGM_RSRC1],
                                  .resource2 = compute[COMPUTE_PGM_RSRC2],
                                  .scratch = compute[COMPUTE_TMPRING_SIZE]};
  memcpy(registers.dim, dim, sizeof(registers.dim));
  memcpy(registers.start, compute + COMPUTE_START, sizeof(registers.start));
  memcpy(registers.threads, compute + COMPUTE_NUM_THREAD, sizeof(registers.threads));
  memcpy(registers.user, compute + COMPUTE_USER_DATA, sizeof(registers.user));
  engine_dispatch_t by = {.registers = &registers, .id = pm4->index};
  return queue_dispatch(pm4->queue, &by);
}

// DISPATCH_DIRECT: workgroups or work-items in each dimension, initiator.
bool pm4_dispatch_direct(pm4_t* pm4, const uint32_t* words, uint32_t count) {
  if (count < 4) return pm4_refuse(pm4, "PM4 DISPATCH_DIRECT of %u words", count);
  return dispatch(pm4, words, words[3]);
}

// DISPATCH_INDIRECT as queues of compute have it: address of the three numbers, initiator.
bool pm4_dispatch_indirect(pm4_t* pm4, const uint32_t* words, uint32_t count) {
  if (count < 3) return pm4_refuse(pm4, "PM4 DISPATCH_INDIRECT of %u words", count);
  uint64_t address = (words[0] & ~3u) | (uint64_t)words[1] << 32;
  uint32_t dim[3];
  if (!pm4_check_memory(pm4, address, sizeof(dim), false)) return false;
  for (int i = 0; i < 3; ++i) dim[i] = __atomic_load_n((const uint32_t*)address + i, __ATOMIC_ACQUIRE);
  return dispatch(pm4, dim, words[2]);
}
