// Reductions, softmax, argmax.
#include <string.h>

#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

// What is reduced. Axes known at run time only: each dim is seen as two, of which one has size 1, and the second ones
// are reduced, [a, b] as [a, 1, 1, b] for axis 1.
typedef struct axes_t {
  int64_t dims[ONNX_MAX_RANK];
  uint32_t count;
  bool split;
  int32_t rank;  // of the result
  onnx_dim_t apart[ONNX_MAX_RANK], result[ONNX_MAX_RANK];
} axes_t;

static bool split_axes(onnx_node_t* n, onnx_axes_t* given, axes_t* out) {
  ir_value_t* x = n->in[0].v;
  int32_t rank = x->type->rank;
  bool keep = onnx_int(n, "keepdims", 1) != 0, counted = given->count != IR_DYNAMIC;
  onnx_dim_t none = onnx_dim_of(1), one = onnx_dim_of(1);
  if (2 * rank > ONNX_MAX_RANK) return onnx_unsupported(n, "axes known at run time only, of rank %d", rank);
  for (int32_t i = 0; i < rank; ++i) none = onnx_dim_select(n, given->flags[i], onnx_dim_of(0), none);
  none = onnx_dim_test(n, SCALAR_ne, none, onnx_dim_of(0));
  out->split = true;
  out->rank = keep ? rank : counted ? rank - (int32_t)given->count : onnx_result_rank(n, 0);
  if (out->rank < 0) return onnx_unsupported(n, "the number of axes, or the rank of the result, must be known");
  for (int32_t i = 0; i < rank; ++i) {
    onnx_dim_t size = onnx_dim(n, x, i);
    if (!counted && !onnx_int(n, "noop_with_empty_axes", 0)) given->flags[i] = onnx_flag_or(n, given->flags[i], none);
    out->apart[2 * i] = out->result[i] = onnx_dim_select(n, given->flags[i], one, size);
    out->apart[2 * i + 1] = onnx_dim_select(n, given->flags[i], size, one);
    out->dims[out->count++] = 2 * i + 1;
  }
  return keep || onnx_unflagged_dims(n, x, given, out->rank, out->result);
}

// The reduced dims: input 1, or all when there is none (none at all with noop_with_empty_axes).
static bool read_axes(onnx_node_t* n, axes_t* out) {
  int32_t rank = onnx_rank(n->in[0]);
  onnx_axes_t given = {.constant = true};
  *out = (axes_t){0};
  if (onnx_has(n, 1) && !onnx_axes_input(n, 1, rank, &given)) return false;
  if (!given.constant) return split_axes(n, &given, out);
  bool all = given.count == 0 && !onnx_int(n, "noop_with_empty_axes", 0);
  for (int32_t i = 0; i < rank; ++i) {
    if (all || given.flags[i].size == 1) out->dims[out->count++] = i;
  }
  return true;
}

static ir_value_t* view(onnx_node_t* n, ir_value_t* x, const axes_t* axes) {
  return axes->split ? onnx_reshape(n, x, 2 * x->type->rank, axes->apart) : x;
}

// x as view() gives it, without the reduced dims.
static bool finish(onnx_node_t* n, ir_value_t* x, const axes_t* axes, const char* kind, ir_value_t** out) {
  if (axes->count == 0) return *out = x, true;
  if (axes->split) {
    ir_value_t* y = graph_reduce(n->b, x, axes->dims, axes->count, kind);
    return *out = onnx_reshape(n, y, axes->rank, axes->result), true;
  }
  bool keep = onnx_int(n, "keepdims", 1) != 0;
  *out = keep ? onnx_reduce_keep(n, x, axes->dims, axes->count, kind)
              : graph_reduce(n->b, x, axes->dims, axes->count, kind);
  return true;
}

// Reduces `prepare`(x); `finish_fn` is applied to the result (SCALAR_COUNT: nothing).
static bool reduce(onnx_node_t* n, ir_value_t* x, const char* kind, int finish_fn) {
  axes_t axes;
  ir_value_t* y;
  if (!read_axes(n, &axes) || !finish(n, view(n, x, &axes), &axes, kind, &y)) return false;
  if (finish_fn != SCALAR_COUNT) y = onnx_unary(n, (scalar_fn_t)finish_fn, y);
  return onnx_return(n, y, n->in[0].element);
}

