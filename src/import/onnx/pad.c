// Pad and CenterCropPad. Paddings known at run time only become gathers: which element a place of the result has.
#include <string.h>

#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

typedef struct pads_t {
  const char* mode;
  ir_value_t* value;  // a scalar tensor
  onnx_dim_t low[ONNX_MAX_RANK], high[ONNX_MAX_RANK];
} pads_t;

// The paddings behind of as many axes as only a call knows: what input 1 has from there on.
static bool read_high(onnx_node_t* n, onnx_dim_t axis_count, uint32_t most, onnx_dim_t* high) {
  const onnx_dim_t twice = onnx_dim_mul(n, axis_count, onnx_dim_of(2)), length = onnx_dim(n, n->in[1].v, 0);
  if (!onnx_require(n, onnx_dim_test(n, SCALAR_eq, length, twice), "needs two paddings for each axis")) return false;
  onnx_value_t pads = onnx_cast(n, n->in[1], onnx_si64(n->ctx));
  const int64_t none = 0, wide = most;  // so that a place is always inside
  pads.v = graph_pad(n->b, pads.v, NULL, &none, &wide, NULL, NULL);
  onnx_range_t range = {axis_count, onnx_dim_of(most), onnx_dim_of(1)};
  pads.v = onnx_take_ranges(n, pads.v, &range);
  onnx_node_t inner = *n;
  inner.in = &pads, inner.in_count = 1;
  return onnx_dims_exactly(&inner, 0, most, high);
}

// Paddings before and behind each of the axes, up to as many as x has dimensions.
static bool read_pairs(onnx_node_t* n, uint32_t rank, onnx_dim_t axis_count, onnx_dim_t* low, onnx_dim_t* high) {
  onnx_dim_t pads[2 * ONNX_MAX_RANK], given;
  if (onnx_dim_known(axis_count)) {
    uint32_t count = (uint32_t)axis_count.size;
    if (!onnx_dims_exactly(n, 1, 2 * count, pads)) return false;
    memcpy(low, pads, sizeof(*pads) * count);
    memcpy(high, pads + count, sizeof(*pads) * count);
    return true;
  }
  if (n->in[1].v->type->rank != 1) return onnx_error(n, "the paddings must be a vector");
  if (!onnx_dims_up_to(n, 1, 2 * rank, 0, pads, &given)) return false;
  memcpy(low, pads, sizeof(*pads) * rank);
  return read_high(n, axis_count, rank, high);
}

// What input 3 says, or all: adds the paddings from input 1 of each axis.
static bool read_pads(onnx_node_t* n, pads_t* p) {
  int32_t rank = onnx_rank(n->in[0]);
  onnx_dim_t low[ONNX_MAX_RANK], high[ONNX_MAX_RANK], at[ONNX_MAX_RANK], zero = onnx_dim_of(0);
  onnx_dim_t axis_count = onnx_dim_of(rank);
  onnx_axes_t axes;
  for (int32_t i = 0; i < rank; ++i) at[i] = onnx_dim_of(i), p->low[i] = p->high[i] = zero;
  if (onnx_has(n, 3)) {
    bool read = onnx_axes_input(n, 3, rank, &axes) && onnx_dims_up_to(n, 3, (uint32_t)rank, 0, at, &axis_count);
    if (!read) return false;
  }
  if (!read_pairs(n, (uint32_t)rank, axis_count, low, high)) return false;
  for (int32_t k = 0; k < rank; ++k) {
    onnx_dim_t there = onnx_dim_test(n, SCALAR_lt, onnx_dim_of(k), axis_count);
    if (onnx_dim_known(there) && !there.size) break;
    onnx_dim_t axis = onnx_dim_wrap(n, at[k], onnx_dim_of(rank));
    for (int32_t d = 0; d < rank; ++d) {
      onnx_dim_t here = onnx_flag_and(n, there, onnx_dim_test(n, SCALAR_eq, axis, onnx_dim_of(d)));
      p->low[d] = onnx_dim_select(n, here, low[k], p->low[d]);
      p->high[d] = onnx_dim_select(n, here, high[k], p->high[d]);
    }
  }
  return true;
}

static bool is_zero(onnx_dim_t x) { return x.size == 0; }
static onnx_dim_t positive(onnx_node_t* n, onnx_dim_t x) { return onnx_dim_max(n, x, onnx_dim_of(0)); }
static onnx_dim_t negative(onnx_node_t* n, onnx_dim_t x) { return onnx_dim_min(n, x, onnx_dim_of(0)); }

