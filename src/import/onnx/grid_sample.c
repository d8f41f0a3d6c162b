// GridSample and AffineGrid: reading an image at computed positions. Each neighbour of a position is one gather with
// batch dimension, weighted and summed.
#include <math.h>
#include <string.h>

#include "import/onnx/ops.h"

typedef enum { PAD_ZEROS, PAD_BORDER, PAD_REFLECTION } padding_t;
enum { MAX_SPATIAL = 3 };

typedef struct sampler_t {
  onnx_node_t* n;
  ir_value_t* flat;  // x as [n, c, product of spatial sizes]
  int32_t spatial;
  int64_t size[MAX_SPATIAL];
  padding_t padding;
  bool align_corners;
  ir_value_t* at[MAX_SPATIAL];  // positions per spatial dim: [n, points], floats
  onnx_dim_t batch, points, channels;
} sampler_t;

static ir_value_t* add(sampler_t* s, ir_value_t* x, ir_value_t* y) { return graph_binary(s->n->b, SCALAR_add, x, y); }
static ir_value_t* sub(sampler_t* s, ir_value_t* x, ir_value_t* y) { return graph_binary(s->n->b, SCALAR_sub, x, y); }
static ir_value_t* mul(sampler_t* s, ir_value_t* x, ir_value_t* y) { return graph_binary(s->n->b, SCALAR_mul, x, y); }
static ir_value_t* number(sampler_t* s, scalar_fn_t fn, ir_value_t* x, double y) {
  return onnx_binary_number(s->n, fn, x, y);
}

// x mirrored into [low, high].
static ir_value_t* reflect(sampler_t* s, ir_value_t* x, double low, double high) {
  double range = high - low;
  if (range <= 0) return graph_splat_like(s->n->b, x, low);
  ir_value_t* off = onnx_unary(s->n, SCALAR_abs, number(s, SCALAR_sub, x, low));
  ir_value_t* turns = onnx_unary(s->n, SCALAR_floor, number(s, SCALAR_div, off, range));
  ir_value_t* rest = sub(s, off, number(s, SCALAR_mul, turns, range));
  ir_value_t* half = onnx_unary(s->n, SCALAR_floor, number(s, SCALAR_mul, turns, 0.5));
  ir_value_t* odd = number(s, SCALAR_ne, sub(s, turns, number(s, SCALAR_mul, half, 2)), 0);
  ir_value_t* back = sub(s, graph_splat_like(s->n->b, rest, high), rest);
  return graph_select(s->n->b, odd, back, number(s, SCALAR_add, rest, low));
}

static ir_value_t* clamp(sampler_t* s, ir_value_t* x, double low, double high) {
  return number(s, SCALAR_min, number(s, SCALAR_max, x, low), high);
}

// A whole position brought inside; `*inside` (may be NULL) is where it was already, combined over dims.
static ir_value_t* settle(sampler_t* s, int32_t d, ir_value_t* x, ir_value_t** inside) {
  double last = (double)(s->size[d] - 1);
  if (s->padding == PAD_ZEROS) {
    ir_value_t* low = number(s, SCALAR_ge, x, 0);
    ir_value_t* both = graph_binary(s->n->b, SCALAR_and, low, number(s, SCALAR_le, x, last));
    *inside = *inside ? graph_binary(s->n->b, SCALAR_and, *inside, both) : both;
  }
  if (s->padding == PAD_REFLECTION) {
    x = s->align_corners ? reflect(s, x, 0, last) : reflect(s, x, -0.5, last + 0.5);
  }
  return clamp(s, x, 0, last);
}

