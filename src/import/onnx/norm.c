// Normalisations.
#include <string.h>

#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

static ir_value_t* add(onnx_node_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_add, x, y); }
static ir_value_t* sub(onnx_node_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_sub, x, y); }
static ir_value_t* mul(onnx_node_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_mul, x, y); }

// 1 / sqrt(x + epsilon)
static ir_value_t* inverse_root(onnx_node_t* n, ir_value_t* x, double epsilon) {
  return onnx_unary(n, SCALAR_rsqrt, onnx_binary_number(n, SCALAR_add, x, epsilon));
}

// (x - mean) / sqrt(variance + epsilon) over those dims. `mean` and `inverse` (in x's shape) may be NULL.
static ir_value_t* standardized(onnx_node_t* n, ir_value_t* x, const int64_t* dims, uint32_t count, double epsilon) {
  ir_value_t* low = sub(n, x, onnx_mean_spread(n, x, dims, count));
  ir_value_t* variance = onnx_mean_spread(n, mul(n, low, low), dims, count);
  return mul(n, low, inverse_root(n, variance, epsilon));
}

// x * scale + bias with vectors along `axis`. NULL after a diagnostic.
static ir_value_t* affine(onnx_node_t* n, ir_value_t* x, ir_value_t* scale, ir_value_t* bias, int64_t axis) {
  scale = onnx_along(n, scale, axis, x);
  bias = scale ? onnx_along(n, bias, axis, x) : NULL;
  return bias ? add(n, mul(n, x, scale), bias) : NULL;
}

// In training mode, mean and variance are those of the input; the running ones are outputs.
static bool batch_statistics(onnx_node_t* n, ir_value_t* x, ir_value_t** v) {
  double momentum = onnx_float(n, "momentum", 0.9f);
  int64_t dims[ONNX_MAX_RANK];
  uint32_t count = 0;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    if (i != 1) dims[count++] = i;
  }
  ir_value_t* low = sub(n, x, onnx_mean_spread(n, x, dims, count));
  ir_value_t* sums[] = {graph_reduce(n->b, x, dims, count, "add"),
                        graph_reduce(n->b, mul(n, low, low), dims, count, "add")};
  for (uint32_t i = 0; i < 2; ++i) {
    ir_value_t* current = graph_binary(n->b, SCALAR_div, sums[i], onnx_size_like(n, x, dims, count, sums[i]));
    ir_value_t* old = onnx_binary_number(n, SCALAR_mul, v[3 + i], momentum);
    ir_value_t* running = add(n, old, onnx_binary_number(n, SCALAR_mul, current, 1 - momentum));
    if (onnx_wants(n, 1 + i)) n->out[1 + i] = onnx_value(running, n->in[3 + i].element);
    v[3 + i] = current;
  }
  return true;
}

// Scale and bias become one multiplication and one addition, so that only vectors are left to compute.
// Before opset 9, with statistics of each place in place of each channel: [c, d...] of [n, c, d...].
static bool batch_norm_of_places(onnx_node_t* n) {
  onnx_value_t x = n->in[0];
  ir_value_t* v[5] = {x.v};
  for (uint32_t i = 1; i < 5; ++i) {
    if (!onnx_check_float(n, i) || !onnx_check_rank(n, i, onnx_rank(x) - 1, onnx_rank(x) - 1)) return false;
    v[i] = onnx_broadcast_onto(n, onnx_cast(n, n->in[i], x.element).v, x.v);
    if (!v[i]) return false;
  }
  ir_value_t* scale = mul(n, v[1], inverse_root(n, v[4], onnx_float(n, "epsilon", 1e-5f)));
  return onnx_return(n, graph_binary(n->b, SCALAR_add, mul(n, sub(n, x.v, v[3]), scale), v[2]), x.element);
}

