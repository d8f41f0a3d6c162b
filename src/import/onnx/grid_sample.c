// GridSample, AffineGrid, DeformConv and RoiAlign: reading an image at computed positions. Each neighbour of a position
// is one gather with batch dimension, weighted and summed.
#include <math.h>
#include <string.h>

#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"
#include "import/onnx/sweep.h"

typedef enum { PAD_ZEROS, PAD_BORDER, PAD_REFLECTION } padding_t;
enum { MAX_SPATIAL = 3, MAX_SAMPLES = 4096 };

typedef struct sampler_t {
  onnx_node_t* n;
  ir_value_t* flat;    // x as [n, c, product of spatial sizes]; with `images` as [all of them, c]
  ir_value_t* images;  // NULL, or which image each row of positions is of: [rows], i64. Channels are last then
  int32_t spatial;
  onnx_dim_t size[MAX_SPATIAL];
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

// A size, with an offset, in the shape and element type of `like`.
static ir_value_t* size_like(sampler_t* s, int32_t d, double offset, ir_value_t* like) {
  onnx_dim_t size = s->size[d];
  if (onnx_dim_known(size)) return graph_splat_like(s->n->b, like, (double)size.size + offset);
  ir_value_t* y = graph_cast(s->n->b, onnx_dim_like(s->n, size, like), like->type->element, false);
  return number(s, SCALAR_add, y, offset);
}

// x mirrored into the places that there are: [0, size - 1], or half a place more on both sides.
static ir_value_t* reflect(sampler_t* s, int32_t d, ir_value_t* x) {
  double low = s->align_corners ? 0 : -0.5;
  ir_value_t *range = size_like(s, d, s->align_corners ? -1 : 0, x), *high = number(s, SCALAR_add, range, low);
  if (s->size[d].size == 1 && s->align_corners) return graph_splat_like(s->n->b, x, low);
  ir_value_t* off = onnx_unary(s->n, SCALAR_abs, number(s, SCALAR_sub, x, low));
  ir_value_t* turns = onnx_unary(s->n, SCALAR_floor, graph_binary(s->n->b, SCALAR_div, off, range));
  ir_value_t* rest = sub(s, off, mul(s, turns, range));
  ir_value_t* half = onnx_unary(s->n, SCALAR_floor, number(s, SCALAR_mul, turns, 0.5));
  ir_value_t* odd = number(s, SCALAR_ne, sub(s, turns, number(s, SCALAR_mul, half, 2)), 0);
  ir_value_t* y = graph_select(s->n->b, odd, sub(s, high, rest), number(s, SCALAR_add, rest, low));
  if (onnx_dim_known(s->size[d]) || !s->align_corners) return y;
  return graph_select(s->n->b, number(s, SCALAR_le, range, 0), graph_splat_like(s->n->b, x, low), y);
}

// x brought into [0, size - 1].
static ir_value_t* clamp(sampler_t* s, int32_t d, ir_value_t* x) {
  return graph_binary(s->n->b, SCALAR_min, number(s, SCALAR_max, x, 0), size_like(s, d, -1, x));
}

// A whole position brought inside; `*inside` (may be NULL) is where it was already, combined over dims.
static ir_value_t* settle(sampler_t* s, int32_t d, ir_value_t* x, ir_value_t** inside) {
  if (s->padding == PAD_ZEROS) {
    ir_value_t* low = number(s, SCALAR_ge, x, 0);
    ir_value_t* high = graph_binary(s->n->b, SCALAR_le, x, size_like(s, d, -1, x));
    ir_value_t* both = graph_binary(s->n->b, SCALAR_and, low, high);
    *inside = *inside ? graph_binary(s->n->b, SCALAR_and, *inside, both) : both;
  }
  if (s->padding == PAD_REFLECTION) x = reflect(s, d, x);
  return clamp(s, d, x);
}

// Where rows and points of positions are among the dims of what is read there.
static const int64_t* position_dims(const sampler_t* s) {
  static const int64_t channels_first[] = {0, 2}, channels_last[] = {0, 1};
  return s->images ? channels_last : channels_first;
}

// x's elements at whole positions, [n, c, points] or [n, points, c].
static ir_value_t* fetch(sampler_t* s, ir_value_t* const* at) {
  onnx_node_t* n = s->n;
  ir_value_t *inside = NULL, *index = NULL;
  const int64_t first = 0, point = 2, offset = s->images ? 2 : 1;
  for (int32_t d = 0; d < s->spatial; ++d) {
    ir_value_t* x = graph_cast(n->b, settle(s, d, at[d], &inside), ir_type_int(n->ctx, 64), false);
    if (!index && s->images) index = onnx_broadcast_as(n, s->images, x, &first);
    index = index ? add(s, mul(s, index, onnx_dim_like(n, s->size[d], index)), x) : x;
  }
  const int64_t sizes[] = {1, s->channels.size, 1}, *taken = s->images ? &first : &point;
  uint32_t batches = s->images ? 0 : 1;
  ir_context_t* ctx = n->ctx;
  ir_named_attr_t attrs[] = {{"offset_dims", ir_attr_i64_array(ctx, &offset, 1)},
                             {"collapsed_dims", ir_attr_i64_array(ctx, taken, 1)},
                             {"operand_batch_dims", ir_attr_i64_array(ctx, &first, batches)},
                             {"indices_batch_dims", ir_attr_i64_array(ctx, &first, batches)},
                             {"start_index_map", ir_attr_i64_array(ctx, taken, 1)},
                             {"index_vector_dim", ir_attr_i64(ctx, 2)},
                             {"slice_sizes", ir_attr_i64_array(ctx, sizes, s->images ? 2 : 3)}};
  int64_t dims[] = {index->type->dims[0], 0, 0};
  dims[offset] = s->channels.size, dims[3 - offset] = index->type->dims[1];
  const ir_type_t* type = ir_type_tensor(ctx, s->flat->type->element, 3, dims);
  ir_value_t* y = graph_build(n->b, GRAPH_GATHER, (ir_value_t*[]){s->flat, index}, 2, type, attrs, 7);
  if (inside)
    y = graph_select(n->b, onnx_broadcast_as(n, inside, y, position_dims(s)), y, graph_splat_like(n->b, y, 0));
  return y;
}

static ir_value_t* weighted(sampler_t* s, ir_value_t* y, ir_value_t* weight) {
  return mul(s, y, onnx_broadcast_as(s->n, weight, y, position_dims(s)));
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

// The neighbours' weighted values, joined by `join`: their sum, or the largest.
static ir_value_t* interpolate(sampler_t* s, bool cubic, scalar_fn_t join) {
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
    sum = sum ? graph_binary(s->n->b, join, sum, part) : part;
  }
  return sum;
}

// The grid's coordinate of spatial dim d (the last is first in the grid) in elements.
static ir_value_t* grid_position(sampler_t* s, ir_value_t* grid, int32_t d) {
  ir_value_t* x = number(s, SCALAR_add, onnx_entry(s->n, grid, 2, s->spatial - 1 - d), 1);
  if (s->align_corners) return mul(s, x, number(s, SCALAR_mul, size_like(s, d, -1, x), 0.5));
  return number(s, SCALAR_mul, number(s, SCALAR_sub, mul(s, x, size_like(s, d, 0, x)), 1), 0.5);
}

static bool read_sampler(onnx_node_t* n, sampler_t* s) {
  const ir_type_t *x = n->in[0].v->type, *grid = n->in[1].v->type;
  const char* padding = onnx_string(n, "padding_mode", "zeros");
  *s = (sampler_t){.n = n, .spatial = x->rank - 2, .align_corners = onnx_int(n, "align_corners", 0) != 0};
  if (x->rank < 3 || s->spatial > MAX_SPATIAL || grid->rank != x->rank ||
      (grid->dims[grid->rank - 1] != s->spatial && grid->dims[grid->rank - 1] != IR_DYNAMIC)) {
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
  onnx_dim_t total = onnx_dim_of(1);
  for (int32_t d = 0; d < s->spatial; ++d) {
    s->size[d] = onnx_dim(n, n->in[0].v, 2 + d);
    if (onnx_dim_known(s->size[d]) && s->size[d].size < 1) return onnx_error(n, "the input has no elements");
    total = onnx_dim_mul(n, total, s->size[d]);
  }
  s->channels = onnx_dim(n, n->in[0].v, 1);
  s->batch = onnx_dim(n, n->in[1].v, 0);
  s->points = onnx_dim_of(1);
  for (int32_t d = 0; d < s->spatial; ++d) s->points = onnx_dim_mul(n, s->points, onnx_dim(n, n->in[1].v, 1 + d));
  const onnx_dim_t flat[] = {onnx_dim(n, n->in[0].v, 0), s->channels, total};
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
    if (s.padding == PAD_BORDER && !cubic) s.at[d] = clamp(&s, d, s.at[d]);
    if (s.padding == PAD_REFLECTION && !cubic) {
      s.at[d] = reflect(&s, d, s.at[d]);
      if (!s.align_corners) s.at[d] = clamp(&s, d, s.at[d]);
    }
    if (nearest) s.at[d] = onnx_unary(n, SCALAR_roundeven, s.at[d]);
  }
  ir_value_t* y = nearest ? fetch(&s, s.at) : interpolate(&s, cubic, SCALAR_add);
  onnx_dim_t dims[2 + MAX_SPATIAL] = {s.batch, s.channels};
  for (int32_t d = 0; d < s.spatial; ++d) dims[2 + d] = onnx_dim(n, n->in[1].v, 1 + d);
  return onnx_return(n, onnx_reshape(n, y, 2 + s.spatial, dims), n->in[0].element);
}

// theta: [n, d, d + 1] applied to the corners-to-corners grid of `size`.
// Coordinates of the grid's points along one of its dims, in the shape of `like`.
static ir_value_t* grid_line(onnx_node_t* n, onnx_dim_t size, ir_value_t* like, int32_t axis) {
  bool align = onnx_int(n, "align_corners", 0) != 0;
  const ir_type_t* element = like->type->element;
  ir_value_t* x = onnx_iota_like(n, like, axis);
  if (onnx_dim_known(size)) {
    double last = (double)size.size, step = align ? (last > 1 ? 2 / (last - 1) : 0) : 2 / last;
    double first = align ? (last > 1 ? -1 : 0) : -1 + 1 / last;
    return onnx_binary_number(n, SCALAR_add, onnx_binary_number(n, SCALAR_mul, x, step), first);
  }
  onnx_dim_t one = onnx_dim_of(1), steps = align ? onnx_dim_max(n, onnx_dim_sub(n, size, one), one) : size;
  ir_value_t* by = graph_cast(n->b, onnx_dim_like(n, steps, like), element, false);
  // (2 i - steps) / steps, in the middle of a step unless aligned; 0 for a single aligned point
  x = onnx_binary_number(n, SCALAR_mul, x, 2);
  if (!align) x = onnx_binary_number(n, SCALAR_add, x, 1);
  x = graph_binary(n->b, SCALAR_div, graph_binary(n->b, SCALAR_sub, x, by), by);
  if (!align) return x;
  ir_value_t* single = onnx_binary_number(n, SCALAR_eq, onnx_dim_like(n, size, like), 1);
  return graph_select(n->b, single, graph_splat_like(n->b, x, 0), x);
}

bool onnx_lower_affine_grid(onnx_node_t* n) {
  onnx_dim_t size[2 + MAX_SPATIAL], dims[MAX_SPATIAL + 1];
  ir_value_t* parts[MAX_SPATIAL + 1];
  if (!onnx_check_float(n, 0) || !onnx_check_rank(n, 0, 3, 3)) return false;
  int64_t count = ir_type_count(n->in[1].v->type), rows = onnx_dim_size(n->in[0], 1);
  if (count == IR_DYNAMIC) count = rows != IR_DYNAMIC ? 2 + rows : onnx_result_rank(n, 0);
  if (count < 0) return onnx_unsupported(n, "declare the result's shape in the model, or give input 1 a shape");
  if (count < 4 || count > 2 + MAX_SPATIAL) return onnx_error(n, "theta does not fit the size");
  int32_t spatial = (int32_t)count - 2;
  if (!onnx_dims_exactly(n, 1, (uint32_t)count, size)) return false;
  ir_value_t* x = onnx_sized(n, n->in[0].v, 1, spatial);
  x = x ? onnx_sized(n, x, 2, spatial + 1) : NULL;
  if (!x) return false;
  const ir_type_t* theta = x->type;
  onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, size[0], onnx_dim(n, n->in[0].v, 0));
  if (size[0].loaded && !onnx_require(n, fits, "theta does not fit the size")) return false;
  for (int32_t d = 0; d < spatial; ++d) {
    dims[d] = size[2 + d];
    fits = onnx_flag_and(n, onnx_dim_test(n, SCALAR_ge, dims[d], onnx_dim_of(1)),
                         onnx_dim_test(n, SCALAR_le, dims[d], onnx_dim_of(1 << 24)));
    if (!onnx_require(n, fits, "a size is out of range")) return false;
  }
  dims[spatial] = onnx_dim_of(1);
  ir_value_t* one = graph_scalar_constant(n->b, theta->element, 1);
  parts[spatial] = onnx_broadcast_to(n, one, spatial + 1, dims);
  for (int32_t d = 0; d < spatial; ++d) {  // coordinate d of the grid is the (spatial - 1 - d)-th dim
    parts[d] = grid_line(n, dims[spatial - 1 - d], parts[spatial], spatial - 1 - d);
  }
  ir_value_t* base = graph_concat(n->b, parts, (uint32_t)spatial + 1, spatial);
  int64_t lhs = 2, rhs = spatial, perm[MAX_SPATIAL + 2];
  graph_contract_t c = {.lhs_contract = &lhs, .rhs_contract = &rhs, .contract_count = 1};
  ir_value_t* y = graph_contract(n->b, x, base, &c, theta->element);  // [n, d, spatial...]
  perm[0] = 0;
  for (int32_t d = 0; d < spatial; ++d) perm[1 + d] = 2 + d;
  perm[1 + spatial] = 1;
  return onnx_return(n, graph_transpose(n->b, y, perm), n->in[0].element);
}

