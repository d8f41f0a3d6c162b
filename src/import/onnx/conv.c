// Convolutions.
#include <math.h>
#include <string.h>

#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"
#include "import/onnx/sweep.h"

// The weights tell how many channels *x must have.
static bool check_weights(onnx_node_t* n, ir_value_t** x, ir_value_t* w, int64_t groups, bool transposed) {
  const ir_type_t* wt = w->type;
  if ((*x)->type->rank != wt->rank) return onnx_error(n, "input and weights must have the same rank");
  int64_t channels = (*x)->type->dims[1], per_group = wt->dims[1], outputs = wt->dims[0];
  if (groups < 1 || per_group == IR_DYNAMIC || outputs == IR_DYNAMIC) {
    return onnx_error(n, "the weights' channels must be static and group positive");
  }
  if (per_group > (1ll << 40) / groups) return onnx_error(n, "the weights do not fit the input");
  if (channels == IR_DYNAMIC) {
    channels = transposed ? outputs : per_group * groups;
    *x = onnx_sized(n, *x, 1, channels);
  }
  bool fits = transposed ? outputs == channels && channels % groups == 0
                         : per_group * groups == channels && outputs % groups == 0;
  return fits || onnx_error(n, "%lld input channels in %lld groups do not fit the weights", (long long)channels,
                            (long long)groups);
}

// Convolution of x and w (in ONNX's layouts) with the node's attributes, accumulated in that type. NULL after a
// diagnostic.
ir_value_t* onnx_conv(onnx_node_t* n, ir_value_t* x, ir_value_t* w, const ir_type_t* accumulator) {
  graph_conv_t c = {.groups = onnx_int(n, "group", 1), .batch_groups = 1};
  onnx_sweep_t s;
  if (x->type->rank < 3 || x->type->rank > 2 + GRAPH_MAX_SPATIAL) {
    return onnx_error(n, "input must have rank 3 to %d", 2 + GRAPH_MAX_SPATIAL), NULL;
  }
  if (!check_weights(n, &x, w, c.groups, false) || !onnx_read_sweep(n, x, w->type->dims + 2, &s)) return NULL;
  c.x_layout = c.y_layout = onnx_layout(n, "nc", s.spatial);
  c.w_layout = onnx_layout(n, "oi", s.spatial);
  for (uint32_t i = 0; i < s.spatial; ++i) {
    c.strides[i] = s.strides[i];
    c.pad_low[i] = s.pad_low[i];
    c.pad_high[i] = s.pad_high[i];
    c.w_dilation[i] = s.dilations[i];
    c.x_dilation[i] = 1;
  }
  return graph_conv(n->b, onnx_sweep_input(n, x, &s, 0), w, &c, accumulator);
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
  int64_t dims[ONNX_MAX_RANK], perm[ONNX_MAX_RANK], spatial[ONNX_MAX_RANK];
  const int64_t* old = w->type->dims;
  for (int32_t i = 2; i < rank; ++i) spatial[i - 2] = i;
  w = graph_reverse(n->b, w, spatial, (uint32_t)rank - 2);
  dims[0] = groups, dims[1] = old[0] / groups, dims[2] = old[1];
  for (int32_t i = 0; i <= rank; ++i) perm[i] = i;
  for (int32_t i = 2; i < rank; ++i) dims[i + 1] = old[i];
  perm[1] = 2, perm[2] = 1;
  w = graph_transpose(n->b, graph_reshape(n->b, w, rank + 1, dims, NULL), perm);
  dims[0] = groups * old[1], dims[1] = old[0] / groups;
  for (int32_t i = 2; i < rank; ++i) dims[i] = old[i];
  return graph_reshape(n->b, w, rank, dims, NULL);
}