bool onnx_lower_batch_norm(onnx_node_t* n) {
  onnx_value_t x = n->in[0];
  if (!onnx_check_float(n, 0) || !onnx_check_rank(n, 0, 2, ONNX_MAX_RANK)) return false;
  if (!onnx_int(n, "spatial", 1)) return batch_norm_of_places(n);
  ir_value_t* v[5];
  int64_t channels = onnx_dim_size(x, 1);
  for (uint32_t i = 1; i < 5; ++i) {
    if (!onnx_check_float(n, i) || !onnx_check_rank(n, i, 1, 1)) return false;
    v[i] = onnx_cast(n, n->in[i], x.element).v;
    if (channels == IR_DYNAMIC) channels = v[i]->type->dims[0];
  }
  if (channels != IR_DYNAMIC && !(x.v = onnx_sized(n, x.v, 1, channels))) return false;
  for (uint32_t i = 1; i < 5 && channels != IR_DYNAMIC; ++i) {
    if (!(v[i] = onnx_sized(n, v[i], 0, channels))) return false;
  }
  if (onnx_int(n, "training_mode", 0) && !batch_statistics(n, x.v, v)) return false;
  ir_value_t* scale = mul(n, v[1], inverse_root(n, v[4], onnx_float(n, "epsilon", 1e-5f)));
  ir_value_t* bias = sub(n, v[2], mul(n, v[3], scale));
  return onnx_return(n, affine(n, x.v, scale, bias, 1), x.element);
}

bool onnx_lower_instance_norm(onnx_node_t* n) {
  int64_t dims[ONNX_MAX_RANK];
  int32_t rank = onnx_rank(n->in[0]);
  if (!onnx_check_float(n, 0) || !onnx_check_rank(n, 0, 2, ONNX_MAX_RANK)) return false;
  if (!onnx_check_same_element(n, 0, 1) || !onnx_check_same_element(n, 0, 2)) return false;
  for (int32_t i = 2; i < rank; ++i) dims[i - 2] = i;
  ir_value_t* y = standardized(n, n->in[0].v, dims, (uint32_t)rank - 2, onnx_float(n, "epsilon", 1e-5f));
  return onnx_return(n, affine(n, y, n->in[1].v, n->in[2].v, 1), n->in[0].element);
}

// A wider type to compute in, as stash_type asks (1: f32).
static onnx_value_t stash(onnx_node_t* n, onnx_value_t x) {
  bool narrow = x.element->width < 32 && onnx_int(n, "stash_type", 1) == 1;
  return narrow ? onnx_cast(n, x, onnx_f32(n->ctx)) : x;
}

// Scale and bias of opset 18 are those of groups. Models were written that give one for each channel there, too.
static bool is_per_group(onnx_node_t* n, int64_t groups) {
  if (!onnx_int(n, "per_group", 0)) return false;
  for (uint32_t i = 1; i < 3; ++i) {
    if (onnx_rank(n->in[i]) == 1 && onnx_dim_size(n->in[i], 0) != groups && onnx_dim_size(n->in[i], 0) != IR_DYNAMIC)
      return false;
  }
  return true;
}

// [n, c, ...] is seen as [n, groups, c / groups, ...].
bool onnx_lower_group_norm(onnx_node_t* n) {
  onnx_value_t in = n->in[0];
  int64_t groups = onnx_int(n, "num_groups", 0), dims[ONNX_MAX_RANK];
  int32_t rank = onnx_rank(in);
  onnx_dim_t split[ONNX_MAX_RANK], whole[ONNX_MAX_RANK];
  if (!onnx_check_float(n, 0) || !onnx_check_rank(n, 0, 2, ONNX_MAX_RANK - 1)) return false;
  if (!onnx_check_same_element(n, 0, 1) || !onnx_check_same_element(n, 0, 2)) return false;
  bool per_group = is_per_group(n, groups);
  if (!per_group && onnx_rank(n->in[1]) == 1 && onnx_dim_size(n->in[1], 0) != IR_DYNAMIC &&
      !(in.v = onnx_sized(n, in.v, 1, onnx_dim_size(n->in[1], 0))))
    return false;
  onnx_value_t wide = stash(n, in);
  onnx_dim_t channels = onnx_dim(n, wide.v, 1), by = onnx_dim_of(groups);
  if (groups < 1 || groups > INT32_MAX) return onnx_error(n, "num_groups must divide the number of channels");
  split[2] = onnx_dim_div(n, channels, by);
  onnx_dim_t divides = onnx_dim_test(n, SCALAR_eq, onnx_dim_mul(n, split[2], by), channels);
  if (!onnx_require(n, divides, "num_groups must divide the number of channels")) return false;
  for (int32_t i = 0; i < rank; ++i) {
    whole[i] = onnx_dim(n, wide.v, i);
    if (i != 1) split[i == 0 ? 0 : i + 1] = whole[i];
    if (i) dims[i - 1] = i + 1;
  }
  split[1] = by;
  ir_value_t* y = onnx_reshape(n, wide.v, rank + 1, split);
  y = standardized(n, y, dims, (uint32_t)rank - 1, onnx_float(n, "epsilon", 1e-5f));
  if (!per_group) y = onnx_reshape(n, y, rank, whole);
  y = onnx_cast(n, onnx_value(y, wide.element), in.element).v;
  y = affine(n, y, n->in[1].v, n->in[2].v, 1);
  return onnx_return(n, y && per_group ? onnx_reshape(n, y, rank, whole) : y, in.element);
}