//===----------------------------------------------------------------------------------------------------------------===
// DeformConv: the columns of a convolution are sampled at shifted positions
//===----------------------------------------------------------------------------------------------------------------===

typedef struct deform_t {
  onnx_node_t* n;
  ir_value_t *x, *w;
  onnx_sweep_t sweep;
  int64_t groups, offset_groups;
  onnx_dim_t out[2], taps, points, rows;  // rows: of all images' offset groups
} deform_t;

// What must divide a number of channels, or be equal to another number, if the model tells; else a call stops.
static bool check_divides(onnx_node_t* n, onnx_dim_t size, int64_t by) {
  onnx_dim_t whole = onnx_dim_mul(n, onnx_dim_div(n, size, onnx_dim_of(by)), onnx_dim_of(by));
  return onnx_require(n, onnx_dim_test(n, SCALAR_eq, whole, size), "%lld groups do not divide the channels",
                      (long long)by);
}

static bool check_equal(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b) {
  return onnx_require(n, onnx_dim_test(n, SCALAR_eq, a, b), "weights, offsets and input do not fit each other");
}

static bool check_deform(deform_t* d) {
  onnx_node_t* n = d->n;
  ir_value_t *offset = n->in[2].v, *mask = onnx_has(n, 4) ? n->in[4].v : NULL;
  onnx_dim_t channels = onnx_dim(n, d->x, 1), by = onnx_dim_of(d->offset_groups);
  bool fits = check_divides(n, onnx_dim(n, d->w, 0), d->groups) && check_divides(n, channels, d->offset_groups) &&
              check_equal(n, onnx_dim_mul(n, onnx_dim(n, d->w, 1), onnx_dim_of(d->groups)), channels);
  onnx_dim_t pairs = onnx_dim_mul(n, d->taps, by);
  const onnx_dim_t wanted[] = {onnx_dim(n, d->x, 0), onnx_dim_mul(n, pairs, onnx_dim_of(2)), d->out[0], d->out[1]};
  for (int32_t i = 0; fits && i < 4; ++i) {
    fits = check_equal(n, onnx_dim(n, offset, i), wanted[i]);
    if (fits && mask) fits = check_equal(n, onnx_dim(n, mask, i), i == 1 ? pairs : wanted[i]);
  }
  return fits;
}