// Whether the paddings make sense for their mode and dimension d of x.
static bool check_pads(onnx_node_t* n, ir_value_t* x, const pads_t* p, int32_t d) {
  const onnx_dim_t limit = onnx_dim_of(1ll << 40), zero = onnx_dim_of(0);
  onnx_dim_t size = onnx_dim(n, x, d), low = p->low[d], high = p->high[d];
  if (is_zero(low) && is_zero(high)) return true;
  onnx_dim_t most = onnx_dim_max(n, low, high), least = onnx_dim_min(n, low, high);
  onnx_dim_t fits = onnx_flag_and(n, onnx_dim_test(n, SCALAR_le, most, limit),
                                  onnx_dim_test(n, SCALAR_ge, least, onnx_dim_of(-limit.size)));
  if (!onnx_require(n, fits, "a padding is out of range")) return false;
  onnx_dim_t result = onnx_dim_add(n, onnx_dim_add(n, size, low), high);
  bool grows = onnx_dim_known(least) && least.size >= 0;
  if (!grows && !onnx_require(n, onnx_dim_test(n, SCALAR_ge, result, zero), "dimension %d would become negative", d))
    return false;
  if (strcmp(p->mode, "constant") == 0) return true;
  onnx_dim_t kept = onnx_dim_add(n, onnx_dim_add(n, size, negative(n, low)), negative(n, high));
  onnx_dim_t none = onnx_dim_test(n, SCALAR_le, most, zero);
  fits = onnx_flag_or(n, none, onnx_dim_test(n, SCALAR_gt, kept, zero));
  if (!onnx_require(n, fits, "dimension %d has no elements to repeat", d)) return false;
  fits = onnx_flag_or(n, none, onnx_dim_test(n, SCALAR_lt, most, kept));
  return strcmp(p->mode, "reflect") != 0 ||
         onnx_require(n, fits, "dimension %d cannot be reflected by as much as its own size", d);
}

// A number combined with every element.
static ir_value_t* with(onnx_node_t* n, scalar_fn_t fn, ir_value_t* x, onnx_dim_t y) {
  return graph_binary(n->b, fn, x, onnx_dim_like(n, y, x));
}

// Which element of `kept` elements repeated beyond both ends is at each place, counted from the first of them.
static ir_value_t* repeated(onnx_node_t* n, const char* mode, ir_value_t* at, onnx_dim_t kept) {
  onnx_dim_t last = onnx_dim_sub(n, kept, onnx_dim_of(1)), zero = onnx_dim_of(0);
  if (strcmp(mode, "edge") == 0) return with(n, SCALAR_min, with(n, SCALAR_max, at, zero), last);
  if (strcmp(mode, "wrap") == 0) {
    onnx_dim_t by = onnx_dim_max(n, kept, onnx_dim_of(1));
    at = with(n, SCALAR_add, with(n, SCALAR_rem, at, by), by);
    return with(n, SCALAR_rem, at, by);
  }
  at = with(n, SCALAR_sub, onnx_unary(n, SCALAR_abs, at), last);  // distance from the last one
  at = onnx_unary(n, SCALAR_neg, onnx_unary(n, SCALAR_abs, at));
  return with(n, SCALAR_add, at, last);
}

// x with dimension d padded by numbers known at run time only.
static ir_value_t* pad_any(onnx_node_t* n, ir_value_t* x, const pads_t* p, int32_t d) {
  onnx_dim_t size = onnx_dim(n, x, d), low = p->low[d], high = p->high[d];
  onnx_dim_t total = positive(n, onnx_dim_add(n, onnx_dim_add(n, size, low), high));
  ir_value_t* at = onnx_numbers(n, 1, &total, 0);
  if (strcmp(p->mode, "constant") != 0) {
    onnx_dim_t cut = negative(n, low), kept = onnx_dim_add(n, onnx_dim_add(n, size, cut), negative(n, high));
    at = repeated(n, p->mode, with(n, SCALAR_sub, at, positive(n, low)), kept);
    return graph_take(n->b, x, with(n, SCALAR_sub, at, cut), d, false);
  }
  int64_t none[ONNX_MAX_RANK] = {0}, one[ONNX_MAX_RANK] = {0};  // the value stands behind the elements
  one[d] = 1;
  x = graph_pad(n->b, x, p->value, none, one, NULL, NULL);
  at = with(n, SCALAR_sub, at, low);
  ir_value_t* outside = onnx_binary_number(n, SCALAR_lt, at, 0);
  at = graph_select(n->b, outside, onnx_dim_like(n, size, at), at);
  return graph_take(n->b, x, with(n, SCALAR_min, at, size), d, false);
}