// The dims from `axis` on.
static bool trailing_dims(onnx_node_t* n, onnx_value_t x, int64_t* dims, uint32_t* count) {
  int64_t axis = onnx_int(n, "axis", -1);
  *count = 0;
  if (!onnx_check_axis(n, &axis, onnx_rank(x))) return false;
  for (int32_t i = (int32_t)axis; i < onnx_rank(x); ++i) dims[(*count)++] = i;
  return true;
}

// `fn` of x and input i, which must broadcast to x. NULL after a diagnostic.
static ir_value_t* apply_input(onnx_node_t* n, scalar_fn_t fn, ir_value_t* x, uint32_t i) {
  int32_t rank = x->type->rank;
  if (n->in[i].v->type->rank > rank) return onnx_error(n, "input %u has too many dimensions", i), NULL;
  return onnx_binary_onto(n, fn, x, n->in[i].v);
}

// Mean and inverse deviation as outputs have size 1 in the normalised dims.
static ir_value_t* first_of(onnx_node_t* n, ir_value_t* x, const int64_t* dims, uint32_t count) {
  return onnx_reduce_keep(n, x, dims, count, "max");
}

bool onnx_lower_layer_norm(onnx_node_t* n) {
  onnx_value_t in = n->in[0], wide = stash(n, in);
  int64_t dims[ONNX_MAX_RANK];
  uint32_t count;
  if (!onnx_check_float(n, 0) || !trailing_dims(n, in, dims, &count)) return false;
  if (!onnx_check_same_element(n, 0, 1) || !onnx_check_same_element(n, 0, 2)) return false;
  ir_value_t* mean = onnx_mean_spread(n, wide.v, dims, count);
  ir_value_t* low = sub(n, wide.v, mean);
  ir_value_t* variance = onnx_mean_spread(n, mul(n, low, low), dims, count);
  ir_value_t* inverse = inverse_root(n, variance, onnx_float(n, "epsilon", 1e-5f));
  ir_value_t* y = onnx_cast(n, onnx_value(mul(n, low, inverse), wide.element), in.element).v;
  y = apply_input(n, SCALAR_mul, y, 1);
  if (y && onnx_has(n, 2)) y = apply_input(n, SCALAR_add, y, 2);
  const ir_type_t* stashed = onnx_int(n, "stash_type", 1) == 1 ? onnx_f32(n->ctx) : wide.element;
  if (onnx_wants(n, 1)) n->out[1] = onnx_cast(n, onnx_value(first_of(n, mean, dims, count), wide.element), stashed);
  if (onnx_wants(n, 2)) n->out[2] = onnx_cast(n, onnx_value(first_of(n, inverse, dims, count), wide.element), stashed);
  return onnx_return(n, y, in.element);
}

bool onnx_lower_rms_norm(onnx_node_t* n) {
  onnx_value_t in = n->in[0], wide = stash(n, in);
  int64_t dims[ONNX_MAX_RANK];
  uint32_t count;
  if (!onnx_check_float(n, 0) || !trailing_dims(n, in, dims, &count)) return false;
  ir_value_t* square = onnx_mean_spread(n, mul(n, wide.v, wide.v), dims, count);
  ir_value_t* y = mul(n, wide.v, inverse_root(n, square, onnx_float(n, "epsilon", 1e-5f)));
  y = onnx_cast(n, onnx_value(y, wide.element), n->in[1].element).v;
  return onnx_return(n, apply_input(n, SCALAR_mul, y, 1), n->in[1].element);
}