static bool read_deform(onnx_node_t* n, deform_t* d) {
  *d = (deform_t){.n = n, .groups = onnx_int(n, "group", 1), .offset_groups = onnx_int(n, "offset_group", 1)};
  if (onnx_rank(n->in[0]) != 4 || onnx_rank(n->in[1]) != 4 || onnx_rank(n->in[2]) != 4)
    return onnx_unsupported(n, "only two spatial dimensions are supported");
  if (onnx_has(n, 4) && !onnx_check_rank(n, 4, 4, 4)) return false;
  for (uint32_t i = 0; i < n->in_count; ++i) {
    if (!onnx_check_same_element(n, 0, i)) return false;
  }
  d->x = n->in[0].v, d->w = n->in[1].v;
  if (!onnx_check_float(n, 0) || !onnx_read_sweep(n, d->x, &d->w, &d->sweep)) return false;
  if (d->sweep.pads_any) return onnx_error(n, "auto_pad is no attribute of this operator");
  if (d->groups < 1 || d->offset_groups < 1 || d->groups > (1 << 24) || d->offset_groups > (1 << 24))
    return onnx_error(n, "groups are out of range");
  d->taps = onnx_dim_mul(n, d->sweep.taps[0], d->sweep.taps[1]);
  if (d->taps.size > 4096) return onnx_error(n, "the kernel is out of range");
  for (uint32_t i = 0; i < 2; ++i) {
    const onnx_sweep_t* s = &d->sweep;
    onnx_dim_t size = onnx_dim(n, d->x, 2 + (int32_t)i), pads = onnx_dim_of(s->pad_low[i] + s->pad_high[i]);
    if (onnx_dim_known(size) && size.size < 1) return onnx_error(n, "the input is empty");
    onnx_dim_t room = onnx_dim_sub(n, onnx_dim_add(n, size, pads), onnx_sweep_reach(n, s, i));
    d->out[i] = onnx_dim_ceil_div(n, room, onnx_dim_of(s->strides[i]));
  }
  d->points = onnx_dim_mul(n, d->out[0], d->out[1]);
  d->rows = onnx_dim_mul(n, onnx_dim(n, d->x, 0), onnx_dim_of(d->offset_groups));
  return check_deform(d);
}

