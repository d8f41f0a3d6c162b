// Convolutions.
#include <math.h>
#include <string.h>

#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"
#include "import/onnx/sweep.h"

// x and w with the channels that the other says; of a transposed convolution, w is [channels, outputs / groups, ...].
static bool check_weights(onnx_node_t* n, ir_value_t** x, ir_value_t** w, int64_t groups, bool transposed) {
  const int32_t axis = transposed ? 0 : 1;
  if ((*x)->type->rank != (*w)->type->rank) return onnx_error(n, "input and weights must have the same rank");
  if (groups < 1 || groups > (1 << 24)) return onnx_error(n, "group must be 1 to %d", 1 << 24);
  onnx_dim_t channels = onnx_dim(n, *x, 1), own = onnx_dim(n, *w, axis), by = onnx_dim_of(transposed ? 1 : groups);
  if (own.size > (1ll << 40) / groups) return onnx_error(n, "the weights do not fit the input");
  if (onnx_dim_known(own) && !onnx_dim_known(channels)) {
    if (!(*x = onnx_sized(n, *x, 1, own.size * by.size))) return false;
  } else if (onnx_dim_known(channels) && !onnx_dim_known(own) && channels.size % by.size == 0) {
    if (!(*w = onnx_sized(n, *w, axis, channels.size / by.size))) return false;
  }
  channels = onnx_dim(n, *x, 1), own = onnx_dim(n, *w, axis);
  onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, channels, onnx_dim_mul(n, own, by));
  if (!onnx_require(n, fits, "the input's channels in %lld groups must be the weights'", (long long)groups))
    return false;
  onnx_dim_t divided = transposed ? channels : onnx_dim(n, *w, 0);
  if (onnx_dim_known(divided))
    return divided.size % groups == 0 || onnx_error(n, "%lld groups do not divide the channels", (long long)groups);
  onnx_dim_t rest = onnx_dim_binary(n, SCALAR_rem, divided, onnx_dim_of(groups));
  return groups == 1 || onnx_require(n, onnx_dim_test(n, SCALAR_eq, rest, onnx_dim_of(0)),
                                     "%lld groups do not divide the channels", (long long)groups);
}

// Convolution of x and w (in ONNX's layouts) with the node's attributes, accumulated in that type. NULL after a
// diagnostic.
ir_value_t* onnx_conv(onnx_node_t* n, ir_value_t* x, ir_value_t* w, const ir_type_t* accumulator) {
  graph_conv_t c = {.groups = onnx_int(n, "group", 1), .batch_groups = 1};
  onnx_sweep_t s;
  if (x->type->rank < 3 || x->type->rank > 2 + GRAPH_MAX_SPATIAL) {
    return onnx_error(n, "input must have rank 3 to %d", 2 + GRAPH_MAX_SPATIAL), NULL;
  }
  if (!check_weights(n, &x, &w, c.groups, false) || !onnx_read_sweep(n, x, &w, &s)) return NULL;
  c.x_layout = c.y_layout = onnx_layout(n, "nc", s.spatial);
  c.w_layout = onnx_layout(n, "oi", s.spatial);
  for (uint32_t i = 0; i < s.spatial; ++i) {
    c.strides[i] = s.strides[i];
    c.pad_low[i] = s.pad_low[i];
    c.pad_high[i] = s.pad_high[i];
    c.w_dilation[i] = s.dilations[i];
    c.x_dilation[i] = 1;
  }
  x = onnx_sweep_input(n, x, &s, 0);
  return x ? graph_conv(n->b, x, w, &c, accumulator) : NULL;
}

static ir_value_t* add_bias(onnx_node_t* n, ir_value_t* y, uint32_t i) {
  if (!y || !onnx_has(n, i)) return y;
  ir_value_t* bias = onnx_along(n, n->in[i].v, 1, y);
  return bias ? graph_binary(n->b, SCALAR_add, y, bias) : NULL;
}

bool onnx_lower_conv(onnx_node_t* n) {
  if (!onnx_check_same_element(n, 0, 1) || !onnx_check_same_element(n, 0, 2) || !onnx_check_float(n, 0)) return false;
  ir_value_t* x = n->in[0].v;
  ir_value_t* y = onnx_conv(n, x, n->in[1].v, x->type->element);
  return onnx_return(n, add_bias(n, y, 2), n->in[0].element);
}

// The activation that attributes name, on y: parameters in activation_params, or in activation_alpha and _beta.
static ir_value_t* fused_activation(onnx_node_t* n, ir_value_t* y) {
  const char* name = onnx_string(n, "activation", "");
  const ir_attr_t* list = onnx_attr(n, "activation_params");
  onnx_activation_t fn = {.name = "clip", .alpha = -INFINITY, .beta = INFINITY};
  if (!y || !*name) return y;
  bool clips = strcasecmp(name, "clip") == 0;
  if (!clips && !onnx_find_activation(n, name, &fn)) return NULL;
  if (list && list->kind == IR_ATTR_ARRAY) {
    if (list->count > 0 && (clips || fn.parameters > 0)) fn.alpha = list->items[0]->number;
    if (list->count > 1 && (clips || fn.parameters > 1)) fn.beta = list->items[1]->number;
  }
  fn.alpha = onnx_float(n, "activation_alpha", fn.alpha), fn.beta = onnx_float(n, "activation_beta", fn.beta);
  if (!clips) return onnx_activate(n, &fn, y);
  return onnx_binary_number(n, SCALAR_min, onnx_binary_number(n, SCALAR_max, y, fn.alpha), fn.beta);
}