// ONNX Runtime's: the sum of inputs, which is the fourth result, normalised over the last dimension, times gamma.
static bool skip_norm(onnx_node_t* n, bool simplified) {
  onnx_value_t in = n->in[0];
  int64_t last = onnx_rank(in) - 1;
  uint32_t bias = simplified ? 3 : 4;
  if (!onnx_check_float(n, 0) || !onnx_check_rank(n, 0, 1, ONNX_MAX_RANK)) return false;
  for (uint32_t i = 1; i < 5; ++i) {
    if (!onnx_check_same_element(n, 0, i)) return false;
  }
  ir_value_t* sum = apply_input(n, SCALAR_add, in.v, 1);
  if (sum && onnx_has(n, bias)) sum = apply_input(n, SCALAR_add, sum, bias);
  if (!sum) return false;
  double epsilon = onnx_float(n, "epsilon", 1e-12f);
  ir_value_t* y = simplified ? mul(n, sum, inverse_root(n, onnx_mean_spread(n, mul(n, sum, sum), &last, 1), epsilon))
                             : standardized(n, sum, &last, 1, epsilon);
  y = apply_input(n, SCALAR_mul, y, 2);
  if (y && !simplified && onnx_has(n, 3)) y = apply_input(n, SCALAR_add, y, 3);
  if (onnx_wants(n, 3)) n->out[3] = onnx_value(sum, in.element);
  return onnx_return(n, y, in.element);
}
bool onnx_lower_skip_layer_norm(onnx_node_t* n) { return skip_norm(n, false); }
bool onnx_lower_skip_rms_norm(onnx_node_t* n) { return skip_norm(n, true); }

// ONNX Runtime's: inputs word ids, segment ids, word, position and segment tables, gamma, beta, mask, position ids.
// Results: the normalised sum of the tables' rows, how many of the mask's entries count, the sum.
bool onnx_lower_embed_layer_norm(onnx_node_t* n) {
  static const int64_t last = 2, one = 1;
  const ir_type_t* si32 = ir_type_integer(n->ctx, 32, IR_SIGNED);
  if (!onnx_has(n, 2) || !onnx_has(n, 3) || !onnx_has(n, 5) || !onnx_has(n, 6))
    return onnx_error(n, "inputs 2, 3, 5 and 6 are required");
  const ir_type_t* element = n->in[2].element;
  if (!onnx_is_int(n->in[0]) || !onnx_check_rank(n, 0, 2, 2) || !onnx_check_float(n, 2))
    return onnx_error(n, "word ids or tables do not fit");
  for (uint32_t i = 2; i < 5; ++i) {
    if (onnx_has(n, i) && (!onnx_check_rank(n, i, 2, 2) || !onnx_check_same_element(n, 2, i))) return false;
  }
  if (!onnx_check_same_element(n, 2, 5) || !onnx_check_same_element(n, 2, 6)) return false;
  ir_value_t* sum = graph_take(n->b, n->in[2].v, n->in[0].v, 0, false);
  ir_value_t* places = NULL;
  if (onnx_has(n, 8)) places = graph_take(n->b, n->in[3].v, n->in[8].v, 0, false);
  if (!places) {  // the first rows
    ir_value_t* numbers = onnx_iota_like(n, onnx_cast(n, n->in[0], onnx_si64(n->ctx)).v, 1);
    places = graph_take(n->b, n->in[3].v, numbers, 0, false);
  }
  sum = onnx_binary_onto(n, SCALAR_add, sum, places);
  if (sum && onnx_has(n, 1) && onnx_has(n, 4))
    sum = onnx_binary_onto(n, SCALAR_add, sum, graph_take(n->b, n->in[4].v, n->in[1].v, 0, false));
  if (!sum) return false;
  ir_value_t* y = standardized(n, sum, &last, 1, onnx_float(n, "epsilon", 1e-12f));
  y = affine(n, y, n->in[5].v, n->in[6].v, 2);
  if (onnx_wants(n, 1)) {
    ir_value_t* mask = onnx_has(n, 7) ? onnx_cast(n, n->in[7], si32).v : onnx_cast(n, n->in[0], si32).v;
    if (!onnx_has(n, 7)) mask = graph_splat_like(n->b, mask, 0);
    n->out[1] = onnx_value(graph_reduce(n->b, mask, &one, 1, "add"), si32);
  }
  if (onnx_wants(n, 2)) n->out[2] = onnx_value(sum, element);
  return onnx_return(n, y, element);
}

