// Schur forms and eigenvectors of any square matrix: QR steps with implicit shifts on Hessenberg's form. A step chases
// a bulge down the lowest block that is not done, by reflectors of two rows with one shift (complex matrices) or of
// three rows with two (real ones); each of a batch has its own block. See matrix.h.
//
//   A = Z H Z^H;  a turn of the outer loop: what is small below the diagonal becomes 0, the block's shifts, one sweep
#include <float.h>
#include <math.h>

#include "import/stablehlo/matrix.h"

enum { TURNS_PER_ROW = 30, ODD_TURN = 10 };

static ir_value_t* op2(ir_builder_t* b, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  return graph_binary(b, fn, x, y);
}
static ir_value_t* with(ir_builder_t* b, scalar_fn_t fn, ir_value_t* x, double y) {
  return graph_binary(b, fn, x, graph_splat_like(b, x, y));
}
static ir_value_t* absolute(ir_builder_t* b, ir_value_t* x) { return graph_unary(b, SCALAR_abs, x); }
static matrix_t real(ir_value_t* x) { return (matrix_t){x, NULL}; }

// |re| + |im|, which is as good as the length where only the size matters.
static ir_value_t* size_of(ir_builder_t* b, matrix_t x) {
  return x.im ? op2(b, SCALAR_add, absolute(b, x.re), absolute(b, x.im)) : absolute(b, x.re);
}

// Where row = column + shift.
static ir_value_t* diagonal(ir_builder_t* b, ir_value_t* like, scalar_fn_t fn, int64_t shift) {
  ir_value_t* column = matrix_places(b, like, MATRIX_COLUMN);
  return op2(b, fn, matrix_places(b, like, MATRIX_ROW), with(b, SCALAR_add, column, (double)shift));
}

// Elements next to the diagonal as vectors by row: number i is x[i, i - shift].
static matrix_t beside(ir_builder_t* b, matrix_t x, int64_t shift) {
  ir_value_t* here = diagonal(b, x.re, SCALAR_eq, shift);
  return matrix_sum(b, matrix_select(b, here, x, matrix_zeros(b, x)), MATRIX_COLUMN);
}

// x, which is as long as v, with v's very sizes.
static ir_value_t* as_long(ir_builder_t* b, ir_value_t* x, ir_value_t* v) {
  ir_value_t* sizes[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < v->type->rank; ++i) sizes[i] = graph_dim(b, v, (uint32_t)i);
  return lower_reshape(b, x, sizes, (uint32_t)v->type->rank);
}

// A vector's neighbours: number i is v[i - 1], or v[i + 1]; 0 at the end.
static ir_value_t* before(ir_builder_t* b, ir_value_t* v) {
  matrix_t front = matrix_slice(b, real(v), MATRIX_COLUMN, graph_index_constant(b, 0), graph_index_constant(b, 1));
  matrix_t parts[2] = {matrix_zeros(b, front), matrix_inner(b, real(v), MATRIX_COLUMN, 0, 1)};
  return as_long(b, matrix_concat(b, parts, 2, MATRIX_COLUMN).re, v);
}
static ir_value_t* behind(ir_builder_t* b, ir_value_t* v) {
  matrix_t rest = matrix_inner(b, real(v), MATRIX_COLUMN, 1, 0);
  return as_long(b, matrix_pad(b, rest, MATRIX_COLUMN, graph_index_constant(b, 1)).re, v);
}

static matrix_t element(ir_builder_t* b, matrix_t x, ir_value_t* row, ir_value_t* column) {
  return matrix_pick(b, matrix_pick(b, x, MATRIX_ROW, row), MATRIX_COLUMN, column);
}

//===----------------------------------------------------------------------------------------------------------------===
// Blocks
//===----------------------------------------------------------------------------------------------------------------===

// Zeros below the first subdiagonal, and in it where an element is nothing beside its neighbours on the diagonal.
static matrix_t drop_small(ir_builder_t* b, matrix_t h) {
  const ir_type_t* element_type = h.re->type->element;
  double roundoff = matrix_roundoff(element_type), least = element_type->float_kind == IR_F64 ? DBL_MIN : FLT_MIN;
  ir_value_t* main = size_of(b, beside(b, h, 0));
  ir_value_t* sum = op2(b, SCALAR_add, matrix_spread(b, real(main), h.re, MATRIX_COLUMN).re,
                        matrix_spread(b, real(main), h.re, MATRIX_ROW).re);
  ir_value_t* limit = with(b, SCALAR_max, with(b, SCALAR_mul, sum, roundoff), least / roundoff);
  ir_value_t* small = op2(b, SCALAR_le, size_of(b, h), limit);
  small = op2(b, SCALAR_and, small, diagonal(b, h.re, SCALAR_eq, 1));
  small = op2(b, SCALAR_or, small, diagonal(b, h.re, SCALAR_gt, 1));
  return matrix_select(b, small, matrix_zeros(b, h), h);
}

