// Rows of f16 and bf16, single and in pairs.
#include "softgpu/nvidia/small.h"
#include "softgpu/nvidia/vector/rows.h"

// Rounding a sum of f16s or bf16s to f32 first changes nothing; that of a product and a third number would.
INLINE f32 round_fma(f32 a, f32 b, f32 c) { return small_odd(__builtin_fma((f64)a, (f64)b, (f64)c)); }
INLINE f32 least(f32 a, f32 b) {
  f32 r = a < b || (a == b && bits_of(a) >> 31) ? a : b;
  r = a != a ? b : r;
  return b != b ? a : r;
}
INLINE f32 most(f32 a, f32 b) {
  f32 r = a > b || (a == b && bits_of(b) >> 31) ? a : b;
  r = a != a ? b : r;
  return b != b ? a : r;
}

INLINE f32 half_in(u32 bits, bool is_brain, bool flushes) {
  if (is_brain) return small_from_bf16((u16)bits);
  return small_from_f16(flushes && !(bits & 0x7c00) ? (u16)(bits & 0x8000) : (u16)bits);
}
INLINE u32 half_out(const inst_t* inst, f32 value, bool is_brain) {
  if (inst->flags & PTX_SAT) value = value > 0 ? (value < 1 ? value : 1) : 0;
  if (inst->flags & PTX_RELU) value = value > 0 || value != value ? value : 0;
  u16 bits = is_brain ? small_to_bf16(value) : small_to_f16(value);
  if (inst->flags & PTX_FTZ && !is_brain && !(bits & 0x7c00)) bits &= 0x8000;
  return bits;
}

// One or two floats of an element; T is u16 or u32.
#define HALF_PARTS(T, brain, value)                                      \
  r = 0;                                                                 \
  for (u32 part = 0; part < sizeof(T) / 2; ++part) {                     \
    u32 at = 16 * part;                                                  \
    f32 a = half_in((u32)pa[i] >> at, brain, flushes);                   \
    f32 b = pb ? half_in((u32)pb[i] >> at, brain, flushes) : 0;          \
    f32 c = pc ? half_in((u32)pc[i] >> at, brain, flushes) : 0;          \
    bool is_nan = nans && (a != a || b != b);                            \
    (void)b, (void)c;                                                    \
    r |= (T)(half_out(inst, is_nan ? nan_f32() : (value), brain) << at); \
  }

#define DEFINE_HALF_AS(suffix, id, T, brain, count, value)                  \
  static const inst_t* run_##id##_##suffix(warp_t* w, const inst_t* inst) { \
    T* d = warp_at(w, &inst->op[0]);                                        \
    const T* pa = warp_at(w, &inst->op[1]);                                 \
    const T* pb = count > 1 ? warp_at(w, &inst->op[2]) : NULL;              \
    const T* pc = count > 2 ? warp_at(w, &inst->op[3]) : NULL;              \
    bool flushes = inst->flags & PTX_FTZ, nans = inst->flags & PTX_NAN;     \
    EACH_LANE(T, d, HALF_PARTS(T, brain, value))                            \
    return inst + 1;                                                        \
  }
#define DEFINE_HALF(id, count, value)                 \
  DEFINE_HALF_AS(f16, id, u16, false, count, value)   \
  DEFINE_HALF_AS(bf16, id, u16, true, count, value)   \
  DEFINE_HALF_AS(f16x2, id, u32, false, count, value) \
  DEFINE_HALF_AS(bf16x2, id, u32, true, count, value)
#define HALF_UNARY(id, name, options, value) DEFINE_HALF(id, 1, value)
#define HALF_BINARY(id, name, options, value) DEFINE_HALF(id, 2, value)
#define HALF_TERNARY(id, name, options, value) DEFINE_HALF(id, 3, value)
#include "isa/nvidia/half.def"
#undef HALF_UNARY
#undef HALF_BINARY
#undef HALF_TERNARY

// fma.rn.oob and the like are not known. MXCSR stays as it is: `ftz` is done on the halves.
static bool bind_half(decoder_t* d, inst_t* inst) {
  const row_t* row = inst->row;
  inst->csr = 0;
  inst->written = 1;
  if (!decode_count(d, row->type_count, row->type_count)) return false;
  for (u32 k = 0; k < row->type_count; ++k) {
    inst->types[k] = row->types[0];
    ptx_type_t type = (ptx_type_t)row->types[0];
    const arg_t* arg = decode_arg(d, k);
    if (k ? !decode_read(d, arg, type, &inst->op[k]) : !decode_write(d, arg, type, &inst->op[k])) return false;
  }
  return true;
}

#define ROW_HALF_AS(suffix, id, name, options, count) \
  {name "." #suffix, options, bind_half, run_##id##_##suffix, {PTX_TYPE_##suffix}, count + 1},
#define ROW_HALF(id, name, options, count)     \
  ROW_HALF_AS(f16, id, name, options, count)   \
  ROW_HALF_AS(bf16, id, name, options, count)  \
  ROW_HALF_AS(f16x2, id, name, options, count) \
  ROW_HALF_AS(bf16x2, id, name, options, count)
#define HALF_UNARY(id, name, options, value) ROW_HALF(id, name, options, 1)
#define HALF_BINARY(id, name, options, value) ROW_HALF(id, name, options, 2)
#define HALF_TERNARY(id, name, options, value) ROW_HALF(id, name, options, 3)
static const row_t rows[] = {
#include "isa/nvidia/half.def"
};
LEVEL_TABLE(half_table, rows);
