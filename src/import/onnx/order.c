// Ops about positions and order: running sums, sorting, triangles, ranges.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

static bool running(onnx_node_t* n, const char* kind) {
  ir_value_t* x = n->in[0].v;
  onnx_dim_t axis;
  if (!onnx_axis_input(n, 1, x->type->rank, &axis)) return false;
  ir_value_t* view = onnx_dim_known(axis) ? x : onnx_around_axis(n, x, axis, 0);
  int64_t at = onnx_dim_known(axis) ? axis.size : 1;
  ir_named_attr_t attrs[4] = {{"axis", ir_attr_i64(n->ctx, at)}, {"kind", ir_attr_cstring(n->ctx, kind)}};
  uint32_t attr_count = 2;
  if (onnx_int(n, "exclusive", 0)) attrs[attr_count++] = (ir_named_attr_t){"exclusive", ir_attr_unit(n->ctx)};
  if (onnx_int(n, "reverse", 0)) attrs[attr_count++] = (ir_named_attr_t){"reverse", ir_attr_unit(n->ctx)};
  ir_value_t* y = graph_build(n->b, GRAPH_SCAN, &view, 1, view->type, attrs, attr_count);
  return onnx_return(n, onnx_dim_known(axis) ? y : onnx_reshape_like(n, y, x), n->in[0].element);
}
bool onnx_lower_cum_sum(onnx_node_t* n) { return running(n, "add"); }
bool onnx_lower_cum_prod(onnx_node_t* n) { return running(n, "mul"); }

ir_op_t* onnx_sort_by(onnx_node_t* n, ir_value_t* keys, ir_value_t* values, int64_t axis) {
  return graph_sort(n->b, (ir_value_t*[]){keys, values}, 2, &(graph_sort_t){.axis = axis});
}

// How many are asked for is known at run time only: all are sorted.
static ir_op_t* sort_all(onnx_node_t* n, ir_value_t* x, int64_t axis) {
  const ir_type_t* i64 = ir_type_int(n->ctx, 64);
  ir_value_t* like = x->type->element == i64 ? x : graph_cast(n->b, x, i64, false);  // for its shape
  ir_op_t* op = onnx_sort_by(n, x, onnx_iota_like(n, like, axis), axis);
  if (onnx_int(n, "largest", 1)) ir_op_set_attr(n->ctx, op, "descending", ir_attr_unit(n->ctx));
  return op;
}

// Unsigned integers are sorted as signed ones with the top bit flipped, and flipped back.
bool onnx_lower_top_k(onnx_node_t* n) {
  onnx_value_t in = n->in[0];
  int64_t axis = onnx_int(n, "axis", -1);
  onnx_dim_t k;
  if (!onnx_check_axis(n, &axis, onnx_rank(in)) || !onnx_number_input(n, 1, &k)) return false;
  if (onnx_is_bool(in)) return onnx_error(n, "booleans have no order");
  onnx_dim_t size = onnx_dim(n, in.v, (int32_t)axis);
  onnx_dim_t low = onnx_dim_test(n, SCALAR_ge, k, onnx_dim_of(0));
  if (!onnx_require(n, onnx_flag_and(n, low, onnx_dim_test(n, SCALAR_le, k, size)), "k does not fit the input"))
    return false;
  ir_value_t* x = onnx_ordered(n, in);
  graph_extreme_t extreme = {
      .axis = axis, .k = k.size, .least = !onnx_int(n, "largest", 1), .index = ir_type_int(n->ctx, 64)};
  ir_op_t* op = onnx_dim_known(k) ? graph_top_k(n->b, x, &extreme) : sort_all(n, x, axis);
  ir_value_t *values = ir_result(op, 0), *places = ir_result(op, 1);
  if (!onnx_dim_known(k)) values = onnx_prefix(n, values, axis, k), places = onnx_prefix(n, places, axis, k);
  n->out[0] = onnx_value(onnx_ordered(n, onnx_value(values, in.element)), in.element);
  if (onnx_wants(n, 1)) n->out[1] = onnx_value(places, onnx_si64(n->ctx));
  return true;
}

// column - row of the last two dims of x, as tensor<MxNxi64>.
static ir_value_t* diagonal_numbers(onnx_node_t* n, ir_value_t* x) {
  int32_t rank = x->type->rank;
  const onnx_dim_t dims[] = {onnx_dim(n, x, rank - 2), onnx_dim(n, x, rank - 1)};
  return graph_binary(n->b, SCALAR_sub, onnx_numbers(n, 2, dims, 1), onnx_numbers(n, 2, dims, 0));
}

bool onnx_lower_trilu(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  int32_t rank = x->type->rank;
  if (!onnx_check_rank(n, 0, 2, ONNX_MAX_RANK)) return false;
  const int64_t at[] = {rank - 2, rank - 1};
  ir_value_t *numbers = diagonal_numbers(n, x), *limit = graph_splat_like(n->b, numbers, 0);
  if (onnx_has(n, 1)) {
    if (!onnx_check_single(n, 1)) return false;
    limit = onnx_scalar_like(n, onnx_cast(n, n->in[1], onnx_si64(n->ctx)).v, numbers);
  }
  ir_value_t* kept = graph_binary(n->b, onnx_int(n, "upper", 1) ? SCALAR_ge : SCALAR_le, numbers, limit);
  kept = onnx_broadcast_as(n, kept, x, at);
  return onnx_return(n, graph_select(n->b, kept, x, graph_splat_like(n->b, x, 0)), n->in[0].element);
}

