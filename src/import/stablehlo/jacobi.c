// Singular values and eigenvalues of Hermitian matrices by Jacobi's method: columns are turned against each other in
// pairs until all are orthogonal. The columns stand in two halves; a round turns column i of the one against column i
// of the other, for all i together, and then all but the first move on by one place, so that in a sweep of n - 1
// rounds each meets each and ends where it began. See matrix.h.
//
//   A V = U S, the turned columns: their lengths are the singular values, the turns are V
#include <math.h>

#include "import/stablehlo/matrix.h"

// Columns are turned that are `FINER` times nearer to orthogonal than what another sweep is made for: the last one then
// leaves only what is rounded.
enum { MAX_SWEEPS = 60, FINER = 16 };

static ir_value_t* number(ir_builder_t* b, ir_value_t* like, double value) { return graph_splat_like(b, like, value); }
static matrix_t real(ir_value_t* x) { return (matrix_t){x, NULL}; }

typedef struct turn_t {
  matrix_t sine;       // times the phase of the product of the columns
  matrix_t tangent;    // of half the angle, times the same: sine / (1 + cosine)
  ir_value_t* wanted;  // i1: the columns are not orthogonal yet
} turn_t;

// Of pairs of columns with squared lengths p and q and products g: t^2 + 2 z t - 1 = 0 with z = (q - p) / (2 |g|).
static turn_t find_turn(ir_builder_t* b, ir_value_t* p, ir_value_t* q, matrix_t g, ir_value_t* tolerance) {
  ir_value_t* size = g.im ? graph_unary(b, SCALAR_sqrt, matrix_norm2(b, g)) : graph_unary(b, SCALAR_abs, g.re);
  ir_value_t* lengths = graph_binary(b, SCALAR_mul, graph_unary(b, SCALAR_sqrt, p), graph_unary(b, SCALAR_sqrt, q));
  ir_value_t* bound = graph_binary(b, SCALAR_mul, lengths, lower_splat(b, tolerance, p));
  ir_value_t *wanted = graph_binary(b, SCALAR_gt, size, bound), *one = number(b, p, 1), *zero = number(b, p, 0);
  ir_value_t* fine = graph_binary(b, SCALAR_mul, bound, number(b, p, 1.0 / FINER));
  ir_value_t* turned = graph_binary(b, SCALAR_gt, size, fine);
  size = graph_select(b, turned, size, one);
  ir_value_t* z = graph_binary(b, SCALAR_div, graph_binary(b, SCALAR_sub, q, p),
                               graph_binary(b, SCALAR_mul, size, number(b, p, 2)));
  ir_value_t* root = graph_unary(b, SCALAR_sqrt, graph_binary(b, SCALAR_add, graph_binary(b, SCALAR_mul, z, z), one));
  ir_value_t* sum = graph_binary(b, SCALAR_add, graph_unary(b, SCALAR_abs, z), root);
  ir_value_t* tangent = graph_binary(b, SCALAR_div, graph_binary(b, SCALAR_copysign, one, z), sum);
  tangent = graph_select(b, turned, tangent, zero);
  ir_value_t* squared = graph_binary(b, SCALAR_add, graph_binary(b, SCALAR_mul, tangent, tangent), one);
  ir_value_t* cosine = graph_binary(b, SCALAR_div, one, graph_unary(b, SCALAR_sqrt, squared));
  matrix_t phase = matrix_div(b, g, real(size));
  matrix_t sine = matrix_mul(b, phase, real(graph_binary(b, SCALAR_mul, cosine, tangent)));
  matrix_t half = matrix_div(b, sine, real(graph_binary(b, SCALAR_add, cosine, one)));
  return (turn_t){sine, half, wanted};
}

// left' = cos left - conj(sin) right, right' = sin left + cos right, as what is added to them: the cosine of a small
// angle is 1 when it is rounded, and thousands of turns would make columns longer.
static void turn_columns(ir_builder_t* b, const turn_t* turn, matrix_t* left, matrix_t* right) {
  matrix_t sine = matrix_spread(b, turn->sine, left->re, MATRIX_ROW);
  matrix_t half = matrix_spread(b, turn->tangent, left->re, MATRIX_ROW);
  matrix_t from_right = matrix_add(b, *right, matrix_mul(b, *left, half));
  matrix_t from_left = matrix_sub(b, *left, matrix_mul(b, *right, matrix_conj(b, half)));
  *left = matrix_sub(b, *left, matrix_mul(b, from_right, matrix_conj(b, sine)));
  *right = matrix_add(b, *right, matrix_mul(b, from_left, sine));
}

