// Signal processing where lengths, axes and the like are known at run time only: Fourier transforms as products with a
// matrix that is computed from them, and windows and the mel matrix by tensor ops.
#include <math.h>

#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"
#include "import/onnx/signal.h"

static ir_value_t* by(onnx_node_t* n, scalar_fn_t fn, ir_value_t* x, double y) {
  return onnx_binary_number(n, fn, x, y);
}

static ir_value_t* with(onnx_node_t* n, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  return graph_binary(n->b, fn, x, y);
}

//===----------------------------------------------------------------------------------------------------------------===
// Fourier transforms
//===----------------------------------------------------------------------------------------------------------------===

typedef struct matrix_t {
  ir_value_t *cosines, *sines;  // [samples, results]
} matrix_t;

// Half a spectrum stands for all of it: what has a mirror image counts twice.
static ir_value_t* count_twice(onnx_node_t* n, ir_value_t* x, onnx_dim_t length) {
  ir_value_t* number = onnx_iota_like(n, x, 0);
  onnx_dim_t half = onnx_dim_add(n, onnx_dim_div(n, length, onnx_dim_of(2)), onnx_dim_of(1));
  ir_value_t* last = graph_cast(n->b, onnx_dim_like(n, onnx_dim_sub(n, length, half), x), x->type->element, false);
  ir_value_t* mirrored = with(n, SCALAR_and, by(n, SCALAR_ge, number, 1), with(n, SCALAR_le, number, last));
  return graph_select(n->b, mirrored, by(n, SCALAR_mul, x, 2), x);
}

static matrix_t make_matrix(onnx_node_t* n, const onnx_dim_t* dims, onnx_dim_t length, const onnx_transform_t* t) {
  const ir_type_t *element = n->in[0].v->type->element, *wide = ir_type_float(n->ctx, IR_F64);
  ir_value_t* product = with(n, SCALAR_mul, onnx_numbers(n, 2, dims, 0), onnx_numbers(n, 2, dims, 1));
  ir_value_t* size = onnx_dim_like(n, onnx_dim_max(n, length, onnx_dim_of(1)), product);
  ir_value_t* angle = graph_cast(n->b, with(n, SCALAR_rem, product, size), wide, false);
  ir_value_t* turn = graph_cast(n->b, size, wide, false);
  angle = by(n, SCALAR_mul, with(n, SCALAR_div, angle, turn), 2 * M_PI);
  ir_value_t* parts[] = {onnx_unary(n, SCALAR_cos, angle), onnx_unary(n, SCALAR_sin, angle)};
  for (int i = 0; i < 2; ++i) {
    if (t->inverse) parts[i] = with(n, SCALAR_div, parts[i], turn);
    if (t->inverse && t->onesided) parts[i] = count_twice(n, parts[i], length);
    parts[i] = graph_cast(n->b, parts[i], element, false);
  }
  return (matrix_t){parts[0], parts[1]};
}

// [before, samples, behind] times [samples, results]: [before, results, behind].
static ir_value_t* multiply(onnx_node_t* n, ir_value_t* x, ir_value_t* matrix) {
  static const int64_t one = 1, zero = 0, perm[] = {0, 2, 1};
  graph_contract_t c = {.lhs_contract = &one, .rhs_contract = &zero, .contract_count = 1};
  return graph_transpose(n->b, graph_contract(n->b, x, matrix, &c, x->type->element), perm);
}

ir_value_t* onnx_transform_any(onnx_node_t* n, ir_value_t* x, onnx_dim_t length, const onnx_transform_t* t) {
  static const int64_t at[] = {0, 1, 2};
  onnx_dim_t one = onnx_dim_of(1), half = onnx_dim_add(n, onnx_dim_div(n, length, onnx_dim_of(2)), one);
  onnx_dim_t fits = onnx_flag_and(n, onnx_dim_test(n, SCALAR_ge, length, one),
                                  onnx_dim_test(n, SCALAR_le, length, onnx_dim_of(ONNX_MAX_SIGNAL)));
  if (!onnx_require(n, fits, "a length is out of range")) return NULL;
  bool halves = t->inverse && t->onesided;
  onnx_dim_t samples = onnx_dim_min(n, onnx_dim(n, x, 1), halves ? half : length);
  const onnx_dim_t dims[] = {samples, t->onesided && !t->inverse ? half : length};
  matrix_t m = make_matrix(n, dims, length, t);
  bool complex = x->type->dims[3] == 2;
  x = onnx_prefix(n, x, 1, samples);
  ir_value_t* re = onnx_entry(n, x, 3, 0);
  ir_value_t *out_re = multiply(n, re, m.cosines), *out_im = multiply(n, re, m.sines);
  if (!t->inverse) out_im = onnx_unary(n, SCALAR_neg, out_im);
  if (complex) {
    ir_value_t *im = onnx_entry(n, x, 3, 1), *across = multiply(n, im, m.sines);
    out_re = with(n, t->inverse ? SCALAR_sub : SCALAR_add, out_re, across);
    out_im = with(n, SCALAR_add, out_im, multiply(n, im, m.cosines));
  }
  out_re = onnx_spread(n, out_re, 4, at);
  return halves ? out_re : graph_concat(n->b, (ir_value_t*[]){out_re, onnx_spread(n, out_im, 4, at)}, 2, 3);
}