// Of a real form: where rows i - 1 and i are a block of their own with a pair of complex eigenvalues, and the
// discriminant of all such two rows.
static ir_value_t* pairs(ir_builder_t* b, matrix_t h, ir_value_t* coupled, ir_value_t** discriminant) {
  ir_value_t *main = beside(b, h, 0).re, *above = before(b, beside(b, h, -1).re);
  ir_value_t* half = with(b, SCALAR_mul, op2(b, SCALAR_sub, before(b, main), main), 0.5);
  ir_value_t* rest = op2(b, SCALAR_mul, above, beside(b, h, 1).re);
  *discriminant = op2(b, SCALAR_add, op2(b, SCALAR_mul, half, half), rest);
  ir_value_t* alone = op2(b, SCALAR_max, before(b, coupled), behind(b, coupled));
  alone = op2(b, SCALAR_and, with(b, SCALAR_eq, alone, 0), with(b, SCALAR_eq, coupled, 1));
  return op2(b, SCALAR_and, alone, with(b, SCALAR_lt, *discriminant, 0));
}

typedef struct block_t {
  ir_value_t *low, *high;  // first and last row, one for each of the batch
  ir_value_t* is_open;     // i1: there is one
} block_t;

// i32 by row: 1 where the row has an element below the diagonal.
static ir_value_t* coupling(ir_builder_t* b, matrix_t h) {
  ir_value_t* any = with(b, SCALAR_ne, size_of(b, beside(b, h, 1)), 0);
  return graph_cast(b, any, ir_type_int(b->ctx, 32), true);
}

static block_t find_block(ir_builder_t* b, matrix_t h) {
  block_t block;
  ir_value_t *coupled = coupling(b, h), *open = with(b, SCALAR_eq, coupled, 1), *discriminant;
  if (!h.im) open = op2(b, SCALAR_and, open, graph_unary(b, SCALAR_not, pairs(b, h, coupled, &discriminant)));
  ir_value_t *place = matrix_places(b, coupled, MATRIX_COLUMN), *none = graph_splat_like(b, place, 0);
  block.high = matrix_reduce(b, graph_select(b, open, place, none), MATRIX_COLUMN, "max");
  ir_value_t* above = op2(b, SCALAR_lt, place, matrix_fill(b, block.high, place));
  ir_value_t* starts = op2(b, SCALAR_and, above, with(b, SCALAR_eq, coupled, 0));
  block.low = matrix_reduce(b, graph_select(b, starts, place, none), MATRIX_COLUMN, "max");
  block.is_open = with(b, SCALAR_gt, block.high, 0);
  return block;
}

//===----------------------------------------------------------------------------------------------------------------===
// Shifts: the first column of (H - s), or of (H - s) (H - t), as far as it is not 0
//===----------------------------------------------------------------------------------------------------------------===

// The lowest two rows and columns of the block.
typedef struct corner_t {
  matrix_t a, b, c, d;
} corner_t;

static corner_t corner(ir_builder_t* b, matrix_t h, ir_value_t* high) {
  ir_value_t* up = with(b, SCALAR_sub, high, 1);
  return (corner_t){element(b, h, up, up), element(b, h, up, high), element(b, h, high, up), element(b, h, high, high)};
}

// A turn now and then takes other shifts, for matrices on which the usual ones go in circles.
static ir_value_t* is_odd(ir_builder_t* b, ir_value_t* turn) {
  ir_value_t* rest = with(b, SCALAR_rem, turn, ODD_TURN);
  return with(b, SCALAR_eq, rest, ODD_TURN - 1);
}

static matrix_t square_root(ir_builder_t* b, matrix_t x) {
  ir_value_t* size = graph_unary(b, SCALAR_sqrt, matrix_norm2(b, x));
  ir_value_t* sum = op2(b, SCALAR_add, size, absolute(b, x.re));
  ir_value_t* root = graph_unary(b, SCALAR_sqrt, with(b, SCALAR_mul, sum, 0.5));
  ir_value_t* divisor = with(b, SCALAR_mul, root, 2);
  ir_value_t* is_zero = with(b, SCALAR_eq, root, 0);
  divisor = graph_select(b, is_zero, graph_splat_like(b, root, 1), divisor);
  ir_value_t* other = op2(b, SCALAR_div, absolute(b, x.im), divisor);
  ir_value_t* right = with(b, SCALAR_ge, x.re, 0);
  return (matrix_t){graph_select(b, right, root, other),
                    op2(b, SCALAR_copysign, graph_select(b, right, other, root), x.im)};
}

