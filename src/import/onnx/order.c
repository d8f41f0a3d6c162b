// Ops about positions and order: running sums, sorting, triangles, ranges.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/onnx/ops.h"

static bool running(onnx_node_t* n, const char* kind) {
  ir_value_t* x = n->in[0].v;
  int64_t axis;
  uint32_t count;
  if (!onnx_const_ints(n, 1, &axis, 1, &count)) return false;
  if (count != 1 || !onnx_check_axis(n, &axis, x->type->rank)) return onnx_error(n, "axis must be one number");
  ir_named_attr_t attrs[4] = {{"axis", ir_attr_i64(n->ctx, axis)}, {"kind", ir_attr_cstring(n->ctx, kind)}};
  uint32_t attr_count = 2;
  if (onnx_int(n, "exclusive", 0)) attrs[attr_count++] = (ir_named_attr_t){"exclusive", ir_attr_unit(n->ctx)};
  if (onnx_int(n, "reverse", 0)) attrs[attr_count++] = (ir_named_attr_t){"reverse", ir_attr_unit(n->ctx)};
  return onnx_return(n, graph_build(n->b, GRAPH_SCAN, &x, 1, x->type, attrs, attr_count), n->in[0].element);
}
bool onnx_lower_cum_sum(onnx_node_t* n) { return running(n, "add"); }
bool onnx_lower_cum_prod(onnx_node_t* n) { return running(n, "mul"); }

// Unsigned integers are sorted as signed ones with the top bit flipped, and flipped back.
bool onnx_lower_top_k(onnx_node_t* n) {
  onnx_value_t in = n->in[0];
  int64_t axis = onnx_int(n, "axis", -1), k;
  uint32_t count;
  if (!onnx_check_axis(n, &axis, onnx_rank(in)) || !onnx_const_ints(n, 1, &k, 1, &count)) return false;
  int64_t size = onnx_dim_size(in, (int32_t)axis);
  if (count != 1 || k < 0 || (size != IR_DYNAMIC && k > size)) return onnx_error(n, "k does not fit the input");
  if (onnx_is_bool(in)) return onnx_error(n, "booleans have no order");
  ir_value_t* x = onnx_ordered(n, in);
  graph_extreme_t extreme = {
      .axis = axis, .k = k, .least = !onnx_int(n, "largest", 1), .index = ir_type_int(n->ctx, 64)};
  ir_op_t* op = graph_top_k(n->b, x, &extreme);
  n->out[0] = onnx_value(onnx_ordered(n, onnx_value(ir_result(op, 0), in.element)), in.element);
  if (onnx_wants(n, 1)) n->out[1] = onnx_value(ir_result(op, 1), onnx_si64(n->ctx));
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
    if (ir_type_count(n->in[1].v->type) != 1) return onnx_error(n, "k must be one number");
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

bool onnx_lower_range(onnx_node_t* n) {
  const ir_attr_t* bounds[3];
  onnx_dim_t size, parts[3];
  uint32_t count;
  bool constant = true;
  ir_value_t* dynamic[1];
  if (!onnx_check_same_element(n, 0, 1) || !onnx_check_same_element(n, 0, 2)) return false;
  for (uint32_t i = 0; i < 3; ++i) {
    if (ir_type_count(n->in[i].v->type) != 1) return onnx_error(n, "start, limit and delta must be scalars");
    constant &= (bounds[i] = onnx_constant(n, n->in[i].v)) != NULL;
  }
  if (constant) {
    if (!range_size(n, bounds, &size)) return false;
  } else {
    if (!bounds[2] || onnx_is_float(n->in[0]))
      return onnx_unsupported(n, "needs integers with a constant delta, or constants");
    for (uint32_t i = 0; i < 3; ++i) {
      if (!onnx_dims_input(n, i, &parts[i], 1, &count)) return false;
    }
    if (parts[2].size < 1) return onnx_unsupported(n, "a delta below 1 needs constant bounds");
    size = onnx_dim_add(n, onnx_dim_sub(n, parts[1], parts[0]), onnx_dim_of(parts[2].size - 1));
    size = onnx_dim_div(n, size, parts[2]);
    if (size.size == IR_DYNAMIC) size = onnx_dim_binary(n, SCALAR_max, size, onnx_dim_of(0));
  }
  dynamic[0] = size.value;
  const ir_type_t* type = onnx_tensor_type(n->ctx, n->in[0].element, 1, &size.size);
  ir_value_t* y = graph_iota(n->b, type, 0, dynamic);
  y = graph_binary(n->b, SCALAR_mul, y, onnx_scalar_like(n, n->in[2].v, y));
  return onnx_return(n, graph_binary(n->b, SCALAR_add, y, onnx_scalar_like(n, n->in[0].v, y)), n->in[0].element);
}
