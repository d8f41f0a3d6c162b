// Rows of isa/amd/valu_float.def.
#include "softgpu/vector/float_row.h"

// A product, unless the exponent of a light (b) or its guard (c) forbids it.
VALU_INLINE float float_mullit(float a, float b, float c) {
  float least = -3.402823466e+38f;
  bool is_hidden = b == least || b == -INFINITY || b != b || !(c > 0);
  return is_hidden ? least : float_mul_f32(a, b);
}
VALU_INLINE float float_fract_f16(float x) {
  float result = float_sub_f32(x, __builtin_floorf(x));
  return result > 0x0.ffep0f ? 0x0.ffep0f : result;
}
// Like float_div_fixup_f32, without its underflow.
VALU_INLINE float float_div_fixup_f16(float a, float b, float c) {
  bool is_plain = b != 0 && c != 0 && float_abs_f32(b) < INFINITY && float_abs_f32(c) < INFINITY;
  float signed_a = float_with_sign_f32(a != a ? INFINITY : a, float_is_negative_f32(b) != float_is_negative_f32(c));
  return is_plain ? signed_a : float_div_fixup_f32(a, b, c);
}

// Face of a cube that a direction meets, coordinates there, and the largest component.
typedef struct float_cube_t {
  float face, s, t, major;
} float_cube_t;
VALU_INLINE float_cube_t float_cube(float x, float y, float z) {
  float ax = float_abs_f32(x), ay = float_abs_f32(y), az = float_abs_f32(z);
  if (az >= ax && az >= ay) return (float_cube_t){z < 0 ? 5 : 4, z < 0 ? -x : x, -y, z};
  if (ay >= ax) return (float_cube_t){y < 0 ? 3 : 2, x, y < 0 ? -z : z, y};
  return (float_cube_t){x < 0 ? 1 : 0, x < 0 ? z : -z, -y, x};
}

