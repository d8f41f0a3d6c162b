// Resize along a dimension of which something is known at run time only, a size, the scale or the region: where each
// result position lies and what its taps weigh is computed by tensor ops, in f32. How many taps a scale below 1 needs
// against aliasing depends on it, so that there the weights are a matrix.
#include <math.h>

#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"
#include "import/onnx/resize.h"

bool onnx_scaled_dim(onnx_node_t* n, onnx_dim_t size, double scale, onnx_dim_t* out) {
  enum { SHORT = 1 << 8 };  // times sizes below 2^16 they are exact in f32
  // A float is a whole number of 24 bits times a power of two: floor(size * scale) in integers.
  int exponent;
  int64_t whole = (int64_t)ldexp(frexp((double)(float)scale, &exponent), 24);
  int shift = 24 - exponent;
  for (; shift > 0 && whole % 2 == 0; --shift) whole /= 2;
  if (shift > 0 && whole >= SHORT) {
    return onnx_scaled_dim_at(n, size, graph_scalar_constant(n->b, onnx_f32(n->ctx), scale), 0, out);
  }
  if (shift <= 0) {
    *out = onnx_dim_mul(n, size, onnx_dim_of(whole << -shift));
  } else if (shift > 30) {
    *out = onnx_dim_of(0);
  } else {
    *out = onnx_dim_div(n, onnx_dim_mul(n, size, onnx_dim_of(whole)), onnx_dim_of(1ll << shift));
  }
  return true;
}

bool onnx_scaled_dim_at(onnx_node_t* n, onnx_dim_t size, ir_value_t* scale, double offset, onnx_dim_t* out) {
  // What is cut off is rounded to f32 before: 5 times 1.8 is 9.
  const ir_type_t* type = ir_type_float(n->ctx, offset == 0 ? IR_F32 : IR_F64);
  ir_value_t* x = graph_cast(n->b, onnx_dim_tensor(n, size, 0), type, false);
  x = graph_binary(n->b, SCALAR_mul, x, graph_cast(n->b, scale, type, false));
  x = onnx_unary(n, SCALAR_floor, onnx_binary_number(n, SCALAR_add, x, offset));
  ir_value_t* positive = onnx_binary_number(n, SCALAR_ge, x, 0);  // false for what is no number
  ir_value_t* fits = graph_binary(n->b, SCALAR_and, positive, onnx_binary_number(n, SCALAR_lt, x, 0x1p40));
  x = graph_select(n->b, fits, x, graph_splat_like(n->b, x, -1));
  onnx_value_t whole = onnx_value(graph_cast(n->b, x, ir_type_int(n->ctx, 64), false), onnx_si64(n->ctx));
  onnx_node_t inner = *n;
  inner.in = &whole, inner.in_count = 1;
  return onnx_number_input(&inner, 0, out) &&
         onnx_require(n, onnx_dim_test(n, SCALAR_ge, *out, onnx_dim_of(0)), "a scale is out of range");
}

ir_value_t* onnx_common_scale(onnx_node_t* n, const int64_t* axes, const onnx_dim_t* sizes, uint32_t count,
                              bool largest) {
  const ir_type_t* f64 = ir_type_float(n->ctx, IR_F64);
  ir_value_t* common = NULL;
  for (uint32_t k = 0; k < count; ++k) {
    onnx_dim_t in = onnx_dim(n, n->in[0].v, (int32_t)axes[k]);
    ir_value_t* scale = graph_cast(n->b, onnx_dim_tensor(n, sizes[k], 0), f64, false);
    scale = graph_binary(n->b, SCALAR_div, scale, graph_cast(n->b, onnx_dim_tensor(n, in, 0), f64, false));
    common = common ? graph_binary(n->b, largest ? SCALAR_max : SCALAR_min, common, scale) : scale;
  }
  return common;
}

typedef struct any_t {
  onnx_node_t* n;
  const resize_t* r;
  int32_t d;
  ir_value_t* like;                     // f32 in the result's length
  ir_value_t *in, *out, *scale, *last;  // as f32, in the shape of `like`; last: i64, the input's last position
} any_t;

static ir_value_t* number(any_t* a, onnx_dim_t dim) {
  onnx_node_t* n = a->n;
  ir_value_t* scalar = graph_cast(n->b, onnx_dim_tensor(n, dim, 0), a->like->type->element, false);
  return onnx_scalar_like(n, scalar, a->like);
}