bool onnx_lower_reduce_sum(onnx_node_t* n) { return reduce(n, n->in[0].v, "add", SCALAR_COUNT); }
bool onnx_lower_reduce_prod(onnx_node_t* n) { return reduce(n, n->in[0].v, "mul", SCALAR_COUNT); }
bool onnx_lower_reduce_max(onnx_node_t* n) {
  const char* kind = onnx_is_bool(n->in[0]) ? "or" : onnx_is_unsigned(n->in[0]) ? "maxu" : "max";
  return reduce(n, n->in[0].v, kind, SCALAR_COUNT);
}
bool onnx_lower_reduce_min(onnx_node_t* n) {
  const char* kind = onnx_is_bool(n->in[0]) ? "and" : onnx_is_unsigned(n->in[0]) ? "minu" : "min";
  return reduce(n, n->in[0].v, kind, SCALAR_COUNT);
}
bool onnx_lower_reduce_l1(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  return reduce(n, onnx_is_unsigned(n->in[0]) ? x : onnx_unary(n, SCALAR_abs, x), "add", SCALAR_COUNT);
}
static ir_value_t* square(onnx_node_t* n, ir_value_t* x) { return graph_binary(n->b, SCALAR_mul, x, x); }
bool onnx_lower_reduce_sum_square(onnx_node_t* n) { return reduce(n, square(n, n->in[0].v), "add", SCALAR_COUNT); }

// Functions of floats that ONNX also defines for integers: computed in f32 or f64, and rounded towards zero.
static bool reduce_float(onnx_node_t* n, scalar_fn_t finish_fn, bool squared) {
  onnx_value_t x = n->in[0];
  if (onnx_is_int(x)) x = onnx_cast(n, x, ir_type_float(n->ctx, x.element->width > 16 ? IR_F64 : IR_F32));
  if (!reduce(n, squared ? square(n, x.v) : x.v, "add", finish_fn)) return false;
  n->out[0] = onnx_cast(n, onnx_value(n->out[0].v, x.element), n->in[0].element);
  return true;
}
bool onnx_lower_reduce_l2(onnx_node_t* n) { return reduce_float(n, SCALAR_sqrt, true); }
bool onnx_lower_reduce_log_sum(onnx_node_t* n) { return reduce_float(n, SCALAR_log, false); }

bool onnx_lower_reduce_mean(onnx_node_t* n) {
  axes_t axes;
  ir_value_t* sum;
  if (!read_axes(n, &axes)) return false;
  ir_value_t* x = view(n, n->in[0].v, &axes);
  if (!finish(n, x, &axes, "add", &sum)) return false;
  if (axes.count == 0) return onnx_return(n, x, n->in[0].element);
  scalar_fn_t div = onnx_is_unsigned(n->in[0]) ? SCALAR_divu : SCALAR_div;
  ir_value_t* size = onnx_size_like(n, x, axes.dims, axes.count, sum);
  return onnx_return(n, graph_binary(n->b, div, sum, size), n->in[0].element);
}