#define FLOAT1(name, D, A, ...) FLOAT_FUNCTION(name, D, A, NONE, NONE, , __VA_ARGS__)
#define FLOAT2(name, D, A, B, ...) FLOAT_FUNCTION(name, D, A, B, NONE, , __VA_ARGS__)
#define FLOAT3(name, D, A, B, C, ...) FLOAT_FUNCTION(name, D, A, B, C, , __VA_ARGS__)
#define ACCUMULATE_KF16(name, D, ...) FLOAT_ACCUMULATOR(name, D, F16, F16, F16, __VA_ARGS__)
#define ACCUMULATE_F32(name, D, ...) FLOAT_ADDING(name, D, __VA_ARGS__)
#define ACCUMULATE_F64(name, D, ...) FLOAT_ADDING(name, D, __VA_ARGS__)
#define FLOAT_ACCUMULATE(name, D, ...) ACCUMULATE_##D(name, D, __VA_ARGS__)
#define TRANS1(name, D, A, ...) FLOAT1(name, D, A, __VA_ARGS__)
#define FLUSHED1(name, D, A, ...) FLOAT_FUNCTION(name, D, A, NONE, NONE, wave_use_csr(w, FLOAT_FLUSH_CSR);, __VA_ARGS__)
#define FLOAT_EVEN1(name, D, A, ...) FLOAT_FUNCTION(name, D, A, NONE, NONE, FLOAT_USE_NEAREST(w);, __VA_ARGS__)
#define FUSED_HALF(name, D) FLOAT_FUNCTION(name, D, F16, F16, F16, FLOAT_USE_NEAREST(w);, float_fma_f16(&m, a, b, c))
#define FLOAT_FUSED_HALF(name, D) FUSED_HALF(name, D)
#define FLOAT_FUSED_HALF_ACCUMULATE(name)                    \
  FUSED_HALF(name##_sum, KF16)                               \
  static const inst_t* name(wave_t* w, const inst_t* inst) { \
    inst_t copy = float_accumulating(inst);                  \
    name##_sum(w, &copy);                                    \
    return inst + 1;                                         \
  }
#define FLOAT_DIV_SCALE(name, D, function)                                                      \
  static const inst_t* name(wave_t* w, const inst_t* inst) {                                    \
    valu_t v;                                                                                   \
    valu_begin(w, inst, VALU_SHAPE(D, D, D, D), &v);                                            \
    const valu_io_t io = v.io;                                                                  \
    VALU_LANES(VALU_LOAD_##D(a, 0) VALU_LOAD_##D(b, 1) VALU_LOAD_##D(c, 2) int scales;          \
               VALU_STORE_##D(function(a, b, c, &scales)) VALU_STORE_MASK(scales))              \
    valu_end(w, inst, VALU_SHAPE(D, D, D, D), &v);                                              \
    wave_set_mask(w, inst->dst[1].index, VECTOR(valu_collect)(v.flags, v.io.lanes) & v.active); \
    return inst + 1;                                                                            \
  }
#define FLOAT_DIV_FMAS(name, D, function)                                          \
  static const inst_t* name(wave_t* w, const inst_t* inst) {                       \
    uint32_t scales[WAVE_MAX_LANES];                                               \
    VECTOR(valu_spread)(wave_mask(w, SREG_VCC), w->lanes, scales);                 \
    const bool is_nearest = !(w->mode >> (VALU_TYPE_##D == INST_F64 ? 2 : 0) & 3); \
    valu_t v;                                                                      \
    valu_begin(w, inst, VALU_SHAPE(D, D, D, D), &v);                               \
    const valu_io_t io = v.io;                                                     \
    VALU_LANES(VALU_LOAD_##D(a, 0) VALU_LOAD_##D(b, 1) VALU_LOAD_##D(c, 2)         \
                   VALU_STORE_##D(function(a, b, c, scales[i] != 0, is_nearest)))  \
    valu_end(w, inst, VALU_SHAPE(D, D, D, D), &v);                                 \
    return inst + 1;                                                               \
  }
#define FLOAT_SCALAR(name, half, ...)                                  \
  static const inst_t* name(wave_t* w, const inst_t* inst) {           \
    wave_use_csr(w, half ? w->csr_double : (uint32_t)FLOAT_FLUSH_CSR); \
    const float a = scalar_source(w, inst, half);                      \
    put_scalar(w, inst, half, __VA_ARGS__);                            \
    return inst + 1;                                                   \
  }

static float scalar_source(const wave_t* w, const inst_t* inst, bool is_half) {
  const operand_t* o = &inst->src[0];
  uint32_t bits = wave_scalar(w, o);
  if (is_half) {
    bits = bits >> (inst->op_sel & 1 || o->modifiers & OPERAND_HIGH ? 16 : 0) & 0xffff;
    bool is_flushed = !(bits & 0x7c00) && !(w->mode & 0x40);
    bits = float_bits_f32(float_of_half(is_flushed ? bits & 0x8000 : bits));
  }
  if (o->modifiers & OPERAND_ABS) bits &= 0x7fffffffu;
  if (o->modifiers & OPERAND_NEG) bits ^= 0x80000000u;
  return float_from_f32(bits);
}

static void put_scalar(wave_t* w, const inst_t* inst, bool is_half, float value) {
  value *= inst->flags & INST_MUL_X2 ? 2 : inst->flags & INST_MUL_X4 ? 4 : inst->flags & INST_DIV_X2 ? 0.5f : 1;
  if (inst->flags & INST_CLAMP) value = value > 0 ? (value < 1 ? value : 1) : 0;
  uint32_t half = float_to_half(value, false);
  if (!(half & 0x7c00) && !(w->mode & 0x80)) half &= 0x8000;
  w->sgpr[inst->dst[0].index] = is_half ? half : float_bits_f32(value);
}

#include "isa/amd/valu_float.def"

static const inst_row_t rows[] = {
#define FLOAT1(name, D, A, ...) FLOAT_ROW1(name, EXACT, D, A)
#define FLOAT2(name, D, A, B, ...) FLOAT_ROW2(name, EXACT, D, A, B)
#define FLOAT3(name, D, A, B, C, ...) FLOAT_ROW3(name, EXACT, D, A, B, C)
#define FLOAT_ACCUMULATE(name, D, ...) FLOAT_ROW2(name, EXACT, D, D, D)
#define FLOAT_FUSED_HALF(name, D) FLOAT_ROW3(name, EXACT, D, F16, F16, F16)
#define FLOAT_FUSED_HALF_ACCUMULATE(name) FLOAT_ROW2(name, EXACT, KF16, F16, F16)
#define FLOAT_EVEN1(name, D, A, ...) FLOAT_ROW1(name, EXACT, D, A)
#define TRANS1(name, D, A, ...) FLOAT_ROW1(name, APPROXIMATE, D, A)
#define FLUSHED1(name, D, A, ...) FLOAT_ROW1(name, APPROXIMATE, D, A)
#define FLOAT_DIV_SCALE(name, D, function) \
  INST_ROW(name, VALU, APPROXIMATE, name, 2, VALU_TYPE_##D, INST_MASK, VALU_TYPE_##D, VALU_TYPE_##D, VALU_TYPE_##D)
#define FLOAT_DIV_FMAS(name, D, function) FLOAT_ROW3(name, EXACT, D, D, D, D)
#define FLOAT_SCALAR(name, half, ...) INST_ROW(name, VALU, APPROXIMATE, name, 1, half ? INST_F16 : INST_F32)
#include "isa/amd/valu_float.def"
};
VECTOR_TABLE(valu_float_table, rows);
