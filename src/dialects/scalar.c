// Scalar functions: info rows, and base/scalar_loops.h on single numbers of the IR's types.
#include "dialects/scalar.h"

#include "base/scalar_math.h"

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
                      : 1},
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
  if (from_float && to_float) {
    out.f = in.f;
  } else if (from_float) {
    out.i = scalar_float_to_int(in.f, width_of(to), is_unsigned);
  } else if (to_float) {
    out.f = scalar_int_to_float(in.i, width_of(from), is_unsigned);
  } else {
    out.i = scalar_int_to_int(in.i, width_of(from), width_of(to), is_unsigned);
  }
  return scalar_fit(to, out);
}

static void loop_values(scalar_loop_fn_t loop, void* out, const scalar_value_t in[3], const ir_type_t* type) {
  if (type->kind == IR_TYPE_FLOAT) {
    loop(out, &in[0].f, &in[1].f, &in[2].f, 1, 64);
  } else {
    loop(out, &in[0].i, &in[1].i, &in[2].i, 1, width_of(type));
  }
}

double scalar_eval_number(scalar_fn_t fn, double a, double b) {
  double out = 0, none = 0;
  if (scalar_loops[fn].f64) scalar_loops[fn].f64(&out, &a, &b, &none, 1, 64);
  return out;
}

scalar_value_t scalar_eval(scalar_fn_t fn, const scalar_value_t in[3], const ir_type_t* operand,
                           const ir_type_t* result) {
  if (fn == SCALAR_cast || fn == SCALAR_castu) return eval_cast(in[0], operand, result, fn == SCALAR_castu);
  if (fn == SCALAR_bitcast) {
    unsigned char memory[16] = {0};
    scalar_store(operand, in[0], memory);
    return scalar_load(result, memory);
  }
  if (fn == SCALAR_select) return in[0].i || in[0].f != 0 ? in[1] : in[2];
  bool is_float = operand->kind == IR_TYPE_FLOAT;
  scalar_loop_fn_t loop = is_float ? scalar_loops[fn].f64 : scalar_loops[fn].any;
  scalar_value_t out = {0};
  if (!loop) return out;
  if (scalar_info[fn].result == SCALAR_RESULT_BOOL) {
    uint8_t flag = 0;
    loop_values(loop, &flag, in, operand);
    out.i = flag;
    return out;
  }
  loop_values(loop, is_float ? (void*)&out.f : (void*)&out.i, in, operand);
  return scalar_fit(result, out);
}
