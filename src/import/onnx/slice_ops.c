// Slice and Split.
#include <string.h>

#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

//===----------------------------------------------------------------------------------------------------------------===
// Slice
//===----------------------------------------------------------------------------------------------------------------===

static int64_t clamp(int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; }

// Bounds of a dimension of known size, by Python's rules.
static onnx_range_t static_range(int64_t start, int64_t end, int64_t step, int64_t size) {
  if (start < 0) start = start < -size ? -1 : start + size;
  if (end < 0) end = end < -size ? -1 : end + size;
  bool up = step > 0;
  start = clamp(start, 0, up ? size : size - 1);
  end = clamp(end, up ? 0 : -1, up ? size : size - 1);
  int64_t distance = up ? end - start : start - end, pace = up ? step : step == INT64_MIN ? INT64_MAX : -step;
  int64_t count = distance <= 0 || size == 0 ? 0 : (distance - 1) / pace + 1;
  if (count == 0) start = 0, step = 1;
  return (onnx_range_t){onnx_dim_of(start), onnx_dim_of(count), onnx_dim_of(step)};
}

static onnx_dim_t dim_clamp(onnx_node_t* n, onnx_dim_t x, onnx_dim_t low, onnx_dim_t high) {
  return onnx_dim_min(n, onnx_dim_max(n, x, low), high);
}

// The same of what is known at run time only.
static onnx_range_t any_range(onnx_node_t* n, const onnx_bounds_t* at, onnx_dim_t size) {
  onnx_dim_t zero = onnx_dim_of(0), one = onnx_dim_of(1), last = onnx_dim_sub(n, size, one);
  onnx_dim_t up = onnx_dim_test(n, SCALAR_gt, at->step, zero);
  onnx_dim_t start = onnx_dim_wrap(n, at->start, size), end = onnx_dim_wrap(n, at->end, size);
  onnx_dim_t top = onnx_dim_select(n, up, size, last);
  start = dim_clamp(n, start, zero, top);
  end = dim_clamp(n, end, onnx_dim_select(n, up, zero, onnx_dim_of(-1)), top);
  onnx_dim_t distance = onnx_dim_select(n, up, onnx_dim_sub(n, end, start), onnx_dim_sub(n, start, end));
  onnx_dim_t pace = onnx_dim_select(n, up, at->step, onnx_dim_sub(n, zero, at->step));
  return (onnx_range_t){start, onnx_dim_ceil_div(n, distance, onnx_dim_max(n, pace, one)), at->step};
}

// Of a size or what is computed from sizes: differences of them.
static bool may_be_negative(const ir_value_t* x) {
  return x->def && !ir_is(x->def, GRAPH_TO_SCALAR) && !graph_size_is_natural(x);
}

// A bound of a dimension whose size, or which itself, is known at run time only.
static onnx_dim_t bound(onnx_node_t* n, onnx_dim_t at, onnx_dim_t size) {
  onnx_dim_t zero = onnx_dim_of(0);
  if (onnx_dim_known(at) && at.size < 0) return onnx_dim_max(n, onnx_dim_add(n, size, at), zero);
  if (onnx_dim_known(at) && (at.size == 0 || at.size > INT32_MAX)) return at.size ? size : at;
  if (!onnx_dim_known(at) && may_be_negative(at.value)) at = onnx_dim_max(n, onnx_dim_wrap(n, at, size), zero);
  return onnx_dim_min(n, at, size);
}

// `declared`: how many there are by the result's type, or IR_DYNAMIC.
static onnx_range_t find_range(onnx_node_t* n, const onnx_bounds_t* at, onnx_dim_t size, int64_t declared) {
  onnx_dim_t start = at->start, end = at->end, step = at->step;
  bool loaded = start.loaded || end.loaded || !onnx_dim_known(step);
  if (!loaded && onnx_dim_known(size) && onnx_dim_known(start) && onnx_dim_known(end)) {
    return static_range(start.size, end.size, step.size, size.size);
  }
  if (step.size == -1 && start.size == -1 && onnx_dim_known(end) && end.size < -INT32_MAX) {  // the whole, backwards
    return (onnx_range_t){onnx_dim_sub(n, size, onnx_dim_of(1)), size, step};
  }
  if (loaded || step.size < 0) return any_range(n, at, size);
  bool tail = onnx_dim_known(start) && start.size < 0 && onnx_dim_known(end) && end.size > INT32_MAX;
  onnx_dim_t first = bound(n, start, size), last = bound(n, end, size);
  onnx_dim_t length = tail ? onnx_dim_min(n, onnx_dim_of(-start.size), size) : onnx_dim_sub(n, last, first);
  if (tail && declared == -start.size) first = onnx_dim_add(n, size, start), length = onnx_dim_of(declared);
  if (!tail && start.size != 0) length = onnx_dim_max(n, length, onnx_dim_of(0));
  if (step.size > 1) length = onnx_dim_ceil_div(n, length, step);
  return (onnx_range_t){first, length, step};
}

