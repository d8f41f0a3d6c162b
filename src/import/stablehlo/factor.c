// Cholesky, LU and QR factorizations as LAPACK leaves them, a column each turn of a loop. All steps are elementwise
// over the whole matrix with masks, so that batches of any shape take them together. See matrix.h.
#include <math.h>

#include "import/stablehlo/matrix.h"

static ir_value_t* add_places(ir_builder_t* b, ir_value_t* k, int64_t number) {
  return graph_binary(b, SCALAR_add, k, graph_splat_like(b, k, (double)number));
}

// x y^T, a matrix like `like`.
static matrix_t outer(ir_builder_t* b, matrix_t x, matrix_t y, ir_value_t* like) {
  return matrix_mul(b, matrix_spread(b, x, like, MATRIX_COLUMN), matrix_spread(b, y, like, MATRIX_ROW));
}

//===----------------------------------------------------------------------------------------------------------------===
// Cholesky
//===----------------------------------------------------------------------------------------------------------------===

// Column k of L: (a_k - L conj(row k of L)) / sqrt of its element k.
static matrix_t complex_cholesky(ir_builder_t* b, matrix_t a) {
  matrix_loop_t loop = {0};
  matrix_t zeros = matrix_zeros(b, a);
  matrix_loop_begin(&loop, b, matrix_height(b, a), &zeros, 1);
  matrix_t factor = loop.values[0], row = matrix_pick(b, factor, MATRIX_ROW, loop.k);
  matrix_t known = matrix_mul(b, factor, matrix_spread(b, matrix_conj(b, row), factor.re, MATRIX_ROW));
  matrix_t column = matrix_sub(b, matrix_pick(b, a, MATRIX_COLUMN, loop.k), matrix_sum(b, known, MATRIX_COLUMN));
  ir_value_t* pivot = graph_unary(b, SCALAR_sqrt, matrix_pick(b, column, MATRIX_COLUMN, loop.k).re);
  column = matrix_div(b, column, (matrix_t){matrix_fill(b, pivot, column.re), NULL});
  ir_value_t* here = matrix_where(b, factor.re, MATRIX_COLUMN, SCALAR_eq, loop.k);
  ir_value_t* below = matrix_where(b, factor.re, MATRIX_ROW, SCALAR_ge, loop.k);
  here = graph_binary(b, SCALAR_and, here, below);
  column.im = graph_select(b, matrix_where(b, column.im, MATRIX_COLUMN, SCALAR_eq, loop.k),
                           graph_splat_like(b, column.im, 0), column.im);
  factor = matrix_select(b, here, matrix_spread(b, column, factor.re, MATRIX_COLUMN), factor);
  matrix_loop_end(&loop, &factor);
  return loop.values[0];
}

matrix_t matrix_cholesky(ir_builder_t* b, matrix_t a, bool lower) {
  if (a.im) {
    matrix_t factor = complex_cholesky(b, lower ? a : matrix_adjoint(b, a));
    return lower ? factor : matrix_adjoint(b, factor);
  }
  ir_named_attr_t attr = {"lower", ir_attr_unit(b->ctx)};
  matrix_t factor = {graph_build(b, GRAPH_CHOLESKY, &a.re, 1, a.re->type, &attr, lower), NULL};
  return matrix_select(b, matrix_triangle(b, a.re, lower ? SCALAR_ge : SCALAR_le), factor, matrix_zeros(b, a));
}

//===----------------------------------------------------------------------------------------------------------------===
// Triangular systems
//===----------------------------------------------------------------------------------------------------------------===