bool onnx_dft_any(onnx_node_t* n, onnx_dim_t axis, const onnx_transform_t* t) {
  ir_value_t* x = n->in[0].v;
  int32_t rank = x->type->rank;
  onnx_dim_t dims[ONNX_MAX_RANK], last = onnx_dim_of(rank - 1), length;
  if (!onnx_require(n, onnx_dim_test(n, SCALAR_ne, axis, last), "the components cannot be transformed")) return false;
  ir_value_t* view = onnx_around_axis(n, x, axis, 1);
  length = onnx_dim(n, view, 1);
  if (t->inverse && t->onesided) length = onnx_dim_mul(n, onnx_dim_sub(n, length, onnx_dim_of(1)), onnx_dim_of(2));
  if (onnx_has(n, 1) && !onnx_number_input(n, 1, &length)) return false;
  ir_value_t* y = onnx_transform_any(n, view, length, t);
  if (!y) return false;
  for (int32_t i = 0; i < rank - 1; ++i) {
    onnx_dim_t here = onnx_dim_test(n, SCALAR_eq, axis, onnx_dim_of(i));
    dims[i] = onnx_dim_select(n, here, onnx_dim(n, y, 1), onnx_dim(n, x, i));
  }
  dims[rank - 1] = onnx_dim(n, y, 3);
  return onnx_return(n, onnx_reshape(n, y, rank, dims), n->in[0].element);
}

bool onnx_stft_any(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  onnx_dim_t step, size = onnx_dim(n, x, 1), length = size, one = onnx_dim_of(1);
  static const int64_t frame_dim = 2;
  if (!onnx_number_input(n, 1, &step)) return false;
  if (onnx_has(n, 2)) length = onnx_dim(n, n->in[2].v, 0);
  if (onnx_has(n, 3) && !onnx_number_input(n, 3, &length)) return false;
  onnx_dim_t fits = onnx_flag_and(n, onnx_dim_test(n, SCALAR_ge, step, one), onnx_dim_test(n, SCALAR_le, length, size));
  if (onnx_has(n, 2)) fits = onnx_flag_and(n, fits, onnx_dim_test(n, SCALAR_eq, length, onnx_dim(n, n->in[2].v, 0)));
  if (!onnx_require(n, fits, "frames or window do not fit the signal")) return false;
  onnx_dim_t frames = onnx_dim_div(n, onnx_dim_sub(n, size, length), onnx_dim_max(n, step, one));
  const onnx_dim_t dims[] = {onnx_dim_add(n, frames, one), length};
  ir_value_t* places = onnx_numbers(n, 2, dims, 0);
  places = with(n, SCALAR_mul, places, onnx_dim_like(n, step, places));
  places = with(n, SCALAR_add, places, onnx_iota_like(n, places, 1));
  ir_value_t* parts = graph_take(n->b, x, places, 1, false);
  if (onnx_has(n, 2)) parts = with(n, SCALAR_mul, parts, onnx_broadcast_as(n, n->in[2].v, parts, &frame_dim));
  const onnx_transform_t t = {.onesided = onnx_int(n, "onesided", 1) != 0};
  onnx_dim_t batch = onnx_dim(n, x, 0);
  const onnx_dim_t lines[] = {onnx_dim_mul(n, batch, dims[0]), length, one, onnx_dim(n, x, 2)};
  ir_value_t* y = onnx_transform_any(n, onnx_reshape(n, parts, 4, lines), length, &t);
  if (!y) return false;
  const onnx_dim_t out[] = {batch, dims[0], onnx_dim(n, y, 1), onnx_dim(n, y, 3)};
  return onnx_return(n, onnx_reshape(n, y, 4, out), n->in[0].element);
}

//===----------------------------------------------------------------------------------------------------------------===
// Windows and the mel matrix
//===----------------------------------------------------------------------------------------------------------------===

bool onnx_window_any(onnx_node_t* n, onnx_dim_t size, const double* factors, const ir_type_t* element) {
  const onnx_dim_t one = onnx_dim_of(1);
  onnx_dim_t period = onnx_int(n, "periodic", 1) ? size : onnx_dim_sub(n, size, one);
  const ir_type_t* wide = ir_type_float(n->ctx, IR_F64);
  ir_value_t* number = onnx_numbers(n, 1, &size, 0);
  ir_value_t* by_period = graph_cast(n->b, onnx_dim_like(n, onnx_dim_max(n, period, one), number), wide, false);
  ir_value_t* angle = with(n, SCALAR_div, graph_cast(n->b, number, wide, false), by_period);
  ir_value_t* y = graph_splat_like(n->b, angle, factors[0]);
  for (int k = 1; k < 3; ++k) {
    ir_value_t* wave = onnx_unary(n, SCALAR_cos, by(n, SCALAR_mul, angle, 2 * M_PI * k));
    if (factors[k] != 0) y = with(n, SCALAR_add, y, by(n, SCALAR_mul, wave, factors[k]));
  }
  n->out[0] = onnx_cast(n, onnx_value(y, wide), element);
  return true;
}

