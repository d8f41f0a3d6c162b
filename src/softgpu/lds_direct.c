// One value of workgroup memory for all lanes: the operand src_lds_direct of gfx9 and gfx10, and the loads of gfx11 and
// gfx12. Manuals: "LDS Direct".
#include "softgpu/kernel.h"

// M0 holds the address in its lower half, and above it what is there: 0 u8, 1 u16, 2 32 bits, 4 i8, 5 i16. False after
// wave_fault.
static bool read_value(wave_t* w, const inst_t* inst, uint32_t* out) {
  static const uint8_t sizes[] = {1, 2, 4, 4, 1, 2, 4, 4};
  uint32_t m0 = w->sgpr[SREG_M0], at = m0 & 0xffff, type = m0 >> 16 & 7, bytes = sizes[type], value = 0;
  uint64_t addresses[WAVE_MAX_LANES] = {at};
  if (w->launch->instrumented && !check_memory(w, inst, CHECK_LDS, CHECK_READ, addresses, 1, bytes)) return false;
  if (at + bytes <= w->group->lds_size) memcpy(&value, w->group->lds + at, bytes);
  uint32_t up = 32 - 8 * bytes;
  *out = type >= 4 ? (uint32_t)((int32_t)(value << up) >> up) : value;
  return true;
}

const inst_t* lds_direct_run(wave_t* w, const inst_t* inst) {
  if (!read_value(w, inst, &w->sgpr[SREG_LDS_DIRECT])) return NULL;
  return inst->row->run(w, inst);
}

// Four lanes that share a quad are written together, if one of them is active.
static const inst_t* run_load(wave_t* w, const inst_t* inst) {
  uint32_t value;
  uint64_t exec = wave_exec(w);
  if (!read_value(w, inst, &value)) return NULL;
  for (uint32_t i = 0; i < w->lanes; ++i) {
    if (exec >> (i & ~3u) & 15) w->vgpr[inst->dst[0].offset + i] = value;
  }
  return inst + 1;
}

// clang-format off
static const inst_row_t rows[] = {
    INST_ROW(lds_direct_load, VALU, EXACT, run_load, 1, INST_B32)
    INST_ROW(ds_direct_load, VALU, EXACT, run_load, 1, INST_B32)
};
// clang-format on
const inst_table_t lds_direct_table = {rows, sizeof(rows) / sizeof(rows[0])};
