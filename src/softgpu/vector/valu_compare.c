// Rows of isa/amd/valu_compare.def.
#include "softgpu/vector/valu.h"

// A double's bits.
#define VALU_KIND_OF_R64 VALU_KIND_RAW64
#define VALU_TYPE_R64 INST_F64
#define VALU_LOAD_R64(x, k) VALU_LOAD_U64(x, k)

// Bit of a number's class, as v_cmp_class counts them: signalling NaN, quiet NaN, then -infinity, -normal, -denormal,
// -0, +0, +denormal, +normal, +infinity.
VALU_INLINE uint32_t class_of(uint32_t sign, uint32_t exponent, uint32_t most, uint32_t fraction, uint32_t quiet) {
  uint32_t nan = quiet ? 2u : 1u;
  uint32_t special = fraction ? nan : sign ? 4u : 0x200u;
  uint32_t small = fraction ? (sign ? 0x10u : 0x80u) : (sign ? 0x20u : 0x40u);
  uint32_t normal = sign ? 8u : 0x100u;
  return exponent == most ? special : exponent ? normal : small;
}
VALU_INLINE uint32_t class_of_double(uint64_t a) {
  uint32_t high = (uint32_t)(a >> 32), fraction = (high & 0xfffff) | (uint32_t)a;
  return class_of(high >> 31, high >> 20 & 0x7ff, 0x7ff, fraction, high & 0x80000);
}

// v_cmpx has a scalar destination on gfx9 only.
static void put_exec(wave_t* w, const inst_t* inst, uint64_t mask) {
  wave_set_mask(w, SREG_EXEC, mask);
  if (inst->destination_count) wave_set_mask(w, inst->dst[0].index, mask);
}

#define COMPARE(name, A, B, ...)                                                              \
  static uint64_t lanes_##name(wave_t* w, const inst_t* inst) {                               \
    valu_t v;                                                                                 \
    valu_begin(w, inst, VALU_SHAPE(MASK, A, B, NONE), &v);                                    \
    const valu_io_t io = v.io;                                                                \
    VALU_LANES(VALU_LOAD_##A(a, 0) VALU_LOAD_##B(b, 1)(void) b; VALU_STORE_MASK(__VA_ARGS__)) \
    return VECTOR(valu_collect)(v.flags, v.io.lanes) & v.active;                              \
  }                                                                                           \
  static const inst_t* v_cmp_##name(wave_t* w, const inst_t* inst) {                          \
    wave_set_mask(w, inst->dst[0].index, lanes_##name(w, inst));                              \
    return inst + 1;                                                                          \
  }                                                                                           \
  static const inst_t* v_cmpx_##name(wave_t* w, const inst_t* inst) {                         \
    put_exec(w, inst, lanes_##name(w, inst));                                                 \
    return inst + 1;                                                                          \
  }
#include "isa/amd/valu_compare.def"

static const inst_row_t rows[] = {
#define COMPARE(name, A, B, ...)                                                                \
  INST_ROW(v_cmp_##name, VALU, EXACT, v_cmp_##name, 1, INST_MASK, VALU_TYPE_##A, VALU_TYPE_##B) \
  INST_ROW(v_cmpx_##name, VALU, EXACT, v_cmpx_##name, 1, INST_MASK, VALU_TYPE_##A, VALU_TYPE_##B)
#define COMPARE_SAME(name, other, A, B)                                                          \
  INST_ROW(v_cmp_##name, VALU, EXACT, v_cmp_##other, 1, INST_MASK, VALU_TYPE_##A, VALU_TYPE_##B) \
  INST_ROW(v_cmpx_##name, VALU, EXACT, v_cmpx_##other, 1, INST_MASK, VALU_TYPE_##A, VALU_TYPE_##B)
#include "isa/amd/valu_compare.def"
};
VECTOR_TABLE(valu_compare_table, rows);