// l0 l1 l2 | r0 r1 r2  ->  l0 r0 l1 | r1 r2 l2
static void move_on(ir_builder_t* b, matrix_t* left, matrix_t* right) {
  int64_t known = matrix_columns(*left);
  if (known == 1) return;
  ir_value_t *half = matrix_width(b, *left), *zero = graph_index_constant(b, 0), *one = graph_index_constant(b, 1);
  matrix_t first = matrix_slice(b, *left, MATRIX_COLUMN, zero, one);
  matrix_t last = matrix_slice(b, *left, MATRIX_COLUMN, matrix_more(b, half, -1), one);
  matrix_t up = matrix_slice(b, *right, MATRIX_COLUMN, zero, one), rest = matrix_inner(b, *right, MATRIX_COLUMN, 1, 0);
  matrix_t lefts[3] = {first, up};
  if (known != 2) lefts[2] = matrix_inner(b, *left, MATRIX_COLUMN, 1, 1);
  *left = matrix_concat(b, lefts, known != 2 ? 3 : 2, MATRIX_COLUMN);
  *right = matrix_concat(b, (matrix_t[]){rest, last}, 2, MATRIX_COLUMN);
}

// What products of columns of that length may be of their sizes, as a tensor without dims.
static ir_value_t* orthogonal_enough(ir_builder_t* b, const ir_type_t* element, ir_value_t* rows) {
  int64_t known;
  double least = 4 * matrix_roundoff(element);
  if (lower_constant_index(rows, &known)) {
    return graph_scalar_constant(b, element, least * fmax(1, sqrt((double)known) / 4));
  }
  ir_value_t* root = graph_unary(b, SCALAR_sqrt, matrix_number(b, rows, element));
  ir_value_t* factor = graph_binary(b, SCALAR_max, number(b, root, 4), root);
  return graph_binary(b, SCALAR_mul, factor, number(b, factor, least / 4));
}

static void sweep(ir_builder_t* b, matrix_t* left, matrix_t* right, ir_value_t** turned, ir_value_t* rows) {
  const ir_type_t* flag = ir_type_tensor(b->ctx, ir_type_int(b->ctx, 1), 0, NULL);
  matrix_t inits[3] = {real(graph_splat_integer(b, flag, 0)), *left, *right};
  ir_value_t *half = matrix_width(b, *left),
             *rounds = matrix_more(b, lower_index_binary(b, SCALAR_add, half, half), -1);
  ir_value_t *tolerance = orthogonal_enough(b, left->re->type->element, rows), *zero = graph_index_constant(b, 0);
  matrix_loop_t loop = {0};
  matrix_loop_begin(&loop, b, rounds, inits, 3);
  matrix_t l = loop.values[1], r = loop.values[2];
  matrix_t top_l = matrix_slice(b, l, MATRIX_ROW, zero, rows), top_r = matrix_slice(b, r, MATRIX_ROW, zero, rows);
  ir_value_t* p = matrix_reduce(b, matrix_norm2(b, top_l), MATRIX_ROW, "add");
  ir_value_t* q = matrix_reduce(b, matrix_norm2(b, top_r), MATRIX_ROW, "add");
  matrix_t g = matrix_sum(b, matrix_mul(b, matrix_conj(b, top_l), top_r), MATRIX_ROW);
  turn_t turn = find_turn(b, p, q, g, tolerance);
  turn_columns(b, &turn, &l, &r);
  move_on(b, &l, &r);
  ir_value_t* changed = graph_binary(b, SCALAR_or, loop.values[0].re, matrix_any(b, turn.wanted));
  matrix_loop_end(&loop, (matrix_t[]){real(changed), l, r});
  *turned = loop.values[0].re;
  *left = loop.values[1];
  *right = loop.values[2];
}

