// Matrices in batches, real or complex, as values of the graph: what factorizations are written in:
// [batch..., rows, columns]; a vector is [batch..., n], one number for each matrix [batch...]. All sizes may be known
// at run time only: then they are index values, which are constants where a type tells them.
#ifndef IREE_C_IMPORT_STABLEHLO_MATRIX_H_
#define IREE_C_IMPORT_STABLEHLO_MATRIX_H_

#include "import/lowering.h"

typedef struct matrix_t {
  ir_value_t *re, *im;  // im: NULL for real ones
} matrix_t;

static inline int64_t matrix_dim(matrix_t x, int32_t from_end) {
  return x.re->type->dims[x.re->type->rank - 1 - from_end];
}
static inline int64_t matrix_rows(matrix_t x) { return matrix_dim(x, 1); }
static inline int64_t matrix_columns(matrix_t x) { return matrix_dim(x, 0); }
// The same as index values; and such a value plus a number.
ir_value_t* matrix_height(ir_builder_t* b, matrix_t x);
ir_value_t* matrix_width(ir_builder_t* b, matrix_t x);
ir_value_t* matrix_more(ir_builder_t* b, ir_value_t* size, int64_t number);
// A size as a tensor of one element type without dims.
ir_value_t* matrix_number(ir_builder_t* b, ir_value_t* size, const ir_type_t* element);

// Elementwise; a real factor may meet a complex one.
matrix_t matrix_add(ir_builder_t* b, matrix_t x, matrix_t y);
matrix_t matrix_sub(ir_builder_t* b, matrix_t x, matrix_t y);
matrix_t matrix_mul(ir_builder_t* b, matrix_t x, matrix_t y);
matrix_t matrix_div(ir_builder_t* b, matrix_t x, matrix_t y);
matrix_t matrix_conj(ir_builder_t* b, matrix_t x);
matrix_t matrix_select(ir_builder_t* b, ir_value_t* mask, matrix_t x, matrix_t y);
matrix_t matrix_zeros(ir_builder_t* b, matrix_t like);
ir_value_t* matrix_norm2(ir_builder_t* b, matrix_t x);  // |x|^2 of each element

// The axes of a matrix, or the one of a vector, from the end.
enum { MATRIX_COLUMN = 0, MATRIX_ROW = 1 };
// Sum, or another reduction, along an axis, which disappears.
matrix_t matrix_sum(ir_builder_t* b, matrix_t x, int32_t axis);
ir_value_t* matrix_reduce(ir_builder_t* b, ir_value_t* x, int32_t axis, const char* kind);
// The same along an axis, which `like` has and x lacks; and numbers of the batch to all of the shape.
matrix_t matrix_spread(ir_builder_t* b, matrix_t x, ir_value_t* like, int32_t axis);
ir_value_t* matrix_fill(ir_builder_t* b, ir_value_t* x, ir_value_t* like);
// The same number everywhere, in the batch of x with `count` more dims of these sizes; the element is x's, or
// `element`.
ir_value_t* matrix_new(ir_builder_t* b, matrix_t x, const ir_type_t* element, ir_value_t* const* sizes, uint32_t count,
                       double number);
// The same number everywhere, of a type whose '?' are of `like`; the places along an axis of `like`, i32.
ir_value_t* matrix_splat(ir_builder_t* b, ir_value_t* like, const ir_type_t* type, double number);
ir_value_t* matrix_places(ir_builder_t* b, ir_value_t* like, int32_t axis);
// Where the place along an axis compares as `fn` says with k (i32 without dims, or one for each of the batch).
ir_value_t* matrix_where(ir_builder_t* b, ir_value_t* like, int32_t axis, scalar_fn_t fn, ir_value_t* k);
// Where row and column compare so.
ir_value_t* matrix_triangle(ir_builder_t* b, ir_value_t* like, scalar_fn_t fn);
// Column k (axis MATRIX_COLUMN) or row k of a matrix, number k of a vector (axis MATRIX_COLUMN).
matrix_t matrix_pick(ir_builder_t* b, matrix_t x, int32_t axis, ir_value_t* k);
matrix_t matrix_slice(ir_builder_t* b, matrix_t x, int32_t axis, ir_value_t* first, ir_value_t* count);
// All but the first `front` and the last `back` of an axis.
matrix_t matrix_inner(ir_builder_t* b, matrix_t x, int32_t axis, int64_t front, int64_t back);
matrix_t matrix_concat(ir_builder_t* b, const matrix_t* parts, uint32_t count, int32_t axis);
matrix_t matrix_pad(ir_builder_t* b, matrix_t x, int32_t axis, ir_value_t* count);  // zeros behind
matrix_t matrix_transpose(ir_builder_t* b, matrix_t x);
matrix_t matrix_adjoint(ir_builder_t* b, matrix_t x);
matrix_t matrix_product(ir_builder_t* b, matrix_t x, matrix_t y);
matrix_t matrix_identity(ir_builder_t* b, matrix_t like, ir_value_t* rows, ir_value_t* columns);
// Half the distance of 1 to the next number.
double matrix_roundoff(const ir_type_t* element);
// Whether any of the flags is set.
ir_value_t* matrix_any(ir_builder_t* b, ir_value_t* flags);

