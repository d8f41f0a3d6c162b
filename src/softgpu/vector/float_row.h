// Functions of rows whose expressions use float_math.h: `m` is the wave's float_mode_t there, and what is written as
// `before` runs once, after MXCSR is set.
#ifndef IREE_C_SOFTGPU_VECTOR_FLOAT_ROW_H_
#define IREE_C_SOFTGPU_VECTOR_FLOAT_ROW_H_

#include "softgpu/vector/float_math.h"

// Rounds to nearest even whatever MODE says.
#define FLOAT_USE_NEAREST(w) wave_use_csr(w, (w)->csr & ~0x6000u)

#define FLOAT_FUNCTION(name, D, A, B, C, before, ...)                                                   \
  static const inst_t* name(wave_t* w, const inst_t* inst) {                                            \
    valu_t v;                                                                                           \
    valu_begin(w, inst, VALU_SHAPE(D, A, B, C), &v);                                                    \
    const float_mode_t m = float_mode(w);                                                               \
    (void)m;                                                                                            \
    before const valu_io_t io = v.io;                                                                   \
    VALU_LANES(VALU_LOAD_##A(a, 0) VALU_LOAD_##B(b, 1) VALU_LOAD_##C(c, 2) VALU_STORE_##D(__VA_ARGS__)) \
    valu_end(w, inst, VALU_SHAPE(D, A, B, C), &v);                                                      \
    return inst + 1;                                                                                    \
  }

// `c` is the destination's old value.
#define FLOAT_LOAD_OLD_F32(x) const float x = valu_as_f32(old[i]);
#define FLOAT_LOAD_OLD_F64(x) const double x = valu_as_f64(old[i] | (uint64_t)old[io.lanes + i] << 32);
#define FLOAT_ADDING(name, D, ...)                                                                        \
  static const inst_t* name(wave_t* w, const inst_t* inst) {                                              \
    valu_t v;                                                                                             \
    valu_begin(w, inst, VALU_SHAPE(D, D, D, NONE), &v);                                                   \
    const valu_io_t io = v.io;                                                                            \
    const uint32_t* old = io.old;                                                                         \
    VALU_LANES(VALU_LOAD_##D(a, 0) VALU_LOAD_##D(b, 1) FLOAT_LOAD_OLD_##D(c) VALU_STORE_##D(__VA_ARGS__)) \
    valu_end(w, inst, VALU_SHAPE(D, D, D, NONE), &v);                                                     \
    return inst + 1;                                                                                      \
  }

// The same where the old value must be converted: the destination as third source, whose op_sel is that of the
// destination.
VALU_INLINE inst_t float_accumulating(const inst_t* inst) {
  inst_t copy = *inst;
  copy.src[2] = copy.dst[0];
  return copy;
}
#define FLOAT_ACCUMULATOR(name, D, A, B, C, ...)             \
  FLOAT_FUNCTION(name##_sum, D, A, B, C, , __VA_ARGS__)      \
  static const inst_t* name(wave_t* w, const inst_t* inst) { \
    inst_t copy = float_accumulating(inst);                  \
    name##_sum(w, &copy);                                    \
    return inst + 1;                                         \
  }

// Rows of a table; more sources are of the last type.
#define FLOAT_ROW1(name, trust, D, A) INST_ROW(name, VALU, trust, name, 1, VALU_TYPE_##D, VALU_TYPE_##A)
#define FLOAT_ROW2(name, trust, D, A, B) \
  INST_ROW(name, VALU, trust, name, 1, VALU_TYPE_##D, VALU_TYPE_##A, VALU_TYPE_##B)
#define FLOAT_ROW3(name, trust, D, A, B, C) \
  INST_ROW(name, VALU, trust, name, 1, VALU_TYPE_##D, VALU_TYPE_##A, VALU_TYPE_##B, VALU_TYPE_##C)

#endif  // IREE_C_SOFTGPU_VECTOR_FLOAT_ROW_H_