// [A; 1] with its columns turned: A V over V.
static matrix_t orthogonalize(ir_builder_t* b, matrix_t a) {
  ir_value_t *rows = matrix_height(b, a), *columns = matrix_width(b, a), *two = graph_index_constant(b, 2);
  ir_value_t *zero = graph_index_constant(b, 0), *half = matrix_more(b, columns, 1);
  half = lower_index_binary(b, SCALAR_div, half, two);
  if (matrix_columns(a) == IR_DYNAMIC) half = lower_index_binary(b, SCALAR_max, half, two);  // see move_on
  ir_value_t* even = lower_index_binary(b, SCALAR_mul, half, two);
  matrix_t parts[2] = {matrix_pad(b, a, MATRIX_COLUMN, lower_index_binary(b, SCALAR_sub, even, columns)),
                       matrix_identity(b, a, columns, even)};
  matrix_t both = matrix_concat(b, parts, 2, MATRIX_ROW);
  const ir_type_t* flag = ir_type_tensor(b->ctx, ir_type_int(b->ctx, 1), 0, NULL);
  matrix_t inits[3] = {real(graph_splat_integer(b, flag, 1)), matrix_slice(b, both, MATRIX_COLUMN, zero, half),
                       matrix_slice(b, both, MATRIX_COLUMN, half, half)};
  matrix_loop_t loop = {.has_flag = true};
  matrix_loop_begin(&loop, b, graph_index_constant(b, MAX_SWEEPS), inits, 3);
  matrix_t left = loop.values[1], right = loop.values[2];
  ir_value_t* turned;
  sweep(b, &left, &right, &turned, rows);
  matrix_loop_end(&loop, (matrix_t[]){real(turned), left, right});
  both = matrix_concat(b, loop.values + 1, 2, MATRIX_COLUMN);
  return matrix_slice(b, both, MATRIX_COLUMN, zero, columns);
}

// `values` in order, and the columns of the two matrices as they.
static void sort_columns(ir_builder_t* b, ir_value_t** values, bool descending, matrix_t* x, matrix_t* y) {
  const ir_type_t* i32 = ir_type_int(b->ctx, 32);
  int64_t axis = (*values)->type->rank - 1;
  ir_value_t* operands[2] = {*values, matrix_places(b, *values, MATRIX_COLUMN)};
  ir_op_t* sort = graph_sort(b, operands, 2, &(graph_sort_t){.axis = axis, .descending = descending});
  *values = ir_result(sort, 0);
  matrix_t* const both[2] = {x, y};
  for (int i = 0; i < 2; ++i) {
    if (!both[i]) continue;
    matrix_t* m = both[i];
    int64_t dims[GRAPH_MAX_RANK], rank = m->re->type->rank;
    ir_value_t *width = matrix_width(b, *m), *dynamic[GRAPH_MAX_RANK];
    ir_value_t* like = matrix_new(b, *m, NULL, (ir_value_t*[]){matrix_height(b, *m), width, width}, 3, 0);
    const ir_type_t* wide = like->type;  // [batch, row, from, to]
    lower_dynamic_dims(b, like, wide, dynamic);
    matrix_t column = matrix_spread(b, *m, like, 0);
    for (int64_t d = 0; d < rank - 2; ++d) dims[d] = d;
    dims[rank - 2] = rank;
    ir_value_t* wanted = graph_broadcast(b, ir_result(sort, 1), ir_type_with_element(b->ctx, wide, i32), dims, dynamic);
    ir_value_t* from = matrix_places(b, like, 1);
    ir_value_t* here = graph_binary(b, SCALAR_eq, from, wanted);
    *m = matrix_sum(b, matrix_select(b, here, column, (matrix_t){like, m->im ? like : NULL}), 1);
  }
}

// A divided by its largest element, so that squares neither overflow nor vanish.
static matrix_t normalize(ir_builder_t* b, matrix_t a, ir_value_t** scale) {
  ir_value_t* size = graph_unary(b, SCALAR_abs, a.re);
  if (a.im) size = graph_binary(b, SCALAR_max, size, graph_unary(b, SCALAR_abs, a.im));
  size = matrix_reduce(b, matrix_reduce(b, size, MATRIX_COLUMN, "max"), MATRIX_COLUMN, "max");
  ir_value_t* usable = graph_binary(b, SCALAR_gt, size, number(b, size, 0));
  usable = graph_binary(b, SCALAR_and, usable, graph_unary(b, SCALAR_is_finite, size));
  *scale = graph_select(b, usable, size, number(b, size, 1));
  return matrix_div(b, a, real(matrix_fill(b, *scale, a.re)));
}

