// Where memory accesses go: every address is looked up before it is touched. Source: PTX ISA, "State Spaces",
// "Generic Addressing".
#include "softgpu/nvidia/access.h"

#include <stdio.h>

static const char* const space_names[] = {"", "global", "shared", "local", "constant", "parameter", "generic"};

static const inst_t* fault_address(warp_t* w, const inst_t* inst, uint32_t lane, uint64_t address, uint32_t bytes,
                                   uint32_t access, const char* where) {
  return warp_fault(w, inst, NV_FAULT_ADDRESS, 1u << lane, address, "%s %u bytes at address 0x%llx, %s",
                    access & ACCESS_WRITE ? "writes" : "reads", bytes, (unsigned long long)address, where);
}

// An address that no range of the memory map holds, or that may not be written.
static void fault_global(warp_t* w, const inst_t* inst, uint32_t lane, uint64_t address, uint32_t bytes,
                         uint32_t access) {
  memory_range_t range;
  char where[200];
  bool is_inside = memory_map_find(w->launch->engine->options.memory, address, &range);
  if (is_inside && !(range.agents >> w->launch->engine->options.ordinal & 1)) {
    snprintf(where, sizeof(where), "in %s of another GPU", range.kind);
  } else if (is_inside && !range.writable) {
    snprintf(where, sizeof(where), "in %s, which is only to be read", range.kind);
  } else if (is_inside) {
    snprintf(where, sizeof(where), "across the end of %llu bytes of %s at 0x%llx", (unsigned long long)range.size,
             range.kind, (unsigned long long)range.base);
  } else if (range.size) {
    snprintf(where, sizeof(where), "%llu bytes behind %llu bytes of %s at 0x%llx",
             (unsigned long long)(address - range.base - range.size), (unsigned long long)range.size, range.kind,
             (unsigned long long)range.base);
  } else {
    snprintf(where, sizeof(where), "where nothing is");
  }
  fault_address(w, inst, lane, address, bytes, access, where);
}

static bool holds(const memory_range_t* range, uint64_t address, uint32_t bytes, uint32_t access) {
  return address - range->base < range->size && range->size - (address - range->base) >= bytes &&
         (range->writable || !(access & ACCESS_WRITE));
}

bool access_find_range(warp_t* w, const inst_t* inst, uint64_t address) {
  memory_range_t range;
  if (!memory_map_find(w->launch->engine->options.memory, address, &range)) return false;
  if (!(range.agents >> w->launch->engine->options.ordinal & 1)) return false;
  w->ranges[inst->number % WARP_RANGES] = range;
  return true;
}

static bool find_global(warp_t* w, const inst_t* inst, uint64_t address, uint32_t bytes, uint32_t access) {
  memory_range_t* cached = &w->ranges[inst->number % WARP_RANGES];
  if (holds(cached, address, bytes, access)) return true;
  return access_find_range(w, inst, address) && holds(cached, address, bytes, access);
}

// The window that a generic address is in.
static ptx_space_t window_of(uint64_t address) {
  switch (address & WINDOW_MASK) {
    case WINDOW_SHARED:
      return PTX_SHARED;
    case WINDOW_LOCAL:
      return PTX_LOCAL;
    case WINDOW_PARAM:
      return PTX_PARAM;
    default:
      return PTX_GLOBAL;
  }
}

// The space of an address, which becomes an offset where the space has its own.
static ptx_space_t space_of(ptx_space_t space, uint64_t* address) {
  if (space == PTX_GENERIC) {
    space = window_of(*address);
    if (space != PTX_GLOBAL) *address &= ~WINDOW_MASK;
  }
  return space == PTX_CONST ? PTX_GLOBAL : space;
}

uint64_t access_find(warp_t* w, const inst_t* inst, uint32_t lane, ptx_space_t space, uint64_t address, uint32_t bytes,
                     uint32_t access) {
  uint64_t offset = address;
  space = space_of(space, &offset);
  uint64_t size = space == PTX_SHARED  ? w->launch->shared_size
                  : space == PTX_LOCAL ? w->stack_size
                                       : w->launch->function->parameter_size;
  if (space == PTX_GLOBAL) {
    if (find_global(w, inst, address, bytes, access)) return address;
    fault_global(w, inst, lane, address, bytes, access);
    return 0;
  }
  if (offset < size && size - offset >= bytes && !(space == PTX_PARAM && access & ACCESS_WRITE)) {
    if (space == PTX_SHARED) return (uint64_t)w->block->shared + offset;
    if (space == PTX_LOCAL) return (uint64_t)w->local + (uint64_t)lane * w->stack_size + offset;
    return (uint64_t)w->launch->launch->parameters + offset;
  }
  char where[100];
  snprintf(where, sizeof(where), "which is not in the %llu bytes of %s memory", (unsigned long long)size,
           space_names[space]);
  fault_address(w, inst, lane, address, bytes, access, where);
  return 0;
}

bool access_resolve_slow(warp_t* w, const inst_t* inst, const uint64_t* addresses, ptx_space_t space, uint32_t bytes,
                         uint32_t align, uint32_t access) {
  uint32_t first = (uint32_t)__builtin_ctz(w->exec);
  for (uint32_t lanes = w->exec; lanes; lanes &= lanes - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(lanes);
    if (addresses[lane] & (align - 1)) {
      warp_fault(w, inst, NV_FAULT_MISALIGNED, 1u << lane, addresses[lane],
                 "%s %u bytes at address 0x%llx, which is no multiple of %u",
                 access & ACCESS_WRITE ? "writes" : "reads", bytes, (unsigned long long)addresses[lane], align);
      return false;
    }
    w->host[lane] = access_find(w, inst, lane, space, addresses[lane], bytes, access);
    if (!w->host[lane]) return false;
  }
  for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
    if (!(w->exec >> lane & 1)) w->host[lane] = w->host[first];
  }
  return true;
}

bool access_bounded_string(warp_t* w, const inst_t* inst, uint32_t lane, uint64_t address, char* out, uint32_t size) {
  for (uint32_t i = 0; i + 1 < size; ++i) {
    uint64_t host = access_find(w, inst, lane, PTX_GENERIC, address + i, 1, ACCESS_READ);
    if (!host) return false;
    out[i] = *(const char*)host;
    if (!out[i]) return true;
  }
  out[size - 1] = 0;
  return true;
}