// x's elements at whole positions, [n, c, points].
static ir_value_t* fetch(sampler_t* s, ir_value_t* const* at) {
  onnx_node_t* n = s->n;
  ir_value_t *index = NULL, *inside = NULL;
  for (int32_t d = 0; d < s->spatial; ++d) {
    ir_value_t* x = graph_cast(n->b, settle(s, d, at[d], &inside), ir_type_int(n->ctx, 64), false);
    index = index ? add(s, number(s, SCALAR_mul, index, (double)s->size[d]), x) : x;
  }
  static const int64_t batch = 0, point = 2, offset = 1;
  const int64_t sizes[] = {1, s->channels.size, 1};
  ir_context_t* ctx = n->ctx;
  ir_named_attr_t attrs[] = {{"offset_dims", ir_attr_i64_array(ctx, &offset, 1)},
                             {"collapsed_dims", ir_attr_i64_array(ctx, &point, 1)},
                             {"operand_batch_dims", ir_attr_i64_array(ctx, &batch, 1)},
                             {"indices_batch_dims", ir_attr_i64_array(ctx, &batch, 1)},
                             {"start_index_map", ir_attr_i64_array(ctx, &point, 1)},
                             {"index_vector_dim", ir_attr_i64(ctx, 2)},
                             {"slice_sizes", ir_attr_i64_array(ctx, sizes, 3)}};
  const int64_t dims[] = {index->type->dims[0], s->channels.size, index->type->dims[1]};
  const ir_type_t* type = ir_type_tensor(ctx, s->flat->type->element, 3, dims);
  ir_value_t* y = graph_build(n->b, GRAPH_GATHER, (ir_value_t*[]){s->flat, index}, 2, type, attrs, 7);
  static const int64_t spread[] = {0, 2};
  if (inside) y = graph_select(n->b, onnx_broadcast_as(n, inside, y, spread), y, graph_splat_like(n->b, y, 0));
  return y;
}

static ir_value_t* weighted(sampler_t* s, ir_value_t* y, ir_value_t* weight) {
  static const int64_t spread[] = {0, 2};
  return mul(s, y, onnx_broadcast_as(s->n, weight, y, spread));
}

// Weights of the neighbours floor(x) - before ... of every position, per dim.
static void neighbour_weights(sampler_t* s, bool cubic, ir_value_t* fraction, ir_value_t** out) {
  ir_value_t* one = graph_splat_like(s->n->b, fraction, 1);
  if (!cubic) {
    out[0] = sub(s, one, fraction);
    out[1] = fraction;
    return;
  }
  const double a = -0.75;
  ir_value_t* distances[] = {add(s, fraction, one), fraction, sub(s, one, fraction),
                             sub(s, number(s, SCALAR_add, one, 1), fraction)};
  for (int k = 0; k < 4; ++k) {
    ir_value_t *t = distances[k], *w;
    if (k == 1 || k == 2) {  // ((a + 2) t - (a + 3)) t t + 1
      w = number(s, SCALAR_add, mul(s, mul(s, number(s, SCALAR_sub, number(s, SCALAR_mul, t, a + 2), a + 3), t), t), 1);
    } else {  // ((a t - 5 a) t + 8 a) t - 4 a
      w = number(s, SCALAR_add, mul(s, number(s, SCALAR_sub, number(s, SCALAR_mul, t, a), 5 * a), t), 8 * a);
      w = number(s, SCALAR_sub, mul(s, w, t), 4 * a);
    }
    out[k] = w;
  }
}

static ir_value_t* interpolate(sampler_t* s, bool cubic) {
  int taps = cubic ? 4 : 2, total = 1;
  ir_value_t *base[MAX_SPATIAL], *weights[MAX_SPATIAL][4], *sum = NULL;
  for (int32_t d = 0; d < s->spatial; ++d) {
    ir_value_t* low = onnx_unary(s->n, SCALAR_floor, s->at[d]);
    neighbour_weights(s, cubic, sub(s, s->at[d], low), weights[d]);
    base[d] = cubic ? number(s, SCALAR_sub, low, 1) : low;
    total *= taps;
  }
  for (int i = 0; i < total; ++i) {
    ir_value_t *at[MAX_SPATIAL], *weight = NULL;
    for (int32_t d = s->spatial - 1, rest = i; d >= 0; --d, rest /= taps) {
      int k = rest % taps;
      at[d] = k ? number(s, SCALAR_add, base[d], k) : base[d];
      weight = weight ? mul(s, weight, weights[d][k]) : weights[d][k];
    }
    ir_value_t* part = weighted(s, fetch(s, at), weight);
    sum = sum ? add(s, sum, part) : part;
  }
  return sum;
}