// for (k = 0; k < limit; ++k) with values that it carries. Between begin and end the builder is in the body, and
// `values` are those at its start; behind the end, those that the loop leaves.
enum { MATRIX_LOOP_VALUES = 8 };
typedef struct matrix_loop_t {
  ir_builder_t* b;
  ir_builder_t outside;
  ir_op_t* op;
  bool counts_places;  // k is an index of the host, not a tensor of i32
  ir_value_t* k;
  matrix_t values[MATRIX_LOOP_VALUES];
  uint32_t count;
  bool has_flag;  // value 0 is an i1 without dims: the loop ends when it is false
} matrix_loop_t;
void matrix_loop_begin(matrix_loop_t* loop, ir_builder_t* b, ir_value_t* limit, const matrix_t* values, uint32_t count);
// The counter of a loop that runs from the last of `count` to the first.
ir_value_t* matrix_loop_back(const matrix_loop_t* loop, ir_value_t* count);
void matrix_loop_end(matrix_loop_t* loop, const matrix_t* next);

//===----------------------------------------------------------------------------------------------------------------===
// Factorizations, as LAPACK leaves them (factor.c, jacobi.c, schur.c)
//===----------------------------------------------------------------------------------------------------------------===

// The triangle of a Cholesky factorization, zeros elsewhere.
matrix_t matrix_cholesky(ir_builder_t* b, matrix_t a, bool lower);
// op(A) X = B, or X op(A) = B.
typedef struct matrix_solve_t {
  bool left, lower, unit_diagonal, transpose, conjugate;
} matrix_solve_t;
matrix_t matrix_solve(ir_builder_t* b, matrix_t a, matrix_t x, matrix_solve_t how);
typedef struct matrix_lu_t {
  matrix_t lu;
  ir_value_t *pivots, *info;  // i32: rows swapped with, from 0; 0, or 1 + the first place without pivot
} matrix_lu_t;
matrix_lu_t matrix_lu(ir_builder_t* b, matrix_t a);
// The rows that `pivots` (from 0) bring to the first `rows` places.
ir_value_t* matrix_permutation(ir_builder_t* b, ir_value_t* pivots, ir_value_t* rows);
// H = 1 - tau v v^H with H^H column = beta in place k and zeros below.
typedef struct matrix_reflector_t {
  matrix_t v;    // 1 in place k, zeros above
  matrix_t tau;  // one for each of the batch
  matrix_t beta;
} matrix_reflector_t;
matrix_reflector_t matrix_find_reflector(ir_builder_t* b, matrix_t column, ir_value_t* k);
// H^H x when `factor` is conj(tau), and x H when it is tau.
matrix_t matrix_reflect(ir_builder_t* b, matrix_t x, matrix_t v, matrix_t factor);
matrix_t matrix_reflect_rows(ir_builder_t* b, matrix_t x, matrix_t v, matrix_t factor);
typedef struct matrix_qr_t {
  matrix_t a, tau;  // R above, the reflectors below
} matrix_qr_t;
matrix_qr_t matrix_qr(ir_builder_t* b, matrix_t a);
// The same of A P, so that the diagonal of R does not grow: which columns of A it has, i32 from 1. Those that are not 0
// in `wanted` come first.
typedef struct matrix_pivoted_qr_t {
  matrix_qr_t qr;
  ir_value_t* order;
} matrix_pivoted_qr_t;
matrix_pivoted_qr_t matrix_pivoted_qr(ir_builder_t* b, matrix_t a, ir_value_t* wanted);
// The first columns of the product of reflectors, as many as a has.
matrix_t matrix_reflectors(ir_builder_t* b, matrix_qr_t qr);
// Upper Hessenberg form, the reflectors below it: one less than columns.
matrix_qr_t matrix_hessenberg(ir_builder_t* b, matrix_t a);
// A X = B for any regular A; with `is_singular` A may be another one, for which a near one is solved.
matrix_t matrix_general_solve(ir_builder_t* b, matrix_t a, matrix_t x, bool is_singular);
typedef struct matrix_eigh_t {
  matrix_t vectors;
  ir_value_t* values;  // ascending
} matrix_eigh_t;
matrix_eigh_t matrix_eigh(ir_builder_t* b, matrix_t a, bool lower);
typedef struct matrix_svd_t {
  matrix_t u, vt;
  ir_value_t* s;  // descending
} matrix_svd_t;
// A = Z T Z^H with T upper triangular; of a real matrix with blocks of two rows for pairs of complex eigenvalues.
typedef struct matrix_schur_t {
  matrix_t t, z;
  ir_value_t *wr, *wi;  // eigenvalues in T's order; of pairs first the one above the real axis
  ir_value_t* info;     // i32 for each of the batch: 0, or 1 when there was no end
} matrix_schur_t;
matrix_schur_t matrix_schur(ir_builder_t* b, matrix_t a);
// Eigenvectors of length one as columns, complex always, with A V = V W, or U^H A = W U^H.
matrix_t matrix_eigenvectors(ir_builder_t* b, const matrix_schur_t* schur, bool left);
matrix_svd_t matrix_svd(ir_builder_t* b, matrix_t a, bool full, bool vectors);

#endif  // IREE_C_IMPORT_STABLEHLO_MATRIX_H_