// Elements first + i * step of one dimension, by number.
static ir_value_t* take_range(onnx_node_t* n, ir_value_t* x, int64_t axis, const onnx_range_t* range) {
  ir_value_t* at = onnx_numbers(n, 1, &range->size, 0);
  at = graph_binary(n->b, SCALAR_mul, at, onnx_dim_like(n, range->step, at));
  at = graph_binary(n->b, SCALAR_add, at, onnx_dim_like(n, range->first, at));
  return graph_take(n->b, x, at, axis, false);
}

static ir_value_t* build_slice(onnx_node_t* n, uint32_t code, ir_value_t** operands, uint32_t count,
                               const onnx_range_t* ranges) {
  ir_value_t* x = operands[0];
  int32_t rank = x->type->rank;
  int64_t offsets[ONNX_MAX_RANK], strides[ONNX_MAX_RANK], sizes[ONNX_MAX_RANK];
  onnx_dim_t dims[ONNX_MAX_RANK];
  bool whole = true;
  for (int32_t i = 0; i < rank; ++i) {
    onnx_dim_t first = ranges[i].first;
    dims[i] = ranges[i].size;
    offsets[i] = first.size;
    strides[i] = ranges[i].step.size;
    whole &= first.size == 0 && strides[i] == 1 && onnx_dim_same(onnx_dim(n, x, i), dims[i]);
  }
  if (whole) return x;
  onnx_split_dims(rank, dims, sizes, operands + count);
  for (int32_t i = 0; i < rank; ++i) count += !onnx_dim_known(dims[i]);
  const ir_type_t* type = ir_type_tensor(n->ctx, x->type->element, rank, sizes);
  ir_named_attr_t attrs[] = {{"offsets", ir_attr_i64_array(n->ctx, offsets, (uint32_t)rank)},
                             {"strides", ir_attr_i64_array(n->ctx, strides, (uint32_t)rank)}};
  return graph_build(n->b, code, operands, count, type, attrs, code == GRAPH_SLICE ? 2 : 0);
}

// Ranges with constant starts and steps, and those with run-time starts, each in one op.
static ir_value_t* slice_ranges(onnx_node_t* n, ir_value_t* x, const onnx_range_t* ranges) {
  ir_value_t* operands[1 + 2 * ONNX_MAX_RANK] = {x};
  onnx_range_t fixed[ONNX_MAX_RANK], moving[ONNX_MAX_RANK];
  int32_t rank = x->type->rank;
  for (int32_t i = 0; i < rank; ++i) {
    fixed[i] = moving[i] = (onnx_range_t){onnx_dim_of(0), ranges[i].size, onnx_dim_of(1)};
    if (onnx_dim_known(ranges[i].first)) {
      fixed[i] = ranges[i];
    } else {
      fixed[i].size = onnx_dim(n, x, i);
      moving[i].first = ranges[i].first;
    }
  }
  operands[0] = build_slice(n, GRAPH_SLICE, operands, 1, fixed);
  for (int32_t i = 0; i < rank; ++i) {
    onnx_dim_t first = moving[i].first;
    operands[1 + i] = onnx_dim_known(first) ? graph_index_constant(n->b, 0) : first.value;
  }
  return build_slice(n, GRAPH_DYNAMIC_SLICE, operands, 1 + (uint32_t)rank, moving);
}

