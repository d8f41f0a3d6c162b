// Geometry of convolutions and pools. See sweep.h.
#include "import/onnx/sweep.h"

#include <string.h>

#include "import/onnx/numbers.h"

enum { MAX_STEP = 1 << 30 };  // of strides, dilations, paddings: keeps the arithmetic far from overflow

const char* onnx_layout(onnx_node_t* n, const char* letters, uint32_t spatial) {
  return arena_printf(ir_context_arena(n->ctx), "%.2s%.*s", letters, (int)spatial, "012345");
}

// A list of `count` entries within [low, MAX_STEP], or all `absent`.
static bool read_list(onnx_node_t* n, const char* name, int64_t low, int64_t absent, uint32_t count, int64_t* out) {
  uint32_t given;
  if (!onnx_ints(n, name, out, count, &given)) return false;
  if (given && given != count) return onnx_error(n, "attribute '%s' needs %u entries, has %u", name, count, given);
  for (uint32_t i = 0; i < count; ++i) {
    if (!given) out[i] = absent;
    if (out[i] < low || out[i] > MAX_STEP) {
      return onnx_error(n, "attribute '%s' has the unusable entry %lld", name, (long long)out[i]);
    }
  }
  return true;
}

static int64_t extent(const onnx_sweep_t* s, uint32_t i) { return (s->kernel[i] - 1) * s->dilations[i] + 1; }

// Paddings that make the result ceil(input / stride) long.
static void pad_to_same(onnx_sweep_t* s, uint32_t i, int64_t size, bool upper) {
  s->upper = upper;
  if (s->kernel[i] == IR_DYNAMIC || (size == IR_DYNAMIC && s->strides[i] != 1)) {
    s->any[i] = s->pads_any = true;
    return;
  }
  int64_t total = extent(s, i) - 1;
  if (size != IR_DYNAMIC) {
    int64_t result = (size + s->strides[i] - 1) / s->strides[i];
    total = (result - 1) * s->strides[i] + extent(s, i) - size;
  }
  if (total < 0) total = 0;
  s->pad_low[i] = upper ? total / 2 : total - total / 2;
  s->pad_high[i] = total - s->pad_low[i];
}

onnx_dim_t onnx_sweep_reach(onnx_node_t* n, const onnx_sweep_t* s, uint32_t i) {
  return onnx_dim_mul(n, onnx_dim_sub(n, s->taps[i], onnx_dim_of(1)), onnx_dim_of(s->dilations[i]));
}

// What a dimension of that run-time size is padded by: `*before`, and in all.
static onnx_dim_t same_pads(onnx_node_t* n, const onnx_sweep_t* s, uint32_t i, onnx_dim_t size, onnx_dim_t* before) {
  const onnx_dim_t zero = onnx_dim_of(0), one = onnx_dim_of(1);
  onnx_dim_t stride = onnx_dim_of(s->strides[i]), reach = onnx_sweep_reach(n, s, i);
  onnx_dim_t steps = onnx_dim_div(n, onnx_dim_add(n, size, onnx_dim_of(s->strides[i] - 1)), stride);
  onnx_dim_t end = onnx_dim_mul(n, onnx_dim_sub(n, steps, one), stride);
  onnx_dim_t total = onnx_dim_sub(n, onnx_dim_add(n, onnx_dim_add(n, end, reach), one), size);
  total = onnx_dim_min(n, onnx_dim_max(n, total, zero), reach);
  *before = onnx_dim_div(n, total, onnx_dim_of(2));
  if (!s->upper) *before = onnx_dim_sub(n, total, *before);
  return total;
}

