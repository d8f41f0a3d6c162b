// Slice, Split, Pad.
#include <string.h>

#include "import/onnx/ops.h"

//===----------------------------------------------------------------------------------------------------------------===
// Slice
//===----------------------------------------------------------------------------------------------------------------===

// One dimension of a slice: result element i is operand element first + i * step.
typedef struct range_t {
  onnx_dim_t first, size;
  int64_t step;
} range_t;

static bool is_known(onnx_dim_t dim) { return dim.size != IR_DYNAMIC; }

static int64_t clamp(int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; }

// Bounds of a dimension of known size, by Python's rules.
static range_t static_range(int64_t start, int64_t end, int64_t step, int64_t size) {
  if (start < 0) start = start < -size ? -1 : start + size;
  if (end < 0) end = end < -size ? -1 : end + size;
  bool up = step > 0;
  start = clamp(start, 0, up ? size : size - 1);
  end = clamp(end, up ? 0 : -1, up ? size : size - 1);
  int64_t distance = up ? end - start : start - end, pace = up ? step : step == INT64_MIN ? INT64_MAX : -step;
  int64_t count = distance <= 0 ? 0 : (distance - 1) / pace + 1;
  return (range_t){onnx_dim_of(start), onnx_dim_of(count), step};
}

static onnx_dim_t dim_min(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b) {
  if (is_known(a) && is_known(b)) return a.size < b.size ? a : b;
  if (onnx_dim_same(a, b)) return a;
  return onnx_dim_binary(n, SCALAR_min, a, b);
}

// A bound of a dimension whose size, or which itself, is known at run time only. Bounds computed at run time count from
// the start.
static onnx_dim_t bound(onnx_node_t* n, onnx_dim_t at, onnx_dim_t size) {
  if (!is_known(at)) return at;
  if (at.size < 0) return onnx_dim_add(n, size, at);
  return at.size > INT32_MAX ? size : at.size == 0 ? at : dim_min(n, at, size);
}

static bool dynamic_range(onnx_node_t* n, onnx_dim_t start, onnx_dim_t end, int64_t step, onnx_dim_t size,
                          range_t* out) {
  if (step == -1 && start.size == -1 && is_known(end) && end.size < -INT32_MAX) {  // the whole, backwards
    *out = (range_t){onnx_dim_sub(n, size, onnx_dim_of(1)), size, -1};
    return true;
  }
  if (step < 0) return onnx_unsupported(n, "a negative step needs static sizes and bounds");
  bool tail = is_known(start) && start.size < 0 && is_known(end) && end.size > INT32_MAX;
  onnx_dim_t first = bound(n, start, size), last = bound(n, end, size);
  onnx_dim_t length = tail ? onnx_dim_of(-start.size) : onnx_dim_sub(n, last, first);
  if (step > 1) {
    length = onnx_dim_div(n, onnx_dim_add(n, length, onnx_dim_of(step - 1)), onnx_dim_of(step));
  }
  *out = (range_t){first, length, step};
  return true;
}

// x with that range of each dimension.
static ir_value_t* take_ranges(onnx_node_t* n, ir_value_t* x, range_t* ranges) {
  int32_t rank = x->type->rank;
  int64_t reversed[ONNX_MAX_RANK] = {0}, offsets[ONNX_MAX_RANK], strides[ONNX_MAX_RANK], sizes[ONNX_MAX_RANK];
  ir_value_t *operands[1 + 2 * ONNX_MAX_RANK], *dynamic[ONNX_MAX_RANK];
  uint32_t reversed_count = 0, count = 1;
  bool moving = false, strided = false, whole = true;
  onnx_dim_t dims[ONNX_MAX_RANK];
  for (int32_t i = 0; i < rank; ++i) {
    onnx_dim_t size = onnx_dim(n, x, i);
    if (ranges[i].step < 0) {
      reversed[reversed_count++] = i;
      ranges[i].first = onnx_dim_sub(n, onnx_dim_sub(n, size, onnx_dim_of(1)), ranges[i].first);
      ranges[i].step = -ranges[i].step;
    }
    dims[i] = ranges[i].size;
    moving |= !is_known(ranges[i].first);
    strided |= ranges[i].step != 1;
    offsets[i] = ranges[i].first.size;
    strides[i] = ranges[i].step;
    whole &= offsets[i] == 0 && strides[i] == 1 && onnx_dim_same(size, dims[i]);
  }
  x = graph_reverse(n->b, x, reversed, reversed_count);
  if (whole) return x;
  if (moving && strided) return onnx_unsupported(n, "steps need constant bounds"), NULL;
  onnx_split_dims(rank, dims, sizes, dynamic);
  operands[0] = x;
  for (int32_t i = 0; moving && i < rank; ++i) {
    operands[count++] = is_known(ranges[i].first) ? graph_index_constant(n->b, offsets[i]) : ranges[i].first.value;
  }
  for (int32_t i = 0, k = 0; i < rank; ++i) {
    if (sizes[i] == IR_DYNAMIC) operands[count++] = dynamic[k++];
  }
  const ir_type_t* type = ir_type_tensor(n->ctx, x->type->element, rank, sizes);
  if (moving) return graph_build(n->b, GRAPH_DYNAMIC_SLICE, operands, count, type, NULL, 0);
  ir_named_attr_t attrs[] = {{"offsets", ir_attr_i64_array(n->ctx, offsets, (uint32_t)rank)},
                             {"strides", ir_attr_i64_array(n->ctx, strides, (uint32_t)rank)}};
  return graph_build(n->b, GRAPH_SLICE, operands, count, type, attrs, 2);
}