// Unshifted position along spatial dim `dim` of every tap and point: [taps, h, w], in the shape [1, taps, h, w].
static ir_value_t* tap_positions(deform_t* d, int32_t dim, const ir_type_t* element) {
  onnx_node_t* n = d->n;
  const onnx_sweep_t* s = &d->sweep;
  const onnx_dim_t one = onnx_dim_of(1), dims[] = {one, s->taps[0], s->taps[1], d->out[0], d->out[1]};
  ir_value_t* tap = graph_cast(n->b, onnx_numbers(n, 5, dims, 1 + dim), element, false);
  ir_value_t* point = graph_cast(n->b, onnx_numbers(n, 5, dims, 3 + dim), element, false);
  tap = onnx_binary_number(n, SCALAR_mul, tap, (double)s->dilations[dim]);
  point = onnx_binary_number(n, SCALAR_mul, point, (double)s->strides[dim]);
  ir_value_t* at = graph_binary(n->b, SCALAR_add, tap, point);
  const onnx_dim_t flat[] = {one, onnx_dim_mul(n, d->taps, d->points)};
  return onnx_reshape(n, onnx_binary_number(n, SCALAR_sub, at, (double)s->pad_low[dim]), 2, flat);
}

// Offsets of one spatial dim: [n, groups * taps * 2, h, w] -> [n * groups, taps * h * w].
static ir_value_t* tap_offsets(deform_t* d, int64_t dim) {
  onnx_node_t* n = d->n;
  const onnx_dim_t apart[] = {d->rows, d->taps, onnx_dim_of(2), d->points};
  const onnx_dim_t flat[] = {d->rows, onnx_dim_mul(n, d->taps, d->points)};
  ir_value_t* pairs = onnx_reshape(n, n->in[2].v, 4, apart);
  return onnx_reshape(n, onnx_entry(n, pairs, 2, dim), 2, flat);
}