// The eigenvalue of the corner that is next to d; of two the one below the real axis, so that pairs end in order.
static matrix_t single_shift(ir_builder_t* b, const corner_t* k, ir_value_t* odd) {
  matrix_t half = real(graph_splat_like(b, k->a.re, 0.5));
  matrix_t middle = matrix_mul(b, matrix_add(b, k->a, k->d), half);
  matrix_t apart = matrix_mul(b, matrix_sub(b, k->a, k->d), half);
  matrix_t root = square_root(b, matrix_add(b, matrix_mul(b, apart, apart), matrix_mul(b, k->b, k->c)));
  matrix_t more = matrix_add(b, middle, root), less = matrix_sub(b, middle, root);
  ir_value_t* above = with(b, SCALAR_gt, root.im, 0);
  matrix_t first = matrix_select(b, above, less, more), second = matrix_select(b, above, more, less);
  ir_value_t* nearer =
      op2(b, SCALAR_lt, matrix_norm2(b, matrix_sub(b, second, k->d)), matrix_norm2(b, matrix_sub(b, first, k->d)));
  matrix_t shift = matrix_select(b, nearer, second, first);
  shift.re = graph_select(b, odd, op2(b, SCALAR_add, k->d.re, size_of(b, k->c)), shift.re);
  return shift;
}

// x, y, z: where the block has two rows, with one of their real eigenvalues and z = 0.
static void double_shift(ir_builder_t* b, matrix_t h, const block_t* block, ir_value_t* odd, matrix_t out[3]) {
  corner_t k = corner(b, h, block->high);
  ir_value_t *next = with(b, SCALAR_add, block->low, 1), *third = with(b, SCALAR_add, block->low, 2);
  ir_value_t *h00 = element(b, h, block->low, block->low).re, *h01 = element(b, h, block->low, next).re;
  ir_value_t *h10 = element(b, h, next, block->low).re, *h11 = element(b, h, next, next).re;
  ir_value_t *h21 = element(b, h, third, next).re, *zero = graph_splat_like(b, h00, 0);
  ir_value_t *sum = op2(b, SCALAR_add, k.a.re, k.d.re), *cross = op2(b, SCALAR_mul, k.b.re, k.c.re);
  ir_value_t* product = op2(b, SCALAR_sub, op2(b, SCALAR_mul, k.a.re, k.d.re), cross);
  ir_value_t* up = with(b, SCALAR_sub, block->high, 1);
  ir_value_t* sizes =
      op2(b, SCALAR_add, absolute(b, k.c.re), absolute(b, element(b, h, up, with(b, SCALAR_sub, up, 1)).re));
  sum = graph_select(b, odd, with(b, SCALAR_mul, sizes, 1.5), sum);
  product = graph_select(b, odd, op2(b, SCALAR_mul, sizes, sizes), product);
  ir_value_t* x = op2(b, SCALAR_add, op2(b, SCALAR_mul, h00, op2(b, SCALAR_sub, h00, sum)), product);
  x = op2(b, SCALAR_add, x, op2(b, SCALAR_mul, h01, h10));
  ir_value_t* y = op2(b, SCALAR_mul, h10, op2(b, SCALAR_sub, op2(b, SCALAR_add, h00, h11), sum));
  ir_value_t* two = op2(b, SCALAR_eq, next, block->high);
  ir_value_t* half = with(b, SCALAR_mul, op2(b, SCALAR_sub, k.a.re, k.d.re), 0.5);
  ir_value_t* square = with(b, SCALAR_max, op2(b, SCALAR_add, op2(b, SCALAR_mul, half, half), cross), 0);
  ir_value_t* root = op2(b, SCALAR_copysign, graph_unary(b, SCALAR_sqrt, square), half);
  ir_value_t* from_shift = op2(b, SCALAR_add, half, root);  // a - (d + half - root)
  out[0] = real(graph_select(b, two, from_shift, x));
  out[1] = real(graph_select(b, two, h10, y));
  out[2] = real(graph_select(b, two, zero, op2(b, SCALAR_mul, h10, h21)));
}