// Row k of X: (b_k - row k of A times the rows known) / a_kk.
static matrix_t substitute(ir_builder_t* b, matrix_t a, matrix_t right, bool lower, bool unit_diagonal) {
  ir_value_t* rows = matrix_height(b, a);
  matrix_t x = matrix_zeros(b, right);
  matrix_loop_t loop = {0};
  matrix_loop_begin(&loop, b, rows, &x, 1);
  ir_value_t* k = lower ? loop.k : matrix_loop_back(&loop, rows);
  matrix_t row = matrix_pick(b, a, MATRIX_ROW, k), pivot = matrix_pick(b, row, MATRIX_COLUMN, k);
  ir_value_t* own = matrix_where(b, row.re, MATRIX_COLUMN, SCALAR_eq, k);
  x = loop.values[0];
  matrix_t others = matrix_spread(b, matrix_select(b, own, matrix_zeros(b, row), row), x.re, MATRIX_COLUMN);
  matrix_t known = matrix_sum(b, matrix_mul(b, others, x), MATRIX_ROW);
  matrix_t next = matrix_sub(b, matrix_pick(b, right, MATRIX_ROW, k), known);
  matrix_t divisor = {matrix_fill(b, pivot.re, next.re), pivot.im ? matrix_fill(b, pivot.im, next.re) : NULL};
  if (!unit_diagonal) next = matrix_div(b, next, divisor);
  ir_value_t* here = matrix_where(b, x.re, MATRIX_ROW, SCALAR_eq, k);
  next = matrix_select(b, here, matrix_spread(b, next, x.re, MATRIX_ROW), x);
  matrix_loop_end(&loop, &next);
  return loop.values[0];
}

matrix_t matrix_solve(ir_builder_t* b, matrix_t a, matrix_t x, matrix_solve_t how) {
  if (!a.im) {
    ir_named_attr_t attrs[4];
    ir_value_t* operands[2] = {a.re, x.re};
    const ir_attr_t* unit = ir_attr_unit(b->ctx);
    uint32_t count = 0;
    if (how.left) attrs[count++] = (ir_named_attr_t){"left", unit};
    if (how.lower) attrs[count++] = (ir_named_attr_t){"lower", unit};
    if (how.unit_diagonal) attrs[count++] = (ir_named_attr_t){"unit_diagonal", unit};
    if (how.transpose) attrs[count++] = (ir_named_attr_t){"transpose", unit};
    return (matrix_t){graph_build(b, GRAPH_TRIANGULAR_SOLVE, operands, 2, x.re->type, attrs, count), NULL};
  }
  bool turned = how.transpose == how.left;  // X A = B is A^T X^T = B^T
  if (how.conjugate) a = matrix_conj(b, a);
  if (turned) a = matrix_transpose(b, a);
  if (!how.left) x = matrix_transpose(b, x);
  x = substitute(b, a, x, how.lower != turned, how.unit_diagonal);
  return how.left ? x : matrix_transpose(b, x);
}

//===----------------------------------------------------------------------------------------------------------------===
// LU
//===----------------------------------------------------------------------------------------------------------------===

// The row at or below k whose element in the column is largest.
static ir_value_t* find_pivot(ir_builder_t* b, matrix_t column, ir_value_t* k) {
  ir_value_t* size = graph_unary(b, SCALAR_abs, column.re);
  if (column.im) size = graph_binary(b, SCALAR_add, size, graph_unary(b, SCALAR_abs, column.im));
  ir_value_t* open = matrix_where(b, size, MATRIX_COLUMN, SCALAR_ge, k);
  size = graph_select(b, open, size, graph_splat_like(b, size, -1));
  graph_extreme_t largest = {.axis = size->type->rank - 1, .index = ir_type_int(b->ctx, 32)};
  return ir_result(graph_arg_reduce(b, size, &largest), 1);
}

static ir_value_t* is_zero(ir_builder_t* b, matrix_t x) {
  ir_value_t* re = graph_binary(b, SCALAR_eq, x.re, graph_splat_like(b, x.re, 0));
  if (!x.im) return re;
  return graph_binary(b, SCALAR_and, re, graph_binary(b, SCALAR_eq, x.im, graph_splat_like(b, x.im, 0)));
}

