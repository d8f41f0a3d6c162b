// Elementwise StableHLO ops that are more than a row of scalar.def.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/small_float.h"
#include "dialects/stablehlo.h"
#include "import/quantized.h"
#include "import/stablehlo/ops.h"

//===----------------------------------------------------------------------------------------------------------------===
// result_accuracy = #stablehlo.result_accuracy<atol = 1.0E-6, ulps = 2, mode = #stablehlo.result_accuracy_mode<...>>
//===----------------------------------------------------------------------------------------------------------------===

// How far a function of f32 may be from the exact value, in units in the last place; those of f16 are rounded f32.
enum { F32_ULPS = 3 };

// What is behind "key =" in an attribute's text, or 0.
static double number_of(const char* text, const char* key) {
  const char* at = strstr(text, key);
  at = at ? strchr(at, '=') : NULL;
  return at ? strtod(at + 1, NULL) : 0;
}

// Whether the result must be nearer than functions of f32 surely are.
static bool wants_wider(const lower_op_t* n) {
  const ir_attr_t* accuracy = ir_op_attr(n->op, "result_accuracy");
  if (!accuracy || n->op->operand_count != 1 || ir_type_scalar(n->in[0]->type) != ir_type_float(n->ctx, IR_F32))
    return false;
  text_t text = {0};
  ir_print_attr(&text, accuracy);
  bool highest = strstr(text.data, "<HIGHEST>") != NULL, tolerance = strstr(text.data, "<TOLERANCE>") != NULL;
  bool met = number_of(text.data, "ulps") >= F32_ULPS || number_of(text.data, "rtol") >= F32_ULPS * ldexp(1, -23);
  text_finish(&text);
  return highest || (tolerance && !met);
}

// In f64, rounded once.
static bool lower_wider(lower_op_t* n) {
  const ir_type_t* f32 = ir_type_scalar(n->in[0]->type);
  n->in[0] = graph_cast(n->b, n->in[0], ir_type_float(n->ctx, IR_F64), false);
  if (!lower_elementwise(n)) return false;
  return lower_return(n, graph_cast(n->b, n->out[0].v, f32, false));
}

bool stablehlo_lower_elementwise(lower_op_t* n) {
  for (uint32_t i = 0; i < n->op->operand_count; ++i) {
    if (n->values[i].im) return stablehlo_lower_complex_elementwise(n);
    if (!n->in[i]) return lower_unsupported(n, "tensors are");
  }
  return wants_wider(n) ? lower_wider(n) : lower_elementwise(n);
}

bool stablehlo_lower_uniform_quantize(lower_op_t* n) { return quantized_convert(n); }
bool stablehlo_lower_uniform_dequantize(lower_op_t* n) { return quantized_convert(n); }

bool stablehlo_lower_constant(lower_op_t* n) {
  const ir_attr_t* value = ir_op_attr(n->op, "value");
  return lower_constant(n, value, &n->out[0]);
}

