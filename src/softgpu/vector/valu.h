// How rows of the vector ALU are made from one expression.
//
//   VALU2(v_xad_u32, U32, U32, U32, a ^ b)      in a .def file: destination, sources, value of a lane
//
// gives a function `v_xad_u32` (where VALU2 is VALU_DEFINE2) and a row of a table (where it is VALU_ROW2). Sources are
// `a`, `b`, `c` of the type that the tag says:
//
//   U16 I16 U32 I32 U64 I64   integers          F32 F64   float, double
//   F16   float: halves are widened before the expression and rounded after it
//   KU16 KI16 KF16  the same as destinations that leave the upper half alone on gfx9 too (later all do)
//   MASK  bool: a bit for each lane in scalar registers; as a source VCC when the text leaves it out
//
// The expression of VALU_CARRY* is a pair: value and carry. PACKED* have tags PU16, PI16 and PF16 (both halves, one
// after the other) or PF32, with the expression's variables those of one element; op_sel and neg are applied before.
// The second way is by hand: `valu_t v; valu_begin(..); a loop over v.io; valu_end(..)`.
//
// The usual instruction reads and writes registers in place. What has modifiers (inst->extra, neg, abs, halves, clamp,
// s_set_gpr_idx) takes its sources in `temp` from valu_prepare, and with some lanes inactive the result goes through
// `temp` to valu_finish; the expression is the same code.
#ifndef IREE_C_SOFTGPU_VECTOR_VALU_H_
#define IREE_C_SOFTGPU_VECTOR_VALU_H_

#include "softgpu/vector/level.h"

#if defined(__clang__)
#define VALU_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define VALU_INDEPENDENT _Pragma("GCC ivdep")
#endif
#define VALU_INLINE static inline __attribute__((always_inline, unused))