// One column: rows k and p change places, what is below the pivot is divided by it and taken from the rest.
static void eliminate(ir_builder_t* b, matrix_loop_t* loop) {
  matrix_t a = loop->values[0], next[3];
  ir_value_t* k = loop->k;
  ir_value_t* p = find_pivot(b, matrix_pick(b, a, MATRIX_COLUMN, k), k);
  matrix_t row = matrix_pick(b, a, MATRIX_ROW, p), other = matrix_pick(b, a, MATRIX_ROW, k);
  ir_value_t* at_p = matrix_where(b, a.re, MATRIX_ROW, SCALAR_eq, p);
  ir_value_t* at_k = matrix_where(b, a.re, MATRIX_ROW, SCALAR_eq, k);
  a = matrix_select(b, at_p, matrix_spread(b, other, a.re, MATRIX_ROW), a);
  a = matrix_select(b, at_k, matrix_spread(b, row, a.re, MATRIX_ROW), a);
  matrix_t pivot = matrix_pick(b, row, MATRIX_COLUMN, k), column = matrix_pick(b, a, MATRIX_COLUMN, k);
  ir_value_t* singular = is_zero(b, pivot);
  matrix_t one = matrix_zeros(b, pivot);
  one.re = graph_splat_like(b, pivot.re, 1);
  pivot = matrix_select(b, singular, one, pivot);
  matrix_t divisor = {matrix_fill(b, pivot.re, column.re), pivot.im ? matrix_fill(b, pivot.im, column.im) : NULL};
  column = matrix_div(b, column, divisor);
  ir_value_t* below = matrix_where(b, a.re, MATRIX_ROW, SCALAR_gt, k);
  ir_value_t* behind = graph_binary(b, SCALAR_and, below, matrix_where(b, a.re, MATRIX_COLUMN, SCALAR_gt, k));
  ir_value_t* under = graph_binary(b, SCALAR_and, below, matrix_where(b, a.re, MATRIX_COLUMN, SCALAR_eq, k));
  next[0] = matrix_select(b, behind, matrix_sub(b, a, outer(b, column, row, a.re)), a);
  next[0] = matrix_select(b, under, matrix_spread(b, column, a.re, MATRIX_COLUMN), next[0]);
  ir_value_t *pivots = loop->values[1].re, *info = loop->values[2].re;
  ir_value_t* here = matrix_where(b, pivots, MATRIX_COLUMN, SCALAR_eq, k);
  next[1] = (matrix_t){graph_select(b, here, matrix_fill(b, p, pivots), pivots), NULL};
  ir_value_t* first = graph_binary(b, SCALAR_eq, info, graph_splat_like(b, info, 0));
  ir_value_t* place = matrix_fill(b, add_places(b, k, 1), info);
  next[2] = (matrix_t){graph_select(b, graph_binary(b, SCALAR_and, first, singular), place, info), NULL};
  matrix_loop_end(loop, next);
}

matrix_lu_t matrix_lu(ir_builder_t* b, matrix_t a) {
  ir_value_t* count = lower_index_binary(b, SCALAR_min, matrix_height(b, a), matrix_width(b, a));
  const ir_type_t* i32 = ir_type_int(b->ctx, 32);
  matrix_t inits[3] = {a, {matrix_new(b, a, i32, &count, 1, 0), NULL}, {matrix_new(b, a, i32, NULL, 0, 0), NULL}};
  matrix_loop_t loop = {0};
  matrix_loop_begin(&loop, b, count, inits, 3);
  eliminate(b, &loop);
  return (matrix_lu_t){loop.values[0], loop.values[1].re, loop.values[2].re};
}