// The sampled columns [n, c * taps, points] times the weights.
static ir_value_t* multiply_columns(deform_t* d, ir_value_t* columns) {
  onnx_node_t* n = d->n;
  onnx_dim_t batch = onnx_dim(n, d->x, 0), channels = onnx_dim(n, d->w, 0), groups = onnx_dim_of(d->groups);
  onnx_dim_t depth = onnx_dim_mul(n, onnx_dim(n, d->w, 1), d->taps), rows = onnx_dim_div(n, channels, groups);
  const onnx_dim_t grouped[] = {batch, groups, depth, d->points}, weights[] = {groups, rows, depth};
  static const int64_t lhs_batch = 0, rhs_batch = 1, lhs = 2, rhs = 2, perm[] = {2, 0, 1, 3};
  graph_contract_t c = {&lhs_batch, &rhs_batch, &lhs, &rhs, 1, 1, false, false};
  ir_value_t *left = onnx_reshape(n, d->w, 3, weights), *right = onnx_reshape(n, columns, 4, grouped);
  ir_value_t* y = graph_contract(n->b, left, right, &c, d->w->type->element);  // [g, rows, n, points]
  const onnx_dim_t dims[] = {batch, channels, d->out[0], d->out[1]};
  return onnx_reshape(n, graph_transpose(n->b, y, perm), 4, dims);
}

