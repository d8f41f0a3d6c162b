// Pooling.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"
#include "import/onnx/sweep.h"

enum { MAX_UNROLLED = 1024 };  // window positions of a MaxPool with Indices

static ir_value_t* sweep_window(onnx_node_t* n, ir_value_t* x, const onnx_sweep_t* s, const char* kind) {
  graph_window_t w = {.kind = kind};
  for (uint32_t i = 0; i < s->spatial + 2; ++i) {
    w.sizes[i] = w.strides[i] = w.dilations[i] = w.base_dilations[i] = 1;
    if (i < 2) continue;
    w.sizes[i] = s->kernel[i - 2];
    w.strides[i] = s->strides[i - 2];
    w.dilations[i] = s->dilations[i - 2];
    w.pad_low[i] = s->pad_low[i - 2];
    w.pad_high[i] = s->pad_high[i - 2] + s->extra[i - 2];
  }
  return graph_window(n->b, x, &w);
}

//===----------------------------------------------------------------------------------------------------------------===
// Average
//===----------------------------------------------------------------------------------------------------------------===

// How many of `count` steps from 0 on lie before `end`.
static int64_t steps_before(int64_t end, int64_t step, int64_t count) {
  int64_t steps = end <= 0 ? 0 : (end - 1) / step + 1;
  return steps < count ? steps : count;
}

// Kernel positions of window `o` of dimension `i` that count.
static int64_t counted(const onnx_sweep_t* s, uint32_t i, int64_t o, int64_t size, bool include_pad) {
  int64_t low = include_pad ? 0 : s->pad_low[i], start = o * s->strides[i], step = s->dilations[i];
  int64_t high = s->pad_low[i] + size + (include_pad ? s->pad_high[i] : 0);
  return steps_before(high - start, step, s->kernel[i]) - steps_before(low - start, step, s->kernel[i]);
}

// How many positions each window averages over, as a constant of the spatial result shape.
static ir_value_t* static_counts(onnx_node_t* n, ir_value_t* x, const onnx_sweep_t* s, bool include_pad) {
  const ir_type_t* element = x->type->element;
  const ir_type_t* type = ir_type_tensor(n->ctx, element, (int32_t)s->spatial, s->out);
  int64_t total = ir_type_count(type);
  size_t bytes = ir_type_bytes(element);
  char* data = memory_array((size_t)total + 1, bytes);
  for (int64_t i = 0; i < total; ++i) {
    int64_t rest = i, count = 1;
    for (uint32_t d = s->spatial; d-- > 0; rest /= s->out[d]) {
      count *= counted(s, d, rest % s->out[d], x->type->dims[2 + d], include_pad);
    }
    ir_scalar_store_number(element, (double)count, data + (size_t)i * bytes);
  }
  ir_value_t* counts = graph_constant(n->b, ir_attr_elements(n->ctx, type, data, (size_t)total * bytes));
  memory_free(data);
  return counts;
}

// The same for run-time sizes: a window over ones.
static ir_value_t* dynamic_counts(onnx_node_t* n, ir_value_t* x, const onnx_sweep_t* s, bool include_pad) {
  ir_value_t* sizes[GRAPH_MAX_SPATIAL];
  int64_t dims[ONNX_MAX_RANK] = {1, 1}, low[ONNX_MAX_RANK] = {0}, high[ONNX_MAX_RANK] = {0};
  onnx_sweep_t over = *s;
  uint32_t any = 0;
  for (uint32_t i = 0; i < s->spatial; ++i) {
    dims[2 + i] = x->type->dims[2 + i];
    if (dims[2 + i] == IR_DYNAMIC) sizes[any++] = graph_dim(n->b, x, 2 + i);
    if (include_pad) low[2 + i] = s->pad_low[i], high[2 + i] = s->pad_high[i], over.pad_low[i] = over.pad_high[i] = 0;
  }
  const ir_type_t* type = ir_type_tensor(n->ctx, x->type->element, (int32_t)s->spatial + 2, dims);
  ir_value_t* one = graph_scalar_constant(n->b, x->type->element, 1);
  ir_value_t* ones = onnx_sweep_input(n, graph_broadcast(n->b, one, type, NULL, sizes), s, include_pad);
  if (include_pad) ones = graph_pad(n->b, ones, one, low, high, NULL, NULL);
  return sweep_window(n, ones, &over, "add");
}