ir_value_t* matrix_permutation(ir_builder_t* b, ir_value_t* pivots, ir_value_t* rows) {
  ir_value_t *sizes[GRAPH_MAX_RANK], *dynamic[GRAPH_MAX_RANK];
  int64_t dims[GRAPH_MAX_RANK];
  uint32_t last = (uint32_t)pivots->type->rank - 1;
  for (uint32_t i = 0; i < last; ++i) sizes[i] = graph_dim(b, pivots, i);
  sizes[last] = rows;
  lower_split_sizes(sizes, last + 1, dims, dynamic);
  const ir_type_t* type = ir_type_tensor(b->ctx, pivots->type->element, pivots->type->rank, dims);
  matrix_t order = {graph_iota(b, type, last, dynamic), NULL}, swaps = {pivots, NULL};
  matrix_loop_t loop = {0};
  matrix_loop_begin(&loop, b, graph_dim(b, pivots, last), &order, 1);
  order = loop.values[0];
  ir_value_t* p = matrix_pick(b, swaps, MATRIX_COLUMN, loop.k).re;
  ir_value_t* from_p = matrix_fill(b, matrix_pick(b, order, MATRIX_COLUMN, p).re, order.re);
  ir_value_t* from_k = matrix_fill(b, matrix_pick(b, order, MATRIX_COLUMN, loop.k).re, order.re);
  order.re = graph_select(b, matrix_where(b, order.re, MATRIX_COLUMN, SCALAR_eq, p), from_k, order.re);
  order.re = graph_select(b, matrix_where(b, loop.values[0].re, MATRIX_COLUMN, SCALAR_eq, loop.k), from_p, order.re);
  matrix_loop_end(&loop, &order);
  return loop.values[0].re;
}

// Pivots next to nothing beside the largest element of U become as large as rounding leaves that.
static matrix_t raise_pivots(ir_builder_t* b, matrix_t lu) {
  ir_value_t *size = graph_unary(b, SCALAR_abs, lu.re), *zero = graph_splat_like(b, size, 0);
  if (lu.im) size = graph_binary(b, SCALAR_add, size, graph_unary(b, SCALAR_abs, lu.im));
  ir_value_t* upper = graph_select(b, matrix_triangle(b, lu.re, SCALAR_le), size, zero);
  ir_value_t* largest = matrix_reduce(b, matrix_reduce(b, upper, MATRIX_COLUMN, "max"), MATRIX_COLUMN, "max");
  ir_value_t* rounding = graph_splat_like(b, largest, 2 * matrix_roundoff(largest->type->element));
  ir_value_t* none = graph_binary(b, SCALAR_eq, largest, graph_splat_like(b, largest, 0));
  ir_value_t* least = graph_select(b, none, rounding, graph_binary(b, SCALAR_mul, largest, rounding));
  least = matrix_fill(b, least, size);
  ir_value_t* small = graph_binary(b, SCALAR_lt, size, least);
  small = graph_binary(b, SCALAR_and, small, matrix_triangle(b, lu.re, SCALAR_eq));
  lu.re = graph_select(b, small, graph_binary(b, SCALAR_copysign, least, lu.re), lu.re);
  if (lu.im) lu.im = graph_select(b, small, zero, lu.im);
  return lu;
}

matrix_t matrix_general_solve(ir_builder_t* b, matrix_t a, matrix_t x, bool is_singular) {
  matrix_lu_t lu = matrix_lu(b, a);
  if (is_singular) lu.lu = raise_pivots(b, lu.lu);
  ir_value_t* order = matrix_permutation(b, lu.pivots, matrix_height(b, a));
  ir_value_t* wanted = matrix_spread(b, (matrix_t){order, NULL}, a.re, MATRIX_COLUMN).re;
  ir_value_t* from = matrix_places(b, wanted, MATRIX_COLUMN);
  ir_value_t *zero = graph_splat_like(b, a.re, 0), *one = graph_splat_like(b, a.re, 1);
  matrix_t swaps = {graph_select(b, graph_binary(b, SCALAR_eq, from, wanted), one, zero), a.im ? zero : NULL};
  x = matrix_product(b, swaps, x);
  x = matrix_solve(b, lu.lu, x, (matrix_solve_t){.left = true, .lower = true, .unit_diagonal = true});
  return matrix_solve(b, lu.lu, x, (matrix_solve_t){.left = true});
}

//===----------------------------------------------------------------------------------------------------------------===
// QR
//===----------------------------------------------------------------------------------------------------------------===