static ir_value_t* by(any_t* a, scalar_fn_t fn, ir_value_t* x, double y) { return onnx_binary_number(a->n, fn, x, y); }
static ir_value_t* with(any_t* a, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  return graph_binary(a->n->b, fn, x, y);
}

// (i + 0.5) / scale
static ir_value_t* pixel_middle(any_t* a, ir_value_t* i) {
  return with(a, SCALAR_div, by(a, SCALAR_add, i, 0.5), a->scale);
}

static ir_value_t* half_pixel(any_t* a, ir_value_t* i) { return by(a, SCALAR_sub, pixel_middle(a, i), 0.5); }

// 0 where the result has one element.
static ir_value_t* unless_single(any_t* a, ir_value_t* x) {
  ir_value_t* single = by(a, SCALAR_eq, a->out, 1);
  return graph_select(a->n->b, single, graph_splat_like(a->n->b, x, 0), x);
}

// A number that is known, or not, in the shape of `like`.
static ir_value_t* spread_number(any_t* a, ir_value_t* at, double known) {
  return at ? onnx_scalar_like(a->n, at, a->like) : graph_splat_like(a->n->b, a->like, known);
}

// start * (in - 1) + i * (end - start) * (in - 1) / (out - 1), in that order; the middle where the result has one
// element.
static ir_value_t* crop_positions(any_t* a, ir_value_t* i) {
  ir_value_t* start = spread_number(a, a->r->start_at[a->d], a->r->start[a->d]);
  ir_value_t *end = spread_number(a, a->r->end_at[a->d], a->r->end[a->d]), *last = by(a, SCALAR_sub, a->in, 1);
  ir_value_t* steps = by(a, SCALAR_max, by(a, SCALAR_sub, a->out, 1), 1);
  ir_value_t* way = with(a, SCALAR_mul, with(a, SCALAR_mul, i, with(a, SCALAR_sub, end, start)), last);
  ir_value_t* x = with(a, SCALAR_add, with(a, SCALAR_mul, start, last), with(a, SCALAR_div, way, steps));
  ir_value_t* middle = by(a, SCALAR_mul, with(a, SCALAR_mul, with(a, SCALAR_add, start, end), last), 0.5);
  return graph_select(a->n->b, by(a, SCALAR_eq, a->out, 1), middle, x);
}

static ir_value_t* positions(any_t* a) {
  ir_value_t* i = onnx_iota_like(a->n, a->like, 0);
  switch (a->r->coordinates) {
    case AT_ASYMMETRIC:
      return with(a, SCALAR_div, i, a->scale);
    case AT_ALIGN_CORNERS: {
      ir_value_t* steps = by(a, SCALAR_max, by(a, SCALAR_sub, a->out, 1), 1);
      return with(a, SCALAR_div, with(a, SCALAR_mul, i, by(a, SCALAR_sub, a->in, 1)), steps);
    }
    case AT_TF_CROP_AND_RESIZE:
      return crop_positions(a, i);
    case AT_PYTORCH_HALF_PIXEL:
      return unless_single(a, half_pixel(a, i));
    case AT_TF_HALF_PIXEL_FOR_NN:
      return pixel_middle(a, i);
    case AT_HALF_PIXEL_SYMMETRIC: {
      ir_value_t* part = with(a, SCALAR_div, a->out, with(a, SCALAR_mul, a->scale, a->in));
      ir_value_t* offset = by(a, SCALAR_add, by(a, SCALAR_mul, part, -1), 1);
      offset = with(a, SCALAR_mul, by(a, SCALAR_mul, a->in, 0.5), offset);
      return by(a, SCALAR_sub, with(a, SCALAR_add, offset, pixel_middle(a, i)), 0.5);
    }
    default:
      return half_pixel(a, i);
  }
}

static ir_value_t* nearest(any_t* a, ir_value_t* x) {
  switch (a->r->nearest) {
    case ROUND_FLOOR:
      return onnx_unary(a->n, SCALAR_floor, x);
    case ROUND_CEIL:
      return onnx_unary(a->n, SCALAR_ceil, x);
    case ROUND_PREFER_CEIL:
      return onnx_unary(a->n, SCALAR_floor, by(a, SCALAR_add, x, 0.5));
    default:
      return onnx_unary(a->n, SCALAR_ceil, by(a, SCALAR_sub, x, 0.5));
  }
}