// The two types may be complex: real numbers get a zero, complex ones lose their imaginary part.
bool stablehlo_lower_convert(lower_op_t* n) {
  const ir_type_t *from = ir_type_scalar(lower_in_type(n, 0)), *to = ir_type_scalar(lower_out_type(n, 0));
  lower_value_t x = n->values[0];
  if (!x.v) return lower_unsupported(n, "tensors are");
  if (from->kind == IR_TYPE_COMPLEX) from = from->element;
  const ir_type_t* part = to->kind == IR_TYPE_COMPLEX ? to->element : to;
  if (!lower_type(n->ctx, part) || !lower_type(n->ctx, from)) {
    return lower_unsupported(n, "conversions between integers, floats and complex numbers are");
  }
  n->out[0].v = lower_cast(n, x.v, from, part);
  if (to->kind != IR_TYPE_COMPLEX) return true;
  n->out[0].im = x.im ? lower_cast(n, x.im, from, part) : lower_number_like(n, n->out[0].v, 0);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Comparison
//===----------------------------------------------------------------------------------------------------------------===

bool stablehlo_compare_values(lower_op_t* n, ir_value_t* x, ir_value_t* y, ir_value_t** out) {
  static const struct {
    const char* word;
    scalar_fn_t fn, unsigned_fn;
  } directions[] = {{"EQ", SCALAR_eq, SCALAR_eq},  {"NE", SCALAR_ne, SCALAR_ne},  {"LT", SCALAR_lt, SCALAR_ltu},
                    {"LE", SCALAR_le, SCALAR_leu}, {"GT", SCALAR_gt, SCALAR_gtu}, {"GE", SCALAR_ge, SCALAR_geu}};
  const char* word = stablehlo_enum(ir_op_attr(n->op, "comparison_direction"));
  const char* type = stablehlo_enum(ir_op_attr(n->op, "compare_type"));
  bool is_unsigned = lower_is_unsigned(lower_in_type(n, 0)) || (type && strcmp(type, "UNSIGNED") == 0);
  ir_value_t* values[2] = {x, y};
  if (!lower_unify(n, values, 2)) return false;
  if (ir_type_scalar(values[0]->type) != ir_type_scalar(values[1]->type)) {
    return lower_error(n, "has operands of different element types");
  }
  bool floats = lower_is_float(values[0]->type);
  if (floats && type && strcmp(type, "TOTALORDER") == 0) {
    for (int i = 0; i < 2; ++i) values[i] = lower_total_order(n, values[i]);
  }
  for (size_t i = 0; word && i < sizeof(directions) / sizeof(directions[0]); ++i) {
    if (strcmp(directions[i].word, word) != 0) continue;
    scalar_fn_t fn = is_unsigned && !floats ? directions[i].unsigned_fn : directions[i].fn;
    *out = graph_binary(n->b, fn, values[0], values[1]);
    return true;
  }
  return lower_error(n, "needs a comparison_direction of EQ, NE, LT, LE, GT or GE");
}

bool stablehlo_lower_compare(lower_op_t* n) {
  lower_value_t x = n->values[0], y = n->values[1];
  if (!x.v || !y.v || !x.im != !y.im) return lower_unsupported(n, "tensors of one type are");
  ir_value_t *re, *im;
  if (!stablehlo_compare_values(n, x.v, y.v, &re)) return false;
  if (!x.im) return lower_return(n, re);
  const char* word = stablehlo_enum(ir_op_attr(n->op, "comparison_direction"));
  bool eq = strcmp(word, "EQ") == 0;
  if (!eq && strcmp(word, "NE") != 0) return lower_unsupported(n, "complex numbers can be compared by EQ and NE");
  if (!stablehlo_compare_values(n, x.im, y.im, &im)) return false;
  return lower_return(n, graph_binary(n->b, eq ? SCALAR_and : SCALAR_or, re, im));
}

//===----------------------------------------------------------------------------------------------------------------===
// Choice
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* select_part(lower_op_t* n, ir_value_t* x, ir_value_t* y) {
  ir_value_t* values[3] = {n->values[0].v, x, y};
  if (!lower_unify(n, values, 3)) return NULL;
  if (!lower_is_bool(values[0]->type) || ir_type_scalar(values[1]->type) != ir_type_scalar(values[2]->type)) {
    lower_error(n, "needs an i1 predicate and two operands of one type");
    return NULL;
  }
  return graph_select(n->b, values[0], values[1], values[2]);
}

bool stablehlo_lower_select(lower_op_t* n) {
  lower_value_t x = n->values[1], y = n->values[2];
  if (!n->in[0] || !x.v || !y.v || !x.im != !y.im || n->values[0].im) return lower_unsupported(n, "tensors are");
  n->out[0].v = select_part(n, x.v, y.v);
  if (x.im) n->out[0].im = select_part(n, x.im, y.im);
  return n->out[0].v && (!x.im || n->out[0].im);
}

bool stablehlo_lower_clamp(lower_op_t* n) {
  ir_value_t* values[3] = {n->in[0], n->in[1], n->in[2]};
  for (uint32_t i = 0; i < 3; ++i) {
    if (!values[i]) return lower_unsupported(n, "tensors are");
    if (n->values[i].im) return stablehlo_clamp_complex(n);
  }
  if (!lower_unify(n, values, 3)) return false;
  const ir_type_t* element = ir_type_scalar(values[1]->type);
  if (ir_type_scalar(values[0]->type) != element || ir_type_scalar(values[2]->type) != element) {
    return lower_error(n, "has operands of different element types");
  }
  bool is_unsigned = lower_is_unsigned(lower_in_type(n, 1));
  ir_value_t* x = graph_binary(n->b, is_unsigned ? SCALAR_maxu : SCALAR_max, values[1], values[0]);
  return lower_return(n, graph_binary(n->b, is_unsigned ? SCALAR_minu : SCALAR_min, x, values[2]));
}

//===----------------------------------------------------------------------------------------------------------------===
// reduce_precision: on the bits. The mantissa is rounded to nearest even; what is then too large becomes infinite, what
// is too small zero. NaN stays.
//===----------------------------------------------------------------------------------------------------------------===

typedef struct format_t {
  uint32_t width;
  int64_t exponent, mantissa;  // bits
} format_t;

static format_t format_of(const ir_type_t* element) {
  const float_format_t* f = &float_formats[element->float_kind];
  bool has_infinity = f->specials == FLOAT_SPECIALS_IEEE && f->bits >= 16;
  return has_infinity ? (format_t){f->bits, f->exponent_bits, f->mantissa_bits} : (format_t){0};
}

static ir_value_t* integer_like(lower_op_t* n, ir_value_t* x, int64_t value) {
  const ir_type_t* scalar = ir_type_tensor(n->ctx, ir_type_scalar(x->type), 0, NULL);
  return lower_splat(n->b, graph_splat_integer(n->b, scalar, value), x);
}

static ir_value_t* round_mantissa(lower_op_t* n, ir_value_t* bits, int64_t drop) {
  if (drop <= 0) return bits;
  int64_t unit = (int64_t)1 << drop;
  ir_value_t* odd = lower_with_number(n, SCALAR_shru, bits, (double)drop);
  odd = graph_binary(n->b, SCALAR_and, odd, integer_like(n, bits, 1));
  ir_value_t* bias = graph_binary(n->b, SCALAR_add, odd, integer_like(n, bits, unit / 2 - 1));
  return graph_binary(n->b, SCALAR_and, graph_binary(n->b, SCALAR_add, bits, bias), integer_like(n, bits, -unit));
}

static ir_value_t* limit_exponent(lower_op_t* n, ir_value_t* bits, const format_t* f, int64_t exponent) {
  if (exponent >= f->exponent) return bits;
  int64_t bias = ((int64_t)1 << (f->exponent - 1)) - 1, small = ((int64_t)1 << (exponent - 1)) - 1;
  int64_t infinity = (((int64_t)1 << f->exponent) - 1) << f->mantissa;
  int64_t sign = (int64_t)((uint64_t)1 << (f->width - 1));
  ir_value_t* signs = graph_binary(n->b, SCALAR_and, bits, integer_like(n, bits, sign));
  ir_value_t* size = graph_binary(n->b, SCALAR_and, bits, integer_like(n, bits, ~sign));
  ir_value_t* high = integer_like(n, bits, ((bias + small + 1) << f->mantissa) - 1);  // last finite
  ir_value_t* low = integer_like(n, bits, (bias - small + 1) << f->mantissa);         // first normal
  ir_value_t* over = graph_binary(n->b, SCALAR_gt, size, high);
  ir_value_t* under = graph_binary(n->b, SCALAR_lt, size, low);
  ir_value_t* most = graph_binary(n->b, SCALAR_or, signs, integer_like(n, bits, infinity));
  return graph_select(n->b, over, most, graph_select(n->b, under, signs, bits));
}

ir_value_t* stablehlo_round(lower_op_t* n, ir_value_t* x, int64_t exponent, int64_t mantissa) {
  const ir_type_t* element = ir_type_scalar(x->type);
  format_t f = format_of(element);
  ir_value_t* bits = graph_bitcast(n->b, x, ir_type_int(n->ctx, f.width));
  bits = limit_exponent(n, round_mantissa(n, bits, f.mantissa - mantissa), &f, exponent);
  ir_value_t* y = graph_bitcast(n->b, bits, element);
  // Without mantissa there is no NaN: it becomes infinite.
  ir_value_t* nan = mantissa ? x : graph_binary(n->b, SCALAR_copysign, lower_number_like(n, x, INFINITY), x);
  return graph_select(n->b, graph_unary(n->b, SCALAR_is_nan, x), nan, y);
}

bool stablehlo_lower_reduce_precision(lower_op_t* n) {
  int64_t exponent = ir_op_int(n->op, "exponent_bits", 0), mantissa = ir_op_int(n->op, "mantissa_bits", -1);
  const ir_type_t* element = ir_type_scalar(n->in[0]->type);
  if (!ir_type_is_float(element) || !format_of(element).width)
    return lower_unsupported(n, "f16, bf16, f32 and f64 are");
  if (exponent < 1 || mantissa < 0) return lower_error(n, "needs at least one exponent bit and no less mantissa bits");
  return lower_return(n, stablehlo_round(n, n->in[0], exponent, mantissa));
}

//===----------------------------------------------------------------------------------------------------------------===
// map: the region on whole tensors
//===----------------------------------------------------------------------------------------------------------------===

bool stablehlo_lower_map(lower_op_t* n) {
  ir_block_t* block = n->op->regions[0].first;
  if (!block || block->arg_count != n->op->operand_count || !n->op->operand_count) {
    return lower_error(n, "needs a region with one argument for each of its operands");
  }
  ir_value_t** parts = ARENA_ARRAY(ir_context_arena(n->ctx), ir_value_t*, 2 * n->op->operand_count);
  lower_value_t* args = ARENA_ARRAY(ir_context_arena(n->ctx), lower_value_t, n->op->operand_count);
  uint32_t parts_count = 0;
  for (uint32_t i = 0; i < n->op->operand_count; ++i) {
    if (!n->in[i]) return lower_unsupported(n, "tensors are");
    parts[parts_count++] = n->in[i];
    if (n->values[i].im) parts[parts_count++] = n->values[i].im;
  }
  if (!lower_unify(n, parts, parts_count)) return false;
  for (uint32_t i = 0, next = 0; i < n->op->operand_count; ++i) {
    args[i].v = parts[next++];
    if (n->values[i].im) args[i].im = parts[next++];
  }
  lower_value_t* results;
  uint32_t count;
  ++n->l->whole;
  bool ok = lower_block(n->l, block, args, &results, &count);
  --n->l->whole;
  if (!ok) return false;
  if (count != 1 || !results[0].v) return lower_error(n, "needs a region that gives one number");
  ir_value_t* all[3] = {results[0].v, parts[0], results[0].im};
  if (!lower_unify(n, all, results[0].im ? 3 : 2)) return false;
  n->out[0] = (lower_value_t){.v = all[0], .im = all[2]};
  return true;
}