bool onnx_lower_deform_conv(onnx_node_t* n) {
  deform_t d;
  if (!read_deform(n, &d)) return false;
  const ir_type_t* element = d.x->type->element;
  sampler_t s = {.n = n, .spatial = 2};
  for (int32_t dim = 0; dim < 2; ++dim) s.size[dim] = onnx_dim(n, d.x, 2 + dim);
  s.channels = onnx_dim_div(n, onnx_dim(n, d.x, 1), onnx_dim_of(d.offset_groups));
  const onnx_dim_t flat[] = {d.rows, s.channels, onnx_dim_mul(n, s.size[0], s.size[1])};
  s.flat = onnx_reshape(n, d.x, 3, flat);
  for (int32_t dim = 0; dim < 2; ++dim) {
    ir_value_t *base = tap_positions(&d, dim, element), *offset = tap_offsets(&d, dim);
    if (!(base = onnx_broadcast_onto(n, base, offset))) return false;
    s.at[dim] = add(&s, base, offset);
  }
  ir_value_t* sampled = interpolate(&s, false, SCALAR_add);  // [rows, c / groups, taps * points]
  if (onnx_has(n, 4)) {
    const onnx_dim_t mask[] = {d.rows, onnx_dim_mul(n, d.taps, d.points)};
    sampled = weighted(&s, sampled, onnx_reshape(n, n->in[4].v, 2, mask));
  }
  ir_value_t* y = multiply_columns(&d, sampled);
  if (onnx_has(n, 3)) {
    ir_value_t* bias = onnx_along(n, n->in[3].v, 1, y);
    y = bias ? graph_binary(n->b, SCALAR_add, y, bias) : NULL;
  }
  return onnx_return(n, y, n->in[0].element);
}

//===----------------------------------------------------------------------------------------------------------------===
// RoiAlign: boxes of an image, each sampled on a regular grid and averaged
//===----------------------------------------------------------------------------------------------------------------===

typedef struct roi_t {
  sampler_t s;
  onnx_dim_t boxes, samples[2];  // samples: along one side of a place of the result, the most of any box
  ir_value_t* counts[2];         // those of each box: [boxes], floats; NULL: all have the most
  int64_t out[2];
  double scale;
  bool half_pixel;
} roi_t;

// Column `i` of the boxes, [boxes].
static ir_value_t* box_edge(roi_t* r, int64_t i) {
  ir_value_t* x = number(&r->s, SCALAR_mul, onnx_entry(r->s.n, r->s.n->in[1].v, 1, i), r->scale);
  return r->half_pixel ? number(&r->s, SCALAR_sub, x, 0.5) : x;
}

static ir_value_t* box_size(roi_t* r, int32_t dim) {
  ir_value_t* size = sub(&r->s, box_edge(r, 3 - dim), box_edge(r, 1 - dim));
  return r->half_pixel ? size : number(&r->s, SCALAR_max, size, 1);
}