matrix_reflector_t matrix_find_reflector(ir_builder_t* b, matrix_t column, ir_value_t* k) {
  matrix_t zeros = matrix_zeros(b, column), alpha = matrix_pick(b, column, MATRIX_COLUMN, k);
  ir_value_t* below = matrix_where(b, column.re, MATRIX_COLUMN, SCALAR_gt, k);
  ir_value_t* rest = matrix_norm2(b, matrix_select(b, below, column, zeros));
  ir_value_t* tail = matrix_reduce(b, rest, MATRIX_COLUMN, "add");
  ir_value_t *none = graph_splat_like(b, tail, 0), *still = graph_binary(b, SCALAR_eq, tail, none);
  if (alpha.im) still = graph_binary(b, SCALAR_and, still, graph_binary(b, SCALAR_eq, alpha.im, none));
  ir_value_t* length = graph_unary(b, SCALAR_sqrt, graph_binary(b, SCALAR_add, tail, matrix_norm2(b, alpha)));
  ir_value_t* beta = graph_unary(b, SCALAR_neg, graph_binary(b, SCALAR_copysign, length, alpha.re));
  beta = graph_select(b, still, alpha.re, beta);
  ir_value_t* one = graph_splat_like(b, beta, 1);
  matrix_t divisor = {graph_select(b, still, one, beta), NULL};
  matrix_t tau =
      matrix_div(b, (matrix_t){graph_binary(b, SCALAR_sub, beta, alpha.re), matrix_conj(b, alpha).im}, divisor);
  matrix_t start = {graph_binary(b, SCALAR_sub, alpha.re, beta), alpha.im};
  start = matrix_select(b, still, (matrix_t){one, alpha.im ? none : NULL}, start);
  matrix_t scale = {matrix_fill(b, start.re, column.re), start.im ? matrix_fill(b, start.im, column.im) : NULL};
  matrix_t unit = zeros;
  ir_value_t* here = matrix_where(b, column.re, MATRIX_COLUMN, SCALAR_eq, k);
  unit.re = graph_select(b, here, graph_splat_like(b, column.re, 1), zeros.re);
  matrix_t v = matrix_select(b, below, matrix_div(b, column, scale), unit);
  return (matrix_reflector_t){v, matrix_select(b, still, matrix_zeros(b, tau), tau), {beta, alpha.im ? none : NULL}};
}

// x - factor v (v^H x)
matrix_t matrix_reflect(ir_builder_t* b, matrix_t x, matrix_t v, matrix_t factor) {
  matrix_t tall = matrix_spread(b, matrix_conj(b, v), x.re, MATRIX_COLUMN);
  matrix_t row = matrix_sum(b, matrix_mul(b, tall, x), MATRIX_ROW);
  matrix_t times = {matrix_fill(b, factor.re, v.re), factor.im ? matrix_fill(b, factor.im, v.re) : NULL};
  return matrix_sub(b, x, outer(b, matrix_mul(b, v, times), row, x.re));
}

// Ends a turn of the loop over columns: column k gets beta in `row` and the reflector below it, the reflector's number
// is kept, and what `next` has from its third place on.
static void keep_reflector(ir_builder_t* b, matrix_loop_t* loop, const matrix_reflector_t* h, ir_value_t* row,
                           matrix_t turned, matrix_t* next) {
  ir_value_t* like = turned.re;
  matrix_t taus = loop->values[1];
  ir_value_t* here = matrix_where(b, like, MATRIX_COLUMN, SCALAR_eq, loop->k);
  ir_value_t* below = graph_binary(b, SCALAR_and, here, matrix_where(b, like, MATRIX_ROW, SCALAR_gt, row));
  ir_value_t* place = graph_binary(b, SCALAR_and, here, matrix_where(b, like, MATRIX_ROW, SCALAR_eq, row));
  next[0] = matrix_select(b, below, matrix_spread(b, h->v, like, MATRIX_COLUMN), turned);
  matrix_t beta = {matrix_fill(b, h->beta.re, like), turned.im ? matrix_fill(b, h->beta.im, like) : NULL};
  next[0] = matrix_select(b, place, beta, next[0]);
  matrix_t tau = {matrix_fill(b, h->tau.re, taus.re), taus.im ? matrix_fill(b, h->tau.im, taus.im) : NULL};
  next[1] = matrix_select(b, matrix_where(b, taus.re, MATRIX_COLUMN, SCALAR_eq, loop->k), tau, taus);
  matrix_loop_end(loop, next);
}

