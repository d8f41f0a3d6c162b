// Quantisation: y = saturate(round(x / scale) + zero_point) and back, and the products of quantised tensors.
#include <math.h>
#include <string.h>

#include "base/small_float.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

// Scale or zero point in the shape of x: a scalar, a vector along the axis, or one value per block of the axis. NULL
// after a diagnostic.
static ir_value_t* spread_parameter(onnx_node_t* n, ir_value_t* v, ir_value_t* x) {
  int64_t axis = onnx_int(n, "axis", 1), block = onnx_int(n, "block_size", 0), map[ONNX_MAX_RANK];
  int32_t rank = x->type->rank;
  if (ir_type_count(v->type) == 1 && v->type->rank <= 1 && !(v->type->rank && block > 0))
    return onnx_scalar_like(n, v, x);
  if (!onnx_check_axis(n, &axis, rank)) return NULL;
  if (v->type->rank == 1 && !(rank == 1 && block > 0)) return onnx_one_or_along(n, v, axis, x);
  if (v->type->rank != rank || block < 1 || block > INT32_MAX)
    return onnx_error(n, "scale or zero point do not fit the input"), NULL;
  onnx_dim_t size = onnx_dim(n, x, (int32_t)axis), parts = onnx_dim_ceil_div(n, size, onnx_dim_of(block));
  onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, onnx_dim(n, v, (int32_t)axis), parts);
  if (!onnx_require(n, fits, "scale or zero point do not fit the input in blocks of %lld", (long long)block))
    return NULL;
  ir_value_t* at = onnx_binary_number(n, SCALAR_div, onnx_numbers(n, 1, &size, 0), (double)block);
  for (int32_t d = 0; d < rank; ++d) map[d] = d;
  for (int32_t d = 0; d < rank; ++d) {
    int64_t has = v->type->dims[d], wants = x->type->dims[d];
    if (d != axis && has != wants && has != IR_DYNAMIC && wants != IR_DYNAMIC)
      return onnx_error(n, "scale or zero point do not fit the input"), NULL;
  }
  return onnx_broadcast_as(n, graph_take(n->b, v, at, axis, false), x, map);
}

static void integer_range(const ir_type_t* element, double* low, double* high) {
  bool is_unsigned = element->sign == IR_UNSIGNED;
  double steps = ldexp(1, (int)element->width - !is_unsigned);
  *low = is_unsigned ? 0 : -steps;
  *high = steps - 1;
}

// Floats of at least 32 bits to compute in.
static onnx_value_t widened(onnx_node_t* n, onnx_value_t x) {
  bool wide = onnx_is_float(x) && x.element->width >= 32;
  return wide ? x : onnx_cast(n, x, onnx_f32(n->ctx));
}

onnx_value_t onnx_saturate(onnx_node_t* n, onnx_value_t x, ir_value_t* zero, const ir_type_t* element) {
  double low, high;
  if (ir_type_is_float(element)) {
    bool clip = onnx_int(n, "saturate", 1) && element->width <= 8;
    high = small_float_largest((small_float_t)element->float_kind);
    if (clip) x = widened(n, x);  // a narrow format may not have the other's largest number
    ir_value_t* v = clip ? onnx_binary_number(n, SCALAR_max, onnx_binary_number(n, SCALAR_min, x.v, high), -high) : x.v;
    return onnx_cast(n, onnx_value(v, x.element), element);
  }
  integer_range(element, &low, &high);
  ir_value_t* v = onnx_unary(n, SCALAR_roundeven, x.v);
  if (zero) v = graph_binary(n->b, SCALAR_add, v, zero);
  v = onnx_binary_number(n, SCALAR_min, onnx_binary_number(n, SCALAR_max, v, low), high);
  return onnx_cast(n, onnx_value(v, x.element), element);
}

bool onnx_lower_quantize(onnx_node_t* n) {
  onnx_value_t x = widened(n, n->in[0]);
  int64_t output = onnx_int(n, "output_dtype", 0);
  const ir_type_t* element = onnx_has(n, 2) ? n->in[2].element : ir_type_integer(n->ctx, 8, IR_UNSIGNED);
  if (output && !onnx_has(n, 2)) element = onnx_element_type(n->ctx, output);
  if (!element || (!ir_type_is_int(element) && !ir_type_is_float(element)))
    return onnx_error(n, "output_dtype is unusable");
  ir_value_t* scale = spread_parameter(n, onnx_cast(n, n->in[1], x.element).v, x.v);
  if (!scale) return false;
  ir_value_t* zero = NULL;
  if (onnx_has(n, 2) && ir_type_is_int(element)) {
    zero = spread_parameter(n, onnx_cast(n, n->in[2], x.element).v, x.v);
    if (!zero) return false;
  }
  n->out[0] = onnx_saturate(n, onnx_value(graph_binary(n->b, SCALAR_div, x.v, scale), x.element), zero, element);
  return true;
}