// Without a sampling ratio a place of a box has as many samples as it is large, rounded up.
static bool count_samples(roi_t* r, int32_t dim) {
  onnx_node_t* n = r->s.n;
  static const int64_t zero = 0;
  int64_t ratio = onnx_int(n, "sampling_ratio", 0);
  if (ratio < 0 || ratio > MAX_SAMPLES) return onnx_error(n, "sampling_ratio must be 0 to %d", MAX_SAMPLES);
  if (ratio) return r->samples[dim] = onnx_dim_of(ratio), true;
  ir_value_t* size = number(&r->s, SCALAR_div, box_size(r, dim), (double)r->out[dim]);
  size = number(&r->s, SCALAR_max, onnx_unary(n, SCALAR_ceil, size), 0);
  ir_value_t* few = number(&r->s, SCALAR_le, size, MAX_SAMPLES);  // false for what is no number
  size = graph_select(n->b, few, size, graph_splat_like(n->b, size, MAX_SAMPLES + 1));
  r->counts[dim] = size;
  ir_value_t* most = number(&r->s, SCALAR_max, graph_reduce(n->b, size, &zero, 1, "max"), 0);
  onnx_value_t whole = onnx_value(graph_cast(n->b, most, ir_type_int(n->ctx, 64), false), onnx_si64(n->ctx));
  onnx_node_t inner = *n;
  inner.in = &whole, inner.in_count = 1;
  if (!onnx_number_input(&inner, 0, &r->samples[dim])) return false;
  onnx_dim_t fits = onnx_dim_test(n, SCALAR_le, r->samples[dim], onnx_dim_of(MAX_SAMPLES));
  return onnx_require(n, fits, "a box is too large for its result");
}

// A number of each box at every sample: [boxes, out, samples, out, samples].
static ir_value_t* at_samples(roi_t* r, ir_value_t* x, ir_value_t* like) {
  static const int64_t first = 0;
  return onnx_broadcast_as(r->s.n, x, like, &first);
}

// Positions along spatial dim `dim`, and (counts) which samples the boxes have: [boxes, points].
static ir_value_t* box_positions(roi_t* r, int32_t dim, ir_value_t** taken) {
  onnx_node_t* n = r->s.n;
  const onnx_dim_t dims[] = {r->boxes, onnx_dim_of(r->out[0]), r->samples[0], onnx_dim_of(r->out[1]), r->samples[1]};
  ir_value_t *low = box_edge(r, 1 - dim), *size = number(&r->s, SCALAR_div, box_size(r, dim), (double)r->out[dim]);
  ir_value_t* zero = graph_scalar_constant(n->b, low->type->element, 0);
  ir_value_t* like = onnx_broadcast_to(n, zero, 5, dims);
  ir_value_t *place = onnx_iota_like(n, like, 1 + 2 * dim), *sample = onnx_iota_like(n, like, 2 + 2 * dim);
  ir_value_t* count =
      r->counts[dim] ? at_samples(r, r->counts[dim], like) : graph_splat_like(n->b, like, (double)r->samples[dim].size);
  if (r->counts[dim]) {
    ir_value_t* here = graph_binary(n->b, SCALAR_lt, sample, count);
    *taken = *taken ? graph_binary(n->b, SCALAR_and, *taken, here) : here;
  }
  ir_value_t* part = number(&r->s, SCALAR_add, sample, 0.5);
  part = add(&r->s, place, graph_binary(n->b, SCALAR_div, part, number(&r->s, SCALAR_max, count, 1)));
  ir_value_t* at = add(&r->s, mul(&r->s, part, at_samples(r, size, part)), at_samples(r, low, part));
  const onnx_dim_t flat[] = {r->boxes, r->s.points};
  return onnx_reshape(n, at, 2, flat);
}

static bool read_roi(onnx_node_t* n, roi_t* r) {
  const ir_type_t *x = n->in[0].v->type, *boxes = n->in[1].v->type;
  const char* coordinates = onnx_string(n, "coordinate_transformation_mode", "half_pixel");
  *r = (roi_t){.s = {.n = n, .spatial = 2, .padding = PAD_BORDER}, .scale = onnx_float(n, "spatial_scale", 1)};
  r->half_pixel = strcmp(coordinates, "half_pixel") == 0;
  r->out[0] = onnx_int(n, "output_height", 1), r->out[1] = onnx_int(n, "output_width", 1);
  if (!onnx_check_float(n, 0) || !onnx_check_same_element(n, 0, 1) || !onnx_is_int(n->in[2]))
    return onnx_error(n, "has the wrong element types");
  if (x->rank != 4 || boxes->rank != 2 || (boxes->dims[1] != 4 && boxes->dims[1] != IR_DYNAMIC) ||
      onnx_rank(n->in[2]) != 1) {
    return onnx_error(n, "needs an image of rank 4, boxes [n, 4] and n batch indices");
  }
  if (r->out[0] < 1 || r->out[1] < 1 || r->out[0] > 4096 || r->out[1] > 4096)
    return onnx_error(n, "the output size is out of range");
  r->boxes = onnx_dim(n, n->in[1].v, 0);
  onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, r->boxes, onnx_dim(n, n->in[2].v, 0));
  if (!onnx_require(n, fits, "there must be a batch index for each box")) return false;
  r->s.channels = onnx_dim(n, n->in[0].v, 1);
  r->s.points = onnx_dim_of(r->out[0] * r->out[1]);
  for (int32_t d = 0; d < 2; ++d) {
    r->s.size[d] = onnx_dim(n, n->in[0].v, 2 + d);
    if (r->s.size[d].size == 0 || x->dims[0] == 0) return onnx_error(n, "the input is empty");
    if (!count_samples(r, d)) return false;
    r->s.points = onnx_dim_mul(n, r->s.points, r->samples[d]);
  }
  return true;
}

