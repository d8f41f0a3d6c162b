// Scalar memory that is written: stores of scalar registers and atomic operations of the wave (gfx9 and gfx10.1).
// Manuals: "Scalar Memory Operations".
#include "softgpu/atomic_update.h"
#include "softgpu/smem.h"

// Where an access goes: of a pair of registers, a buffer, or scratch.
typedef enum { PLACE_MEMORY, PLACE_BUFFER, PLACE_SCRATCH } place_t;

// Address of source 1 and what is behind it; `inside` is how many of `dwords` may be touched.
static uint64_t resolve(const wave_t* w, const inst_t* inst, place_t place, uint32_t dwords, uint32_t* inside) {
  *inside = dwords;
  if (place == PLACE_MEMORY) return (wave_pair(w, inst->src[1].index) + smem_offset(w, inst, 1)) & ~UINT64_C(3);
  if (place == PLACE_SCRATCH) {
    return (wave_pair(w, inst->src[1].index) + smem_scratch_offset(w, inst, 1)) & ~UINT64_C(3);
  }
  uint64_t size, base = smem_buffer(w, &inst->src[1], &size), offset = smem_offset(w, inst, 1) & ~UINT64_C(3);
  while (*inside && offset + 4 * *inside > size) --*inside;
  return base + offset;
}

static const inst_t* store(wave_t* w, const inst_t* inst, place_t place, uint32_t dwords) {
  uint32_t inside;
  uint64_t address = resolve(w, inst, place, dwords, &inside);
  const uint32_t* data = &w->sgpr[inst->src[0].index];
  if (!inside) return inst + 1;
  uint8_t stored[1][WAVE_MAX_STORE] = {0};
  memcpy(stored[0], data, 4 * inside);
  w->stored = (const uint8_t (*)[WAVE_MAX_STORE])stored;
  bool is_right = smem_begin(w, inst, CHECK_WRITE, address, 4 * inside);
  w->stored = NULL;
  if (!is_right) return NULL;
  shared_write((void*)address, data, 4 * inside);
  return inst + 1;
}

#define STORES(STORE) STORE(dword, 1) STORE(dwordx2, 2) STORE(dwordx4, 4)
#define STORE(size, dwords)                                                \
  static const inst_t* run_store_##size(wave_t* w, const inst_t* inst) {   \
    return store(w, inst, PLACE_MEMORY, dwords);                           \
  }                                                                        \
  static const inst_t* run_buffer_##size(wave_t* w, const inst_t* inst) {  \
    return store(w, inst, PLACE_BUFFER, dwords);                           \
  }                                                                        \
  static const inst_t* run_scratch_##size(wave_t* w, const inst_t* inst) { \
    return store(w, inst, PLACE_SCRATCH, dwords);                          \
  }
STORES(STORE)
#undef STORE

// Data in source 0, with what is compared behind it; the old value replaces it when it is asked for.
typedef uint64_t (*update_t)(uint64_t old, uint64_t data, uint64_t compare);
enum { DATA_32 = 1, DATA_64 = 2, DATA_CMPSWAP32 = 1 | 256, DATA_CMPSWAP64 = 2 | 256 };

static uint64_t exchange(uint64_t address, uint32_t dwords, update_t update, uint64_t data, uint64_t compare) {
  if (dwords == 1) {
    uint32_t old = __atomic_load_n((uint32_t*)address, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n((uint32_t*)address, &old, (uint32_t)update(old, data, compare), true,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    }
    return old;
  }
  uint64_t old = __atomic_load_n((uint64_t*)address, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n((uint64_t*)address, &old, update(old, data, compare), true, __ATOMIC_ACQ_REL,
                                      __ATOMIC_RELAXED)) {
  }
  return old;
}

static const inst_t* atomic(wave_t* w, const inst_t* inst, place_t place, uint32_t kind, update_t update) {
  uint32_t dwords = kind & 255, inside, index = inst->src[0].index;
  uint64_t address = resolve(w, inst, place, dwords, &inside), old = 0;
  uint64_t data = dwords == 1 ? w->sgpr[index] : wave_pair(w, index);
  uint64_t compare = !(kind & 256) ? 0 : dwords == 1 ? w->sgpr[index + 1] : wave_pair(w, index + 2);
  if (inside == dwords) {
    if (address % (4 * dwords)) {
      return wave_fault(w, inst, ENGINE_FAULT_MEMORY, address,
                        "atomic operation on address 0x%llx, which is not aligned", (unsigned long long)address);
    }
    if (!smem_begin(w, inst, CHECK_READ | CHECK_WRITE | CHECK_ATOMIC, address, 4 * dwords)) return NULL;
    old = exchange(address, dwords, update, data, compare);
  }
  if (!(inst->flags & INST_RETURNS_OLD)) return inst + 1;
  w->sgpr[index] = (uint32_t)old;
  if (dwords == 2) w->sgpr[index + 1] = (uint32_t)(old >> 32);
  return inst + 1;
}

#define ATOMIC_SCALAR(suffix, older, kind, expression)                       \
  ATOMIC_UPDATE(older, kind, expression)                                     \
  static const inst_t* run_s_##older(wave_t* w, const inst_t* inst) {        \
    return atomic(w, inst, PLACE_MEMORY, DATA_##kind, update_##older);       \
  }                                                                          \
  static const inst_t* run_s_buffer_##older(wave_t* w, const inst_t* inst) { \
    return atomic(w, inst, PLACE_BUFFER, DATA_##kind, update_##older);       \
  }
#include "isa/amd/memory.def"

static const inst_row_t rows[] = {
#define STORE(size, dwords)                                                    \
  INST_ROW(s_store_##size, SMEM, EXACT, run_store_##size, 0, INST_B32)         \
  INST_ROW(s_buffer_store_##size, SMEM, EXACT, run_buffer_##size, 0, INST_B32) \
  INST_ROW(s_scratch_store_##size, SMEM, EXACT, run_scratch_##size, 0, INST_B32)
    STORES(STORE)
#undef STORE
#define ATOMIC_SCALAR(suffix, older, kind, expression)         \
  INST_ROW(s_##older, SMEM, EXACT, run_s_##older, 0, INST_B32) \
  INST_ROW(s_buffer_##older, SMEM, EXACT, run_s_buffer_##older, 0, INST_B32)
#include "isa/amd/memory.def"
};
const inst_table_t smem_write_table = {rows, sizeof(rows) / sizeof(rows[0])};