static ir_value_t* times(ir_builder_t* b, ir_value_t* values, ir_value_t* scale) {
  return graph_binary(b, SCALAR_mul, values, matrix_fill(b, scale, values));
}

//===----------------------------------------------------------------------------------------------------------------===
// Singular values
//===----------------------------------------------------------------------------------------------------------------===

// The columns of A V divided by their lengths; where those are 0, whatever makes U unitary. Q of a QR factorization is
// both, but for signs: R is diagonal.
static matrix_t unit_columns(ir_builder_t* b, matrix_t columns, bool full) {
  matrix_qr_t qr = matrix_qr(b, columns);
  ir_value_t* missing = lower_index_binary(b, SCALAR_sub, matrix_height(b, columns), matrix_width(b, columns));
  if (full) qr.a = matrix_pad(b, qr.a, MATRIX_COLUMN, missing);
  matrix_t q = matrix_reflectors(b, qr);
  ir_value_t* diagonal = matrix_triangle(b, qr.a.re, SCALAR_eq);
  ir_value_t* r = matrix_reduce(b, graph_select(b, diagonal, qr.a.re, number(b, qr.a.re, 0)), MATRIX_ROW, "add");
  ir_value_t* negative = graph_binary(b, SCALAR_lt, r, number(b, r, 0));
  ir_value_t* sign = graph_select(b, negative, number(b, r, -1), number(b, r, 1));
  return matrix_mul(b, q, matrix_spread(b, real(sign), q.re, MATRIX_ROW));
}

static matrix_svd_t tall_svd(ir_builder_t* b, matrix_t a, bool full, bool vectors) {
  ir_value_t *rows = matrix_height(b, a), *columns = matrix_width(b, a), *scale;
  matrix_t turned = orthogonalize(b, normalize(b, a, &scale));
  matrix_t top = matrix_slice(b, turned, MATRIX_ROW, graph_index_constant(b, 0), rows);
  matrix_t v = matrix_slice(b, turned, MATRIX_ROW, rows, columns);
  ir_value_t* s = graph_unary(b, SCALAR_sqrt, matrix_reduce(b, matrix_norm2(b, top), MATRIX_ROW, "add"));
  sort_columns(b, &s, true, vectors ? &top : NULL, vectors ? &v : NULL);
  matrix_svd_t svd = {.s = times(b, s, scale)};
  if (!vectors) return svd;
  svd.u = unit_columns(b, top, full);
  svd.vt = matrix_adjoint(b, v);
  return svd;
}

// Of sizes that only a run knows: zeros below make it as high as wide, and the vectors of what is left stay apart.
static matrix_svd_t open_svd(ir_builder_t* b, matrix_t a, bool full, bool vectors) {
  ir_value_t *rows = matrix_height(b, a), *columns = matrix_width(b, a), *zero = graph_index_constant(b, 0);
  ir_value_t *few = lower_index_binary(b, SCALAR_min, rows, columns), *missing;
  missing = lower_index_binary(b, SCALAR_max, lower_index_binary(b, SCALAR_sub, columns, rows), zero);
  matrix_svd_t svd = tall_svd(b, matrix_pad(b, a, MATRIX_ROW, missing), full, vectors);
  svd.s = matrix_slice(b, real(svd.s), MATRIX_COLUMN, zero, few).re;
  if (!vectors) return svd;
  svd.u = matrix_slice(b, matrix_slice(b, svd.u, MATRIX_ROW, zero, rows), MATRIX_COLUMN, zero, full ? rows : few);
  if (!full) svd.vt = matrix_slice(b, svd.vt, MATRIX_ROW, zero, few);
  return svd;
}

matrix_svd_t matrix_svd(ir_builder_t* b, matrix_t a, bool full, bool vectors) {
  if (matrix_rows(a) == IR_DYNAMIC || matrix_columns(a) == IR_DYNAMIC) return open_svd(b, a, full, vectors);
  if (matrix_rows(a) >= matrix_columns(a)) return tall_svd(b, a, full, vectors);
  matrix_svd_t svd = tall_svd(b, matrix_adjoint(b, a), full, vectors);
  if (!vectors) return svd;
  return (matrix_svd_t){.u = matrix_adjoint(b, svd.vt), .vt = matrix_adjoint(b, svd.u), .s = svd.s};
}