// Column k of `a` becomes beta with zeros below.
static void turn_column(ir_builder_t* b, matrix_loop_t* loop, matrix_t a, matrix_t* next) {
  matrix_reflector_t h = matrix_find_reflector(b, matrix_pick(b, a, MATRIX_COLUMN, loop->k), loop->k);
  ir_value_t* behind = matrix_where(b, a.re, MATRIX_COLUMN, SCALAR_gt, loop->k);
  matrix_t turned = matrix_reflect(b, a, h.v, matrix_conj(b, h.tau));
  keep_reflector(b, loop, &h, loop->k, matrix_select(b, behind, turned, a), next);
}

matrix_qr_t matrix_qr(ir_builder_t* b, matrix_t a) {
  ir_value_t* count = lower_index_binary(b, SCALAR_min, matrix_height(b, a), matrix_width(b, a));
  ir_value_t* none = matrix_new(b, a, NULL, &count, 1, 0);
  matrix_t inits[2] = {a, {none, a.im ? none : NULL}};
  matrix_loop_t loop = {0};
  matrix_loop_begin(&loop, b, count, inits, 2);
  turn_column(b, &loop, loop.values[0], (matrix_t[2]){0});
  return (matrix_qr_t){loop.values[0], loop.values[1]};
}

// Columns (of a vector: elements) k and p change places.
static ir_value_t* swap_columns(ir_builder_t* b, ir_value_t* x, ir_value_t* k, ir_value_t* p) {
  bool is_vector = p->type->rank == x->type->rank - 1;
  matrix_t from_k = matrix_pick(b, (matrix_t){x, NULL}, MATRIX_COLUMN, k);
  matrix_t from_p = matrix_pick(b, (matrix_t){x, NULL}, MATRIX_COLUMN, p);
  ir_value_t* to_p = is_vector ? matrix_fill(b, from_k.re, x) : matrix_spread(b, from_k, x, MATRIX_COLUMN).re;
  ir_value_t* to_k = is_vector ? matrix_fill(b, from_p.re, x) : matrix_spread(b, from_p, x, MATRIX_COLUMN).re;
  x = graph_select(b, matrix_where(b, x, MATRIX_COLUMN, SCALAR_eq, p), to_p, x);
  return graph_select(b, matrix_where(b, x, MATRIX_COLUMN, SCALAR_eq, k), to_k, x);
}

// The column from k on that is to be next: the first that callers want in front, else the longest of what is left of
// it.
static ir_value_t* find_column(ir_builder_t* b, matrix_t a, ir_value_t* is_wanted, ir_value_t* k) {
  ir_value_t* left = matrix_where(b, a.re, MATRIX_ROW, SCALAR_ge, k);
  ir_value_t* length = matrix_norm2(b, matrix_select(b, left, a, matrix_zeros(b, a)));
  length = matrix_reduce(b, length, MATRIX_ROW, "add");
  length = graph_select(b, is_wanted, graph_splat_like(b, length, INFINITY), length);
  ir_value_t* open = matrix_where(b, length, MATRIX_COLUMN, SCALAR_ge, k);
  length = graph_select(b, open, length, graph_splat_like(b, length, -1));
  graph_extreme_t largest = {.axis = length->type->rank - 1, .index = ir_type_int(b->ctx, 32)};
  return ir_result(graph_arg_reduce(b, length, &largest), 1);
}