// That column: its rows from the block's first on.
static matrix_t first_column(ir_builder_t* b, matrix_t h, const block_t* block, ir_value_t* turn) {
  ir_value_t* odd = matrix_fill(b, is_odd(b, turn), block->is_open);
  matrix_t values[3];
  uint32_t count = h.im ? 2 : 3;
  if (h.im) {
    corner_t k = corner(b, h, block->high);
    values[0] = matrix_sub(b, element(b, h, block->low, block->low), single_shift(b, &k, odd));
    values[1] = element(b, h, with(b, SCALAR_add, block->low, 1), block->low);
  } else {
    double_shift(b, h, block, odd, values);
  }
  matrix_t column = matrix_zeros(b, beside(b, h, 0));
  for (uint32_t i = 0; i < count; ++i) {
    ir_value_t* here = matrix_where(b, column.re, MATRIX_COLUMN, SCALAR_eq, with(b, SCALAR_add, block->low, (double)i));
    matrix_t value = {matrix_fill(b, values[i].re, column.re), h.im ? matrix_fill(b, values[i].im, column.re) : NULL};
    column = matrix_select(b, here, value, column);
  }
  return column;
}

//===----------------------------------------------------------------------------------------------------------------===
// Sweeps
//===----------------------------------------------------------------------------------------------------------------===

static void sweep(ir_builder_t* b, matrix_t* h, matrix_t* z, const block_t* block, matrix_t first) {
  matrix_loop_t loop = {0};
  matrix_loop_begin(&loop, b, matrix_more(b, matrix_height(b, *h), -1), (matrix_t[]){*h, *z}, 2);
  matrix_t next[2] = {loop.values[0], loop.values[1]};
  ir_value_t *like = block->low, *k = matrix_fill(b, loop.k, like), *left = with(b, SCALAR_sub, loop.k, 1);
  ir_value_t* is_first = op2(b, SCALAR_eq, k, block->low);
  ir_value_t* inside = op2(b, SCALAR_and, op2(b, SCALAR_ge, k, block->low), op2(b, SCALAR_lt, k, block->high));
  matrix_t column = matrix_pick(b, next[0], MATRIX_COLUMN, left);
  column = matrix_select(b, matrix_fill(b, is_first, column.re), first, column);
  ir_value_t* last = op2(b, SCALAR_min, with(b, SCALAR_add, k, h->im ? 1 : 2), block->high);
  ir_value_t* kept = matrix_where(b, column.re, MATRIX_COLUMN, SCALAR_le, last);
  column = matrix_select(b, kept, column, matrix_zeros(b, column));
  matrix_reflector_t r = matrix_find_reflector(b, column, loop.k);
  matrix_t tau = matrix_select(b, inside, r.tau, matrix_zeros(b, r.tau));
  next[0] = matrix_reflect(b, matrix_reflect_rows(b, next[0], r.v, tau), r.v, matrix_conj(b, tau));
  next[1] = matrix_reflect_rows(b, next[1], r.v, tau);
  ir_value_t* done = op2(b, SCALAR_and, matrix_where(b, next[0].re, MATRIX_COLUMN, SCALAR_eq, left),
                         matrix_where(b, next[0].re, MATRIX_ROW, SCALAR_gt, loop.k));
  done = op2(b, SCALAR_and, done, matrix_fill(b, inside, next[0].re));
  next[0] = matrix_select(b, done, matrix_zeros(b, next[0]), next[0]);
  matrix_loop_end(&loop, next);
  *h = loop.values[0];
  *z = loop.values[1];
}

// From Hessenberg's form to Schur's. The flag says whether there was an end.
static ir_value_t* iterate(ir_builder_t* b, matrix_t* h, matrix_t* z) {
  const ir_type_t* flag = ir_type_tensor(b->ctx, ir_type_int(b->ctx, 1), 0, NULL);
  int64_t rows = matrix_rows(*h);
  if (rows == 1) return graph_splat_integer(b, flag, 0);
  ir_value_t* turns = lower_index_binary(b, SCALAR_max, matrix_height(b, *h), graph_index_constant(b, ODD_TURN));
  turns = lower_index_binary(b, SCALAR_mul, turns, graph_index_constant(b, TURNS_PER_ROW));
  matrix_t inits[3] = {real(graph_splat_integer(b, flag, 1)), *h, *z};
  matrix_loop_t loop = {.has_flag = true};
  matrix_loop_begin(&loop, b, turns, inits, 3);
  matrix_t next[3] = {loop.values[0], drop_small(b, loop.values[1]), loop.values[2]};
  block_t block = find_block(b, next[1]);
  next[0] = real(matrix_any(b, block.is_open));
  matrix_t first = first_column(b, next[1], &block, loop.k);
  sweep(b, &next[1], &next[2], &block, first);
  matrix_loop_end(&loop, next);
  *h = loop.values[1];
  *z = loop.values[2];
  return loop.values[0].re;
}