// The grid's coordinate of spatial dim d (the last is first in the grid) in elements.
static ir_value_t* grid_position(sampler_t* s, ir_value_t* grid, int32_t d) {
  int64_t offsets[] = {0, 0, s->spatial - 1 - d}, ones[] = {1, 1, 1};
  int64_t sizes[] = {grid->type->dims[0], grid->type->dims[1], 1};
  ir_value_t* x = graph_slice(s->n->b, grid, offsets, sizes, ones);
  const onnx_dim_t dims[] = {s->batch, s->points};
  x = onnx_reshape(s->n, x, 2, dims);
  double size = (double)s->size[d];
  x = number(s, SCALAR_add, x, 1);
  if (s->align_corners) return number(s, SCALAR_mul, x, (size - 1) / 2);
  return number(s, SCALAR_mul, number(s, SCALAR_sub, number(s, SCALAR_mul, x, size), 1), 0.5);
}

static bool read_sampler(onnx_node_t* n, sampler_t* s) {
  const ir_type_t *x = n->in[0].v->type, *grid = n->in[1].v->type;
  const char* padding = onnx_string(n, "padding_mode", "zeros");
  *s = (sampler_t){.n = n, .spatial = x->rank - 2, .align_corners = onnx_int(n, "align_corners", 0) != 0};
  if (x->rank < 3 || s->spatial > MAX_SPATIAL || grid->rank != x->rank || grid->dims[grid->rank - 1] != s->spatial) {
    return onnx_error(n, "the input must have 1 to %d spatial dimensions and the grid as many coordinates",
                      MAX_SPATIAL);
  }
  if (strcmp(padding, "border") == 0)
    s->padding = PAD_BORDER;
  else if (strcmp(padding, "reflection") == 0)
    s->padding = PAD_REFLECTION;
  else if (strcmp(padding, "zeros") != 0)
    return onnx_error(n, "padding_mode '%s' is unknown", padding);
  if (!onnx_check_float(n, 0) || !onnx_check_float(n, 1)) return false;
  if (x->dims[0] != grid->dims[0] && x->dims[0] != IR_DYNAMIC && grid->dims[0] != IR_DYNAMIC)
    return onnx_error(n, "the batch sizes differ");
  int64_t total = 1;
  for (int32_t d = 0; d < s->spatial; ++d) {
    s->size[d] = x->dims[2 + d];
    if (s->size[d] == IR_DYNAMIC) return onnx_unsupported(n, "the input needs static spatial sizes");
    if (s->size[d] < 1 || __builtin_mul_overflow(total, s->size[d], &total))
      return onnx_error(n, "the input has no elements");
  }
  s->channels = onnx_dim(n, n->in[0].v, 1);
  if (s->channels.size == IR_DYNAMIC) return onnx_unsupported(n, "the number of channels must be static");
  s->batch = onnx_dim(n, n->in[1].v, 0);
  s->points = onnx_dim_of(1);
  for (int32_t d = 0; d < s->spatial; ++d) s->points = onnx_dim_mul(n, s->points, onnx_dim(n, n->in[1].v, 1 + d));
  const onnx_dim_t flat[] = {onnx_dim(n, n->in[0].v, 0), s->channels, onnx_dim_of(total)};
  s->flat = onnx_reshape(n, n->in[0].v, 3, flat);
  return true;
}

