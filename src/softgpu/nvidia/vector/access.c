// Loads and stores.
#include "softgpu/nvidia/access.h"

#include "softgpu/nvidia/memory.h"
#include "softgpu/nvidia/vector/rows.h"

enum { ACCESS_SCATTERED, ACCESS_IN_ORDER, ACCESS_ALIKE };

// Whether the lanes' places follow each other, or are one.
INLINE int pattern_of(const warp_t* w, u32 bytes) {
  u64 first = w->host[0], apart = 0, alike = 0;
  LANES {
    apart |= (w->host[i] - first) ^ (u64)i * bytes;
    alike |= w->host[i] ^ first;
  }
  return !apart ? ACCESS_IN_ORDER : !alike ? ACCESS_ALIKE : ACCESS_SCATTERED;
}

// Elements of type M at `offset` from the lanes' places, into registers of type R.
#define LOAD(M, R)                                                   \
  {                                                                  \
    R* d = to;                                                       \
    if (alike) {                                                     \
      M value;                                                       \
      memcpy(&value, (const void*)(w->host[0] + offset), sizeof(M)); \
      R wide = (R)value;                                             \
      EACH_LANE(R, d, r = wide)                                      \
      return;                                                        \
    }                                                                \
    const u64* host = w->host;                                       \
    EACH_LANE(R, d, r = (R) * (const M*)(host[i] + offset))          \
    return;                                                          \
  }

static void load(warp_t* w, const inst_t* inst, void* to, u32 offset, bool alike) {
  switch (inst->bytes * 16 + inst->element) {
    case 1 * 16 + 1:
      LOAD(u8, u8)
    case 1 * 16 + 2:
      if (inst->is_signed) LOAD(s8, s16) else LOAD(u8, u16) case 1 * 16 + 4:
        if (inst->is_signed) LOAD(s8, s32) else LOAD(u8, u32) case 1 * 16 + 8:
          if (inst->is_signed) LOAD(s8, s64) else LOAD(u8, u64) case 2 * 16 + 2:
            LOAD(u16, u16)
          case 2 * 16 + 4:
            if (inst->is_signed) LOAD(s16, s32) else LOAD(u16, u32) case 2 * 16 + 8:
              if (inst->is_signed) LOAD(s16, s64) else LOAD(u16, u64) case 4 * 16 + 4:
                LOAD(u32, u32)
              case 4 * 16 + 8:
                if (inst->is_signed) LOAD(s32, s64) else LOAD(u32, u64) case 8 * 16 + 8:
                  LOAD(u64, u64)
                  default : for (u32 lanes = w->exec; lanes; lanes &= lanes - 1) {
                    u32 i = (u32)__builtin_ctz(lanes);
                    memcpy((char*)to + 16 * i, (const void*)(w->host[i] + offset), 16);
                  }
  }
}

// One lane alone, as in kernels that were made for processors: its element goes where it goes, and nothing is done for
// the other lanes. False where that is not all there is to do.
INLINE bool load_alone(warp_t* w, const inst_t* inst) {
  u32 bytes = inst->bytes, count = inst->count, size = bytes * count, lane = (u32)__builtin_ctz(w->exec);
  bool is_plain = bytes == inst->element && !inst->address_is_32 && !w->launch->is_instrumented &&
                  inst->modifiers.value[PTX_GROUP_ORDER] <= PTX_RELAXED;
  if (!is_plain || inst->space != PTX_GLOBAL) return false;
  u64 address = ((const u64*)warp_at(w, &inst->op[0]))[lane] + inst->imm;
  const memory_range_t* range = &w->ranges[inst->number % WARP_RANGES];
  if (address - range->base >= range->size || range->size - (address - range->base) < size) return false;
  if (address & (size - 1)) return false;
  for (u32 k = 0; k < count; ++k) {
    void* to = (u8*)warp_at(w, &inst->list[k]) + lane * bytes;
    const void* from = (const void*)(address + k * bytes);
    if (bytes == 4) {  // most are, and the size is a constant then
      memcpy(to, from, 4);
    } else {
      memcpy(to, from, bytes);
    }
  }
  return true;
}

static const inst_t* run_load(warp_t* w, const inst_t* inst) {
  u32 bytes = inst->bytes, count = inst->count;
  if (w->exec && !(w->exec & (w->exec - 1)) && load_alone(w, inst)) return inst + 1;
  if (!access_resolve_aligned(w, inst, &inst->op[0], bytes * count, bytes * count, ACCESS_READ)) return NULL;
  if (inst->modifiers.value[PTX_GROUP_ORDER] > PTX_RELAXED) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  int pattern = pattern_of(w, bytes * count);
  if (pattern == ACCESS_IN_ORDER && count == 1 && bytes == inst->element && warp_is_dense(w)) {
    memcpy(warp_at(w, &inst->list[0]), (const void*)w->host[0], (size_t)bytes * WARP_LANES);
    return inst + 1;
  }
  for (u32 k = 0; k < count; ++k) {
    load(w, inst, warp_at(w, &inst->list[k]), k * bytes, pattern == ACCESS_ALIKE);
  }
  return inst + 1;
}

#define STORE(M)                                                                                               \
  {                                                                                                            \
    const u8* from = data;                                                                                     \
    if (w->exec == UINT32_MAX) {                                                                               \
      for (u32 i = 0; i < WARP_LANES; ++i) *(M*)(w->host[i] + offset) = *(const M*)(from + i * inst->element); \
    } else {                                                                                                   \
      for (u32 lanes = w->exec; lanes; lanes &= lanes - 1) {                                                   \
        u32 i = (u32)__builtin_ctz(lanes);                                                                     \
        *(M*)(w->host[i] + offset) = *(const M*)(from + i * inst->element);                                    \
      }                                                                                                        \
    }                                                                                                          \
    return;                                                                                                    \
  }

static void store(warp_t* w, const inst_t* inst, const void* data, u32 offset) {
  switch (inst->bytes) {
    case 1:
      STORE(u8)
    case 2:
      STORE(u16)
    case 4:
      STORE(u32)
    case 8:
      STORE(u64)
    default:
      for (u32 lanes = w->exec; lanes; lanes &= lanes - 1) {
        u32 i = (u32)__builtin_ctz(lanes);
        memcpy((void*)(w->host[i] + offset), (const char*)data + 16 * i, 16);
      }
  }
}

static const inst_t* run_store(warp_t* w, const inst_t* inst) {
  u32 bytes = inst->bytes, count = inst->count;
  if (!access_resolve_aligned(w, inst, &inst->op[0], bytes * count, bytes * count, ACCESS_WRITE)) return NULL;
  if (inst->modifiers.value[PTX_GROUP_ORDER] > PTX_RELAXED) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (count == 1 && bytes == inst->element && w->exec == UINT32_MAX && pattern_of(w, bytes) == ACCESS_IN_ORDER) {
    memcpy((void*)w->host[0], warp_at(w, &inst->list[0]), (size_t)bytes * WARP_LANES);
    return inst + 1;
  }
  for (u32 k = 0; k < count; ++k) store(w, inst, warp_at(w, &inst->list[k]), k * bytes);
  return inst + 1;
}

#define ACCESS_OPTIONS "@space @vector @type @hint @policy @order @scope volatile nc"
static const row_t rows[] = {
    {"ld ldu", ACCESS_OPTIONS, memory_bind_load, run_load},
    {"st", ACCESS_OPTIONS, memory_bind_store, run_store},
};
LEVEL_TABLE(access_table, rows);
