// Rows of isa/amd/valu_packed.def.
#include "softgpu/vector/valu.h"

#define PACKED2(name, D, ...) PACKED_DEFINE2(name, D, D, D, __VA_ARGS__)
#define PACKED3(name, D, ...) PACKED_DEFINE3(name, D, D, D, D, __VA_ARGS__)
// The plain function and the one with clamp.
#define PACKED_CLAMPED2(name, D, ...)                                                         \
  PACKED_DEFINE2(name##_plain, D, D, D, __VA_ARGS__)                                          \
  PACKED_DEFINE2(name##_clamp, D, D, D, valu_clamp(__VA_ARGS__, VALU_LOW_##D, VALU_HIGH_##D)) \
  PACKED_CHOICE(name)
#define PACKED_CLAMPED3(name, D, ...)                                                            \
  PACKED_DEFINE3(name##_plain, D, D, D, D, __VA_ARGS__)                                          \
  PACKED_DEFINE3(name##_clamp, D, D, D, D, valu_clamp(__VA_ARGS__, VALU_LOW_##D, VALU_HIGH_##D)) \
  PACKED_CHOICE(name)
#define PACKED_CHOICE(name)                                                          \
  static const inst_t* name(wave_t* w, const inst_t* inst) {                         \
    return inst->flags & INST_CLAMP ? name##_clamp(w, inst) : name##_plain(w, inst); \
  }
#include "isa/amd/valu_packed.def"

// The low result is op_sel's half of source 0, the high one that of source 1.
static const inst_t* move_pair(wave_t* w, const inst_t* inst) {
  uint32_t a[2 * WAVE_MAX_LANES], b[2 * WAVE_MAX_LANES], d[2 * WAVE_MAX_LANES];
  VECTOR(valu_read_raw)(w, &inst->src[0], 0, 2, a);
  VECTOR(valu_read_raw)(w, &inst->src[1], 1, 2, b);
  memcpy(d, a + (inst->op_sel & 1 ? WAVE_MAX_LANES : 0), w->lanes * 4);
  memcpy(d + WAVE_MAX_LANES, b + (inst->op_sel & 2 ? WAVE_MAX_LANES : 0), w->lanes * 4);
  VECTOR(valu_store)(w, inst, 2, wave_exec(w), d);
  return inst + 1;
}

static const inst_row_t rows[] = {
#define PACKED2(name, D, ...) INST_ROW(name, VALU, EXACT, name, 1, VALU_TYPE_##D)
#define PACKED3(name, D, ...) INST_ROW(name, VALU, EXACT, name, 1, VALU_TYPE_##D)
#define PACKED_CLAMPED2(name, D, ...) INST_ROW(name, VALU, EXACT, name, 1, VALU_TYPE_##D)
#define PACKED_CLAMPED3(name, D, ...) INST_ROW(name, VALU, EXACT, name, 1, VALU_TYPE_##D)
#define HAND(name, function, type) INST_ROW(name, VALU, EXACT, function, 1, type)
#include "isa/amd/valu_packed.def"
};
VECTOR_TABLE(valu_packed_table, rows);
