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

// Makes the range that holds an address the one that the instruction found last. False where there is none.
bool access_find_range(warp_t* w, const inst_t* inst, uint64_t address);

// All at once where all lanes' addresses are in the range that the instruction found last, or in memory of the block or
// the lanes. Lanes that do not take part get the address of one that does.
static inline bool access_resolve_all(warp_t* w, const inst_t* inst, uint64_t* address, uint32_t bytes, uint32_t align,
                                      uint32_t access) {
  uint64_t first = address[w->exec == UINT32_MAX ? 0 : __builtin_ctz(w->exec)];
  uint64_t base = 0, size, to, step = 0;
  uint32_t space = inst->space;
  if (space == PTX_SHARED || (space == PTX_GENERIC && (first & WINDOW_MASK) == WINDOW_SHARED)) {
    base = space == PTX_SHARED ? 0 : WINDOW_SHARED;
    size = w->launch->shared_size, to = (uint64_t)w->block->shared - base;
  } else if (space == PTX_LOCAL || (space == PTX_GENERIC && (first & WINDOW_MASK) == WINDOW_LOCAL)) {
    base = space == PTX_LOCAL ? 0 : WINDOW_LOCAL;
    size = w->stack_size, to = (uint64_t)w->local - base, step = size;
  } else if (space == PTX_PARAM) {
    return false;
  } else {
    const memory_range_t* range = &w->ranges[inst->number % WARP_RANGES];
    if (first - range->base >= range->size && !access_find_range(w, inst, first)) return false;
    base = range->base, size = range->size, to = 0;
    if (access & ACCESS_WRITE && !range->writable) return false;
  }
  if (size < bytes) return false;
  if (w->exec != UINT32_MAX) {
    warp_expand(w);
    for (uint32_t i = 0; i < WARP_LANES; ++i) address[i] = w->on[i] ? address[i] : first;
  }
  uint64_t last = size - bytes, outside = 0;
  for (uint32_t i = 0; i < WARP_LANES; ++i) {
    outside |= (uint64_t)(address[i] - base > last) | (address[i] & (align - 1));
    w->host[i] = address[i] + to + i * step;
  }
  return !outside;
}

static inline bool access_resolve_aligned(warp_t* w, const inst_t* inst, const operand_t* base, uint32_t bytes,
                                          uint32_t align, uint32_t access) {
  uint64_t address[WARP_LANES];
  access_addresses(w, inst, base, address);
  if (!access_resolve_all(w, inst, address, bytes, align, access) &&
      !access_resolve_slow(w, inst, address, (ptx_space_t)inst->space, bytes, align, access)) {
    return false;
  }
  return !w->launch->is_instrumented || check_access(w, inst, base, w->exec, bytes, access);
}

#endif  // IREE_C_SOFTGPU_NVIDIA_ACCESS_H_