matrix_pivoted_qr_t matrix_pivoted_qr(ir_builder_t* b, matrix_t a, ir_value_t* wanted) {
  ir_value_t* count = lower_index_binary(b, SCALAR_min, matrix_height(b, a), matrix_width(b, a));
  ir_value_t *none = matrix_new(b, a, NULL, &count, 1, 0), *order = matrix_places(b, wanted, MATRIX_COLUMN);
  matrix_t inits[4] = {a, {none, a.im ? none : NULL}, {add_places(b, order, 1), NULL}, {wanted, NULL}}, next[4] = {0};
  matrix_loop_t loop = {0};
  matrix_loop_begin(&loop, b, count, inits, 4);
  a = loop.values[0], wanted = loop.values[3].re;
  ir_value_t* is_wanted = graph_binary(b, SCALAR_ne, wanted, graph_splat_like(b, wanted, 0));
  ir_value_t *p = find_column(b, a, is_wanted, loop.k), *k = loop.k;
  a = (matrix_t){swap_columns(b, a.re, k, p), a.im ? swap_columns(b, a.im, k, p) : NULL};
  next[2].re = swap_columns(b, loop.values[2].re, k, p);
  next[3].re = swap_columns(b, wanted, k, p);
  turn_column(b, &loop, a, next);
  return (matrix_pivoted_qr_t){{loop.values[0], loop.values[1]}, loop.values[2].re};
}

matrix_t matrix_reflectors(ir_builder_t* b, matrix_qr_t qr) {
  ir_value_t* count = matrix_width(b, qr.tau);
  matrix_t q = matrix_identity(b, qr.a, matrix_height(b, qr.a), matrix_width(b, qr.a));
  matrix_loop_t loop = {0};
  matrix_loop_begin(&loop, b, count, &q, 1);
  q = loop.values[0];
  ir_value_t* k = matrix_loop_back(&loop, count);
  matrix_t column = matrix_pick(b, qr.a, MATRIX_COLUMN, k), zeros = matrix_zeros(b, column);
  ir_value_t* below = matrix_where(b, column.re, MATRIX_COLUMN, SCALAR_gt, k);
  ir_value_t* here = matrix_where(b, column.re, MATRIX_COLUMN, SCALAR_eq, k);
  matrix_t unit = {graph_select(b, here, graph_splat_like(b, column.re, 1), zeros.re), zeros.im};
  matrix_t next = matrix_reflect(b, q, matrix_select(b, below, column, unit), matrix_pick(b, qr.tau, MATRIX_COLUMN, k));
  matrix_loop_end(&loop, &next);
  return loop.values[0];
}

// x - (x v) factor v^H
matrix_t matrix_reflect_rows(ir_builder_t* b, matrix_t x, matrix_t v, matrix_t factor) {
  matrix_t column = matrix_sum(b, matrix_mul(b, x, matrix_spread(b, v, x.re, MATRIX_ROW)), MATRIX_COLUMN);
  matrix_t times = {matrix_fill(b, factor.re, v.re), factor.im ? matrix_fill(b, factor.im, v.re) : NULL};
  return matrix_sub(b, x, outer(b, column, matrix_mul(b, matrix_conj(b, v), times), x.re));
}

matrix_qr_t matrix_hessenberg(ir_builder_t* b, matrix_t a) {
  ir_value_t* count = matrix_more(b, matrix_height(b, a), -1);
  ir_value_t* none = matrix_new(b, a, NULL, &count, 1, 0);
  matrix_t inits[2] = {a, {none, a.im ? none : NULL}};
  matrix_loop_t loop = {0};
  matrix_loop_begin(&loop, b, count, inits, 2);
  a = loop.values[0];
  ir_value_t* under = add_places(b, loop.k, 1);
  matrix_reflector_t h = matrix_find_reflector(b, matrix_pick(b, a, MATRIX_COLUMN, loop.k), under);
  ir_value_t* behind = matrix_where(b, a.re, MATRIX_COLUMN, SCALAR_gt, loop.k);
  matrix_t turned = matrix_reflect(b, matrix_reflect_rows(b, a, h.v, h.tau), h.v, matrix_conj(b, h.tau));
  keep_reflector(b, &loop, &h, under, matrix_select(b, behind, turned, a), (matrix_t[2]){0});
  return (matrix_qr_t){loop.values[0], loop.values[1]};
}
