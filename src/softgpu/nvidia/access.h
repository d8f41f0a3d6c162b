// Addresses of lanes become addresses of the process, checked.
#ifndef IREE_C_SOFTGPU_NVIDIA_ACCESS_H_
#define IREE_C_SOFTGPU_NVIDIA_ACCESS_H_

#include "softgpu/nvidia/warp.h"

// The host's address of one lane's access; 0 after warp_fault.
uint64_t access_find(warp_t* w, const inst_t* inst, uint32_t lane, ptx_space_t space, uint64_t address, uint32_t bytes,
                     uint32_t access);
// Fills w->host for all lanes, those that do not take part with the address of one that does. `align` is what the
// addresses have to be multiples of. False after warp_fault.
bool access_resolve_slow(warp_t* w, const inst_t* inst, const uint64_t* addresses, ptx_space_t space, uint32_t bytes,
                         uint32_t align, uint32_t access);
// A string of at most `size` characters, the zero counted. False after warp_fault.
bool access_bounded_string(warp_t* w, const inst_t* inst, uint32_t lane, uint64_t address, char* out, uint32_t size);

// Fills `out` with the lanes' addresses, offset added.
static inline void access_addresses(const warp_t* w, const inst_t* inst, const operand_t* base, uint64_t* out) {
  const uint64_t* wide = warp_at(w, base);
  const uint32_t* narrow = warp_at(w, base);
  uint64_t offset = inst->imm;
  if (inst->address_is_32) {
    for (uint32_t i = 0; i < WARP_LANES; ++i) out[i] = (uint32_t)(narrow[i] + (uint32_t)offset);
  } else {
    for (uint32_t i = 0; i < WARP_LANES; ++i) out[i] = wide[i] + offset;
  }
}

// All at once where all lanes' addresses are in the range that the instruction found last, or in shared memory.
static inline bool access_resolve_all(warp_t* w, const inst_t* inst, uint64_t* address, ptx_space_t space,
                                      uint32_t bytes, uint32_t align, uint32_t access) {
  const memory_range_t* range = &w->ranges[inst->number % WARP_RANGES];
  uint64_t base = range->base, size = range->size, to = 0;
  bool allowed = range->writable || !(access & ACCESS_WRITE);
  if (space == PTX_SHARED) base = 0, size = w->launch->shared_size, to = (uint64_t)w->block->shared, allowed = true;
  if (space == PTX_LOCAL || space == PTX_PARAM || size < bytes || !allowed) return false;
  if (w->exec != UINT32_MAX) {
    uint64_t some = address[__builtin_ctz(w->exec)];
    warp_expand(w);
    for (uint32_t i = 0; i < WARP_LANES; ++i) address[i] = w->on[i] ? address[i] : some;
  }
  uint64_t last = size - bytes, outside = 0;
  for (uint32_t i = 0; i < WARP_LANES; ++i) {
    outside |= (uint64_t)(address[i] - base > last) | (address[i] & (align - 1));
    w->host[i] = address[i] + to;
  }
  return !outside;
}

static inline bool access_resolve_aligned(warp_t* w, const inst_t* inst, const operand_t* base, uint32_t bytes,
                                          uint32_t align, uint32_t access) {
  uint64_t address[WARP_LANES];
  access_addresses(w, inst, base, address);
  ptx_space_t space = (ptx_space_t)inst->space;
  if (access_resolve_all(w, inst, address, space, bytes, align, access)) return true;
  return access_resolve_slow(w, inst, address, space, bytes, align, access);
}

#endif  // IREE_C_SOFTGPU_NVIDIA_ACCESS_H_
