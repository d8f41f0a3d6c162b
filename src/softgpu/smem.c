// Scalar memory: loads into scalar registers, clocks, cache operations. Manuals: "Scalar Memory Operations".
#include <time.h>

#include "softgpu/shared.h"
#include "softgpu/wave.h"

// Bytes that the operand list adds to the base: a register or a constant, and the offset.
static uint64_t offset_of(const wave_t* w, const inst_t* inst) {
  uint64_t offset = (uint64_t)(int64_t)inst->offset;
  if (inst->source_count > 1) {
    const operand_t* o = &inst->src[1];
    offset += o->kind == OPERAND_CONSTANT ? (uint64_t)(int64_t)(int32_t)o->value : wave_scalar(w, o);
  }
  return offset;
}

// Dwords are read from an address whose last two bits the hardware takes as 0.
static bool read(wave_t* w, const inst_t* inst, uint64_t address, uint32_t bytes, void* out) {
  if (w->launch->instrumented) {
    uint64_t addresses[WAVE_MAX_LANES] = {address};
    if (!check_memory(w, inst, CHECK_SCALAR, CHECK_READ, addresses, 1, bytes)) return false;
  }
  shared_read(out, (const void*)(bytes < 4 ? address : address & ~UINT64_C(3)), bytes);
  return true;
}

static const inst_t* load(wave_t* w, const inst_t* inst, uint32_t dwords) {
  uint32_t values[16];
  uint64_t address = wave_pair(w, inst->src[0].index) + offset_of(w, inst);
  if (!read(w, inst, address, 4 * dwords, values)) return NULL;
  memcpy(&w->sgpr[inst->dst[0].index], values, 4 * dwords);
  return inst + 1;
}

// Buffers: dwords past the end read zero.
static const inst_t* load_buffer(wave_t* w, const inst_t* inst, uint32_t dwords) {
  const uint32_t* v = &w->sgpr[inst->src[0].index];
  uint64_t base = v[0] | (uint64_t)(v[1] & 0xffff) << 32, offset = offset_of(w, inst) & ~UINT64_C(3);
  uint32_t stride = v[1] >> 16 & 0x3fff, values[16] = {0};
  uint64_t size = stride ? (uint64_t)stride * v[2] : v[2];
  uint32_t inside = 0;
  while (inside < dwords && offset + 4 * inside + 4 <= size) ++inside;
  if (inside && !read(w, inst, base + offset, 4 * inside, values)) return NULL;
  memcpy(&w->sgpr[inst->dst[0].index], values, 4 * dwords);
  return inst + 1;
}

static const inst_t* load_small(wave_t* w, const inst_t* inst, uint32_t bytes, bool is_signed, bool buffer) {
  uint32_t value = 0;
  uint64_t base = wave_pair(w, inst->src[0].index);
  uint64_t offset = offset_of(w, inst);
  bool inside = true;
  if (buffer) {
    uint64_t stride = base >> 48 & 0x3fff, records = w->sgpr[inst->src[0].index + 2];
    inside = offset + bytes <= (stride ? stride * records : records);
    base &= (UINT64_C(1) << 48) - 1;
  }
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
            INST_ROW(s_memtime, SMEM, APPROXIMATE, run_memtime, 1, INST_B64)
                INST_ROW(s_memrealtime, SMEM, APPROXIMATE, run_memrealtime, 1, INST_B64) FENCE(s_dcache_inv)
                    FENCE(s_dcache_inv_vol) FENCE(s_dcache_wb) FENCE(s_dcache_wb_vol) FENCE(s_dcache_discard)
                        FENCE(s_dcache_discard_x2) FENCE(s_gl1_inv) FENCE(s_atc_probe) FENCE(s_atc_probe_buffer)
                            FENCE(s_prefetch_inst) FENCE(s_prefetch_inst_pc_rel) FENCE(s_prefetch_data)
                                FENCE(s_prefetch_data_pc_rel) FENCE(s_buffer_prefetch_data)};
const inst_table_t smem_table = {rows, sizeof(rows) / sizeof(rows[0])};
