// Rows of isa/amd/valu_packed_float.def.
#include "softgpu/vector/float_row.h"
#include "softgpu/vector/half.h"

// Sums of products, rounded after each: products of f16, bf16 and smaller floats are exact in f32.
VALU_INLINE float float_dot2(float a0, float b0, float a1, float b1, float c) {
  return float_fma_f32(a1, b1, float_fma_f32(a0, b0, c));
}
VALU_INLINE float float_dot4(const float_mode_t* m, bool a_is_wide, bool b_is_wide, uint32_t a, uint32_t b, float c) {
  float_byte_t a_format = float_byte(a_is_wide, m->is_ocp), b_format = float_byte(b_is_wide, m->is_ocp);
  for (uint32_t at = 0; at < 32; at += 8) {
    c = float_fma_f32(float_of_byte(a_format, a >> at & 255), float_of_byte(b_format, b >> at & 255), c);
  }
  return c;
}

#define PACKED_FUNCTION(name, before, D, A, B, C, ...)                                                            \
  static const inst_t* name(wave_t* w, const inst_t* inst) {                                                      \
    valu_t v;                                                                                                     \
    valu_begin(w, inst, VALU_SHAPE(D, A, B, C), &v);                                                              \
    const float_mode_t m = float_mode(w);                                                                         \
    (void)m;                                                                                                      \
    before const valu_io_t io = v.io;                                                                             \
    VALU_LANES(uint32_t pairs[2];                                                                                 \
               VALU_ELEMENT(D, A, B, C, 0, __VA_ARGS__) VALU_ELEMENT(D, A, B, C, 1, __VA_ARGS__) VALU_PAIR_APART) \
    valu_end(w, inst, VALU_SHAPE(D, A, B, C), &v);                                                                \
    return inst + 1;                                                                                              \
  }
// Pairs of f16 that need nothing special: a register's halves one after the other, as they lie in memory.
enum { PACKED_HALVES = 2 * WAVE_MAX_LANES };
#if defined(__F16C__)
static bool packed_is_direct(const wave_t* w, const inst_t* inst, uint32_t shape) {
  return (w->mode & 0xc0) == 0xc0 && valu_is_plain(w, inst, shape);
}
static const uint32_t* packed_lanes(const wave_t* w, const operand_t* o, uint32_t* splat) {
  if (o->kind != OPERAND_SGPR) return o->kind == OPERAND_VGPR ? w->vgpr + o->offset : o->lanes;
  uint32_t value = wave_scalar(w, o);
  for (uint32_t i = 0; i < WAVE_MAX_LANES; ++i) splat[i] = value;
  return splat;
}
// The direct conversion makes NaNs quiet: where that matters, it is for numbers and quiet ones only.
static bool packed_has_signaling(const wave_t* w, const inst_t* inst) {
  uint32_t splat[WAVE_MAX_LANES], found = 0;
  for (uint32_t k = 0; k < 2; ++k) {
    const uint32_t* from = packed_lanes(w, &inst->src[k], splat);
    for (uint32_t i = 0; i < w->lanes; ++i) {
      uint32_t low = from[i] & 0x7fff, high = from[i] >> 16 & 0x7fff;
      found |= (low - 0x7c01 < 0x1ff) | (high - 0x7c01 < 0x1ff);
    }
  }
  return found;
}
static void packed_widen(const wave_t* w, const operand_t* o, float* out) {
  uint32_t splat[WAVE_MAX_LANES];
  const uint32_t* from = packed_lanes(w, o, splat);
  for (uint32_t i = 0; i < w->lanes; i += 4) {
    __m128i halves;
    memcpy(&halves, from + i, sizeof(halves));
    _mm256_storeu_ps(out + 2 * i, _mm256_cvtph_ps(halves));
  }
}
static void packed_narrow(wave_t* w, const inst_t* inst, const float* values) {
  uint32_t mask[WAVE_MAX_LANES], *to = w->vgpr + inst->dst[0].offset;
  uint64_t active = wave_exec(w);
  if (active != w->all) VECTOR(valu_spread)(active, w->lanes, mask);
  for (uint32_t i = 0; i < w->lanes; i += 4) {
    __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(values + 2 * i), _MM_FROUND_CUR_DIRECTION);
    if (active != w->all) {
      __m128i old, written;
      memcpy(&old, to + i, sizeof(old));
      memcpy(&written, mask + i, sizeof(written));
      halves = _mm_blendv_epi8(old, halves, written);
    }
    memcpy(to + i, &halves, sizeof(halves));
  }
}
#else
static bool packed_is_direct(const wave_t* w, const inst_t* inst, uint32_t shape) { return false; }
static bool packed_has_signaling(const wave_t* w, const inst_t* inst) { return true; }
static void packed_widen(const wave_t* w, const operand_t* o, float* out) {}
static void packed_narrow(wave_t* w, const inst_t* inst, const float* values) {}
#endif