// As much as any size may need is padded, and of that the part that this size needs is taken; where not even the kernel
// is known, what is needed is padded.
ir_value_t* onnx_sweep_input(onnx_node_t* n, ir_value_t* x, const onnx_sweep_t* s, double outside) {
  int64_t low[ONNX_MAX_RANK] = {0}, high[ONNX_MAX_RANK] = {0};
  onnx_dim_t any_low[ONNX_MAX_RANK], any_high[ONNX_MAX_RANK], before;
  onnx_range_t ranges[ONNX_MAX_RANK];
  bool any_kernel = false;
  if (!s->pads_any) return x;
  const onnx_dim_t zero = onnx_dim_of(0), one = onnx_dim_of(1);
  for (int32_t d = 0; d < x->type->rank; ++d) {
    ranges[d] = (onnx_range_t){zero, onnx_dim(n, x, d), one};
    any_low[d] = any_high[d] = zero;
    if (d < 2 || !s->any[d - 2]) continue;
    uint32_t i = (uint32_t)d - 2;
    onnx_dim_t size = ranges[d].size, total = same_pads(n, s, i, size, &before);
    if (s->kernel[i] == IR_DYNAMIC) {
      any_kernel = true;
      any_low[d] = before, any_high[d] = onnx_dim_sub(n, total, before);
      continue;
    }
    int64_t most = extent(s, i) - 1;
    low[d] = s->upper ? most / 2 : most - most / 2;
    high[d] = most - most / 2;
    ranges[d] = (onnx_range_t){onnx_dim_sub(n, onnx_dim_of(low[d]), before), onnx_dim_add(n, size, total), one};
  }
  x = graph_pad(n->b, x, graph_scalar_constant(n->b, x->type->element, outside), low, high, NULL, NULL);
  x = onnx_take_ranges(n, x, ranges);
  return any_kernel ? onnx_pad(n, x, any_low, any_high) : x;
}

static bool read_pads(onnx_node_t* n, ir_value_t* x, onnx_sweep_t* s) {
  int64_t pads[2 * GRAPH_MAX_SPATIAL];
  const char* mode = onnx_string(n, "auto_pad", "NOTSET");
  bool upper = strcmp(mode, "SAME_UPPER") == 0, lower = strcmp(mode, "SAME_LOWER") == 0;
  if (!upper && !lower && strcmp(mode, "NOTSET") != 0 && strcmp(mode, "VALID") != 0) {
    return onnx_error(n, "auto_pad = '%s' is not one of NOTSET, SAME_UPPER, SAME_LOWER, VALID", mode);
  }
  if (!read_list(n, "pads", 0, 0, 2 * s->spatial, pads)) return false;
  bool explicit_pads = strcmp(mode, "NOTSET") == 0;
  for (uint32_t i = 0; i < s->spatial; ++i) {
    s->pad_low[i] = explicit_pads ? pads[i] : 0;
    s->pad_high[i] = explicit_pads ? pads[s->spatial + i] : 0;
    if (upper || lower) pad_to_same(s, i, x->type->dims[2 + i], upper);
  }
  return true;
}

// Room for a last window that is not whole. It starts within the input, or the padding before it: no later than one
// place before their end.
static int64_t most_extra(const onnx_sweep_t* s, uint32_t i) {
  int64_t start = extent(s, i) - 1 - s->pad_high[i], partial = s->strides[i] - 1;
  int64_t extra = start < partial ? start : partial;
  return extra > 0 ? extra : 0;
}