bool onnx_lower_eye_like(onnx_node_t* n) {
  const ir_type_t* element = n->in[0].element;
  int64_t dtype = onnx_int(n, "dtype", 0);
  if (dtype) element = onnx_element_type(n->ctx, dtype);
  if (!element || element->kind == IR_TYPE_COMPLEX)
    return onnx_unsupported(n, "dtype %lld is not supported", (long long)dtype);
  if (!onnx_check_rank(n, 0, 2, 2)) return false;
  ir_value_t* numbers = diagonal_numbers(n, n->in[0].v);
  ir_value_t* on = onnx_binary_number(n, SCALAR_eq, numbers, (double)onnx_int(n, "k", 0));
  n->out[0] = onnx_cast(n, onnx_value(on, onnx_bool(n->ctx)), element);
  return true;
}

// How many elements a range has, from constants.
static bool range_size(onnx_node_t* n, const ir_attr_t* const* bounds, onnx_dim_t* out) {
  double size;
  if (ir_type_is_float(n->in[0].element)) {
    double start = ir_attr_element_number(bounds[0], 0), limit = ir_attr_element_number(bounds[1], 0);
    size = ceil((limit - start) / ir_attr_element_number(bounds[2], 0));
  } else {
    int64_t delta = ir_attr_element_integer(bounds[2], 0), distance, start = ir_attr_element_integer(bounds[0], 0);
    if (!delta || __builtin_sub_overflow(ir_attr_element_integer(bounds[1], 0), start, &distance))
      size = INFINITY;
    else
      size = delta == -1 ? -(double)distance
                         : (double)(distance / delta + ((distance % delta) && ((distance < 0) == (delta < 0))));
  }
  if (!(size < 1e15)) return onnx_error(n, "the range is endless");
  *out = onnx_dim_of(size > 0 ? (int64_t)size : 0);
  return true;
}

// The same from floats of which not all are constants, counted in f64.
static bool float_range_size(onnx_node_t* n, onnx_dim_t* out) {
  const ir_type_t* f64 = ir_type_float(n->ctx, IR_F64);
  ir_value_t* v[3];
  for (uint32_t i = 0; i < 3; ++i) v[i] = onnx_reshape(n, onnx_cast(n, n->in[i], f64).v, 0, NULL);
  ir_value_t* count = graph_binary(n->b, SCALAR_div, graph_binary(n->b, SCALAR_sub, v[1], v[0]), v[2]);
  ir_value_t* low = onnx_binary_number(n, SCALAR_le, count, 0);  // false for what is no number
  count = graph_select(n->b, low, graph_splat_like(n->b, count, 0), onnx_unary(n, SCALAR_ceil, count));
  ir_value_t* fits = onnx_binary_number(n, SCALAR_lt, count, 1e15);
  count = graph_select(n->b, fits, count, graph_splat_like(n->b, count, -1));
  onnx_value_t size = onnx_value(graph_cast(n->b, count, ir_type_int(n->ctx, 64), false), onnx_si64(n->ctx));
  onnx_node_t inner = *n;
  inner.in = &size, inner.in_count = 1;
  return onnx_number_input(&inner, 0, out) &&
         onnx_require(n, onnx_dim_test(n, SCALAR_ge, *out, onnx_dim_of(0)), "the range is endless");
}

// The same from integers: the distance over the step, rounded up, where they point the same way.
static bool any_range_size(onnx_node_t* n, onnx_dim_t* out) {
  onnx_dim_t parts[3], zero = onnx_dim_of(0), one = onnx_dim_of(1);
  for (uint32_t i = 0; i < 3; ++i) {
    if (!onnx_number_input(n, i, &parts[i])) return false;
  }
  if (!onnx_require(n, onnx_dim_test(n, SCALAR_ne, parts[2], zero), "the range is endless")) return false;
  onnx_dim_t up = onnx_dim_test(n, SCALAR_gt, parts[2], zero);
  onnx_dim_t distance =
      onnx_dim_select(n, up, onnx_dim_sub(n, parts[1], parts[0]), onnx_dim_sub(n, parts[0], parts[1]));
  onnx_dim_t step = onnx_dim_select(n, up, parts[2], onnx_dim_sub(n, zero, parts[2]));
  *out = onnx_dim_ceil_div(n, distance, onnx_dim_max(n, step, one));
  return true;
}

bool onnx_lower_range(onnx_node_t* n) {
  const ir_attr_t* bounds[3];
  onnx_dim_t size;
  bool constant = true;
  ir_value_t* dynamic[1];
  if (!onnx_check_same_element(n, 0, 1) || !onnx_check_same_element(n, 0, 2)) return false;
  for (uint32_t i = 0; i < 3; ++i) {
    if (!onnx_check_single(n, i)) return false;
    constant &= (bounds[i] = onnx_constant(n, n->in[i].v)) != NULL;
  }
  bool sized = constant                  ? range_size(n, bounds, &size)
               : onnx_is_float(n->in[0]) ? float_range_size(n, &size)
                                         : any_range_size(n, &size);
  if (!sized) return false;
  dynamic[0] = size.value;
  const ir_type_t* type = onnx_tensor_type(n->ctx, n->in[0].element, 1, &size.size);
  ir_value_t* y = graph_iota(n->b, type, 0, dynamic);
  y = graph_binary(n->b, SCALAR_mul, y, onnx_scalar_like(n, n->in[2].v, y));
  return onnx_return(n, graph_binary(n->b, SCALAR_add, y, onnx_scalar_like(n, n->in[0].v, y)), n->in[0].element);
}