bool onnx_lower_slice(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  int32_t rank = x->type->rank;
  onnx_dim_t starts[ONNX_MAX_RANK], ends[ONNX_MAX_RANK];
  int64_t axes[ONNX_MAX_RANK], steps[ONNX_MAX_RANK];
  range_t ranges[ONNX_MAX_RANK];
  uint32_t count, end_count, axis_count, step_count;
  if (!onnx_dims_input(n, 1, starts, ONNX_MAX_RANK, &count)) return false;
  if (!onnx_dims_input(n, 2, ends, ONNX_MAX_RANK, &end_count)) return false;
  axis_count = step_count = count;
  for (uint32_t i = 0; i < count; ++i) {
    axes[i] = i;
    steps[i] = 1;
  }
  if (onnx_has(n, 3) && !onnx_const_ints(n, 3, axes, ONNX_MAX_RANK, &axis_count)) return false;
  if (onnx_has(n, 4) && !onnx_const_ints(n, 4, steps, ONNX_MAX_RANK, &step_count)) return false;
  if (end_count != count || axis_count != count || step_count != count || count > (uint32_t)rank) {
    return onnx_error(n, "starts, ends, axes and steps differ in length or exceed the rank");
  }
  for (int32_t i = 0; i < rank; ++i) ranges[i] = (range_t){onnx_dim_of(0), onnx_dim(n, x, i), 1};
  for (uint32_t i = 0; i < count; ++i) {
    if (!onnx_check_axis(n, &axes[i], rank)) return false;
    if (steps[i] == 0) return onnx_error(n, "step 0");
    onnx_dim_t size = onnx_dim(n, x, (int32_t)axes[i]);
    range_t* range = &ranges[axes[i]];
    if (is_known(size) && is_known(starts[i]) && is_known(ends[i])) {
      *range = static_range(starts[i].size, ends[i].size, steps[i], size.size);
    } else if (!dynamic_range(n, starts[i], ends[i], steps[i], size, range)) {
      return false;
    }
  }
  return onnx_return(n, take_ranges(n, x, ranges), n->in[0].element);
}

//===----------------------------------------------------------------------------------------------------------------===
// Split
//===----------------------------------------------------------------------------------------------------------------===

// Sizes of the parts: input 1, or equal parts with the last one smaller.
static bool part_sizes(onnx_node_t* n, int64_t size, int64_t* parts) {
  uint32_t count;
  int64_t total = 0;
  if (onnx_has(n, 1)) {
    if (!onnx_const_ints(n, 1, parts, n->out_count, &count)) return false;
    if (count != n->out_count) return onnx_error(n, "%u sizes for %u results", count, n->out_count);
    for (uint32_t i = 0; i < count; ++i) {
      if (parts[i] < 0 || parts[i] > INT64_MAX / 2 - total) return onnx_error(n, "invalid part size");
      total += parts[i];
    }
    if (size != IR_DYNAMIC && total != size) return onnx_error(n, "the parts do not add up to %lld", (long long)size);
    return true;
  }
  int64_t given = n->out_count;
  int64_t part = size / given + (size % given != 0);
  for (int64_t i = 0; i < given; ++i) parts[i] = clamp(size - i * part, 0, part);
  return true;
}