static ir_value_t* window_counts(onnx_node_t* n, ir_value_t* x, ir_value_t* sum, const onnx_sweep_t* s) {
  bool include_pad = onnx_int(n, "count_include_pad", 0) != 0, padded = false, fixed = true;
  int64_t kernel = 1, total = 1, at[ONNX_MAX_RANK];
  for (uint32_t i = 0; i < s->spatial; ++i) {
    padded |= s->extra[i] != 0 || (!include_pad && (s->pad_low[i] || s->pad_high[i] || s->any[i]));
    fixed &= s->out[i] != IR_DYNAMIC;
    kernel = kernel > INT64_MAX / 4 / s->kernel[i] ? INT64_MAX / 4 : kernel * s->kernel[i];
    if (fixed && s->out[i]) total = total > INT64_MAX / 4 / s->out[i] ? INT64_MAX / 4 : total * s->out[i];
    at[i] = 2 + i;
  }
  if (!padded) return graph_splat_like(n->b, sum, (double)kernel);
  if (fixed && total > (1 << 24)) return onnx_unsupported(n, "too many windows with paddings"), NULL;
  if (fixed && kernel > (1 << 20)) return onnx_unsupported(n, "too large a kernel with paddings"), NULL;
  if (fixed) return onnx_broadcast_as(n, static_counts(n, x, s, include_pad), sum, at);
  for (uint32_t i = 0; i < s->spatial + 2; ++i) at[i] = i;
  return onnx_broadcast_as(n, dynamic_counts(n, x, s, include_pad), sum, at);
}

bool onnx_lower_average_pool(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  onnx_sweep_t s;
  if (!onnx_check_float(n, 0) || !onnx_read_sweep(n, x, NULL, &s)) return false;
  ir_value_t* sum = sweep_window(n, onnx_sweep_input(n, x, &s, 0), &s, "add");
  ir_value_t* counts = window_counts(n, x, sum, &s);
  return counts && onnx_return(n, graph_binary(n->b, SCALAR_div, sum, counts), n->in[0].element);
}

//===----------------------------------------------------------------------------------------------------------------===
// Maximum
//===----------------------------------------------------------------------------------------------------------------===

// The flat index of each element of x; with storage_order 1 the spatial dims count column-major.
static ir_value_t* flat_indices(onnx_node_t* n, ir_value_t* x) {
  int32_t rank = x->type->rank;
  bool column_major = onnx_int(n, "storage_order", 0) != 0;
  onnx_dim_t dims[ONNX_MAX_RANK], strides[ONNX_MAX_RANK], stride = onnx_dim_of(1);
  for (int32_t i = 0; i < rank; ++i) dims[i] = onnx_dim(n, x, i);
  for (int32_t i = rank - 1; i >= 0; --i) {
    int32_t d = column_major && i >= 2 ? 2 + (rank - 1 - i) : i;
    strides[d] = stride;
    stride = onnx_dim_mul(n, stride, dims[d]);
  }
  ir_value_t* sum = NULL;
  for (int32_t d = 0; d < rank; ++d) {
    ir_value_t* term = onnx_numbers(n, rank, dims, d);
    term = graph_binary(n->b, SCALAR_mul, term, onnx_dim_like(n, strides[d], term));
    sum = sum ? graph_binary(n->b, SCALAR_add, sum, term) : term;
  }
  return sum;
}

// x at one position of every window.
static ir_value_t* window_position(onnx_node_t* n, ir_value_t* padded, const onnx_sweep_t* s, int64_t position) {
  onnx_range_t ranges[ONNX_MAX_RANK];
  for (int32_t i = 0; i < 2; ++i) ranges[i] = (onnx_range_t){onnx_dim_of(0), onnx_dim(n, padded, i), onnx_dim_of(1)};
  for (uint32_t i = s->spatial; i-- > 0; position /= s->kernel[i]) {
    onnx_dim_t step = onnx_dim_of(s->strides[i]), extent = onnx_dim_of((s->kernel[i] - 1) * s->dilations[i] + 1);
    onnx_dim_t room = onnx_dim_sub(n, onnx_dim(n, padded, 2 + (int32_t)i), extent);
    onnx_dim_t count = onnx_dim_add(n, onnx_dim_div(n, room, step), onnx_dim_of(1));
    ranges[2 + i] = (onnx_range_t){onnx_dim_of(position % s->kernel[i] * s->dilations[i]), count, step};
  }
  return onnx_take_ranges(n, padded, ranges);
}

static ir_value_t* pad_sweep(onnx_node_t* n, ir_value_t* x, const onnx_sweep_t* s, double value) {
  int64_t low[ONNX_MAX_RANK] = {0}, high[ONNX_MAX_RANK] = {0};
  for (uint32_t i = 0; i < s->spatial; ++i) {
    low[2 + i] = s->pad_low[i];
    high[2 + i] = s->pad_high[i] + s->extra[i];
  }
  x = onnx_sweep_input(n, x, s, value);
  return graph_pad(n->b, x, graph_scalar_constant(n->b, x->type->element, value), low, high, NULL, NULL);
}

static double lowest_of(onnx_node_t* n) {
  if (onnx_is_unsigned(n->in[0])) return 0;
  return onnx_is_float(n->in[0]) ? -INFINITY : -(double)(1ull << (n->in[0].element->width - 1));
}