// log(sum(exp(x))) = max + log(sum(exp(x - max)))
bool onnx_lower_reduce_log_sum_exp(onnx_node_t* n) {
  axes_t axes;
  onnx_value_t in = n->in[0];
  if (onnx_is_int(in)) in = onnx_cast(n, in, ir_type_float(n->ctx, in.element->width > 16 ? IR_F64 : IR_F32));
  if (!read_axes(n, &axes)) return false;
  ir_value_t *x = view(n, in.v, &axes), *most, *sum;
  if (axes.count) {
    ir_value_t* spread = onnx_reduce_spread(n, x, axes.dims, axes.count, "max");
    ir_value_t* finite = onnx_unary(n, SCALAR_is_finite, spread);
    spread = graph_select(n->b, finite, spread, graph_splat_like(n->b, spread, 0));
    finish(n, x, &axes, "max", &most);
    ir_value_t* usable = onnx_unary(n, SCALAR_is_finite, most);
    most = graph_select(n->b, usable, most, graph_splat_like(n->b, most, 0));
    finish(n, onnx_unary(n, SCALAR_exp, graph_binary(n->b, SCALAR_sub, x, spread)), &axes, "add", &sum);
    x = graph_binary(n->b, SCALAR_add, most, onnx_unary(n, SCALAR_log, sum));
  }
  n->out[0] = onnx_cast(n, onnx_value(x, in.element), n->in[0].element);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Softmax and relatives
//===----------------------------------------------------------------------------------------------------------------===

static bool softmax_axis(onnx_node_t* n, int64_t* axis) {
  *axis = onnx_int(n, "axis", -1);
  return onnx_check_float(n, 0) && onnx_check_axis(n, axis, onnx_rank(n->in[0]));
}

static ir_value_t* shifted(onnx_node_t* n, ir_value_t* x, int64_t axis) {
  return graph_binary(n->b, SCALAR_sub, x, onnx_reduce_spread(n, x, &axis, 1, "max"));
}

ir_value_t* onnx_softmax(onnx_node_t* n, ir_value_t* x, int64_t axis) {
  ir_value_t* exp = onnx_unary(n, SCALAR_exp, shifted(n, x, axis));
  return graph_binary(n->b, SCALAR_div, exp, onnx_reduce_spread(n, exp, &axis, 1, "add"));
}

bool onnx_lower_softmax(onnx_node_t* n) {
  int64_t axis;
  return softmax_axis(n, &axis) && onnx_return(n, onnx_softmax(n, n->in[0].v, axis), n->in[0].element);
}

ir_value_t* onnx_log_softmax(onnx_node_t* n, ir_value_t* x, int64_t axis) {
  int64_t others[ONNX_MAX_RANK];
  ir_value_t* low = shifted(n, x, axis);
  ir_value_t* sum = graph_reduce(n->b, onnx_unary(n, SCALAR_exp, low), &axis, 1, "add");
  for (int32_t i = 0, count = 0; i < x->type->rank; ++i) {
    if (i != axis) others[count++] = i;
  }
  return graph_binary(n->b, SCALAR_sub, low, onnx_broadcast_as(n, onnx_unary(n, SCALAR_log, sum), low, others));
}

bool onnx_lower_log_softmax(onnx_node_t* n) {
  int64_t axis;
  return softmax_axis(n, &axis) && onnx_return(n, onnx_log_softmax(n, n->in[0].v, axis), n->in[0].element);
}

//===----------------------------------------------------------------------------------------------------------------===
// Positions of extremes
//===----------------------------------------------------------------------------------------------------------------===

// Values ordered as signed numbers: unsigned ones have their top bit flipped.
ir_value_t* onnx_ordered(onnx_node_t* n, onnx_value_t x) {
  if (onnx_is_bool(x)) return onnx_cast(n, x, ir_type_integer(n->ctx, 8, IR_SIGNED)).v;
  if (!onnx_is_unsigned(x)) return x.v;
  int64_t top = (int64_t)(1ull << (x.element->width - 1));
  ir_value_t* scalar = graph_splat_integer(n->b, ir_type_tensor(n->ctx, x.v->type->element, 0, NULL), top);
  return graph_binary(n->b, SCALAR_xor, x.v, onnx_broadcast_as(n, scalar, x.v, NULL));
}

// The index (i64) of the extreme along an axis, which disappears.
static ir_value_t* arg_reduce(onnx_node_t* n, ir_value_t* x, int64_t axis, bool least, bool last) {
  graph_extreme_t extreme = {.axis = axis, .least = least, .last = last, .index = ir_type_int(n->ctx, 64)};
  return ir_result(graph_arg_reduce(n->b, x, &extreme), 1);
}

static bool arg_extreme(onnx_node_t* n, bool least) {
  int64_t axis = onnx_int(n, "axis", 0);
  onnx_dim_t dims[ONNX_MAX_RANK];
  if (!onnx_check_axis(n, &axis, onnx_rank(n->in[0]))) return false;
  ir_value_t* x = onnx_ordered(n, n->in[0]);
  ir_value_t* y = arg_reduce(n, x, axis, least, onnx_int(n, "select_last_index", 0) != 0);
  if (onnx_int(n, "keepdims", 1)) {
    for (int32_t i = 0; i < x->type->rank; ++i) dims[i] = i == axis ? onnx_dim_of(1) : onnx_dim(n, x, i);
    y = onnx_reshape(n, y, x->type->rank, dims);
  }
  return onnx_return(n, y, onnx_si64(n->ctx));
}
bool onnx_lower_arg_max(onnx_node_t* n) { return arg_extreme(n, false); }
bool onnx_lower_arg_min(onnx_node_t* n) { return arg_extreme(n, true); }

// 1 at the first maximum along the axis, 0 elsewhere.
bool onnx_lower_hardmax(onnx_node_t* n) {
  int64_t axis, others[ONNX_MAX_RANK];
  if (!softmax_axis(n, &axis)) return false;
  ir_value_t* x = n->in[0].v;
  ir_value_t* first = arg_reduce(n, x, axis, false, false);
  for (int32_t i = 0, count = 0; i < x->type->rank; ++i) {
    if (i != axis) others[count++] = i;
  }
  first = onnx_broadcast_as(n, first, x, others);
  ir_value_t* same = graph_binary(n->b, SCALAR_eq, first, onnx_iota_like(n, first, axis));
  return onnx_return(n, graph_cast(n->b, same, x->type->element, true), n->in[0].element);
}
