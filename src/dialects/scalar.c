// Scalar functions: info rows and the evaluator, all from scalar.def.
#include "dialects/scalar.h"

#include <math.h>

#include "base/scalar_math.h"

#define SCALAR(name, arity, types, result, traits, float_eval, int_eval)                                     \
  static double float_##name(double a, double b, double c) {                                                 \
    (void)a, (void)b, (void)c;                                                                               \
    return float_eval;                                                                                       \
  }                                                                                                          \
  static int64_t int_##name(int64_t a, int64_t b, int64_t c, uint64_t ua, uint64_t ub, uint64_t uc, int w) { \
    (void)a, (void)b, (void)c, (void)ua, (void)ub, (void)uc, (void)w;                                        \
    return int_eval;                                                                                         \
  }
#include "base/scalar.def"
#undef SCALAR

enum { COMM = 1, SLOW = 2, DEAR = 4, VAST = 8 };
const scalar_info_t scalar_info[SCALAR_COUNT] = {
#define SCALAR(name, arity, types, result, traits, float_eval, int_eval) \
  {#name,                                                                \
   arity,                                                                \
   SCALAR_TYPES_##types,                                                 \
   SCALAR_RESULT_##result,                                               \
   (traits) == COMM,                                                     \
   (traits) == VAST   ? 64                                               \
   : (traits) == DEAR ? 16                                               \
   : (traits) == SLOW ? 4                                                \
                      : 1,                                               \
   float_##name,                                                         \
   int_##name},
#include "base/scalar.def"
#undef SCALAR
};

static int width_of(const ir_type_t* type) { return type->kind == IR_TYPE_INDEX ? 64 : (int)type->width; }

scalar_value_t scalar_load(const ir_type_t* type, const void* data) {
  scalar_value_t value = {0};
  if (type->kind == IR_TYPE_FLOAT) {
    value.f = ir_scalar_load_number(type, data);
  } else {
    value.i = ir_scalar_load_integer(type, data);
  }
  return value;
}

void scalar_store(const ir_type_t* type, scalar_value_t value, void* data) {
  if (type->kind == IR_TYPE_FLOAT) {
    ir_scalar_store_number(type, value.f, data);
  } else {
    ir_scalar_store_integer(type, value.i, data);
  }
}

scalar_value_t scalar_fit(const ir_type_t* type, scalar_value_t value) {
  if (type->kind == IR_TYPE_FLOAT && type->float_kind == IR_F64) return value;
  unsigned char memory[16];
  scalar_store(type, value, memory);
  return scalar_load(type, memory);
}

static scalar_value_t eval_cast(scalar_value_t in, const ir_type_t* from, const ir_type_t* to, bool is_unsigned) {
  bool from_float = from->kind == IR_TYPE_FLOAT, to_float = to->kind == IR_TYPE_FLOAT;
  scalar_value_t out = {0};
  if (to->kind == IR_TYPE_INTEGER && to->width == 1) {
    out.i = from_float ? in.f != 0 : scalar_zero_extend(in.i, width_of(from)) != 0;
  } else if (from_float && to_float) {
    out.f = in.f;
  } else if (from_float) {
    out.i = scalar_float_to_int(in.f, width_of(to), is_unsigned);
  } else if (to_float) {
    out.f = scalar_int_to_float(in.i, width_of(from), is_unsigned);
  } else {
    out.i = scalar_widen(in.i, width_of(from), is_unsigned);
  }
  return scalar_fit(to, out);
}

scalar_value_t scalar_eval(scalar_fn_t fn, const scalar_value_t in[3], const ir_type_t* operand,
                           const ir_type_t* result) {
  const scalar_info_t* info = &scalar_info[fn];
  scalar_value_t out = {0};
  if (fn == SCALAR_cast || fn == SCALAR_castu) return eval_cast(in[0], operand, result, fn == SCALAR_castu);
  if (fn == SCALAR_bitcast) {
    unsigned char memory[16] = {0};
    scalar_store(operand, in[0], memory);
    return scalar_load(result, memory);
  }
  if (fn == SCALAR_select) return in[0].i || in[0].f != 0 ? in[1] : in[2];
  if (operand->kind == IR_TYPE_FLOAT) {
    double value = info->eval_float(in[0].f, in[1].f, in[2].f);
    if (info->result == SCALAR_RESULT_BOOL) {
      out.i = value != 0;
      return out;
    }
    out.f = value;
  } else {
    int w = width_of(operand);
    out.i = info->eval_int(in[0].i, in[1].i, in[2].i, scalar_zero_extend(in[0].i, w), scalar_zero_extend(in[1].i, w),
                           scalar_zero_extend(in[2].i, w), w);
    if (info->result == SCALAR_RESULT_BOOL) {
      out.i = out.i != 0;
      return out;
    }
  }
  return scalar_fit(result, out);
}