// ONNX Runtime's: activation(conv(x, w) + bias + sum)
bool onnx_lower_fused_conv(onnx_node_t* n) {
  onnx_value_t out[3] = {{0}};
  if (!onnx_apply(n, "Conv", n->in, n->in_count < 3 ? n->in_count : 3, out)) return false;
  ir_value_t* y = out->v;
  if (onnx_has(n, 3)) y = onnx_check_same_element(n, 0, 3) ? onnx_binary(n, SCALAR_add, y, n->in[3].v) : NULL;
  return onnx_return(n, fused_activation(n, y), out->element);
}

bool onnx_lower_fused_gemm(onnx_node_t* n) {
  onnx_value_t out[3] = {{0}};
  if (!onnx_apply(n, "Gemm", n->in, n->in_count, out)) return false;
  return onnx_return(n, fused_activation(n, out->v), out->element);
}

bool onnx_lower_conv_integer(onnx_node_t* n) {
  if (!onnx_is_int(n->in[0]) || !onnx_is_int(n->in[1])) return onnx_error(n, "needs integers");
  if (onnx_rank(n->in[0]) < 3 || onnx_rank(n->in[1]) < 3) return onnx_error(n, "needs spatial dimensions");
  ir_value_t* x = onnx_centered(n, 0, 2, 1);
  ir_value_t* w = onnx_centered(n, 1, 3, 0);
  ir_value_t* y = x && w ? onnx_conv(n, x, w, ir_type_int(n->ctx, 32)) : NULL;
  return onnx_return(n, y, ir_type_integer(n->ctx, 32, IR_SIGNED));
}

//===----------------------------------------------------------------------------------------------------------------===
// Transposed
//===----------------------------------------------------------------------------------------------------------------===

// [groups * c, m, spatial...] with flipped kernels, as weights [groups * m, c, spatial...] of a plain convolution.
static ir_value_t* transposed_weights(onnx_node_t* n, ir_value_t* w, int64_t groups) {
  int32_t rank = w->type->rank;
  int64_t perm[ONNX_MAX_RANK], spatial[ONNX_MAX_RANK];
  onnx_dim_t apart[ONNX_MAX_RANK], joined[ONNX_MAX_RANK], by = onnx_dim_of(groups);
  for (int32_t i = 2; i < rank; ++i) spatial[i - 2] = i;
  w = graph_reverse(n->b, w, spatial, (uint32_t)rank - 2);
  apart[0] = by, apart[1] = joined[1] = onnx_dim_div(n, onnx_dim(n, w, 0), by), apart[2] = onnx_dim(n, w, 1);
  joined[0] = onnx_dim_mul(n, apart[2], by);
  for (int32_t i = 0; i <= rank; ++i) perm[i] = i;
  for (int32_t i = 2; i < rank; ++i) apart[i + 1] = joined[i] = onnx_dim(n, w, i);
  perm[1] = 2, perm[2] = 1;
  return onnx_reshape(n, graph_transpose(n->b, onnx_reshape(n, w, rank + 1, apart), perm), rank, joined);
}

// A transposed convolution: a plain one over the input with holes, padded by `low` and `high`.
typedef struct transposed_t {
  onnx_sweep_t sweep;
  int64_t more[GRAPH_MAX_SPATIAL];  // output_padding
  int64_t out[GRAPH_MAX_SPATIAL];   // what output_shape asks for, else IR_DYNAMIC
  onnx_dim_t low[ONNX_MAX_RANK], high[ONNX_MAX_RANK];
  bool known;  // all paddings are, and the holes are few
} transposed_t;

enum { MOST_HOLES = 64 };  // that a kernel resolves phase by phase

static bool read_output_shape(onnx_node_t* n, transposed_t* t) {
  int64_t shape[ONNX_MAX_RANK];
  uint32_t count, spatial = t->sweep.spatial;
  if (!onnx_ints(n, "output_shape", shape, ONNX_MAX_RANK, &count)) return false;
  if (count && count != spatial && count != spatial + 2) return onnx_error(n, "output_shape has %u entries", count);
  for (uint32_t i = 0; i < spatial; ++i) {
    t->out[i] = count ? shape[i + (count > spatial ? 2 : 0)] : IR_DYNAMIC;
    if (count && (t->out[i] < 1 || t->out[i] > (1 << 30))) return onnx_error(n, "output_shape is out of reach");
  }
  return true;
}

