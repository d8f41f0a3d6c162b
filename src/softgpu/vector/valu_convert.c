// Rows of isa/amd/valu_convert.def.
#include "softgpu/vector/float_row.h"

VALU_INLINE uint32_t float_pair(uint32_t low, uint32_t high) { return (low & 0xffff) | high << 16; }
VALU_INLINE uint32_t float_put_byte(uint32_t word, uint32_t at, uint32_t byte) {
  return (word & ~(255u << at * 8)) | byte << at * 8;
}
VALU_INLINE uint32_t float_to_bytes(float_byte_t format, bool saturates, float a, float b) {
  return float_to_byte(format, a, saturates, false, 0) | float_to_byte(format, b, saturates, false, 0) << 8;
}

// Which byte of a register: gfx12 says byte_sel, gfx9 op_sel's last two elements.
static uint32_t selected_byte(const inst_t* inst, uint32_t op_sel_bit) {
  return ((uint32_t)inst->byte_sel | (uint32_t)inst->op_sel >> op_sel_bit) & 3;
}

#define CONVERT_BEFORE                          \
  const uint32_t byte = selected_byte(inst, 0); \
  (void)byte;
#define CONVERT1(name, D, A, ...) FLOAT_FUNCTION(name, D, A, NONE, NONE, CONVERT_BEFORE, __VA_ARGS__)
#define CONVERT2(name, D, A, B, ...) FLOAT_FUNCTION(name, D, A, B, NONE, , __VA_ARGS__)
#define CONVERT3(name, D, A, B, C, ...) FLOAT_FUNCTION(name, D, A, B, C, , __VA_ARGS__)
#define CONVERT_EVEN1(name, D, A, ...) FLOAT_FUNCTION(name, D, A, NONE, NONE, FLOAT_USE_NEAREST(w);, __VA_ARGS__)
#define CONVERT_EVEN2(name, D, A, B, ...) FLOAT_FUNCTION(name, D, A, B, NONE, FLOAT_USE_NEAREST(w);, __VA_ARGS__)
#define CONVERT_OLD                             \
  const uint32_t byte = selected_byte(inst, 2); \
  (void)byte;                                   \
  const uint32_t* old = v.io.old;
#define CONVERT_BYTE(name, which, ...) \
  FLOAT_FUNCTION(name, U32, F32, U32, NONE, CONVERT_OLD, float_put_byte(old[i], which, __VA_ARGS__))
#define CONVERT_BYTES(name, is_wide)                                                                    \
  FLOAT_FUNCTION(name, KU16, F32, F32, NONE, const float_byte_t format = float_byte(is_wide, m.is_ocp); \
                 , float_to_bytes(format, m.saturates, a, b))
#define CONVERT_PAIR(name, is_wide)                                                                \
  static const inst_t* name(wave_t* w, const inst_t* inst) {                                       \
    valu_t v;                                                                                      \
    valu_begin(w, inst, VALU_SHAPE(PF32, U16, NONE, NONE), &v);                                    \
    const float_byte_t format = float_byte(is_wide, float_mode(w).is_ocp);                         \
    const valu_io_t io = v.io;                                                                     \
    VALU_LANES(const uint32_t a = io.s[0][i]; const float low = float_of_byte(format, a & 255);    \
               const float high = float_of_byte(format, a >> 8 & 255); io.d[i] = valu_of_f32(low); \
               io.d[io.d_part + i] = valu_of_f32(high);)                                           \
    valu_end(w, inst, VALU_SHAPE(PF32, U16, NONE, NONE), &v);                                      \
    return inst + 1;                                                                               \
  }
#include "isa/amd/valu_convert.def"

static const inst_row_t rows[] = {
#define CONVERT1(name, D, A, ...) FLOAT_ROW1(name, EXACT, D, A)
#define CONVERT2(name, D, A, B, ...) FLOAT_ROW2(name, EXACT, D, A, B)
#define CONVERT3(name, D, A, B, C, ...) FLOAT_ROW3(name, EXACT, D, A, B, C)
#define CONVERT_EVEN1(name, D, A, ...) FLOAT_ROW1(name, EXACT, D, A)
#define CONVERT_EVEN2(name, D, A, B, ...) FLOAT_ROW2(name, EXACT, D, A, B)
#define CONVERT_BYTE(name, which, ...) FLOAT_ROW2(name, EXACT, U32, F32, U32)
#define CONVERT_BYTES(name, is_wide) FLOAT_ROW2(name, EXACT, KU16, F32, F32)
#define CONVERT_PAIR(name, is_wide) FLOAT_ROW1(name, EXACT, PF32, U16)
#include "isa/amd/valu_convert.def"
};
VECTOR_TABLE(valu_convert_table, rows);