ir_value_t* onnx_take_ranges(onnx_node_t* n, ir_value_t* x, onnx_range_t* ranges) {
  int64_t reversed[ONNX_MAX_RANK] = {0};
  uint32_t count = 0;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    onnx_range_t* r = &ranges[i];
    onnx_dim_t size = onnx_dim(n, x, i), one = onnx_dim_of(1);
    bool fixed = onnx_dim_known(r->first) && onnx_dim_known(size) && onnx_dim_known(r->step);
    bool backwards = r->step.size == -1 && onnx_dim_same(r->size, size);
    if (r->step.size == 1 || (onnx_dim_known(r->first) && onnx_dim_known(r->step) && r->step.size > 0)) continue;
    if (!fixed && !backwards) {
      x = take_range(n, x, i, r);
      *r = (onnx_range_t){onnx_dim_of(0), onnx_dim(n, x, i), one};
      continue;
    }
    reversed[count++] = i;
    r->first = backwards ? onnx_dim_of(0) : onnx_dim_sub(n, onnx_dim_sub(n, size, one), r->first);
    r->step = onnx_dim_of(-r->step.size);
  }
  return slice_ranges(n, graph_reverse(n->b, x, reversed, count), ranges);
}

ir_value_t* onnx_span(onnx_node_t* n, ir_value_t* x, int64_t axis, onnx_range_t range) {
  onnx_range_t ranges[ONNX_MAX_RANK];
  for (int32_t i = 0; i < x->type->rank; ++i) {
    ranges[i] = (onnx_range_t){onnx_dim_of(0), onnx_dim(n, x, i), onnx_dim_of(1)};
  }
  ranges[axis] = range;
  return onnx_take_ranges(n, x, ranges);
}

// What each axis asks for, by dimension; axes may be known at run time only.
static bool spread_bounds(onnx_node_t* n, const onnx_bounds_t* given, onnx_dim_t count, onnx_bounds_t* out) {
  onnx_axes_t axes;
  onnx_dim_t at[ONNX_MAX_RANK], axis_count;
  int32_t rank = onnx_rank(n->in[0]);
  if (!onnx_axes_input(n, 3, rank, &axes) || !onnx_dims_up_to(n, 3, (uint32_t)rank, 0, at, &axis_count)) return false;
  if (!onnx_require(n, onnx_dim_test(n, SCALAR_eq, axis_count, count), "starts, ends, axes and steps differ in length"))
    return false;
  for (int32_t k = 0; k < rank; ++k) {
    onnx_dim_t there = onnx_dim_test(n, SCALAR_lt, onnx_dim_of(k), axis_count);
    if (onnx_dim_known(there) && !there.size) break;
    onnx_dim_t axis = onnx_dim_wrap(n, at[k], onnx_dim_of(rank));
    for (int32_t d = 0; d < rank; ++d) {
      onnx_dim_t here = onnx_flag_and(n, there, onnx_dim_test(n, SCALAR_eq, axis, onnx_dim_of(d)));
      if (onnx_dim_known(here) && !here.size) continue;
      bool sure = onnx_dim_known(here);
      onnx_bounds_t* o = &out[d];
      *o = (onnx_bounds_t){onnx_dim_select(n, here, given[k].start, o->start),
                           onnx_dim_select(n, here, given[k].end, o->end),
                           onnx_dim_select(n, here, given[k].step, o->step)};
      o->start.loaded |= !sure, o->end.loaded |= !sure;
    }
  }
  return true;
}

// As many as x has dimensions; those behind `*count` take everything.
static bool read_bounds(onnx_node_t* n, onnx_bounds_t* given, onnx_dim_t* count) {
  onnx_dim_t lists[3][ONNX_MAX_RANK];
  static const uint32_t inputs[] = {1, 2, 4};
  static const int64_t everything[] = {0, INT64_MAX, 1};
  uint32_t rank = (uint32_t)onnx_rank(n->in[0]);
  for (uint32_t k = 0; k < 3; ++k) {
    onnx_dim_t found;
    for (uint32_t i = 0; i < rank; ++i) lists[k][i] = onnx_dim_of(everything[k]);
    if (!onnx_has(n, inputs[k])) continue;
    if (!onnx_dims_up_to(n, inputs[k], rank, everything[k], lists[k], &found)) return false;
    if (!k) *count = found;
    onnx_dim_t same = onnx_dim_test(n, SCALAR_eq, found, *count);
    if (!onnx_require(n, same, "starts, ends, axes and steps differ in length")) return false;
  }
  for (uint32_t i = 0; i < rank; ++i) {
    given[i] = (onnx_bounds_t){lists[0][i], lists[1][i], lists[2][i]};
    onnx_dim_t moves = onnx_dim_test(n, SCALAR_ne, given[i].step, onnx_dim_of(0));
    if (!onnx_require(n, moves, "step 0")) return false;
  }
  return true;
}