// Paddings (of the result) when output_shape or auto_pad asks for a size. Where the input's size is known at run time
// only (s->any), s->out is what output_shape asks for: fit_result() brings that about.
static bool transposed_pads(onnx_node_t* n, ir_value_t* x, onnx_sweep_t* s, const int64_t* output_padding) {
  int64_t shape[ONNX_MAX_RANK];
  uint32_t count;
  s->upper = strcmp(onnx_string(n, "auto_pad", "NOTSET"), "SAME_UPPER") == 0;
  const char* mode = onnx_string(n, "auto_pad", "NOTSET");
  bool same = strncmp(mode, "SAME", 4) == 0;
  if (!onnx_ints(n, "output_shape", shape, ONNX_MAX_RANK, &count)) return false;
  if (count && count != s->spatial && count != s->spatial + 2)
    return onnx_error(n, "output_shape has %u entries", count);
  if (!count && !same) return true;
  const int64_t* wanted = count > s->spatial ? shape + 2 : shape;
  for (uint32_t i = 0; i < s->spatial; ++i) {
    int64_t size = x->type->dims[2 + i];
    if (size == IR_DYNAMIC && count) {
      if (wanted[i] < 1 || wanted[i] > (1 << 30)) return onnx_error(n, "output_shape is out of reach");
      s->any[i] = s->pads_any = true;
      s->out[i] = wanted[i];
      s->pad_low[i] = s->pad_high[i] = 0;
      continue;
    }
    int64_t total =
        output_padding[i] + (s->kernel[i] - 1) * s->dilations[i] + 1 - s->strides[i];  // over input * stride
    if (count) total += size * s->strides[i] - wanted[i];
    if (total < -(1ll << 40) || total > (1ll << 40)) return onnx_error(n, "output_shape is out of reach");
    s->pad_low[i] = s->upper ? total / 2 : total - total / 2;
    if (total < 0) s->pad_low[i] = 0;  // the result is longer than what the input reaches
    s->pad_high[i] = total - s->pad_low[i];
  }
  return true;
}

// The whole transposed convolution y, cut (or filled up at the end) to the sizes that are asked for. NULL after a
// diagnostic.
static ir_value_t* fit_result(onnx_node_t* n, ir_value_t* y, const onnx_sweep_t* s) {
  onnx_dim_t low[ONNX_MAX_RANK], high[ONNX_MAX_RANK], zero = onnx_dim_of(0);
  if (!s->pads_any) return y;
  for (int32_t d = 0; d < y->type->rank; ++d) {
    low[d] = high[d] = zero;
    if (d < 2 || !s->any[d - 2]) continue;
    onnx_dim_t over = onnx_dim_sub(n, onnx_dim(n, y, d), onnx_dim_of(s->out[d - 2]));
    onnx_dim_t cut = onnx_dim_max(n, over, zero), before = onnx_dim_div(n, cut, onnx_dim_of(2));
    if (!s->upper) before = onnx_dim_sub(n, cut, before);
    low[d] = onnx_dim_sub(n, zero, before);
    high[d] = onnx_dim_sub(n, before, over);
  }
  y = onnx_pad(n, y, low, high);
  for (int32_t d = 2; y && d < y->type->rank; ++d) {
    if (s->any[d - 2]) y = onnx_sized(n, y, d, s->out[d - 2]);
  }
  return y;
}

bool onnx_lower_conv_transpose(onnx_node_t* n) {
  ir_value_t *x = n->in[0].v, *w = n->in[1].v;
  graph_conv_t c = {.groups = onnx_int(n, "group", 1), .batch_groups = 1};
  onnx_sweep_t s;
  int64_t output_padding[GRAPH_MAX_SPATIAL] = {0};
  uint32_t given;
  if (!onnx_check_same_element(n, 0, 1) || !onnx_check_same_element(n, 0, 2) || !onnx_check_float(n, 0)) return false;
  if (!onnx_check_rank(n, 0, 3, 2 + GRAPH_MAX_SPATIAL) || !check_weights(n, &x, w, c.groups, true)) return false;
  if (!onnx_read_transposed_sweep(n, x, w->type->dims + 2, &s)) return false;
  if (!onnx_ints(n, "output_padding", output_padding, s.spatial, &given)) return false;
  if (!transposed_pads(n, x, &s, output_padding)) return false;
  for (uint32_t i = 0; i < s.spatial; ++i) {
    int64_t extent = (s.kernel[i] - 1) * s.dilations[i];
    if (output_padding[i] < 0 || output_padding[i] > (1 << 30)) return onnx_error(n, "output_padding is out of range");
    c.strides[i] = 1;
    c.x_dilation[i] = s.strides[i];
    c.w_dilation[i] = s.dilations[i];
    c.pad_low[i] = extent - s.pad_low[i];
    c.pad_high[i] = extent - s.pad_high[i] + output_padding[i];
  }
  c.x_layout = c.y_layout = onnx_layout(n, "nc", s.spatial);
  c.w_layout = onnx_layout(n, "oi", s.spatial);
  ir_value_t* y = fit_result(n, graph_conv(n->b, x, transposed_weights(n, w, c.groups), &c, x->type->element), &s);
  return onnx_return(n, add_bias(n, y, 2), n->in[0].element);
}
