// Scalar memory: loads into scalar registers, clocks, cache operations. smem_write.c has what writes memory. Manuals:
// "Scalar Memory Operations".
#include "softgpu/smem.h"

#include <time.h>

// Dwords are read from an address whose last two bits the hardware takes as 0.
static bool read(wave_t* w, const inst_t* inst, uint64_t address, uint32_t bytes, void* out) {
  if (!smem_begin(w, inst, CHECK_READ, address, bytes)) return false;
  shared_read(out, (const void*)(bytes < 4 ? address : address & ~UINT64_C(3)), bytes);
  return true;
}

static const inst_t* load(wave_t* w, const inst_t* inst, uint32_t dwords) {
  uint32_t values[16];
  uint64_t address = wave_pair(w, inst->src[0].index) + smem_offset(w, inst, 0);
  if (!read(w, inst, address, 4 * dwords, values)) return NULL;
  memcpy(&w->sgpr[inst->dst[0].index], values, 4 * dwords);
  return inst + 1;
}

// Buffers: dwords past the end read zero.
static const inst_t* load_buffer(wave_t* w, const inst_t* inst, uint32_t dwords) {
  uint64_t size, base = smem_buffer(w, &inst->src[0], &size), offset = smem_offset(w, inst, 0) & ~UINT64_C(3);
  uint32_t inside = 0, values[16] = {0};
  while (inside < dwords && offset + 4 * inside + 4 <= size) ++inside;
  if (inside && !read(w, inst, base + offset, 4 * inside, values)) return NULL;
  memcpy(&w->sgpr[inst->dst[0].index], values, 4 * dwords);
  return inst + 1;
}

static const inst_t* load_small(wave_t* w, const inst_t* inst, uint32_t bytes, bool is_signed, bool buffer) {
  uint32_t value = 0;
  uint64_t size = UINT64_MAX, offset = smem_offset(w, inst, 0);
  uint64_t base = buffer ? smem_buffer(w, &inst->src[0], &size) : wave_pair(w, inst->src[0].index);
  bool inside = !buffer || offset + bytes <= size;
  if (inside && !read(w, inst, base + offset, bytes, &value)) return NULL;
  uint32_t up = 32 - 8 * bytes;
  w->sgpr[inst->dst[0].index] = is_signed ? (uint32_t)((int32_t)(value << up) >> up) : value;
  return inst + 1;
}

#define LOADS(LOAD)   \
  LOAD(b32, dword, 1) \
  LOAD(b64, dwordx2, 2) LOAD(b96, dwordx3, 3) LOAD(b128, dwordx4, 4) LOAD(b256, dwordx8, 8) LOAD(b512, dwordx16, 16)
#define SMALL(LOAD) LOAD(i8, 1, true) LOAD(u8, 1, false) LOAD(i16, 2, true) LOAD(u16, 2, false)

#define LOAD(size, older, dwords)                                                                       \
  static const inst_t* run_load_##size(wave_t* w, const inst_t* inst) { return load(w, inst, dwords); } \
  static const inst_t* run_buffer_##size(wave_t* w, const inst_t* inst) { return load_buffer(w, inst, dwords); }
LOADS(LOAD)
#undef LOAD
#define LOAD(size, bytes, is_signed)                                      \
  static const inst_t* run_load_##size(wave_t* w, const inst_t* inst) {   \
    return load_small(w, inst, bytes, is_signed, false);                  \
  }                                                                       \
  static const inst_t* run_buffer_##size(wave_t* w, const inst_t* inst) { \
    return load_small(w, inst, bytes, is_signed, true);                   \
  }
SMALL(LOAD)
#undef LOAD

// Scratch: the operand behind the base counts 64 bytes.
static const inst_t* load_scratch(wave_t* w, const inst_t* inst, uint32_t dwords) {
  uint32_t values[4];
  uint64_t address = wave_pair(w, inst->src[0].index) + smem_scratch_offset(w, inst, 0);
  if (!read(w, inst, address, 4 * dwords, values)) return NULL;
  memcpy(&w->sgpr[inst->dst[0].index], values, 4 * dwords);
  return inst + 1;
}
static const inst_t* run_scratch_1(wave_t* w, const inst_t* inst) { return load_scratch(w, inst, 1); }
static const inst_t* run_scratch_2(wave_t* w, const inst_t* inst) { return load_scratch(w, inst, 2); }
static const inst_t* run_scratch_4(wave_t* w, const inst_t* inst) { return load_scratch(w, inst, 4); }

static const inst_t* run_wave_id(wave_t* w, const inst_t* inst) {
  w->sgpr[inst->dst[0].index] = w->index;
  return inst + 1;
}

// Clocks: nanoseconds, and ticks of 10 ns.
static const inst_t* run_time(wave_t* w, const inst_t* inst, uint64_t divisor) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  wave_set_pair(w, inst->dst[0].index, ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) / divisor);
  return inst + 1;
}
static const inst_t* run_memtime(wave_t* w, const inst_t* inst) { return run_time(w, inst, 1); }
static const inst_t* run_memrealtime(wave_t* w, const inst_t* inst) { return run_time(w, inst, 10); }

static const inst_t* run_fence(wave_t* w, const inst_t* inst) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return inst + 1;
}

#define FENCE(name) INST_ROW(name, HINT, HINT, run_fence, 0, INST_NONE)
static const inst_row_t rows[] = {
#define LOAD(size, older, dwords)                                             \
  INST_ROW(s_load_##size, SMEM, EXACT, run_load_##size, 1, INST_B32)          \
  INST_ROW(s_load_##older, SMEM, EXACT, run_load_##size, 1, INST_B32)         \
  INST_ROW(s_buffer_load_##size, SMEM, EXACT, run_buffer_##size, 1, INST_B32) \
  INST_ROW(s_buffer_load_##older, SMEM, EXACT, run_buffer_##size, 1, INST_B32)
    LOADS(LOAD)
#undef LOAD
#define LOAD(size, bytes, is_signed)                                 \
  INST_ROW(s_load_##size, SMEM, EXACT, run_load_##size, 1, INST_B32) \
  INST_ROW(s_buffer_load_##size, SMEM, EXACT, run_buffer_##size, 1, INST_B32)
        SMALL(LOAD)
#undef LOAD
            INST_ROW(s_scratch_load_dword, SMEM, EXACT, run_scratch_1, 1, INST_B32)
                INST_ROW(s_scratch_load_dwordx2, SMEM, EXACT, run_scratch_2, 1, INST_B32)
                    INST_ROW(s_scratch_load_dwordx4, SMEM, EXACT, run_scratch_4, 1, INST_B32) INST_ROW(
                        s_get_waveid_in_workgroup, SMEM, EXACT, run_wave_id, 1, INST_B32)
                        INST_ROW(s_memtime, SMEM, APPROXIMATE, run_memtime, 1, INST_B64) INST_ROW(
                            s_memrealtime, SMEM, APPROXIMATE, run_memrealtime, 1, INST_B64) FENCE(s_dcache_inv)
                            FENCE(s_dcache_inv_vol) FENCE(s_dcache_wb) FENCE(s_dcache_wb_vol) FENCE(s_dcache_discard)
                                FENCE(s_dcache_discard_x2) FENCE(s_gl1_inv) FENCE(s_atc_probe) FENCE(s_atc_probe_buffer)
                                    FENCE(s_prefetch_inst) FENCE(s_prefetch_inst_pc_rel) FENCE(s_prefetch_data)
                                        FENCE(s_prefetch_data_pc_rel) FENCE(s_buffer_prefetch_data)};
const inst_table_t smem_table = {rows, sizeof(rows) / sizeof(rows[0])};