// Maximum and where it is: the first largest over the window's positions, one after the other.
static bool max_with_indices(onnx_node_t* n, ir_value_t* x, const onnx_sweep_t* s) {
  int64_t positions = 1;
  for (uint32_t i = 0; i < s->spatial && positions <= MAX_UNROLLED; ++i) positions *= s->kernel[i];
  if (positions > MAX_UNROLLED) return onnx_unsupported(n, "Indices need a kernel of at most %d", MAX_UNROLLED);
  double lowest = lowest_of(n);
  ir_value_t *values = pad_sweep(n, x, s, lowest), *places = pad_sweep(n, flat_indices(n, x), s, -1);
  ir_value_t *best = NULL, *where = NULL;
  for (int64_t i = 0; i < positions; ++i) {
    ir_value_t* value = window_position(n, values, s, i);
    ir_value_t* place = window_position(n, places, s, i);
    if (best) {
      ir_value_t* unset = onnx_binary_number(n, SCALAR_lt, where, 0);
      ir_value_t* inside = onnx_binary_number(n, SCALAR_ge, place, 0);
      ir_value_t* larger = graph_binary(n->b, onnx_is_unsigned(n->in[0]) ? SCALAR_gtu : SCALAR_gt, value, best);
      ir_value_t* first = graph_binary(n->b, SCALAR_and, unset, inside);
      ir_value_t* better = graph_binary(n->b, SCALAR_or, larger, first);
      value = graph_select(n->b, better, value, best);
      place = graph_select(n->b, better, place, where);
    }
    best = value;
    where = place;
  }
  n->out[0] = onnx_value(best, n->in[0].element);
  n->out[1] = onnx_value(where, onnx_si64(n->ctx));
  return true;
}

bool onnx_lower_max_pool(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  onnx_sweep_t s;
  if (!onnx_read_sweep(n, x, NULL, &s)) return false;
  bool natural = onnx_is_unsigned(n->in[0]);
  if (!onnx_wants(n, 1)) {
    x = onnx_sweep_input(n, x, &s, lowest_of(n));
    return onnx_return(n, sweep_window(n, x, &s, natural ? "maxu" : "max"), n->in[0].element);
  }
  return max_with_indices(n, x, &s);
}

//===----------------------------------------------------------------------------------------------------------------===
// Others
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* root(onnx_node_t* n, ir_value_t* x, double p) {
  if (p == 1) return x;
  return p == 2 ? onnx_unary(n, SCALAR_sqrt, x) : onnx_binary_number(n, SCALAR_pow, x, 1 / p);
}

// p was a float in the first version.
static double read_p(onnx_node_t* n) { return onnx_float(n, "p", (double)onnx_int(n, "p", 2)); }

bool onnx_lower_lp_pool(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  double p = read_p(n);
  onnx_sweep_t s;
  if (!onnx_check_float(n, 0) || !onnx_read_sweep(n, x, NULL, &s)) return false;
  ir_value_t* sum = sweep_window(
      n, onnx_binary_number(n, SCALAR_pow, onnx_unary(n, SCALAR_abs, onnx_sweep_input(n, x, &s, 0)), p), &s, "add");
  return onnx_return(n, root(n, sum, p), n->in[0].element);
}

static uint32_t spatial_dims(onnx_node_t* n, int64_t* dims) {
  int32_t rank = onnx_rank(n->in[0]);
  for (int32_t i = 2; i < rank; ++i) dims[i - 2] = i;
  return rank > 2 ? (uint32_t)rank - 2 : 0;
}

bool onnx_lower_global_average_pool(onnx_node_t* n) {
  int64_t dims[ONNX_MAX_RANK];
  uint32_t count = spatial_dims(n, dims);
  if (!onnx_check_float(n, 0) || !onnx_check_rank(n, 0, 2, ONNX_MAX_RANK)) return false;
  ir_value_t *x = n->in[0].v, *sum = onnx_reduce_keep(n, x, dims, count, "add");
  return onnx_return(n, graph_binary(n->b, SCALAR_div, sum, onnx_size_like(n, x, dims, count, sum)), n->in[0].element);
}

bool onnx_lower_global_max_pool(onnx_node_t* n) {
  int64_t dims[ONNX_MAX_RANK];
  uint32_t count = spatial_dims(n, dims);
  if (!onnx_check_float(n, 0) || !onnx_check_rank(n, 0, 2, ONNX_MAX_RANK)) return false;
  return onnx_return(n, onnx_reduce_keep(n, n->in[0].v, dims, count, "max"), n->in[0].element);
}

bool onnx_lower_global_lp_pool(onnx_node_t* n) {
  int64_t dims[ONNX_MAX_RANK];
  uint32_t count = spatial_dims(n, dims);
  double p = read_p(n);
  if (!onnx_check_float(n, 0) || !onnx_check_rank(n, 0, 2, ONNX_MAX_RANK)) return false;
  ir_value_t* powers = onnx_binary_number(n, SCALAR_pow, onnx_unary(n, SCALAR_abs, n->in[0].v), p);
  return onnx_return(n, root(n, onnx_reduce_keep(n, powers, dims, count, "add"), p), n->in[0].element);
}
