// Windows, padding and steps that are computed when the program runs: positions along a dimension are numbers, by which
// elements are taken.
//
//   x[.., n, ..], a window of k places that goes on by s    =>    take(x, iota(m) * s + iota(k)) [.., m, k, ..]
#include "import/lowering_size.h"
#include "import/stablehlo/ops.h"

static ir_value_t* index_of(lower_op_t* n, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  return lower_index_binary(n->b, fn, x, y);
}
static ir_value_t* plus(lower_op_t* n, ir_value_t* x, int64_t y) {
  return y ? index_of(n, SCALAR_add, x, graph_index_constant(n->b, y)) : x;
}
static bool is_number(const ir_value_t* v, int64_t number) {
  int64_t value;
  return lower_constant_index(v, &value) && value == number;
}

// An index as i64 in the shape of `like`.
static ir_value_t* spread(lower_op_t* n, ir_value_t* index, ir_value_t* like) {
  return lower_splat(n->b, graph_cast(n->b, lower_as_tensor(n->b, index), ir_type_int(n->ctx, 64), false), like);
}
static ir_value_t* with_index(lower_op_t* n, scalar_fn_t fn, ir_value_t* x, ir_value_t* index) {
  return graph_binary(n->b, fn, x, spread(n, index, x));
}

// 0, 1, ... along dimension `axis` of as many as `sizes` say.
static ir_value_t* count_along(lower_op_t* n, ir_value_t* const* sizes, int32_t rank, int64_t axis) {
  int64_t dims[2];
  ir_value_t* dynamic[2];
  uint32_t count = 0;
  for (int32_t i = 0; i < rank; ++i) {
    dims[i] = IR_DYNAMIC;
    if (!lower_constant_index(sizes[i], &dims[i])) dynamic[count++] = sizes[i];
  }
  return graph_iota(n->b, ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), rank, dims), axis, dynamic);
}

// The elements of x at positions `at` along a dimension of which one in `dilation` has an element; where there is none,
// `value`, which stands in one place more behind the operand.
static ir_value_t* take_places(lower_op_t* n, ir_value_t* x, ir_value_t* value, uint32_t dim, ir_value_t* at,
                               ir_value_t* dilation) {
  int64_t none[GRAPH_MAX_RANK] = {0}, one[GRAPH_MAX_RANK] = {0};
  ir_value_t* own = graph_dim(n->b, x, dim);
  ir_value_t* inside = lower_with_number(n, SCALAR_ge, at, 0);
  if (!is_number(dilation, 1)) {
    ir_value_t* rest = lower_with_number(n, SCALAR_eq, with_index(n, SCALAR_rem, at, dilation), 0);
    inside = graph_binary(n->b, SCALAR_and, inside, rest);
    at = with_index(n, SCALAR_div, at, dilation);
  }
  ir_value_t* end = spread(n, own, at);
  inside = graph_binary(n->b, SCALAR_and, inside, graph_binary(n->b, SCALAR_lt, at, end));
  one[dim] = 1;
  x = graph_pad(n->b, x, value, none, one, none, "constant");
  return graph_take(n->b, x, graph_select(n->b, inside, at, end), dim, false);
}

// From the first element to the last.
static ir_value_t* dilated_size(lower_op_t* n, ir_value_t* size, ir_value_t* dilation) {
  if (is_number(dilation, 1)) return size;
  size = plus(n, index_of(n, SCALAR_mul, plus(n, size, -1), dilation), 1);
  return index_of(n, SCALAR_max, size, graph_index_constant(n->b, 0));
}

ir_value_t* stablehlo_pad_dim(lower_op_t* n, ir_value_t* x, ir_value_t* value, stablehlo_amounts_t by) {
  ir_value_t* dilation = plus(n, by.interior ? by.interior : graph_index_constant(n->b, 0), 1);
  ir_value_t* size = dilated_size(n, graph_dim(n->b, x, by.dim), dilation);
  size = index_of(n, SCALAR_add, index_of(n, SCALAR_add, size, by.low), by.high);
  ir_value_t* at = with_index(n, SCALAR_sub, count_along(n, &size, 1, 0), by.low);
  return take_places(n, x, value, by.dim, at, dilation);
}

// A dimension of a slice; the numbers are IR_DYNAMIC where they are computed.
typedef struct steps_t {
  ir_value_t *start, *stride, *size;
  int64_t first, step;
} steps_t;

static steps_t read_steps(lower_op_t* n, uint32_t dim) {
  ir_value_t* limit = lower_index_element(n->b, n->in[2], dim);
  steps_t s = {.start = lower_index_element(n->b, n->in[1], dim),
               .stride = lower_index_element(n->b, n->in[3], dim),
               .first = IR_DYNAMIC,
               .step = IR_DYNAMIC};
  lower_constant_index(s.start, &s.first), lower_constant_index(s.stride, &s.step);
  s.size = s.first ? index_of(n, SCALAR_sub, limit, s.start) : limit;
  if (s.step != 1) s.size = index_of(n, SCALAR_div, plus(n, index_of(n, SCALAR_add, s.size, s.stride), -1), s.stride);
  return s;
}