// log10 and its inverse, scaled.
static ir_value_t* to_mel(onnx_node_t* n, ir_value_t* hertz) {
  ir_value_t* x = by(n, SCALAR_add, by(n, SCALAR_div, hertz, 700), 1);
  return by(n, SCALAR_mul, onnx_unary(n, SCALAR_log, x), 2595 / log(10));
}

static ir_value_t* from_mel(onnx_node_t* n, ir_value_t* mel) {
  ir_value_t* x = onnx_unary(n, SCALAR_exp, by(n, SCALAR_mul, mel, log(10) / 2595));
  return by(n, SCALAR_mul, by(n, SCALAR_sub, x, 1), 700);
}

// Input i, one number, in f64.
static ir_value_t* float_input(onnx_node_t* n, uint32_t i) {
  return onnx_reshape(n, onnx_cast(n, n->in[i], ir_type_float(n->ctx, IR_F64)).v, 0, NULL);
}

// The bins of the spectrum at which the triangles begin and end: [bins + 2].
static ir_value_t* mel_edges(onnx_node_t* n, onnx_dim_t bins) {
  const onnx_dim_t count = onnx_dim_add(n, bins, onnx_dim_of(2));
  ir_value_t *low = to_mel(n, float_input(n, 3)), *high = to_mel(n, float_input(n, 4));
  const ir_type_t* f64 = low->type->element;
  ir_value_t* number = graph_cast(n->b, onnx_numbers(n, 1, &count, 0), f64, false);
  ir_value_t* steps = graph_cast(n->b, onnx_dim_like(n, count, number), f64, false);
  ir_value_t* step = with(n, SCALAR_div, onnx_scalar_like(n, with(n, SCALAR_sub, high, low), number), steps);
  ir_value_t* hertz =
      from_mel(n, with(n, SCALAR_add, onnx_scalar_like(n, low, number), with(n, SCALAR_mul, number, step)));
  ir_value_t* length = onnx_scalar_like(n, by(n, SCALAR_add, float_input(n, 1), 1), number);
  ir_value_t* rate = onnx_scalar_like(n, float_input(n, 2), number);
  return onnx_unary(n, SCALAR_floor, with(n, SCALAR_div, with(n, SCALAR_mul, length, hertz), rate));
}

bool onnx_mel_any(onnx_node_t* n, const ir_type_t* element) {
  static const int64_t column = 1;
  onnx_dim_t bins, length, rate, one = onnx_dim_of(1), limit = onnx_dim_of(ONNX_MAX_SIGNAL);
  for (uint32_t i = 0; i < 5; ++i) {
    if (!onnx_check_single(n, i)) return false;
  }
  if (!onnx_number_input(n, 0, &bins) || !onnx_number_input(n, 1, &length) || !onnx_number_input(n, 2, &rate))
    return false;
  onnx_dim_t fits = onnx_flag_and(n, onnx_dim_test(n, SCALAR_ge, bins, one), onnx_dim_test(n, SCALAR_le, bins, limit));
  fits = onnx_flag_and(n, fits, onnx_dim_test(n, SCALAR_ge, length, onnx_dim_of(0)));
  fits = onnx_flag_and(n, fits, onnx_dim_test(n, SCALAR_le, length, limit));
  fits = onnx_flag_and(n, fits, onnx_dim_test(n, SCALAR_ge, rate, one));
  if (!onnx_require(n, fits, "the sizes are out of range")) return false;
  const onnx_dim_t dims[] = {onnx_dim_add(n, onnx_dim_div(n, length, onnx_dim_of(2)), one), bins};
  ir_value_t *edges = mel_edges(n, bins), *at[3];
  ir_value_t* row = graph_cast(n->b, onnx_numbers(n, 2, dims, 0), edges->type->element, false);
  for (int64_t k = 0; k < 3; ++k) {
    ir_value_t* place = by(n, SCALAR_add, onnx_numbers(n, 1, &bins, 0), (double)k);
    at[k] = onnx_broadcast_as(n, graph_take(n->b, edges, place, 0, false), row, &column);
  }
  ir_value_t* rise = by(n, SCALAR_max, with(n, SCALAR_sub, at[1], at[0]), 1);
  ir_value_t* fall = by(n, SCALAR_max, with(n, SCALAR_sub, at[2], at[1]), 1);
  ir_value_t* up = with(n, SCALAR_div, with(n, SCALAR_sub, row, at[0]), rise);
  ir_value_t* down = with(n, SCALAR_div, with(n, SCALAR_sub, at[2], row), fall);
  ir_value_t* y = by(n, SCALAR_max, graph_select(n->b, with(n, SCALAR_lt, row, at[1]), up, down), 0);
  y = graph_select(n->b, with(n, SCALAR_eq, row, at[1]), graph_splat_like(n->b, y, 1), y);
  n->out[0] = onnx_cast(n, onnx_value(y, edges->type->element), element);
  return true;
}