bool onnx_lower_slice(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  onnx_bounds_t given[ONNX_MAX_RANK], all[ONNX_MAX_RANK];
  onnx_range_t ranges[ONNX_MAX_RANK];
  onnx_dim_t count;
  const ir_type_t* type = onnx_declared_rank(n, 0) == x->type->rank ? n->op->results[0].type : NULL;
  if (!read_bounds(n, given, &count)) return false;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    all[i] = (onnx_bounds_t){onnx_dim_of(0), onnx_dim_of(INT64_MAX), onnx_dim_of(1)};
    if (!onnx_has(n, 3)) all[i] = given[i];
  }
  if (onnx_has(n, 3) && !spread_bounds(n, given, count, all)) return false;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    onnx_dim_t size = onnx_dim(n, x, i);
    bool whole = all[i].start.size == 0 && all[i].end.size == INT64_MAX && all[i].step.size == 1;
    ranges[i] = whole ? (onnx_range_t){onnx_dim_of(0), size, onnx_dim_of(1)}
                      : find_range(n, &all[i], size, type ? type->dims[i] : IR_DYNAMIC);
  }
  return onnx_return(n, onnx_take_ranges(n, x, ranges), n->in[0].element);
}

//===----------------------------------------------------------------------------------------------------------------===
// Split
//===----------------------------------------------------------------------------------------------------------------===

// Sizes of the parts: input 1, or equal parts with the last one smaller.
static bool part_sizes(onnx_node_t* n, onnx_dim_t size, onnx_dim_t* parts) {
  onnx_dim_t total = onnx_dim_of(0), zero = onnx_dim_of(0), given = onnx_dim_of(n->out_count);
  if (onnx_has(n, 1)) {
    if (!onnx_dims_exactly(n, 1, n->out_count, parts)) return false;
    for (uint32_t i = 0; i < n->out_count; ++i) {
      onnx_dim_t fits = onnx_dim_test(n, SCALAR_ge, parts[i], zero);
      bool sure = !parts[i].loaded && !onnx_dim_known(parts[i]);
      if (!sure && !onnx_require(n, fits, "a part has a negative size")) return false;
      total = onnx_dim_add(n, total, parts[i]);
    }
    return onnx_require(n, onnx_dim_test(n, SCALAR_eq, total, size), "the parts do not add up to the dimension");
  }
  onnx_dim_t part = onnx_dim_ceil_div(n, size, given), rest = size;
  for (uint32_t i = 0; i < n->out_count; ++i) {
    parts[i] = onnx_dim_min(n, part, rest);
    rest = onnx_dim_sub(n, rest, parts[i]);
  }
  return true;
}

bool onnx_lower_split(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  int64_t axis = onnx_int(n, "axis", 0);
  if (!n->out_count) return true;
  onnx_dim_t *parts = ARENA_ARRAY(ir_context_arena(n->ctx), onnx_dim_t, n->out_count), first = onnx_dim_of(0);
  if (!onnx_check_axis(n, &axis, x->type->rank)) return false;
  if (!onnx_has(n, 1) && onnx_int(n, "num_outputs", n->out_count) != n->out_count)
    return onnx_error(n, "num_outputs differs from the number of results");
  if (!part_sizes(n, onnx_dim(n, x, (int32_t)axis), parts)) return false;
  for (uint32_t i = 0; i < n->out_count; ++i) {
    onnx_range_t ranges[ONNX_MAX_RANK];
    for (int32_t d = 0; d < x->type->rank; ++d) {
      ranges[d] = (onnx_range_t){onnx_dim_of(0), onnx_dim(n, x, d), onnx_dim_of(1)};
    }
    ranges[axis].first = first, ranges[axis].size = parts[i];
    n->out[i] = onnx_value(onnx_take_ranges(n, x, ranges), n->in[0].element);
    first = onnx_dim_add(n, first, parts[i]);
  }
  return true;
}