// What neither a slice nor a dynamic_slice takes: computed steps, or other steps than one from a computed start.
static bool is_taken(const steps_t* s) { return s->step == IR_DYNAMIC || (s->first == IR_DYNAMIC && s->step != 1); }

static ir_value_t* take_steps(lower_op_t* n, ir_value_t* x, uint32_t dim, const steps_t* s) {
  ir_value_t* at = with_index(n, SCALAR_mul, count_along(n, &s->size, 1, 0), s->stride);
  return graph_take(n->b, x, with_index(n, SCALAR_add, at, s->start), dim, false);
}

// A slice (no starts) or a dynamic_slice of these sizes.
static ir_value_t* build_part(lower_op_t* n, ir_value_t* x, ir_value_t* const* sizes, ir_value_t* const* starts,
                              const ir_named_attr_t* attrs) {
  ir_value_t* operands[1 + 2 * GRAPH_MAX_RANK] = {x};
  int64_t dims[GRAPH_MAX_RANK];
  uint32_t rank = (uint32_t)x->type->rank, count = 1;
  for (uint32_t i = 0; starts && i < rank; ++i) operands[count++] = starts[i];
  for (uint32_t i = 0; i < rank; ++i) {
    dims[i] = IR_DYNAMIC;
    if (!lower_constant_index(sizes[i], &dims[i])) operands[count++] = sizes[i];
  }
  const ir_type_t* type = ir_type_tensor(n->ctx, x->type->element, (int32_t)rank, dims);
  return lower_build(n, starts ? GRAPH_DYNAMIC_SLICE : GRAPH_SLICE, operands, count, type, attrs, attrs ? 2 : 0);
}

ir_value_t* stablehlo_slice_at_run_time(lower_op_t* n) {
  ir_value_t *x = n->in[0], *sizes[2][GRAPH_MAX_RANK], *starts[GRAPH_MAX_RANK];
  int64_t offsets[GRAPH_MAX_RANK], strides[GRAPH_MAX_RANK];
  uint32_t rank = (uint32_t)x->type->rank;
  bool moves = false, cuts = false;
  for (uint32_t i = 0; i < rank; ++i) {
    steps_t s = read_steps(n, i);
    if ((s.first < 0 && s.first != IR_DYNAMIC) || (s.step < 1 && s.step != IR_DYNAMIC))
      return lower_error(n, "needs starts of at least 0 and strides of at least 1"), NULL;
    bool taken = is_taken(&s), moved = !taken && s.first == IR_DYNAMIC, cut = !taken && !moved;
    if (taken) x = take_steps(n, x, i, &s);
    ir_value_t* own = lower_size(n->b, x, (int32_t)i);
    offsets[i] = cut ? s.first : 0, strides[i] = cut ? s.step : 1;
    starts[i] = moved ? s.start : graph_index_constant(n->b, 0);
    sizes[0][i] = cut ? s.size : own, sizes[1][i] = taken ? own : s.size;
    moves |= moved, cuts |= offsets[i] || strides[i] != 1 || !lower_size_same(sizes[0][i], own);
  }
  ir_named_attr_t attrs[] = {{"offsets", ir_attr_i64_array(n->ctx, offsets, rank)},
                             {"strides", ir_attr_i64_array(n->ctx, strides, rank)}};
  if (cuts) x = build_part(n, x, sizes[0], NULL, attrs);
  return moves ? build_part(n, x, sizes[1], starts, NULL) : x;
}

bool stablehlo_sweep_is_trivial(const stablehlo_sweep_t* w) {
  return is_number(w->size, 1) && is_number(w->stride, 1) && is_number(w->base_dilation, 1) && is_number(w->low, 0) &&
         is_number(w->high, 0);
}

ir_value_t* stablehlo_unfold(lower_op_t* n, ir_value_t* x, ir_value_t* value, uint32_t dim, stablehlo_sweep_t w) {
  ir_value_t* room = dilated_size(n, graph_dim(n->b, x, dim), w.base_dilation);
  room = index_of(n, SCALAR_add, index_of(n, SCALAR_add, room, w.low), w.high);
  room = index_of(n, SCALAR_sub, room, dilated_size(n, w.size, w.dilation));
  room = index_of(n, SCALAR_max, index_of(n, SCALAR_add, room, w.stride), graph_index_constant(n->b, 0));
  ir_value_t* sizes[2] = {index_of(n, SCALAR_div, room, w.stride), w.size};
  ir_value_t* places = with_index(n, SCALAR_mul, count_along(n, sizes, 2, 0), w.stride);
  ir_value_t* taps = with_index(n, SCALAR_mul, count_along(n, sizes, 2, 1), w.dilation);
  ir_value_t* at = with_index(n, SCALAR_sub, graph_binary(n->b, SCALAR_add, places, taps), w.low);
  return take_places(n, x, value, dim, at, w.base_dilation);
}