bool onnx_lower_dequantize(onnx_node_t* n) {
  const ir_type_t *result = n->in[1].element, *si32 = ir_type_integer(n->ctx, 32, IR_SIGNED);
  int64_t output = onnx_int(n, "output_dtype", 0);
  onnx_value_t x = n->in[0];
  if (output) result = onnx_element_type(n->ctx, output);
  if (!result || !ir_type_is_float(result) || !onnx_check_float(n, 1))
    return onnx_error(n, "the result must be floating-point");
  const ir_type_t* compute = result->width < 32 ? onnx_f32(n->ctx) : result;
  if (ir_type_is_int(x.element)) {
    if (x.element->width < 32) x = onnx_cast(n, x, si32);
    if (onnx_has(n, 2)) {
      if (!onnx_check_same_element(n, 0, 2)) return false;
      ir_value_t* zero = spread_parameter(n, onnx_cast(n, n->in[2], x.element).v, x.v);
      if (!zero) return false;
      x.v = graph_binary(n->b, SCALAR_sub, x.v, zero);
    }
  }
  x = onnx_cast(n, x, compute);
  ir_value_t* scale = spread_parameter(n, onnx_cast(n, n->in[1], compute).v, x.v);
  if (!scale) return false;
  n->out[0] = onnx_cast(n, onnx_value(graph_binary(n->b, SCALAR_mul, x.v, scale), compute), result);
  return true;
}