// What an operand is, for the code around the expression.
typedef enum {
  VALU_KIND_NONE,
  VALU_KIND_RAW16,
  VALU_KIND_HALF,  // f16 as f32
  VALU_KIND_RAW32,
  VALU_KIND_SINGLE,
  VALU_KIND_RAW64,
  VALU_KIND_DOUBLE,
  VALU_KIND_MASK,
  VALU_KIND_PAIR16,       // two of 16 bits in a register
  VALU_KIND_PAIR_HALF,    // two f16 as f32: low ones, then high ones
  VALU_KIND_PAIR_SINGLE,  // two of 32 bits in two registers
} valu_kind_t;
// Kinds of an instruction: destination, sources.
enum { VALU_PRESERVES = 1 << 16 };
#define VALU_SHAPE(d, a, b, c) \
  ((uint32_t)VALU_KIND_OF_##d | VALU_KIND_OF_##a << 4 | VALU_KIND_OF_##b << 8 | VALU_KIND_OF_##c << 12)

// Lane i of part p of source k is s[k][p * part[k] + i].
typedef struct valu_io_t {
  uint32_t lanes;
  uint32_t keep;    // bits of `old` that a 16-bit result leaves alone
  uint32_t* flags;  // of a MASK destination: all ones or 0
  uint32_t* d;
  size_t d_part;
  const uint32_t* old;  // the destination register's lanes
  const uint32_t* s[3];
  size_t part[3];
} valu_io_t;

typedef struct valu_t {
  valu_io_t io;
  uint64_t active;  // lanes that are written
  bool is_direct;   // io.d is the register itself
  bool clamps;
  uint32_t temp[4][2 * WAVE_MAX_LANES] __attribute__((aligned(64)));  // sources, then the result
  uint32_t flags[WAVE_MAX_LANES] __attribute__((aligned(64)));
} valu_t;

// valu.c
void VECTOR(valu_broadcast)(const wave_t* wave, const operand_t* o, valu_t* v, uint32_t source);
void VECTOR(valu_widen)(const wave_t* wave, const operand_t* o, valu_t* v, uint32_t source);
void VECTOR(valu_widen_pairs)(const wave_t* wave, const operand_t* o, valu_t* v, uint32_t source);
// Writes the lanes of `active` of dst[0].
void VECTOR(valu_store)(wave_t* wave, const inst_t* inst, uint32_t parts, uint64_t active, const uint32_t* from);
// Lanes of all ones or 0 from a bit for each, and back.
void VECTOR(valu_spread)(uint64_t mask, uint32_t lanes, uint32_t* out);
uint64_t VECTOR(valu_collect)(const uint32_t* flags, uint32_t lanes);
void VECTOR(valu_prepare)(wave_t* wave, const inst_t* inst, uint32_t shape, valu_t* v);
void VECTOR(valu_finish)(wave_t* wave, const inst_t* inst, uint32_t shape, valu_t* v);
// Registers of an operand as they are (s_set_gpr_idx applied), `parts` of them; lanes of part p at out + p * 64.
void VECTOR(valu_read_raw)(const wave_t* wave, const operand_t* o, uint32_t source, uint32_t parts, uint32_t* out);
// f16 in the low halves to f32, and back by MODE's rounding and denormals of f16. May be in place.
void VECTOR(valu_halves_to_single)(const wave_t* wave, const uint32_t* from, uint32_t* to);
void VECTOR(valu_single_to_halves)(const wave_t* wave, const uint32_t* from, uint32_t* to);

VALU_INLINE float valu_as_f32(uint32_t bits) {
  union {
    uint32_t u;
    float f;
  } as = {.u = bits};
  return as.f;
}
VALU_INLINE uint32_t valu_of_f32(float value) {
  union {
    float f;
    uint32_t u;
  } as = {.f = value};
  return as.u;
}
VALU_INLINE double valu_as_f64(uint64_t bits) {
  union {
    uint64_t u;
    double f;
  } as = {.u = bits};
  return as.f;
}
VALU_INLINE uint64_t valu_of_f64(double value) {
  union {
    double f;
    uint64_t u;
  } as = {.f = value};
  return as.u;
}

VALU_INLINE bool valu_is_pair(uint32_t kind) { return kind == VALU_KIND_PAIR16 || kind >= VALU_KIND_PAIR_HALF; }
VALU_INLINE uint32_t valu_source_kind(uint32_t shape, uint32_t source) { return shape >> (4 * source + 4) & 15; }
// Registers of an operand.
VALU_INLINE uint32_t valu_parts(uint32_t kind) {
  return kind == VALU_KIND_RAW64 || kind == VALU_KIND_DOUBLE || kind == VALU_KIND_PAIR_SINGLE ? 2 : 1;
}

// 16-bit results leave the upper half of the register alone; on gfx9 most of them clear it.
VALU_INLINE uint32_t valu_kept(const wave_t* w, uint32_t shape) {
  return isa_is_gfx9(w->target) && !(shape & VALU_PRESERVES) ? 0 : 0xffff0000u;
}

VALU_INLINE bool valu_is_plain(const wave_t* w, const inst_t* inst, uint32_t shape) {
  uint32_t flags = INST_CLAMP | INST_MUL_X2 | INST_MUL_X4 | INST_DIV_X2 | INST_HAS_EXTRA;
  uint32_t changes = (inst->flags & flags) | w->gpr_index | inst->dst[0].modifiers;
  for (uint32_t k = 0; k < 3; ++k) {
    if (valu_source_kind(shape, k)) changes |= inst->src[k].modifiers;
  }
  changes &= ~(uint32_t)OPERAND_LOW;
  if (valu_is_pair(valu_source_kind(shape, 0))) {
    uint32_t all = valu_source_kind(shape, 2) ? 7 : 3;
    changes |= (~(uint32_t)inst->op_sel_hi & all) | (uint16_t)inst->neg_lo | (uint16_t)inst->neg_hi;
  }
  return !(changes | (uint16_t)inst->op_sel);
}

VALU_INLINE uint64_t valu_mask_source(const wave_t* w, const operand_t* o) {
  return o->kind == OPERAND_NONE ? wave_mask(w, SREG_VCC) : wave_scalar_mask(w, o);
}

VALU_INLINE void valu_begin_source(const wave_t* w, const operand_t* o, uint32_t kind, uint32_t k, valu_t* v) {
  if (kind == VALU_KIND_NONE) return;
  if (kind == VALU_KIND_MASK) {
    VECTOR(valu_spread)(valu_mask_source(w, o), w->lanes, v->temp[k]);
    v->io.s[k] = v->temp[k];
  } else if (kind == VALU_KIND_HALF) {
    VECTOR(valu_widen)(w, o, v, k);
  } else if (kind == VALU_KIND_PAIR_HALF) {
    VECTOR(valu_widen_pairs)(w, o, v, k);
  } else if (__builtin_expect(o->kind == OPERAND_VGPR, 1)) {
    v->io.s[k] = w->vgpr + o->offset, v->io.part[k] = w->lanes;
  } else if (o->kind == OPERAND_CONSTANT) {
    v->io.s[k] = o->lanes, v->io.part[k] = WAVE_MAX_LANES;
  } else {
    VECTOR(valu_broadcast)(w, o, v, k);
  }
}

// MXCSR goes by the destination, or by the sources where the result is no float.
VALU_INLINE void valu_begin_float(wave_t* w, uint32_t shape) {
  for (uint32_t k = 0; k < 4; ++k) {
    uint32_t kind = shape >> (4 * k) & 15;
    if (kind == VALU_KIND_SINGLE || kind == VALU_KIND_PAIR_SINGLE) return wave_use_csr(w, w->csr_single);
    if (kind == VALU_KIND_HALF || kind == VALU_KIND_DOUBLE || kind == VALU_KIND_PAIR_HALF) {
      return wave_use_csr(w, w->csr_double);
    }
  }
}

VALU_INLINE void valu_begin(wave_t* w, const inst_t* inst, uint32_t shape, valu_t* v) {
  uint32_t kind = shape & 15;
  valu_begin_float(w, shape);
  v->active = wave_exec(w);
  v->io.lanes = w->lanes;
  v->io.d_part = WAVE_MAX_LANES;
  v->io.d = v->temp[3];
  v->io.flags = v->flags;
  v->is_direct = v->clamps = false;
  if (__builtin_expect(!valu_is_plain(w, inst, shape), 0)) {
    VECTOR(valu_prepare)(w, inst, shape, v);
    return;
  }
  for (uint32_t k = 0; k < 3; ++k) valu_begin_source(w, &inst->src[k], valu_source_kind(shape, k), k, v);
  if (kind == VALU_KIND_MASK) return;
  v->io.old = w->vgpr + inst->dst[0].offset;
  v->io.keep = valu_kept(w, shape);
  if (v->active == w->all && kind != VALU_KIND_HALF && kind != VALU_KIND_PAIR_HALF) {
    v->io.d = w->vgpr + inst->dst[0].offset;
    v->io.d_part = w->lanes;
    v->is_direct = true;
  }
}

VALU_INLINE void valu_end(wave_t* w, const inst_t* inst, uint32_t shape, valu_t* v) {
  if ((shape & 15) == VALU_KIND_MASK) {
    wave_set_mask(w, inst->dst[0].index, VECTOR(valu_collect)(v->flags, v->io.lanes) & v->active);
  } else if (!v->is_direct) {
    VECTOR(valu_finish)(w, inst, shape, v);
  }
}

// Facts of the tags.
#define VALU_KIND_OF_NONE VALU_KIND_NONE
#define VALU_KIND_OF_U16 VALU_KIND_RAW16
#define VALU_KIND_OF_I16 VALU_KIND_RAW16
#define VALU_KIND_OF_F16 VALU_KIND_HALF
#define VALU_KIND_OF_KU16 (VALU_KIND_RAW16 | VALU_PRESERVES)
#define VALU_KIND_OF_KI16 (VALU_KIND_RAW16 | VALU_PRESERVES)
#define VALU_KIND_OF_KF16 (VALU_KIND_HALF | VALU_PRESERVES)
#define VALU_KIND_OF_U32 VALU_KIND_RAW32
#define VALU_KIND_OF_I32 VALU_KIND_RAW32
#define VALU_KIND_OF_F32 VALU_KIND_SINGLE
#define VALU_KIND_OF_U64 VALU_KIND_RAW64
#define VALU_KIND_OF_I64 VALU_KIND_RAW64
#define VALU_KIND_OF_F64 VALU_KIND_DOUBLE
#define VALU_KIND_OF_MASK VALU_KIND_MASK
#define VALU_KIND_OF_PU16 VALU_KIND_PAIR16
#define VALU_KIND_OF_PI16 VALU_KIND_PAIR16
#define VALU_KIND_OF_PF16 VALU_KIND_PAIR_HALF
#define VALU_KIND_OF_PF32 VALU_KIND_PAIR_SINGLE
#define VALU_KIND_OF_PU32 VALU_KIND_PAIR_SINGLE

#define VALU_TYPE_NONE INST_NONE
#define VALU_TYPE_U16 INST_B16
#define VALU_TYPE_I16 INST_I16
#define VALU_TYPE_F16 INST_F16
#define VALU_TYPE_KU16 INST_B16
#define VALU_TYPE_KI16 INST_I16
#define VALU_TYPE_KF16 INST_F16
#define VALU_TYPE_U32 INST_B32
#define VALU_TYPE_I32 INST_I32
#define VALU_TYPE_F32 INST_F32
#define VALU_TYPE_U64 INST_B64
#define VALU_TYPE_I64 INST_I64
#define VALU_TYPE_F64 INST_F64
#define VALU_TYPE_MASK INST_MASK
#define VALU_TYPE_PU16 INST_PI16
#define VALU_TYPE_PI16 INST_PI16
#define VALU_TYPE_PF16 INST_P16
#define VALU_TYPE_PF32 INST_P32
#define VALU_TYPE_PU32 INST_P32

#define VALU_LOAD_NONE(x, k)
#define VALU_LOAD_U16(x, k) const uint16_t x = (uint16_t)io.s[k][i];
#define VALU_LOAD_I16(x, k) const int16_t x = (int16_t)io.s[k][i];
#define VALU_LOAD_F16(x, k) const float x = valu_as_f32(io.s[k][i]);
#define VALU_LOAD_U32(x, k) const uint32_t x = io.s[k][i];
#define VALU_LOAD_I32(x, k) const int32_t x = (int32_t)io.s[k][i];
#define VALU_LOAD_F32(x, k) const float x = valu_as_f32(io.s[k][i]);
#define VALU_LOAD_BITS(k) (io.s[k][i] | (uint64_t)io.s[k][io.part[k] + i] << 32)
#define VALU_LOAD_U64(x, k) const uint64_t x = VALU_LOAD_BITS(k);
#define VALU_LOAD_I64(x, k) const int64_t x = (int64_t)VALU_LOAD_BITS(k);
#define VALU_LOAD_F64(x, k) const double x = valu_as_f64(VALU_LOAD_BITS(k));
#define VALU_LOAD_MASK(x, k) const bool x = io.s[k][i] != 0;
// Element `p` of pairs.
#define VALU_LOAD_PU16(x, k) const uint16_t x = (uint16_t)(io.s[k][i] >> 16 * p);
#define VALU_LOAD_PI16(x, k) const int16_t x = (int16_t)(io.s[k][i] >> 16 * p);
#define VALU_LOAD_PF16(x, k) const float x = valu_as_f32(io.s[k][p * io.part[k] + i]);
#define VALU_LOAD_PF32(x, k) const float x = valu_as_f32(io.s[k][p * io.part[k] + i]);
#define VALU_LOAD_PU32(x, k) const uint32_t x = io.s[k][p * io.part[k] + i];

#define VALU_STORE_U16(...) io.d[i] = (io.old[i] & io.keep) | (uint16_t)(__VA_ARGS__);
#define VALU_STORE_I16(...) VALU_STORE_U16(__VA_ARGS__)
#define VALU_STORE_F16(...) io.d[i] = valu_of_f32(__VA_ARGS__);
#define VALU_STORE_KU16(...) VALU_STORE_U16(__VA_ARGS__)
#define VALU_STORE_KI16(...) VALU_STORE_I16(__VA_ARGS__)
#define VALU_STORE_KF16(...) VALU_STORE_F16(__VA_ARGS__)
#define VALU_STORE_U32(...) io.d[i] = (uint32_t)(__VA_ARGS__);
#define VALU_STORE_I32(...) VALU_STORE_U32(__VA_ARGS__)
#define VALU_STORE_F32(...) io.d[i] = valu_of_f32(__VA_ARGS__);
#define VALU_STORE_U64(...)                       \
  const uint64_t value = (uint64_t)(__VA_ARGS__); \
  io.d[i] = (uint32_t)value;                      \
  io.d[io.d_part + i] = (uint32_t)(value >> 32);
#define VALU_STORE_I64(...) VALU_STORE_U64(__VA_ARGS__)
#define VALU_STORE_F64(...) VALU_STORE_U64(valu_of_f64(__VA_ARGS__))
#define VALU_STORE_MASK(...) io.flags[i] = 0u - (uint32_t)(bool)(__VA_ARGS__);

// Each lane in turn; their number is a multiple of 16, which the compiler must see.
#define VALU_LANES(...)                                  \
  {                                                      \
    const size_t count = (size_t)(io.lanes / 16u) * 16u; \
    VALU_INDEPENDENT                                     \
    for (size_t i = 0; i < count; ++i) {                 \
      __VA_ARGS__                                        \
    }                                                    \
  }

#define VALU_FUNCTION(name, D, A, B, C, ...)                                                            \
  static const inst_t* name(wave_t* w, const inst_t* inst) {                                            \
    valu_t v;                                                                                           \
    valu_begin(w, inst, VALU_SHAPE(D, A, B, C), &v);                                                    \
    const valu_io_t io = v.io;                                                                          \
    VALU_LANES(VALU_LOAD_##A(a, 0) VALU_LOAD_##B(b, 1) VALU_LOAD_##C(c, 2) VALU_STORE_##D(__VA_ARGS__)) \
    valu_end(w, inst, VALU_SHAPE(D, A, B, C), &v);                                                      \
    return inst + 1;                                                                                    \
  }
#define VALU_DEFINE1(name, D, A, ...) VALU_FUNCTION(name, D, A, NONE, NONE, __VA_ARGS__)
#define VALU_DEFINE2(name, D, A, B, ...) VALU_FUNCTION(name, D, A, B, NONE, __VA_ARGS__)
#define VALU_DEFINE3(name, D, A, B, C, ...) VALU_FUNCTION(name, D, A, B, C, __VA_ARGS__)

// With clamp, the value (exact in 64 bits) is cut to what D holds.
#define VALU_LOW_U16 0
#define VALU_LOW_I16 INT16_MIN
#define VALU_LOW_KU16 0
#define VALU_LOW_KI16 INT16_MIN
#define VALU_LOW_U32 0
#define VALU_LOW_I32 INT32_MIN
#define VALU_LOW_PU16 0
#define VALU_LOW_PI16 INT16_MIN
#define VALU_HIGH_U16 UINT16_MAX
#define VALU_HIGH_I16 INT16_MAX
#define VALU_HIGH_KU16 UINT16_MAX
#define VALU_HIGH_KI16 INT16_MAX
#define VALU_HIGH_U32 UINT32_MAX
#define VALU_HIGH_I32 INT32_MAX
#define VALU_HIGH_PU16 UINT16_MAX
#define VALU_HIGH_PI16 INT16_MAX
VALU_INLINE int64_t valu_clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}
#define VALU_CLAMPED(name, D, A, B, C, ...)                                                               \
  static const inst_t* name(wave_t* w, const inst_t* inst) {                                              \
    valu_t v;                                                                                             \
    valu_begin(w, inst, VALU_SHAPE(D, A, B, C), &v);                                                      \
    const valu_io_t io = v.io;                                                                            \
    if (__builtin_expect(v.clamps, 0)) {                                                                  \
      VALU_LANES(VALU_LOAD_##A(a, 0) VALU_LOAD_##B(b, 1) VALU_LOAD_##C(c, 2)                              \
                     VALU_STORE_##D(valu_clamp(__VA_ARGS__, VALU_LOW_##D, VALU_HIGH_##D)))                \
    } else {                                                                                              \
      VALU_LANES(VALU_LOAD_##A(a, 0) VALU_LOAD_##B(b, 1) VALU_LOAD_##C(c, 2) VALU_STORE_##D(__VA_ARGS__)) \
    }                                                                                                     \
    valu_end(w, inst, VALU_SHAPE(D, A, B, C), &v);                                                        \
    return inst + 1;                                                                                      \
  }

// Rows with a second destination, a bit for each lane: value and carry are expressions.
#define VALU_CARRY(name, D, A, B, C, value, carry)                                                \
  static const inst_t* name(wave_t* w, const inst_t* inst) {                                      \
    valu_t v;                                                                                     \
    valu_begin(w, inst, VALU_SHAPE(D, A, B, C), &v);                                              \
    const valu_io_t io = v.io;                                                                    \
    VALU_LANES(VALU_LOAD_##A(a, 0) VALU_LOAD_##B(b, 1) VALU_LOAD_##C(c, 2) VALU_STORE_MASK(carry) \
                   VALU_STORE_##D(value))                                                         \
    valu_end(w, inst, VALU_SHAPE(D, A, B, C), &v);                                                \
    wave_set_mask(w, inst->dst[1].index, VECTOR(valu_collect)(v.flags, v.io.lanes) & v.active);   \
    return inst + 1;                                                                              \
  }

// Both elements of pairs. PU16 and PI16 share a register; the others' elements are apart.
#define VALU_STORE_PU16(...)               \
  if (p) {                                 \
    pair |= (uint32_t)(__VA_ARGS__) << 16; \
  } else {                                 \
    pair = (uint16_t)(__VA_ARGS__);        \
  }
#define VALU_STORE_PI16(...) VALU_STORE_PU16(__VA_ARGS__)
#define VALU_STORE_PF16(...) pairs[p] = valu_of_f32(__VA_ARGS__);
#define VALU_STORE_PF32(...) pairs[p] = valu_of_f32(__VA_ARGS__);
#define VALU_STORE_PU32(...) pairs[p] = (uint32_t)(__VA_ARGS__);
#define VALU_PAIR_PU16 io.d[i] = pair;
#define VALU_PAIR_PI16 io.d[i] = pair;
#define VALU_PAIR_APART \
  io.d[i] = pairs[0];   \
  io.d[io.d_part + i] = pairs[1];
#define VALU_PAIR_PF16 VALU_PAIR_APART
#define VALU_PAIR_PF32 VALU_PAIR_APART
#define VALU_PAIR_PU32 VALU_PAIR_APART
#define VALU_ELEMENT(D, A, B, C, part, ...)                                                 \
  {                                                                                         \
    enum { p = part };                                                                      \
    VALU_LOAD_##A(a, 0) VALU_LOAD_##B(b, 1) VALU_LOAD_##C(c, 2) VALU_STORE_##D(__VA_ARGS__) \
  }
#define VALU_PACKED(name, D, A, B, C, ...)                                                                      \
  static const inst_t* name(wave_t* w, const inst_t* inst) {                                                    \
    valu_t v;                                                                                                   \
    valu_begin(w, inst, VALU_SHAPE(D, A, B, C), &v);                                                            \
    const valu_io_t io = v.io;                                                                                  \
    VALU_LANES(uint32_t pair = 0, pairs[2] = {0, 0}; (void)pair; (void)pairs;                                   \
               VALU_ELEMENT(D, A, B, C, 0, __VA_ARGS__) VALU_ELEMENT(D, A, B, C, 1, __VA_ARGS__) VALU_PAIR_##D) \
    valu_end(w, inst, VALU_SHAPE(D, A, B, C), &v);                                                              \
    return inst + 1;                                                                                            \
  }
#define PACKED_DEFINE1(name, D, A, ...) VALU_PACKED(name, D, A, NONE, NONE, __VA_ARGS__)
#define PACKED_DEFINE2(name, D, A, B, ...) VALU_PACKED(name, D, A, B, NONE, __VA_ARGS__)
#define PACKED_DEFINE3(name, D, A, B, C, ...) VALU_PACKED(name, D, A, B, C, __VA_ARGS__)

// The rows of a table. VALU*_NEAR are approximate.
#define VALU_ROW1(name, D, A, ...) INST_ROW(name, VALU, EXACT, name, 1, VALU_TYPE_##D, VALU_TYPE_##A)
#define VALU_ROW2(name, D, A, B, ...) INST_ROW(name, VALU, EXACT, name, 1, VALU_TYPE_##D, VALU_TYPE_##A, VALU_TYPE_##B)
#define VALU_ROW3(name, D, A, B, C, ...) \
  INST_ROW(name, VALU, EXACT, name, 1, VALU_TYPE_##D, VALU_TYPE_##A, VALU_TYPE_##B, VALU_TYPE_##C)

#endif  // IREE_C_SOFTGPU_VECTOR_VALU_H_
