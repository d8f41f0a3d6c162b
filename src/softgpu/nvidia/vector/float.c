// Rows of f32 and f64.
#include "softgpu/nvidia/vector/rows.h"

// What `ftz` makes of a denormal number that is only moved or compared: MXCSR flushes what is added to.
INLINE f32 flushed(f32 a) { return (bits_of(a) & 0x7f800000) ? a : from_bits(bits_of(a) & 0x80000000) + a; }
INLINE f32 absolute(f32 a) { return from_bits(bits_of(a) & 0x7fffffff); }
INLINE f32 least(f32 a, f32 b) {
  f32 r = a < b || (a == b && bits_of(a) >> 31) ? a : b;
  r = a != a ? b : r;
  return canonical(b != b ? a : r);
}
INLINE f32 most(f32 a, f32 b) {
  f32 r = a > b || (a == b && bits_of(b) >> 31) ? a : b;
  r = a != a ? b : r;
  return canonical(b != b ? a : r);
}
INLINE f32 xor_sign(f32 a, f32 b, f32 size) {
  return from_bits((bits_of(size) & 0x7fffffff) | ((bits_of(a) ^ bits_of(b)) & 0x80000000));
}

#define UNARY DEFINE_UNARY
#define SLOW_UNARY DEFINE_SLOW_UNARY
#define BINARY DEFINE_BINARY
#define TERNARY DEFINE_TERNARY
#include "isa/nvidia/float.def"
#undef UNARY
#undef SLOW_UNARY
#undef BINARY
#undef TERNARY

// testp.op.type p, a
INLINE bool tests(u32 kind, u64 bits, u32 exponent_bits, u32 mantissa_bits) {
  u64 exponent = bits >> mantissa_bits & ((UINT64_C(1) << exponent_bits) - 1);
  u64 mantissa = bits & ((UINT64_C(1) << mantissa_bits) - 1);
  u64 all = (UINT64_C(1) << exponent_bits) - 1;
  bool results[] = {exponent != all,
                    exponent == all && !mantissa,
                    exponent != all || !mantissa,
                    exponent == all && mantissa,
                    exponent && exponent != all,
                    !exponent && mantissa};
  return results[kind];
}
static bool bind_test(decoder_t* d, inst_t* inst) {
  static const char* const kinds[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  const ptx_part_t* part = &d->s->parts[1];
  ptx_type_t type = (ptx_type_t)inst->modifiers.types[0];
  for (u8 k = 0; k < 6; ++k) {
    if (part->size == strlen(kinds[k]) && memcmp(part->text, kinds[k], part->size) == 0) inst->mode = k;
  }
  inst->element = ptx_type_info(type)->bytes;
  inst->written = 1;
  inst->types[0] = PTX_TYPE_pred, inst->types[1] = (u8)type;
  return decode_count(d, 2, 2) && decode_write(d, decode_arg(d, 0), PTX_TYPE_pred, &inst->op[0]) &&
         decode_read(d, decode_arg(d, 1), type, &inst->op[1]);
}
static const inst_t* run_test(warp_t* w, const inst_t* inst) {
  const u32* narrow = warp_at(w, &inst->op[1]);
  const u64* wide = warp_at(w, &inst->op[1]);
  u32 bits = 0;
  for (u32 i = 0; i < WARP_LANES; ++i) {
    bool is = inst->element == 8 ? tests(inst->mode, wide[i], 11, 52) : tests(inst->mode, narrow[i], 8, 23);
    bits |= (u32)is << i;
  }
  warp_set_predicate(w, &inst->op[0], bits);
  return inst + 1;
}
#define TEST_NAMES(type)                                                                                             \
  "testp.finite." type " testp.infinite." type " testp.number." type " testp.notanumber." type " testp.normal." type \
  " testp.subnormal." type

static const row_t rows[] = {
#define UNARY ROW_UNARY
#define SLOW_UNARY ROW_SLOW_UNARY
#define BINARY ROW_BINARY
#define TERNARY ROW_TERNARY
#include "isa/nvidia/float.def"
    {TEST_NAMES("f32"), "", bind_test, run_test},
    {TEST_NAMES("f64"), "", bind_test, run_test},
};
LEVEL_TABLE(float_table, rows);