// Scale and zero point from the range of x, with 0 in it; of zeros the scale is 1.
bool onnx_lower_dynamic_quantize(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  int64_t dims[ONNX_MAX_RANK];
  const ir_type_t *f32 = n->in[0].element, *ui8 = ir_type_integer(n->ctx, 8, IR_UNSIGNED);
  if (!onnx_check_float(n, 0)) return false;
  for (int32_t i = 0; i < x->type->rank; ++i) dims[i] = i;
  uint32_t rank = (uint32_t)x->type->rank;
  ir_value_t* high = onnx_binary_number(n, SCALAR_max, rank ? graph_reduce(n->b, x, dims, rank, "max") : x, 0);
  ir_value_t* low = onnx_binary_number(n, SCALAR_min, rank ? graph_reduce(n->b, x, dims, rank, "min") : x, 0);
  ir_value_t* scale = onnx_binary_number(n, SCALAR_div, graph_binary(n->b, SCALAR_sub, high, low), 255);
  ir_value_t* safe =
      graph_select(n->b, onnx_binary_number(n, SCALAR_eq, scale, 0), graph_splat_like(n->b, scale, 1), scale);
  ir_value_t* zero = onnx_unary(n, SCALAR_neg, graph_binary(n->b, SCALAR_div, low, safe));
  onnx_value_t point = onnx_saturate(n, onnx_value(zero, f32), NULL, ui8);
  ir_value_t* ratio = graph_binary(n->b, SCALAR_div, x, onnx_broadcast_as(n, safe, x, NULL));
  ir_value_t* offset = onnx_broadcast_as(n, onnx_cast(n, point, f32).v, x, NULL);
  n->out[0] = onnx_saturate(n, onnx_value(ratio, f32), offset, ui8);
  if (onnx_wants(n, 1)) n->out[1] = onnx_value(safe, f32);
  if (onnx_wants(n, 2)) n->out[2] = point;
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Products of quantised tensors
//===----------------------------------------------------------------------------------------------------------------===

// A scale in the shape of y: a scalar, or a vector along `axis`. NULL after a diagnostic.
static ir_value_t* scale_like(onnx_node_t* n, uint32_t i, ir_value_t* y, int64_t axis) {
  ir_value_t* v = onnx_cast(n, n->in[i], onnx_f32(n->ctx)).v;
  return v->type->rank > 1 ? onnx_broadcast_onto(n, v, y) : onnx_one_or_along(n, v, axis, y);
}

// a_scale b_scale / y_scale in the shape of y, from the inputs `scales`; what is one number for a tensor or a column is
// computed before it is repeated. NULL after a diagnostic.
static ir_value_t* joint_scale(onnx_node_t* n, ir_value_t* y, const uint32_t* scales, int64_t axis) {
  ir_value_t* v[3];
  bool single = true;
  for (int i = 0; i < 3; ++i) {
    v[i] = onnx_cast(n, n->in[scales[i]], onnx_f32(n->ctx)).v;
    if (ir_type_count(v[i]->type) == 1) v[i] = onnx_reshape(n, v[i], 0, NULL);
    single &= v[i]->type->rank == 0 || (i == 1 && v[i]->type->rank == 1);
  }
  if (!single) {
    v[0] = scale_like(n, scales[0], y, y->type->rank > 1 ? y->type->rank - 2 : 0);
    v[1] = v[0] ? scale_like(n, scales[1], y, axis) : NULL;
    v[2] = v[1] ? scale_like(n, scales[2], y, axis) : NULL;
    if (!v[2]) return NULL;
  }
  ir_value_t* factor = onnx_binary(n, SCALAR_mul, v[0], v[1]);
  factor = factor ? onnx_binary(n, SCALAR_div, factor, v[2]) : NULL;
  if (!factor || !single) return factor;
  return factor->type->rank ? onnx_one_or_along(n, factor, axis, y) : onnx_scalar_like(n, factor, y);
}

// An i32 sum times its joint scale, quantised with the zero point of input `zero`.
static bool requantize(onnx_node_t* n, ir_value_t* sum, const uint32_t* scales, uint32_t zero, int64_t axis) {
  const ir_type_t* f32 = onnx_f32(n->ctx);
  if (!sum) return false;
  ir_value_t *y = graph_cast(n->b, sum, f32, false), *factor = joint_scale(n, y, scales, axis);
  if (!factor) return false;
  if (!onnx_check_single(n, zero)) return false;
  y = graph_binary(n->b, SCALAR_mul, y, factor);
  ir_value_t* point = onnx_scalar_like(n, onnx_cast(n, n->in[zero], f32).v, y);
  n->out[0] = onnx_saturate(n, onnx_value(y, f32), point, n->in[zero].element);
  return true;
}

bool onnx_lower_qlinear_matmul(onnx_node_t* n) {
  static const uint32_t scales[] = {1, 4, 6};
  int32_t a_rank = onnx_rank(n->in[0]), b_rank = onnx_rank(n->in[3]);
  if (a_rank < 1 || b_rank < 1) return onnx_error(n, "scalars have no matrix product");
  if (!onnx_is_int(n->in[0]) || !onnx_is_int(n->in[3])) return onnx_unsupported(n, "float8 operands are not supported");
  ir_value_t* a = onnx_centered(n, 0, 2, a_rank > 1 ? a_rank - 2 : 0);
  ir_value_t* b = onnx_centered(n, 3, 5, b_rank - 1);
  ir_value_t* y = a && b ? onnx_matmul(n, a, b, (graph_contract_t){0}, ir_type_int(n->ctx, 32)) : NULL;
  return requantize(n, y, scales, 7, y ? y->type->rank - 1 : 0);
}

// Inputs x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias (i32).
bool onnx_lower_qlinear_conv(onnx_node_t* n) {
  static const uint32_t scales[] = {1, 4, 6};
  if (onnx_rank(n->in[0]) < 3 || onnx_rank(n->in[3]) < 3) return onnx_error(n, "needs spatial dimensions");
  if (!onnx_is_int(n->in[0]) || !onnx_is_int(n->in[3])) return onnx_error(n, "needs integers");
  bool channels_last = onnx_int(n, "channels_last", 0) != 0;  // ONNX Runtime's own
  ir_value_t* x = onnx_centered(n, 0, 2, channels_last ? onnx_rank(n->in[0]) - 1 : 1);
  ir_value_t* w = onnx_centered(n, 3, 5, 0);
  if (x && channels_last) x = onnx_move_channels(n, x, true);
  ir_value_t* y = x && w ? onnx_conv(n, x, w, ir_type_int(n->ctx, 32)) : NULL;
  if (y && onnx_has(n, 8)) {
    ir_value_t* bias = onnx_along(n, onnx_cast(n, n->in[8], ir_type_integer(n->ctx, 32, IR_SIGNED)).v, 1, y);
    y = bias ? graph_binary(n->b, SCALAR_add, y, bias) : NULL;
  }
  if (!requantize(n, y, scales, 7, 1)) return false;
  if (channels_last) n->out[0].v = onnx_move_channels(n, n->out[0].v, false);
  return true;
}