// Equal parts of a dimension whose size is known at run time only.
static bool split_any(onnx_node_t* n, ir_value_t* x, int32_t axis) {
  onnx_dim_t size = onnx_dim(n, x, axis), given = onnx_dim_of(n->out_count), first = onnx_dim_of(0);
  onnx_dim_t part = onnx_dim_div(n, onnx_dim_add(n, size, onnx_dim_of(n->out_count - 1)), given);
  for (uint32_t i = 0; i < n->out_count; ++i) {
    range_t ranges[ONNX_MAX_RANK];
    onnx_dim_t next = dim_min(n, onnx_dim_add(n, first, part), size);
    for (int32_t d = 0; d < x->type->rank; ++d) ranges[d] = (range_t){onnx_dim_of(0), onnx_dim(n, x, d), 1};
    ranges[axis] = (range_t){first, onnx_dim_sub(n, next, first), 1};
    n->out[i] = onnx_value(take_ranges(n, x, ranges), n->in[0].element);
    first = next;
  }
  return true;
}

bool onnx_lower_split(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  int32_t rank = x->type->rank;
  int64_t axis = onnx_int(n, "axis", 0), sizes[ONNX_MAX_RANK], offsets[ONNX_MAX_RANK] = {0}, strides[ONNX_MAX_RANK];
  if (!n->out_count) return true;
  int64_t* parts = ARENA_ARRAY(ir_context_arena(n->ctx), int64_t, n->out_count);
  if (!onnx_check_axis(n, &axis, rank)) return false;
  if (!onnx_has(n, 1) && onnx_int(n, "num_outputs", n->out_count) != n->out_count)
    return onnx_error(n, "num_outputs differs from the number of results");
  if (!onnx_has(n, 1) && x->type->dims[axis] == IR_DYNAMIC) return split_any(n, x, (int32_t)axis);
  if (!part_sizes(n, x->type->dims[axis], parts)) return false;
  for (int32_t i = 0; i < rank; ++i) {
    sizes[i] = x->type->dims[i];
    strides[i] = 1;
  }
  for (uint32_t i = 0; i < n->out_count; ++i) {
    sizes[axis] = parts[i];
    n->out[i] = onnx_value(graph_slice(n->b, x, offsets, sizes, strides), n->in[0].element);
    offsets[axis] += parts[i];
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Pad
//===----------------------------------------------------------------------------------------------------------------===

// Paddings per dimension from input 1, for the axes of input 3 or all.
static bool read_pads(onnx_node_t* n, int64_t* low, int64_t* high) {
  int32_t rank = onnx_rank(n->in[0]);
  int64_t pads[2 * ONNX_MAX_RANK], axes[ONNX_MAX_RANK];
  uint32_t count, axis_count = (uint32_t)rank;
  for (int32_t i = 0; i < rank; ++i) {
    axes[i] = i;
    low[i] = high[i] = 0;
  }
  if (!onnx_const_ints(n, 1, pads, 2 * ONNX_MAX_RANK, &count)) return false;
  if (onnx_has(n, 3) && !onnx_const_ints(n, 3, axes, ONNX_MAX_RANK, &axis_count)) return false;
  if (count != 2 * axis_count) return onnx_error(n, "%u paddings for %u dimensions", count, axis_count);
  for (uint32_t i = 0; i < axis_count; ++i) {
    if (!onnx_check_axis(n, &axes[i], rank)) return false;
    low[axes[i]] = pads[i];
    high[axes[i]] = pads[axis_count + i];
  }
  return true;
}

// Whether the paddings make sense for that mode and x.
static bool check_pads(onnx_node_t* n, const char* mode, const int64_t* low, const int64_t* high) {
  const int64_t limit = 1ll << 40;
  for (int32_t i = 0; i < onnx_rank(n->in[0]); ++i) {
    int64_t size = onnx_dim_size(n->in[0], i), most = low[i] > high[i] ? low[i] : high[i];
    if (low[i] < -limit || high[i] < -limit || most > limit) return onnx_error(n, "a padding is out of range");
    if (size == IR_DYNAMIC) continue;
    if (size > limit || size + low[i] + high[i] < 0) return onnx_error(n, "dimension %d would become negative", i);
    if (most <= 0 || strcmp(mode, "constant") == 0) continue;
    int64_t kept = size + (low[i] < 0 ? low[i] : 0) + (high[i] < 0 ? high[i] : 0);
    if (kept <= 0) return onnx_error(n, "dimension %d has no elements to repeat", i);
    if (strcmp(mode, "reflect") == 0 && most >= kept) {
      return onnx_error(n, "dimension %d of size %lld cannot be reflected by %lld", i, (long long)kept,
                        (long long)most);
    }
  }
  return true;
}

// Negative paddings crop; outside of constant mode that happens first.
static ir_value_t* crop(onnx_node_t* n, ir_value_t* x, int64_t* low, int64_t* high) {
  range_t ranges[ONNX_MAX_RANK];
  for (int32_t i = 0; i < x->type->rank; ++i) {
    onnx_dim_t size = onnx_dim(n, x, i);
    int64_t cut_low = low[i] < 0 ? -low[i] : 0, cut_high = high[i] < 0 ? -high[i] : 0;
    ranges[i] = (range_t){onnx_dim_of(cut_low), onnx_dim_sub(n, size, onnx_dim_of(cut_low + cut_high)), 1};
    low[i] += cut_low;
    high[i] += cut_high;
  }
  return take_ranges(n, x, ranges);
}

bool onnx_lower_pad(onnx_node_t* n) {
  static const char* const modes[] = {"constant", "reflect", "edge", "wrap"};
  ir_value_t *x = n->in[0].v, *value = NULL;
  int64_t low[ONNX_MAX_RANK], high[ONNX_MAX_RANK];
  const char *name = onnx_string(n, "mode", "constant"), *mode = NULL;
  for (int i = 0; i < 4; ++i) {
    if (strcmp(name, modes[i]) == 0) mode = modes[i];
  }
  if (!mode) return onnx_error(n, "mode '%s' is not one of constant, reflect, edge, wrap", name);
  if (!read_pads(n, low, high) || !check_pads(n, mode, low, high) || !onnx_check_same_element(n, 0, 2)) return false;
  if (onnx_has(n, 2)) {
    if (ir_type_count(n->in[2].v->type) != 1) return onnx_error(n, "the padding value must be a scalar");
    value = graph_reshape(n->b, n->in[2].v, 0, NULL, NULL);
  } else {
    value = graph_scalar_constant(n->b, x->type->element, 0);
  }
  if (strcmp(mode, "constant") != 0) x = crop(n, x, low, high);
  return x && onnx_return(n, graph_pad(n->b, x, value, low, high, NULL, mode), n->in[0].element);
}

// Each axis is cut or padded to the wanted size, evenly on both sides.
bool onnx_lower_center_crop_pad(onnx_node_t* n) {
  int64_t wanted[ONNX_MAX_RANK], axes[ONNX_MAX_RANK], low[ONNX_MAX_RANK] = {0}, high[ONNX_MAX_RANK] = {0};
  uint32_t count, axis_count;
  int32_t rank = onnx_rank(n->in[0]);
  if (!onnx_const_ints(n, 1, wanted, ONNX_MAX_RANK, &count)) return false;
  if (!onnx_ints(n, "axes", axes, ONNX_MAX_RANK, &axis_count)) return false;
  for (int32_t i = 0; !onnx_attr(n, "axes") && i < rank; ++i) axes[axis_count++] = i;
  if (axis_count != count) return onnx_error(n, "%u sizes for %u axes", count, axis_count);
  for (uint32_t i = 0; i < count; ++i) {
    if (!onnx_check_axis(n, &axes[i], rank)) return false;
    int64_t size = onnx_dim_size(n->in[0], (int32_t)axes[i]);
    if (size == IR_DYNAMIC) return onnx_unsupported(n, "the axes need static sizes");
    if (wanted[i] < 0 || wanted[i] > (1ll << 40) || size > (1ll << 40)) return onnx_error(n, "a size is out of range");
    int64_t more = wanted[i] - size;
    low[axes[i]] = more >= 0 ? more / 2 : -(-more / 2);
    high[axes[i]] = more - low[axes[i]];
  }
  return onnx_return(n, graph_pad(n->b, n->in[0].v, NULL, low, high, NULL, NULL), n->in[0].element);
}