#define PACKED_VALUE(D, A, B, C, ...)                                       \
  const float a = x[0][i], b = x[1][i], c = x[VALU_KIND_OF_##C ? 2 : 0][i]; \
  (void)c;                                                                  \
  y[i] = __VA_ARGS__;
#define PACKED_HALF_FUNCTION(name, allowed, before, D, A, B, C, ...)                                \
  PACKED_FUNCTION(name##_other, before, D, A, B, C, __VA_ARGS__)                                    \
  static const inst_t* name(wave_t* w, const inst_t* inst) {                                        \
    bool is_direct = packed_is_direct(w, inst, VALU_SHAPE(D, A, B, C)) && (allowed);                \
    if (!is_direct) return name##_other(w, inst);                                                   \
    float x[3][PACKED_HALVES] __attribute__((aligned(64))), y[PACKED_HALVES];                       \
    wave_use_csr(w, w->csr_double);                                                                 \
    const float_mode_t m = float_mode(w);                                                           \
    (void)m;                                                                                        \
    for (uint32_t k = 0; k < (VALU_KIND_OF_##C ? 3 : 2); ++k) packed_widen(w, &inst->src[k], x[k]); \
    const size_t count = (size_t)(w->lanes / 32u) * 64u;                                            \
    VALU_INDEPENDENT                                                                                \
    for (size_t i = 0; i < count; ++i) {                                                            \
      PACKED_VALUE(D, A, B, C, __VA_ARGS__)                                                         \
    }                                                                                               \
    packed_narrow(w, inst, y);                                                                      \
    return inst + 1;                                                                                \
  }
#define PACKED_PF16(name, D, A, B, C, ...) PACKED_HALF_FUNCTION(name, true, , D, A, B, C, __VA_ARGS__)
#define PACKED_PF32(name, D, A, B, C, ...) PACKED_FUNCTION(name, , D, A, B, C, __VA_ARGS__)
#define PACKED_FLOAT2(name, D, ...) PACKED_##D(name, D, D, D, NONE, __VA_ARGS__)
#define PACKED_FLOAT3(name, D, ...) PACKED_##D(name, D, D, D, D, __VA_ARGS__)
#define PACKED_NUMBER2(name, ...)                                                                            \
  PACKED_HALF_FUNCTION(name, !(w->mode & 0x200) || !packed_has_signaling(w, inst), , PF16, PF16, PF16, NONE, \
                       __VA_ARGS__)
// Sums are rounded to odd, which needs nearest rounding before.
#define PACKED_FUSED_HALF(name) \
  PACKED_HALF_FUNCTION(name, !(w->mode & 12), FLOAT_USE_NEAREST(w);, PF16, PF16, PF16, PF16, float_fma_f16(&m, a, b, c))
#define PACKED_FUSED_HALF_ACCUMULATE(name)                   \
  PACKED_FUSED_HALF(name##_sum)                              \
  static const inst_t* name(wave_t* w, const inst_t* inst) { \
    inst_t copy = *inst;                                     \
    copy.src[2] = copy.dst[0];                               \
    name##_sum(w, &copy);                                    \
    return inst + 1;                                         \
  }

// Each source of a mix is f32, or half a register of f16, as op_sel_hi and op_sel say.
static void widen_mix(const wave_t* w, const inst_t* inst, uint32_t k, const valu_io_t* io, uint32_t* out) {
  const operand_t* o = &inst->src[k];
  const uint32_t* from = io->s[k];
  uint32_t keep = o->modifiers & OPERAND_ABS ? 0x7fffffffu : UINT32_MAX;
  uint32_t flip = o->modifiers & OPERAND_NEG ? 0x80000000u : 0;
  const size_t count = (size_t)(io->lanes / 16u) * 16u;
  if (inst->op_sel_hi >= 0 && inst->op_sel_hi >> k & 1 && o->kind != OPERAND_CONSTANT) {
    uint32_t halves[WAVE_MAX_LANES], shift = inst->op_sel >> k & 1 ? 16 : 0;
    for (size_t i = 0; i < count; ++i) halves[i] = from[i] >> shift & 0xffff;
    half_to_single(halves, out, io->lanes, !(w->mode & 0x40));
    from = out;
  }
  VALU_INDEPENDENT
  for (size_t i = 0; i < count; ++i) out[i] = (from[i] & keep) ^ flip;
}

// Without what valu.h would apply itself.
static inst_t plain_mix(const inst_t* inst, uint32_t half) {
  inst_t copy = *inst;
  for (uint32_t k = 0; k < 3; ++k) copy.src[k].modifiers = 0;
  copy.op_sel = copy.neg_lo = copy.neg_hi = 0;
  copy.dst[0].modifiers = (uint8_t)half;
  return copy;
}

enum { MIX_HALF_NONE = 0, MIX_HALF_LOW = OPERAND_LOW, MIX_HALF_HIGH = OPERAND_HIGH };
#define MIX_TAG_NONE F32
#define MIX_TAG_LOW KF16
#define MIX_TAG_HIGH KF16
#define MIX(name, half, function) MIX_EXPAND(name, half, MIX_TAG_##half, function)
#define MIX_EXPAND(name, half, D, function) MIX_FUNCTION(name, half, D, function)
#define MIX_FUNCTION(name, half, D, function)                                                                       \
  static const inst_t* name(wave_t* w, const inst_t* inst) {                                                        \
    const inst_t copy = plain_mix(inst, MIX_HALF_##half);                                                           \
    uint32_t wide[3][WAVE_MAX_LANES] __attribute__((aligned(64)));                                                  \
    valu_t v;                                                                                                       \
    valu_begin(w, &copy, VALU_SHAPE(D, U32, U32, U32), &v);                                                         \
    wave_use_csr(w, w->csr_single);                                                                                 \
    for (uint32_t k = 0; k < 3; ++k) widen_mix(w, inst, k, &v.io, wide[k]);                                         \
    const valu_io_t io = v.io;                                                                                      \
    VALU_LANES(VALU_STORE_##D(function(valu_as_f32(wide[0][i]), valu_as_f32(wide[1][i]), valu_as_f32(wide[2][i])))) \
    valu_begin_float(w, VALU_SHAPE(D, U32, U32, U32));                                                              \
    valu_end(w, &copy, VALU_SHAPE(D, U32, U32, U32), &v);                                                           \
    return inst + 1;                                                                                                \
  }

// How a dot product's sources are read.
#define DOT_TAG_HALVES PF16
#define DOT_TAG_BRAINS PU16
#define DOT_TAG_BYTES U32
#define DOT_LOAD_HALVES(x, k)                 \
  const float x##0 = valu_as_f32(io.s[k][i]); \
  const float x##1 = valu_as_f32(io.s[k][io.part[k] + i]);
#define DOT_LOAD_BRAINS(x, k)                       \
  const float x##0 = valu_as_f32(io.s[k][i] << 16); \
  const float x##1 = valu_as_f32(io.s[k][i] & 0xffff0000u);
#define DOT_LOAD_BYTES(x, k) const uint32_t x##0 = io.s[k][i];
#define DOT(name, D, sources, C, ...) DOT_EXPAND(name, D, sources, DOT_TAG_##sources, C, __VA_ARGS__)
#define DOT_EXPAND(name, D, sources, S, C, ...) DOT_FUNCTION(name, D, sources, S, C, __VA_ARGS__)
#define DOT_FUNCTION(name, D, sources, S, C, ...)                                                                 \
  static const inst_t* name(wave_t* w, const inst_t* inst) {                                                      \
    valu_t v;                                                                                                     \
    valu_begin(w, inst, VALU_SHAPE(D, S, S, C), &v);                                                              \
    const float_mode_t m = float_mode(w);                                                                         \
    (void)m;                                                                                                      \
    const valu_io_t io = v.io;                                                                                    \
    VALU_LANES(DOT_LOAD_##sources(a, 0) DOT_LOAD_##sources(b, 1) VALU_LOAD_##C(c, 2) VALU_STORE_##D(__VA_ARGS__)) \
    valu_end(w, inst, VALU_SHAPE(D, S, S, C), &v);                                                                \
    return inst + 1;                                                                                              \
  }
#define DOT_ACCUMULATE(name, sources, ...)                   \
  DOT(name##_sum, F32, sources, F32, __VA_ARGS__)            \
  static const inst_t* name(wave_t* w, const inst_t* inst) { \
    inst_t copy = *inst;                                     \
    copy.src[2] = copy.dst[0];                               \
    name##_sum(w, &copy);                                    \
    return inst + 1;                                         \
  }
#include "isa/amd/valu_packed_float.def"

static const inst_row_t rows[] = {
#define PACKED_FLOAT2(name, D, ...) FLOAT_ROW2(name, EXACT, D, D, D)
#define PACKED_FLOAT3(name, D, ...) FLOAT_ROW3(name, EXACT, D, D, D, D)
#define PACKED_NUMBER2(name, ...) FLOAT_ROW2(name, EXACT, PF16, PF16, PF16)
#define PACKED_FUSED_HALF(name) FLOAT_ROW3(name, EXACT, PF16, PF16, PF16, PF16)
#define PACKED_FUSED_HALF_ACCUMULATE(name) FLOAT_ROW2(name, EXACT, PF16, PF16, PF16)
#define MIX(name, half, function) INST_ROW(name, VALU, EXACT, name, 1, INST_B32, INST_F32)
#define DOT_ROW(name, D, S, C) FLOAT_ROW3(name, APPROXIMATE, D, S, S, C)
#define DOT(name, D, sources, C, ...) DOT_ROW(name, D, DOT_TAG_##sources, C)
#define DOT_ACCUMULATE(name, sources, ...) DOT_ROW(name, F32, DOT_TAG_##sources, F32)
#include "isa/amd/valu_packed_float.def"
};
VECTOR_TABLE(valu_packed_float_table, rows);