bool onnx_lower_grid_sample(onnx_node_t* n) {
  sampler_t s;
  const char* mode = onnx_string(n, "mode", "linear");
  bool nearest = strcmp(mode, "nearest") == 0, cubic = strcmp(mode, "cubic") == 0;
  if (!nearest && !cubic && strcmp(mode, "linear") != 0) return onnx_error(n, "mode '%s' is unknown", mode);
  if (!read_sampler(n, &s)) return false;
  ir_value_t* grid = onnx_cast(n, n->in[1], n->in[0].element).v;
  const onnx_dim_t rows[] = {s.batch, s.points, onnx_dim_of(s.spatial)};
  grid = onnx_reshape(n, grid, 3, rows);
  for (int32_t d = 0; d < s.spatial; ++d) {
    s.at[d] = grid_position(&s, grid, d);
    double last = (double)(s.size[d] - 1);
    if (s.padding == PAD_BORDER && !cubic) s.at[d] = clamp(&s, s.at[d], 0, last);
    if (s.padding == PAD_REFLECTION && !cubic) {
      s.at[d] = s.align_corners ? reflect(&s, s.at[d], 0, last) : reflect(&s, s.at[d], -0.5, last + 0.5);
      if (!s.align_corners) s.at[d] = clamp(&s, s.at[d], 0, last);
    }
    if (nearest) s.at[d] = onnx_unary(n, SCALAR_roundeven, s.at[d]);
  }
  ir_value_t* y = nearest ? fetch(&s, s.at) : interpolate(&s, cubic);
  onnx_dim_t dims[2 + MAX_SPATIAL] = {s.batch, s.channels};
  for (int32_t d = 0; d < s.spatial; ++d) dims[2 + d] = onnx_dim(n, n->in[1].v, 1 + d);
  return onnx_return(n, onnx_reshape(n, y, 2 + s.spatial, dims), n->in[0].element);
}

// theta: [n, d, d + 1] applied to the corners-to-corners grid of `size`.
bool onnx_lower_affine_grid(onnx_node_t* n) {
  int64_t size[2 + MAX_SPATIAL], at[MAX_SPATIAL];
  uint32_t count;
  bool align = onnx_int(n, "align_corners", 0) != 0;
  ir_value_t* parts[MAX_SPATIAL + 1];
  if (!onnx_check_float(n, 0) || !onnx_const_ints(n, 1, size, 2 + MAX_SPATIAL, &count)) return false;
  int32_t spatial = (int32_t)count - 2;
  const ir_type_t* theta = n->in[0].v->type;
  if (spatial < 2 || theta->rank != 3 || theta->dims[1] != spatial || theta->dims[2] != spatial + 1) {
    return onnx_error(n, "theta does not fit the size");
  }
  int64_t dims[MAX_SPATIAL + 1];
  for (int32_t d = 0; d < spatial; ++d) {
    dims[d] = size[2 + d];
    at[d] = d;
    if (dims[d] < 1 || dims[d] > (1 << 24)) return onnx_error(n, "size %lld is out of range", (long long)dims[d]);
  }
  dims[spatial] = 1;
  const ir_type_t* type = ir_type_tensor(n->ctx, theta->element, spatial + 1, dims);
  for (int32_t d = 0; d < spatial; ++d) {  // coordinate d of the grid is the (spatial - 1 - d)-th dim
    int32_t axis = spatial - 1 - d;
    double last = (double)dims[axis], step = align ? (last > 1 ? 2 / (last - 1) : 0) : 2 / last;
    double first = align ? (last > 1 ? -1 : 0) : -1 + 1 / last;
    ir_value_t* x = onnx_binary_number(n, SCALAR_mul, graph_iota(n->b, type, axis, NULL), step);
    parts[d] = onnx_binary_number(n, SCALAR_add, x, first);
  }
  parts[spatial] = graph_splat_number(n->b, type, 1);
  ir_value_t* base = graph_concat(n->b, parts, (uint32_t)spatial + 1, spatial);
  int64_t lhs = 2, rhs = spatial, perm[MAX_SPATIAL + 2];
  graph_contract_t c = {.lhs_contract = &lhs, .rhs_contract = &rhs, .contract_count = 1};
  ir_value_t* y = graph_contract(n->b, n->in[0].v, base, &c, theta->element);  // [n, d, spatial...]
  perm[0] = 0;
  for (int32_t d = 0; d < spatial; ++d) perm[1 + d] = 2 + at[d];
  perm[1 + spatial] = 1;
  return onnx_return(n, graph_transpose(n->b, y, perm), n->in[0].element);
}