// Elements of x along d at positions (f32, whole), those outside at the edges.
static ir_value_t* take(any_t* a, ir_value_t* x, int32_t d, ir_value_t* at) {
  at = graph_cast(a->n->b, at, a->last->type->element, false);
  at = with(a, SCALAR_min, by(a, SCALAR_max, at, 0), a->last);
  return graph_take(a->n->b, x, at, d, false);
}

static ir_value_t* polynomial(any_t* a, ir_value_t* x, const double* factors) {
  ir_value_t* y = by(a, SCALAR_add, by(a, SCALAR_mul, x, factors[0]), factors[1]);
  for (int i = 2; i < 4; ++i) y = by(a, SCALAR_add, with(a, SCALAR_mul, y, x), factors[i]);
  return y;
}

static ir_value_t* weight(any_t* a, ir_value_t* distance) {
  double c = a->r->cubic_a;
  const double inner[] = {c + 2, -(c + 3), 0, 1}, outer[] = {c, -5 * c, 8 * c, -4 * c};
  ir_value_t* x = onnx_unary(a->n, SCALAR_abs, distance);
  if (a->r->mode != MODE_CUBIC) return by(a, SCALAR_max, by(a, SCALAR_add, by(a, SCALAR_mul, x, -1), 1), 0);
  ir_value_t* far = by(a, SCALAR_lt, x, 2);
  far = graph_select(a->n->b, far, polynomial(a, x, outer), graph_splat_like(a->n->b, x, 0));
  return graph_select(a->n->b, by(a, SCALAR_le, x, 1), polynomial(a, x, inner), far);
}

static ir_value_t* sum_taps(any_t* a, ir_value_t* x, int32_t d, ir_value_t* at) {
  int64_t before = a->r->mode == MODE_CUBIC ? 1 : 0, axis = d;
  ir_value_t *base = onnx_unary(a->n, SCALAR_floor, at), *sum = NULL, *total = NULL;
  for (int64_t k = -before; k <= before + 1; ++k) {
    ir_value_t* place = by(a, SCALAR_add, base, (double)k);
    ir_value_t* w = weight(a, with(a, SCALAR_sub, place, at));
    if (a->r->exclude_outside) {
      ir_value_t* inside = with(a, SCALAR_and, by(a, SCALAR_ge, place, 0), with(a, SCALAR_lt, place, a->in));
      w = graph_select(a->n->b, inside, w, graph_splat_like(a->n->b, w, 0));
      total = total ? with(a, SCALAR_add, total, w) : w;
    }
    ir_value_t* part = take(a, x, d, place);
    w = onnx_broadcast_as(a->n, graph_cast(a->n->b, w, x->type->element, false), part, &axis);
    part = with(a, SCALAR_mul, part, w);
    sum = sum ? with(a, SCALAR_add, sum, part) : part;
  }
  if (!total) return sum;
  total = onnx_broadcast_as(a->n, graph_cast(a->n->b, total, x->type->element, false), sum, &axis);
  return with(a, SCALAR_div, sum, total);
}