// What auto_pad, or a size that is asked for, leaves out of the whole result: of an end that nothing reaches, less than
// nothing.
static void same_pads(onnx_node_t* n, ir_value_t* x, const transposed_t* t, uint32_t i, onnx_dim_t* low,
                      onnx_dim_t* high) {
  const onnx_sweep_t* s = &t->sweep;
  bool upper = strcmp(onnx_string(n, "auto_pad", "NOTSET"), "SAME_UPPER") == 0;
  onnx_dim_t total = onnx_dim_add(n, onnx_sweep_reach(n, s, i), onnx_dim_of(t->more[i] + 1 - s->strides[i]));
  if (t->out[i] != IR_DYNAMIC) {
    onnx_dim_t size = onnx_dim_mul(n, onnx_dim(n, x, 2 + (int32_t)i), onnx_dim_of(s->strides[i]));
    total = onnx_dim_sub(n, onnx_dim_add(n, total, size), onnx_dim_of(t->out[i]));
  }
  onnx_dim_t cut = onnx_dim_max(n, total, onnx_dim_of(0)), half = onnx_dim_div(n, cut, onnx_dim_of(2));
  *low = upper ? half : onnx_dim_sub(n, cut, half);
  *high = onnx_dim_sub(n, total, *low);
}

static bool read_transposed(onnx_node_t* n, ir_value_t* x, ir_value_t** w, transposed_t* t) {
  const onnx_sweep_t* s = &t->sweep;
  uint32_t given;
  bool same = strncmp(onnx_string(n, "auto_pad", "NOTSET"), "SAME", 4) == 0;
  if (!onnx_read_transposed_sweep(n, x, w, &t->sweep)) return false;
  memset(t->more, 0, sizeof(t->more));
  if (!onnx_ints(n, "output_padding", t->more, s->spatial, &given) || !read_output_shape(n, t)) return false;
  t->known = true;
  t->low[0] = t->low[1] = t->high[0] = t->high[1] = onnx_dim_of(0);
  for (uint32_t i = 0; i < s->spatial; ++i) {
    onnx_dim_t low = onnx_dim_of(s->pad_low[i]), high = onnx_dim_of(s->pad_high[i]);
    if (t->more[i] < 0 || t->more[i] > (1 << 30)) return onnx_error(n, "output_padding is out of range");
    if (same || t->out[i] != IR_DYNAMIC) same_pads(n, x, t, i, &low, &high);
    onnx_dim_t reach = onnx_sweep_reach(n, s, i);
    t->low[2 + i] = onnx_dim_sub(n, reach, low);
    t->high[2 + i] = onnx_dim_add(n, onnx_dim_sub(n, reach, high), onnx_dim_of(t->more[i]));
    t->known &= onnx_dim_known(t->low[2 + i]) && onnx_dim_known(t->high[2 + i]) && s->strides[i] <= MOST_HOLES;
  }
  return true;
}

// x with holes between its elements, and the paddings that only a call knows.
static ir_value_t* dilated_input(onnx_node_t* n, ir_value_t* x, const transposed_t* t) {
  int64_t none[ONNX_MAX_RANK] = {0}, holes[ONNX_MAX_RANK] = {0};
  for (uint32_t i = 0; i < t->sweep.spatial; ++i) holes[2 + i] = t->sweep.strides[i] - 1;
  return onnx_pad(n, graph_pad(n->b, x, NULL, none, none, holes, NULL), t->low, t->high);
}

bool onnx_lower_conv_transpose(onnx_node_t* n) {
  ir_value_t *x = n->in[0].v, *w = n->in[1].v;
  graph_conv_t c = {.groups = onnx_int(n, "group", 1), .batch_groups = 1};
  transposed_t t;
  if (!onnx_check_same_element(n, 0, 1) || !onnx_check_same_element(n, 0, 2) || !onnx_check_float(n, 0)) return false;
  if (!onnx_check_rank(n, 0, 3, 2 + GRAPH_MAX_SPATIAL) || !check_weights(n, &x, &w, c.groups, true)) return false;
  if (!read_transposed(n, x, &w, &t)) return false;
  for (uint32_t i = 0; i < t.sweep.spatial; ++i) {
    c.strides[i] = 1;
    c.x_dilation[i] = t.known ? t.sweep.strides[i] : 1;
    c.w_dilation[i] = t.sweep.dilations[i];
    c.pad_low[i] = t.known ? t.low[2 + i].size : 0;
    c.pad_high[i] = t.known ? t.high[2 + i].size : 0;
  }
  c.x_layout = c.y_layout = onnx_layout(n, "nc", t.sweep.spatial);
  c.w_layout = onnx_layout(n, "oi", t.sweep.spatial);
  if (!t.known && !(x = dilated_input(n, x, &t))) return false;
  ir_value_t* y = graph_conv(n->b, x, transposed_weights(n, w, c.groups), &c, x->type->element);
  for (uint32_t i = 0; y && i < t.sweep.spatial; ++i) {
    if (t.out[i] != IR_DYNAMIC) y = onnx_sized(n, y, 2 + (int32_t)i, t.out[i]);
  }
  return onnx_return(n, add_bias(n, y, 2), n->in[0].element);
}