//===----------------------------------------------------------------------------------------------------------------===
// Schur's form
//===----------------------------------------------------------------------------------------------------------------===

static void begin(ir_builder_t* b, matrix_t a, matrix_t* h, matrix_t* z) {
  int64_t rows = matrix_rows(a);
  *h = a;
  *z = matrix_identity(b, a, matrix_height(b, a), matrix_height(b, a));
  if (rows == 1 || rows == 2) return;
  ir_value_t *zero = graph_index_constant(b, 0), *one = graph_index_constant(b, 1);
  matrix_qr_t form = matrix_hessenberg(b, a);
  matrix_t below = matrix_inner(b, matrix_inner(b, form.a, MATRIX_ROW, 1, 0), MATRIX_COLUMN, 0, 1);
  matrix_t q = matrix_reflectors(b, (matrix_qr_t){below, form.tau});
  matrix_t left = matrix_slice(b, *z, MATRIX_COLUMN, zero, one), right = matrix_inner(b, *z, MATRIX_COLUMN, 1, 0);
  right = matrix_concat(b, (matrix_t[]){matrix_slice(b, right, MATRIX_ROW, zero, one), q}, 2, MATRIX_ROW);
  *z = matrix_concat(b, (matrix_t[]){left, right}, 2, MATRIX_COLUMN);
  *h = matrix_select(b, diagonal(b, a.re, SCALAR_gt, 1), matrix_zeros(b, a), form.a);
}

// Of two rows of a real form: their middle, and what is above and below the real axis.
static void real_eigenvalues(ir_builder_t* b, matrix_schur_t* s) {
  ir_value_t *main = beside(b, s->t, 0).re, *zero = graph_splat_like(b, main, 0), *discriminant;
  s->wr = main;
  s->wi = zero;
  if (matrix_rows(s->t) == 1) return;
  ir_value_t* second = pairs(b, s->t, coupling(b, s->t), &discriminant);
  ir_value_t* height = graph_unary(b, SCALAR_sqrt, with(b, SCALAR_max, graph_unary(b, SCALAR_neg, discriminant), 0));
  height = graph_select(b, second, height, zero);
  ir_value_t* middle = with(b, SCALAR_mul, op2(b, SCALAR_add, before(b, main), main), 0.5);
  middle = graph_select(b, second, middle, zero);
  ir_value_t* first = with(b, SCALAR_gt, behind(b, height), 0);
  s->wr = graph_select(b, second, middle, graph_select(b, first, behind(b, middle), main));
  s->wi = op2(b, SCALAR_sub, behind(b, height), height);
}

matrix_schur_t matrix_schur(ir_builder_t* b, matrix_t a) {
  matrix_schur_t s;
  begin(b, a, &s.t, &s.z);
  ir_value_t* open = iterate(b, &s.t, &s.z);
  ir_value_t* like = matrix_new(b, a, ir_type_int(b->ctx, 32), NULL, 0, 0);
  s.info = lower_splat(b, graph_cast(b, open, like->type->element, true), like);
  if (!a.im) {
    real_eigenvalues(b, &s);
    return s;
  }
  matrix_t values = beside(b, s.t, 0);
  s.wr = values.re;
  s.wi = values.im;
  return s;
}

//===----------------------------------------------------------------------------------------------------------------===
// Eigenvectors: of T by substitution, a row each turn, for all eigenvalues together
//===----------------------------------------------------------------------------------------------------------------===