//===----------------------------------------------------------------------------------------------------------------===
// Eigenvalues
//===----------------------------------------------------------------------------------------------------------------===

// Of the stored triangle, the whole matrix; the diagonal is real.
static matrix_t hermitian(ir_builder_t* b, matrix_t a, bool lower) {
  ir_value_t* stored = matrix_triangle(b, a.re, lower ? SCALAR_ge : SCALAR_le);
  matrix_t whole = matrix_select(b, stored, a, matrix_adjoint(b, a));
  ir_value_t* diagonal = matrix_triangle(b, a.re, SCALAR_eq);
  if (a.im) whole.im = graph_select(b, diagonal, number(b, a.im, 0), whole.im);
  return whole;
}

static ir_value_t* sum_of_squares(ir_builder_t* b, matrix_t a) {
  return matrix_reduce(b, matrix_reduce(b, matrix_norm2(b, a), MATRIX_COLUMN, "add"), MATRIX_COLUMN, "add");
}

enum { SMALL = 24, SQUARINGS = 3 };

// No eigenvalue is larger than the largest sum of a row's sizes, nor than the root of all squares. What the
// eigenvectors are off is as large as the bound, and of many eigenvalues that is far above the largest; the same of
// A^8, whose largest stands out, is near: it is at most the 16th root of their number above.
static ir_value_t* bound_eigenvalues(ir_builder_t* b, matrix_t a) {
  ir_value_t* sizes = graph_unary(b, SCALAR_sqrt, matrix_norm2(b, a));
  ir_value_t* rows = matrix_reduce(b, matrix_reduce(b, sizes, MATRIX_COLUMN, "add"), MATRIX_COLUMN, "max");
  ir_value_t* bound = graph_binary(b, SCALAR_min, rows, graph_unary(b, SCALAR_sqrt, sum_of_squares(b, a)));
  if (matrix_rows(a) != IR_DYNAMIC && matrix_rows(a) <= SMALL) return bound;
  ir_value_t* positive = graph_binary(b, SCALAR_gt, bound, number(b, bound, 0));
  ir_value_t* divisor = graph_select(b, positive, bound, number(b, bound, 1));
  matrix_t power = matrix_div(b, a, real(matrix_fill(b, divisor, a.re)));
  for (int i = 0; i < SQUARINGS; ++i) power = matrix_product(b, power, power);
  ir_value_t* root = sum_of_squares(b, power);
  ir_value_t* told = graph_binary(b, SCALAR_gt, root, number(b, root, 1e-30));  // else it has vanished
  for (int i = 0; i <= SQUARINGS; ++i) root = graph_unary(b, SCALAR_sqrt, root);
  // Products are rounded.
  ir_value_t* closer = graph_binary(b, SCALAR_mul, bound, graph_binary(b, SCALAR_mul, root, number(b, root, 1.01)));
  return graph_select(b, told, graph_binary(b, SCALAR_min, bound, closer), bound);
}

// A + c is positive when c bounds A's eigenvalues: its singular vectors are its eigenvectors, and A's.
matrix_eigh_t matrix_eigh(ir_builder_t* b, matrix_t a, bool lower) {
  ir_value_t *size = matrix_height(b, a), *scale;
  a = normalize(b, hermitian(b, a, lower), &scale);
  matrix_t shift = real(matrix_fill(b, bound_eigenvalues(b, a), a.re)), shifted = a;
  ir_value_t* diagonal = matrix_triangle(b, a.re, SCALAR_eq);
  shifted.re = graph_select(b, diagonal, graph_binary(b, SCALAR_add, a.re, shift.re), a.re);
  matrix_t v = matrix_slice(b, orthogonalize(b, shifted), MATRIX_ROW, size, size);
  matrix_t product = matrix_mul(b, matrix_conj(b, v), matrix_product(b, a, v));
  ir_value_t* values = matrix_reduce(b, product.re, MATRIX_ROW, "add");
  sort_columns(b, &values, false, &v, NULL);
  return (matrix_eigh_t){v, times(b, values, scale)};
}