// Negative paddings crop; outside of constant mode that happens first.
static ir_value_t* crop(onnx_node_t* n, ir_value_t* x, int64_t* low, int64_t* high) {
  onnx_range_t ranges[ONNX_MAX_RANK];
  for (int32_t i = 0; i < x->type->rank; ++i) {
    onnx_dim_t size = onnx_dim(n, x, i);
    int64_t cut_low = low[i] < 0 ? -low[i] : 0, cut_high = high[i] < 0 ? -high[i] : 0;
    size = onnx_dim_sub(n, size, onnx_dim_of(cut_low + cut_high));
    ranges[i] = (onnx_range_t){onnx_dim_of(cut_low), size, onnx_dim_of(1)};
    low[i] += cut_low;
    high[i] += cut_high;
  }
  return onnx_take_ranges(n, x, ranges);
}

// Checked and padded: dimensions with constant paddings by one op, the others one after the other.
static ir_value_t* pad(onnx_node_t* n, ir_value_t* x, const pads_t* p) {
  int64_t low[ONNX_MAX_RANK] = {0}, high[ONNX_MAX_RANK] = {0};
  bool fixed = false;
  for (int32_t d = 0; d < x->type->rank; ++d) {
    if (!check_pads(n, x, p, d)) return NULL;
    if (!onnx_dim_known(p->low[d]) || !onnx_dim_known(p->high[d])) continue;
    low[d] = p->low[d].size, high[d] = p->high[d].size;
    fixed |= low[d] || high[d];
  }
  for (int32_t d = 0; d < x->type->rank; ++d) {
    if (!onnx_dim_known(p->low[d]) || !onnx_dim_known(p->high[d])) x = pad_any(n, x, p, d);
  }
  if (fixed && strcmp(p->mode, "constant") != 0) x = crop(n, x, low, high);
  return fixed ? graph_pad(n->b, x, p->value, low, high, NULL, p->mode) : x;
}

ir_value_t* onnx_pad(onnx_node_t* n, ir_value_t* x, const onnx_dim_t* low, const onnx_dim_t* high) {
  pads_t p = {.mode = "constant", .value = graph_scalar_constant(n->b, x->type->element, 0)};
  for (int32_t i = 0; i < x->type->rank; ++i) p.low[i] = low[i], p.high[i] = high[i];
  return pad(n, x, &p);
}

bool onnx_lower_pad(onnx_node_t* n) {
  static const char* const modes[] = {"constant", "reflect", "edge", "wrap"};
  ir_value_t* x = n->in[0].v;
  pads_t p = {0};
  const char* name = onnx_string(n, "mode", "constant");
  for (int i = 0; i < 4; ++i) {
    if (strcmp(name, modes[i]) == 0) p.mode = modes[i];
  }
  if (!p.mode) return onnx_error(n, "mode '%s' is not one of constant, reflect, edge, wrap", name);
  if (!onnx_check_same_element(n, 0, 2) || !read_pads(n, &p)) return false;
  if (onnx_has(n, 2) && !onnx_check_single(n, 2)) return false;
  p.value = onnx_has(n, 2) ? graph_reshape(n->b, n->in[2].v, 0, NULL, NULL)
                           : graph_scalar_constant(n->b, x->type->element, 0);
  return onnx_return(n, pad(n, x, &p), n->in[0].element);
}

// Each axis is cut or padded to the wanted size, evenly on both sides.
bool onnx_lower_center_crop_pad(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  onnx_dim_t wanted[ONNX_MAX_RANK], low[ONNX_MAX_RANK], high[ONNX_MAX_RANK];
  int64_t axes[ONNX_MAX_RANK];
  uint32_t count;
  int32_t rank = onnx_rank(n->in[0]);
  if (!onnx_ints(n, "axes", axes, ONNX_MAX_RANK, &count)) return false;
  for (int32_t i = 0; i < rank; ++i) low[i] = high[i] = onnx_dim_of(0);
  for (int32_t i = 0; !onnx_attr(n, "axes") && i < rank; ++i) axes[count++] = i;
  if (!onnx_dims_exactly(n, 1, count, wanted)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (!onnx_check_axis(n, &axes[i], rank)) return false;
    onnx_dim_t fits = onnx_dim_test(n, SCALAR_ge, wanted[i], onnx_dim_of(0));
    if (!onnx_require(n, fits, "a size is negative")) return false;
    onnx_dim_t more = onnx_dim_sub(n, wanted[i], onnx_dim(n, x, (int32_t)axes[i]));
    low[axes[i]] = onnx_dim_div(n, more, onnx_dim_of(2));  // towards zero
    high[axes[i]] = onnx_dim_sub(n, more, low[axes[i]]);
  }
  return onnx_return(n, onnx_pad(n, x, low, high), n->in[0].element);
}