// Taps stretched by scales below 1: weights [result, input with `reach` places beyond both ends], times x.
static ir_value_t* sum_stretched(any_t* a, ir_value_t* x, ir_value_t* at) {
  onnx_node_t* n = a->n;
  static const int64_t row = 0, column = 1;
  int64_t d = a->d, perm[ONNX_MAX_RANK];
  onnx_dim_t in = onnx_dim(n, x, a->d), reach;
  ir_value_t* one = graph_scalar_constant(n->b, onnx_f32(n->ctx), 1);
  ir_value_t* scale = a->r->scale_at[d];
  if (!scale) {
    ir_value_t* size = graph_cast(n->b, onnx_dim_tensor(n, in, 0), one->type->element, false);
    scale = graph_cast(n->b, onnx_dim_tensor(n, a->r->to[d], 0), one->type->element, false);
    scale = graph_binary(n->b, SCALAR_div, scale, size);
    if (a->r->scale[d] != 0) scale = graph_splat_like(n->b, one, a->r->scale[d]);
  }
  ir_value_t* stretch = graph_binary(n->b, SCALAR_min, scale, one);
  ir_value_t* taps = graph_binary(n->b, SCALAR_div, graph_splat_like(n->b, one, a->r->mode == MODE_CUBIC ? 2 : 1),
                                  onnx_binary_number(n, SCALAR_max, stretch, 0x1p-20));
  if (!onnx_scaled_dim_at(n, onnx_dim_of(1), taps, 1, &reach)) return NULL;
  const onnx_dim_t dims[] = {a->r->to[d], onnx_dim_add(n, in, onnx_dim_mul(n, reach, onnx_dim_of(2)))};
  ir_value_t* place = graph_binary(n->b, SCALAR_sub, onnx_numbers(n, 1, &dims[1], 0),
                                   onnx_dim_like(n, reach, onnx_numbers(n, 1, &dims[1], 0)));
  ir_value_t* last = onnx_dim_like(n, onnx_dim_sub(n, in, onnx_dim_of(1)), place);
  ir_value_t* inside = graph_binary(n->b, SCALAR_min, onnx_binary_number(n, SCALAR_max, place, 0), last);
  ir_value_t* from =
      onnx_broadcast_to(n, onnx_spread(n, graph_cast(n->b, place, one->type->element, false), 2, &column), 2, dims);
  ir_value_t* w = graph_binary(n->b, SCALAR_sub, from, onnx_broadcast_as(n, at, from, &row));
  w = weight(a, graph_binary(n->b, SCALAR_mul, w, onnx_broadcast_as(n, stretch, w, NULL)));
  if (a->r->exclude_outside) {
    ir_value_t* kept = onnx_broadcast_as(n, graph_binary(n->b, SCALAR_eq, inside, place), w, &column);
    w = graph_select(n->b, kept, w, graph_splat_like(n->b, w, 0));
  }
  w = graph_binary(n->b, SCALAR_div, w, onnx_reduce_spread(n, w, &column, 1, "add"));
  w = graph_cast(n->b, w, x->type->element, false);
  graph_contract_t c = {.lhs_contract = &d, .rhs_contract = &column, .contract_count = 1};
  ir_value_t* y = graph_contract(n->b, graph_take(n->b, x, inside, d, false), w, &c, x->type->element);
  for (int64_t i = 0; i < y->type->rank; ++i) perm[i] = i < d ? i : i == d ? y->type->rank - 1 : i - 1;
  return graph_transpose(n->b, y, perm);
}

static any_t begin(onnx_node_t* n, onnx_dim_t in, int32_t d, const resize_t* r) {
  any_t a = {.n = n, .r = r, .d = d};
  ir_value_t* zero = graph_scalar_constant(n->b, onnx_f32(n->ctx), 0);
  a.like = onnx_broadcast_to(n, onnx_spread(n, zero, 1, NULL), 1, &r->to[d]);
  a.in = number(&a, in), a.out = number(&a, r->to[d]);
  a.scale = r->scale_at[d] || r->scale[d] != 0 ? spread_number(&a, r->scale_at[d], r->scale[d])
                                               : with(&a, SCALAR_div, a.out, a.in);
  ir_value_t* last = onnx_binary_number(n, SCALAR_sub, onnx_dim_tensor(n, in, 0), 1);
  a.last = onnx_scalar_like(n, last, a.like);
  return a;
}

ir_value_t* onnx_resize_any(onnx_node_t* n, ir_value_t* x, int32_t d, const resize_t* r) {
  any_t a = begin(n, onnx_dim(n, x, d), d, r);
  ir_value_t* at = positions(&a);
  if (r->mode == MODE_NEAREST) return take(&a, x, d, nearest(&a, at));
  bool stretched = r->antialias && (r->scale_at[d] || r->scale[d] < 1);
  return stretched ? sum_stretched(&a, x, at) : sum_taps(&a, x, d, at);
}

ir_value_t* onnx_resize_inside(onnx_node_t* n, onnx_dim_t in, int32_t d, const resize_t* r) {
  any_t a = begin(n, in, d, r);
  ir_value_t* at = positions(&a);
  return with(&a, SCALAR_and, by(&a, SCALAR_ge, at, 0), with(&a, SCALAR_le, at, by(&a, SCALAR_sub, a.in, 1)));
}