bool onnx_lower_mean_variance_norm(onnx_node_t* n) {
  int64_t axes[ONNX_MAX_RANK];
  uint32_t count;
  ir_value_t* x = n->in[0].v;
  if (!onnx_check_float(n, 0) || !onnx_ints(n, "axes", axes, ONNX_MAX_RANK, &count)) return false;
  if (!onnx_attr(n, "axes")) memcpy(axes, (int64_t[]){0, 2, 3}, sizeof(int64_t) * (count = 3));
  for (uint32_t i = 0; i < count; ++i) {
    if (!onnx_check_axis(n, &axes[i], x->type->rank)) return false;
    for (uint32_t j = 0; j < i; ++j) {
      if (axes[i] == axes[j]) return onnx_error(n, "axis %lld is given twice", (long long)axes[i]);
    }
  }
  ir_value_t* low = sub(n, x, onnx_mean_spread(n, x, axes, count));
  ir_value_t* deviation = onnx_unary(n, SCALAR_sqrt, onnx_mean_spread(n, mul(n, low, low), axes, count));
  deviation = onnx_binary_number(n, SCALAR_add, deviation, 1e-9);
  return onnx_return(n, graph_binary(n->b, SCALAR_div, low, deviation), n->in[0].element);
}

// x / (bias + alpha / size * sum of squares over neighbouring channels) ^ beta
bool onnx_lower_lrn(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  int64_t size = onnx_int(n, "size", 0);
  double alpha = onnx_float(n, "alpha", 1e-4f), beta = onnx_float(n, "beta", 0.75), bias = onnx_float(n, "bias", 1);
  if (!onnx_check_float(n, 0) || !onnx_check_rank(n, 0, 2, ONNX_MAX_RANK)) return false;
  if (size < 1 || size > (1 << 20)) return onnx_error(n, "size %lld is out of range", (long long)size);
  graph_window_t w = {.kind = "add"};
  for (int32_t i = 0; i < x->type->rank; ++i) w.sizes[i] = w.strides[i] = w.dilations[i] = w.base_dilations[i] = 1;
  w.sizes[1] = size;
  w.pad_low[1] = (size - 1) / 2;
  w.pad_high[1] = size - 1 - w.pad_low[1];
  ir_value_t* sum = graph_window(n->b, mul(n, x, x), &w);
  ir_value_t* base =
      onnx_binary_number(n, SCALAR_add, onnx_binary_number(n, SCALAR_mul, sum, alpha / (double)size), bias);
  ir_value_t* power = onnx_binary_number(n, SCALAR_pow, base, beta);
  return onnx_return(n, graph_binary(n->b, SCALAR_div, x, power), n->in[0].element);
}

// x / norm, and 0 where the norm is 0.
bool onnx_lower_lp_norm(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  int64_t axis = onnx_int(n, "axis", -1), p = onnx_int(n, "p", 2);
  if (!onnx_check_float(n, 0) || !onnx_check_axis(n, &axis, x->type->rank)) return false;
  if (p != 1 && p != 2) return onnx_error(n, "p = %lld is neither 1 nor 2", (long long)p);
  ir_value_t* part = p == 1 ? onnx_unary(n, SCALAR_abs, x) : mul(n, x, x);
  ir_value_t* norm = onnx_reduce_spread(n, part, &axis, 1, "add");
  if (p == 2) norm = onnx_unary(n, SCALAR_sqrt, norm);
  ir_value_t* zero = onnx_binary_number(n, SCALAR_eq, norm, 0);
  norm = graph_select(n->b, zero, graph_splat_like(n->b, norm, 1), norm);
  return onnx_return(n, graph_binary(n->b, SCALAR_div, x, norm), n->in[0].element);
}