// The image's pixels one after the other: [n h w, c].
static ir_value_t* pixels(roi_t* r) {
  static const int64_t perm[] = {0, 2, 3, 1};
  onnx_node_t* n = r->s.n;
  onnx_dim_t total = onnx_dim_of(1);
  ir_value_t* x = graph_transpose(n->b, n->in[0].v, perm);
  for (int32_t d = 0; d < 3; ++d) total = onnx_dim_mul(n, total, onnx_dim(n, x, d));
  const onnx_dim_t dims[] = {total, r->s.channels};
  return onnx_reshape(n, x, 2, dims);
}

// The average (or the most) of each place's samples, channels in front again; 0 where there are none.
static ir_value_t* over_samples(roi_t* r, ir_value_t* y, ir_value_t* taken, bool most) {
  static const int64_t samples[] = {2, 4}, box = 0, spread[] = {0, 1, 2, 3, 4}, perm[] = {0, 3, 1, 2};
  onnx_node_t* n = r->s.n;
  const onnx_dim_t dims[] = {r->boxes,      onnx_dim_of(r->out[0]), r->samples[0], onnx_dim_of(r->out[1]),
                             r->samples[1], r->s.channels};
  y = onnx_reshape(n, y, 6, dims);
  if (taken) {
    ir_value_t* none = graph_splat_like(n->b, y, most ? -INFINITY : 0);
    y = graph_select(n->b, onnx_broadcast_as(n, taken, y, spread), y, none);
  }
  y = graph_transpose(n->b, graph_reduce(n->b, y, samples, 2, most ? "max" : "add"), perm);
  if (!taken) {
    double total = (double)(r->samples[0].size * r->samples[1].size);
    return most ? y : number(&r->s, SCALAR_mul, y, 1 / total);
  }
  ir_value_t* total = onnx_broadcast_as(n, mul(&r->s, r->counts[0], r->counts[1]), y, &box);
  ir_value_t* any = number(&r->s, SCALAR_gt, total, 0);
  if (!most) y = graph_binary(n->b, SCALAR_div, y, number(&r->s, SCALAR_max, total, 1));
  return graph_select(n->b, any, y, graph_splat_like(n->b, y, 0));
}

bool onnx_lower_roi_align(onnx_node_t* n) {
  roi_t r;
  const char* mode = onnx_string(n, "mode", "avg");
  bool most = strcmp(mode, "max") == 0;
  if (!most && strcmp(mode, "avg") != 0) return onnx_error(n, "mode '%s' is unknown", mode);
  if (!read_roi(n, &r)) return false;
  r.s.flat = pixels(&r);
  r.s.images = onnx_cast(n, n->in[2], onnx_si64(n->ctx)).v;
  ir_value_t *inside = NULL, *taken = NULL;
  for (int32_t d = 0; d < 2; ++d) {
    ir_value_t* at = box_positions(&r, d, &taken);
    ir_value_t* high = graph_binary(n->b, SCALAR_le, at, size_like(&r.s, d, 0, at));
    ir_value_t* here = graph_binary(n->b, SCALAR_and, number(&r.s, SCALAR_ge, at, -1), high);
    inside = inside ? graph_binary(n->b, SCALAR_and, inside, here) : here;
    r.s.at[d] = clamp(&r.s, d, at);
  }
  ir_value_t* y = interpolate(&r.s, false, most ? SCALAR_max : SCALAR_add);
  y = graph_select(n->b, onnx_broadcast_as(n, inside, y, position_dims(&r.s)), y, graph_splat_like(n->b, y, 0));
  return onnx_return(n, over_samples(&r, y, taken, most), n->in[0].element);
}