static matrix_t substitute(ir_builder_t* b, matrix_t t, bool left) {
  double roundoff = matrix_roundoff(t.re->type->element);
  ir_value_t* largest = matrix_reduce(b, matrix_reduce(b, size_of(b, t), MATRIX_COLUMN, "max"), MATRIX_COLUMN, "max");
  ir_value_t* least = with(b, SCALAR_max, with(b, SCALAR_mul, largest, roundoff), FLT_MIN);
  matrix_t values = beside(b, t, 0), zeros = matrix_zeros(b, t);
  matrix_loop_t loop = {0};
  matrix_loop_begin(&loop, b, matrix_height(b, t), &zeros, 1);
  ir_value_t* i = left ? loop.k : matrix_loop_back(&loop, matrix_height(b, t));
  matrix_t y = loop.values[0];
  matrix_t known = left ? matrix_conj(b, matrix_pick(b, t, MATRIX_COLUMN, i)) : matrix_pick(b, t, MATRIX_ROW, i);
  matrix_t sum = matrix_sum(b, matrix_mul(b, matrix_spread(b, known, y.re, MATRIX_COLUMN), y), MATRIX_ROW);
  matrix_t own = matrix_pick(b, values, MATRIX_COLUMN, i);
  own = (matrix_t){matrix_fill(b, own.re, sum.re), matrix_fill(b, own.im, sum.re)};
  matrix_t apart = matrix_sub(b, own, values);
  if (left) apart = matrix_conj(b, apart);
  ir_value_t* limit = matrix_fill(b, least, sum.re);
  ir_value_t* near = op2(b, SCALAR_lt, size_of(b, apart), limit);
  apart = matrix_select(b, near, (matrix_t){limit, matrix_zeros(b, sum).im}, apart);
  matrix_t zero = matrix_zeros(b, sum), row = matrix_div(b, matrix_sub(b, zero, sum), apart);
  ir_value_t* wanted = matrix_where(b, row.re, MATRIX_COLUMN, left ? SCALAR_lt : SCALAR_gt, i);
  ir_value_t* here = matrix_where(b, row.re, MATRIX_COLUMN, SCALAR_eq, i);
  row = matrix_select(b, wanted, row, zero);
  row.re = graph_select(b, here, graph_splat_like(b, row.re, 1), row.re);
  matrix_t next =
      matrix_select(b, matrix_where(b, y.re, MATRIX_ROW, SCALAR_eq, i), matrix_spread(b, row, y.re, MATRIX_ROW), y);
  matrix_loop_end(&loop, &next);
  return loop.values[0];
}

// Columns of length one whose largest element is real.
static matrix_t normalize(ir_builder_t* b, matrix_t v) {
  ir_value_t* largest = matrix_reduce(b, size_of(b, v), MATRIX_ROW, "max");
  v = matrix_div(b, v, matrix_spread(b, real(largest), v.re, MATRIX_ROW));
  ir_value_t* length = graph_unary(b, SCALAR_sqrt, matrix_reduce(b, matrix_norm2(b, v), MATRIX_ROW, "add"));
  v = matrix_div(b, v, matrix_spread(b, real(length), v.re, MATRIX_ROW));
  ir_value_t* sizes = matrix_norm2(b, v);
  largest = matrix_reduce(b, sizes, MATRIX_ROW, "max");
  ir_value_t* place = matrix_places(b, v.re, MATRIX_ROW);
  ir_value_t* is_largest = op2(b, SCALAR_eq, sizes, matrix_spread(b, real(largest), v.re, MATRIX_ROW).re);
  ir_value_t* none = graph_splat_like(b, place, INT32_MAX);
  ir_value_t* first = matrix_reduce(b, graph_select(b, is_largest, place, none), MATRIX_ROW, "min");
  ir_value_t* here = op2(b, SCALAR_eq, place, matrix_spread(b, real(first), place, MATRIX_ROW).re);
  matrix_t turn = matrix_conj(b, matrix_sum(b, matrix_select(b, here, v, matrix_zeros(b, v)), MATRIX_ROW));
  turn = matrix_div(b, turn, real(graph_unary(b, SCALAR_sqrt, largest)));
  v = matrix_mul(b, v, matrix_spread(b, turn, v.re, MATRIX_ROW));
  v.im = graph_select(b, here, graph_splat_like(b, v.im, 0), v.im);
  return v;
}

matrix_t matrix_eigenvectors(ir_builder_t* b, const matrix_schur_t* schur, bool left) {
  matrix_t t = schur->t, z = schur->z;
  bool is_real = !t.im;
  if (is_real) {  // blocks of pairs become triangular
    t.im = z.im = matrix_zeros(b, t).re;
    iterate(b, &t, &z);
  }
  matrix_t v = normalize(b, matrix_product(b, z, substitute(b, t, left)));
  if (!is_real) return v;
  ir_value_t* real_ones = matrix_spread(b, real(with(b, SCALAR_eq, schur->wi, 0)), v.re, MATRIX_ROW).re;
  v.im = graph_select(b, real_ones, graph_splat_like(b, v.im, 0), v.im);
  return v;
}