static bool result_sizes(onnx_node_t* n, ir_value_t* x, bool pools, onnx_sweep_t* s) {
  bool ceil_mode = pools && onnx_int(n, "ceil_mode", 0) != 0;
  for (uint32_t i = 0; i < s->spatial; ++i) {
    int64_t size = x->type->dims[2 + i];
    s->extra[i] = 0;
    s->out[i] = IR_DYNAMIC;
    if (size == IR_DYNAMIC || s->kernel[i] == IR_DYNAMIC) {
      if (ceil_mode && !s->any[i]) s->extra[i] = most_extra(s, i);
      continue;
    }
    if (size > INT64_MAX / 4) return onnx_error(n, "the input is too large");
    int64_t room = size + s->pad_low[i] + s->pad_high[i] - extent(s, i);
    if (room < 0 && (!ceil_mode || room <= -s->strides[i]))
      return onnx_error(n, "the kernel is larger than the padded input");
    if (room < 0) {  // one window, which is larger than what there is: as far as that goes
      s->strides[i] = extent(s, i) + room;
      s->kernel[i] = (s->strides[i] - 1) / s->dilations[i] + 1;
      s->out[i] = 1;
      continue;
    }
    s->out[i] = room / s->strides[i] + 1;
    bool partial = ceil_mode && room % s->strides[i] != 0 && s->out[i] * s->strides[i] < size + s->pad_low[i];
    if (!partial) continue;
    s->extra[i] = s->out[i] * s->strides[i] - room;  // a last window that starts within the input
    ++s->out[i];
  }
  return true;
}

// The kernel's sizes from the weights, which get those that kernel_shape says.
static bool read_kernel(onnx_node_t* n, ir_value_t** w, bool has_shape, onnx_sweep_t* s) {
  for (uint32_t i = 0; i < s->spatial; ++i) {
    int32_t d = 2 + (int32_t)i;
    if (has_shape && !onnx_dim_known(onnx_dim(n, *w, d)) && !(*w = onnx_sized(n, *w, d, s->kernel[i]))) return false;
    onnx_dim_t size = s->taps[i] = onnx_dim(n, *w, d);
    onnx_dim_t fits = onnx_flag_and(n, onnx_dim_test(n, SCALAR_ge, size, onnx_dim_of(1)),
                                    onnx_dim_test(n, SCALAR_le, size, onnx_dim_of(MAX_STEP)));
    if (!onnx_require(n, fits, "the weights' spatial sizes must be 1 to %d", MAX_STEP)) return false;
    if (has_shape && s->kernel[i] != size.size) return onnx_error(n, "kernel_shape differs from the weights' shape");
    s->kernel[i] = size.size;
  }
  return true;
}

static bool read_steps(onnx_node_t* n, ir_value_t* x, ir_value_t** w, onnx_sweep_t* s) {
  int32_t rank = x->type->rank;
  memset(s, 0, sizeof(*s));
  if (rank < 2 || rank > 2 + GRAPH_MAX_SPATIAL)
    return onnx_error(n, "input must have rank 2 to %d", 2 + GRAPH_MAX_SPATIAL);
  s->spatial = (uint32_t)rank - 2;
  bool has_shape = onnx_attr(n, "kernel_shape") != NULL;
  if (!w && !has_shape) return onnx_error(n, "attribute 'kernel_shape' is required");
  if (has_shape && !read_list(n, "kernel_shape", 1, 0, s->spatial, s->kernel)) return false;
  for (uint32_t i = 0; i < s->spatial; ++i) s->taps[i] = onnx_dim_of(s->kernel[i]);
  return (!w || read_kernel(n, w, has_shape, s)) && read_list(n, "strides", 1, 1, s->spatial, s->strides) &&
         read_list(n, "dilations", 1, 1, s->spatial, s->dilations);
}

bool onnx_read_sweep(onnx_node_t* n, ir_value_t* x, ir_value_t** w, onnx_sweep_t* s) {
  return read_steps(n, x, w, s) && read_pads(n, x, s) && result_sizes(n, x, !w, s);
}

bool onnx_read_transposed_sweep(onnx_node_t* n, ir_value_t* x, ir_value_t** w, onnx_sweep_t* s) {
  int64_t pads[2 * GRAPH_MAX_SPATIAL];
  if (!read_steps(n, x, w, s) || !read_list(n, "pads", 0, 0, 2 * s->spatial, pads)) return false;
  for (uint32_t i = 0; i < s->spatial; ++i) {
    s->pad_low[i] = pads[i];
    s->pad_high[i] = pads[s->spatial + i];
  }
  return true;
}
