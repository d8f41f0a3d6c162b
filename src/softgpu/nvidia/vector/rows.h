// Rows of isa/nvidia/*.def as functions over the lanes of a warp. Each file of this folder is compiled for x86-64-v2,
// -v3 and -v4; LEVEL(name) is the name of an export of that level, and rows.c picks the one that the host has.
#ifndef IREE_C_SOFTGPU_NVIDIA_VECTOR_ROWS_H_
#define IREE_C_SOFTGPU_NVIDIA_VECTOR_ROWS_H_

#include <math.h>

#include "softgpu/nvidia/decode.h"

typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;

#define LEVEL_PASTE(name, level) name##_v##level
#define LEVEL_EXPAND(name, level) LEVEL_PASTE(name, level)
#define LEVEL(name) LEVEL_EXPAND(name, VECTOR_LEVEL)
#define LEVEL_TABLE(name, rows) const row_table_t LEVEL(name) = {rows, sizeof(rows) / sizeof((rows)[0])}

#define INLINE static inline __attribute__((always_inline, unused))
#if defined(__clang__)
#define LANES _Pragma("clang loop vectorize(assume_safety)") for (u32 i = 0; i < WARP_LANES; ++i)
#else
#define LANES _Pragma("GCC ivdep") for (u32 i = 0; i < WARP_LANES; ++i)
#endif

// Runs `statement`, which sets `r`, for all lanes; where not all take part the others keep what they have.
#define EACH_LANE(D, d, statement) \
  if (warp_is_dense(w)) {          \
    LANES {                        \
      D r;                         \
      statement;                   \
      (d)[i] = r;                  \
    }                              \
  } else {                         \
    const s32* on = w->on;         \
    LANES {                        \
      D r;                         \
      statement;                   \
      (d)[i] = on[i] ? r : (d)[i]; \
    }                              \
  }

// For what must not run in lanes that do not take part, or is better called once a lane.
#define EACH_ACTIVE(D, d, statement)                     \
  for (u32 lanes = w->exec; lanes; lanes &= lanes - 1) { \
    u32 i = (u32)__builtin_ctz(lanes);                   \
    D r;                                                 \
    statement;                                           \
    (d)[i] = r;                                          \
  }

#define DEFINE_UNARY_AS(EACH, id, D, A, value)                   \
  static const inst_t* run_##id(warp_t* w, const inst_t* inst) { \
    D* d = warp_at(w, &inst->op[0]);                             \
    const A* pa = warp_at(w, &inst->op[1]);                      \
    EACH(D, d, A a = pa[i]; r = (D)(value))                      \
    return inst + 1;                                             \
  }
#define DEFINE_UNARY(id, names, options, D, A, value) DEFINE_UNARY_AS(EACH_LANE, id, D, A, value)
#define DEFINE_SLOW_UNARY(id, names, options, D, A, value) DEFINE_UNARY_AS(EACH_ACTIVE, id, D, A, value)
#define DEFINE_BINARY(id, names, options, D, A, B, value)        \
  static const inst_t* run_##id(warp_t* w, const inst_t* inst) { \
    D* d = warp_at(w, &inst->op[0]);                             \
    const A* pa = warp_at(w, &inst->op[1]);                      \
    const B* pb = warp_at(w, &inst->op[2]);                      \
    EACH_LANE(D, d, A a = pa[i]; B b = pb[i]; r = (D)(value))    \
    return inst + 1;                                             \
  }
#define DEFINE_TERNARY(id, names, options, D, A, B, C, value)              \
  static const inst_t* run_##id(warp_t* w, const inst_t* inst) {           \
    D* d = warp_at(w, &inst->op[0]);                                       \
    const A* pa = warp_at(w, &inst->op[1]);                                \
    const B* pb = warp_at(w, &inst->op[2]);                                \
    const C* pc = warp_at(w, &inst->op[3]);                                \
    EACH_LANE(D, d, A a = pa[i]; B b = pb[i]; C c = pc[i]; r = (D)(value)) \
    return inst + 1;                                                       \
  }
#define DEFINE_QUATERNARY(id, names, options, D, A, B, C, E, value)                     \
  static const inst_t* run_##id(warp_t* w, const inst_t* inst) {                        \
    D* d = warp_at(w, &inst->op[0]);                                                    \
    const A* pa = warp_at(w, &inst->op[1]);                                             \
    const B* pb = warp_at(w, &inst->op[2]);                                             \
    const C* pc = warp_at(w, &inst->op[3]);                                             \
    const E* pe = warp_at(w, &inst->op[4]);                                             \
    EACH_LANE(D, d, A a = pa[i]; B b = pb[i]; C c = pc[i]; E e = pe[i]; r = (D)(value)) \
    return inst + 1;                                                                    \
  }

#define ROW_TYPE(name) PTX_TYPE_##name
#define ROW_UNARY(id, names, options, D, A, value) {names, options, NULL, run_##id, {ROW_TYPE(D), ROW_TYPE(A)}, 2},
#define ROW_SLOW_UNARY ROW_UNARY
#define ROW_BINARY(id, names, options, D, A, B, value) \
  {names, options, NULL, run_##id, {ROW_TYPE(D), ROW_TYPE(A), ROW_TYPE(B)}, 3},
#define ROW_TERNARY(id, names, options, D, A, B, C, value) \
  {names, options, NULL, run_##id, {ROW_TYPE(D), ROW_TYPE(A), ROW_TYPE(B), ROW_TYPE(C)}, 4},
#define ROW_QUATERNARY(id, names, options, D, A, B, C, E, value) \
  {names, options, NULL, run_##id, {ROW_TYPE(D), ROW_TYPE(A), ROW_TYPE(B), ROW_TYPE(C), ROW_TYPE(E)}, 5},

// Bytes of 0 or 1 as bits.
INLINE u32 mask_of(const u8* bytes) {
  u32 result = 0;
  for (u32 k = 0; k < 4; ++k) {
    u64 eight;
    memcpy(&eight, bytes + 8 * k, 8);
    result |= (u32)((eight * UINT64_C(0x0102040810204080)) >> 56) << 8 * k;
  }
  return result;
}

INLINE f32 from_bits(u32 bits) {
  f32 value;
  memcpy(&value, &bits, 4);
  return value;
}
INLINE u32 bits_of(f32 value) {
  u32 bits;
  memcpy(&bits, &value, 4);
  return bits;
}
INLINE f32 nan_f32(void) { return from_bits(0x7fffffff); }
// NVIDIA GPUs make one NaN of f32.
INLINE f32 canonical(f32 value) { return value != value ? nan_f32() : value; }

#endif  // IREE_C_SOFTGPU_NVIDIA_VECTOR_ROWS_H_
