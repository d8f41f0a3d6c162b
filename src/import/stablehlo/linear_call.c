// Custom calls of linear algebra, under the names that LAPACK, cuSOLVER, hipSOLVER and XLA have for them:
// @lapack_sgeqrf_ffi, @cusolver_geqrf_ffi and @Qr are one factorization. Batches lead.
#include <string.h>

#include "import/lowering_size.h"
#include "import/stablehlo/matrix.h"
#include "import/stablehlo/ops.h"

static matrix_t operand(const lower_op_t* n, uint32_t i) { return (matrix_t){n->values[i].v, n->values[i].im}; }
static lower_value_t result(matrix_t x) { return (lower_value_t){.v = x.re, .im = x.im}; }

static bool is_lower(const lower_op_t* n) {
  return stablehlo_call_number(n, "lower", 0) != 0 || stablehlo_call_number(n, "uplo", 0) == 'L';
}

static lower_value_t no_failure(lower_op_t* n) {
  return (lower_value_t){.v = matrix_new(n->b, operand(n, 0), ir_type_int(n->ctx, 32), NULL, 0, 0)};
}

// The number of operands behind the call's own: results' shapes, where sizes are known at run time only.
static uint32_t count_shapes(const lower_op_t* n) {
  int64_t places[GRAPH_MAX_RANK];
  uint32_t count = ir_op_ints(n->op, "indices_of_shape_operands", places, GRAPH_MAX_RANK);
  return count < n->op->operand_count ? count : 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Handlers: operands and results in LAPACK's order
//===----------------------------------------------------------------------------------------------------------------===

// 1 + the first place whose pivot is not above zero, or 0.
static ir_value_t* first_failure(lower_op_t* n, matrix_t factor) {
  ir_builder_t* b = n->b;
  ir_value_t* diagonal = matrix_triangle(b, factor.re, SCALAR_eq);
  ir_value_t* pivots =
      matrix_reduce(b, graph_select(b, diagonal, factor.re, graph_splat_like(b, factor.re, 0)), MATRIX_ROW, "add");
  ir_value_t* good = graph_binary(b, SCALAR_gt, pivots, graph_splat_like(b, pivots, 0));
  ir_value_t *place = matrix_places(b, pivots, MATRIX_COLUMN), *none = graph_splat_like(b, place, INT32_MAX);
  place = graph_binary(b, SCALAR_add, place, graph_splat_like(b, place, 1));
  ir_value_t* first = matrix_reduce(b, graph_select(b, good, none, place), MATRIX_COLUMN, "min");
  ir_value_t* all_good = graph_binary(b, SCALAR_eq, first, graph_splat_like(b, first, INT32_MAX));
  return graph_select(b, all_good, graph_splat_like(b, first, 0), first);
}

// The other triangle stays as it is.
static bool lower_potrf(lower_op_t* n) {
  bool lower = is_lower(n);
  matrix_t a = operand(n, 0), factor = matrix_cholesky(n->b, a, lower);
  ir_value_t* written = matrix_triangle(n->b, a.re, lower ? SCALAR_ge : SCALAR_le);
  n->out[0] = result(matrix_select(n->b, written, factor, a));
  n->out[1].v = first_failure(n, factor);
  return true;
}

static bool lower_trsm(lower_op_t* n) {
  matrix_t a = operand(n, 0), x = operand(n, 1);
  int64_t trans = stablehlo_call_number(n, "trans_x", 'N');
  bool left = stablehlo_call_number(n, "side", 'L') == 'L';
  if (matrix_rows(a) != matrix_columns(a) || (left ? matrix_rows(x) : matrix_columns(x)) != matrix_rows(a)) {
    return lower_error(n, "has operands that do not fit together");
  }
  matrix_solve_t how = {.left = left,
                        .lower = is_lower(n),
                        .unit_diagonal = stablehlo_call_number(n, "diag", 'N') == 'U',
                        .transpose = trans != 'N',
                        .conjugate = trans == 'C'};
  n->out[0] = result(matrix_solve(n->b, a, x, how));
  return true;
}

static ir_value_t* from_one(lower_op_t* n, ir_value_t* pivots) {
  return graph_binary(n->b, SCALAR_add, pivots, graph_splat_like(n->b, pivots, 1));
}

static bool lower_getrf(lower_op_t* n) {
  matrix_lu_t lu = matrix_lu(n->b, operand(n, 0));
  n->out[0] = result(lu.lu);
  n->out[1].v = from_one(n, lu.pivots);
  n->out[2].v = lu.info;
  return true;
}

// LuDecomposition: pivots from 0, and the rows in their new order.
static bool lower_lu(lower_op_t* n) {
  matrix_lu_t lu = matrix_lu(n->b, operand(n, 0));
  n->out[0] = result(lu.lu);
  n->out[1].v = lu.pivots;
  n->out[2].v = matrix_permutation(n->b, lu.pivots, matrix_height(n->b, operand(n, 0)));
  return true;
}

static bool lower_geqrf(lower_op_t* n) {
  matrix_qr_t qr = matrix_qr(n->b, operand(n, 0));
  n->out[0] = result(qr.a);
  n->out[1] = result(qr.tau);
  return true;
}

static bool at_most(int64_t x, int64_t y) { return x == IR_DYNAMIC || y == IR_DYNAMIC || x <= y; }

static bool lower_geqp3(lower_op_t* n) {
  matrix_t a = operand(n, 0);
  ir_value_t* wanted = n->in[1];
  if (wanted->type->rank != a.re->type->rank - 1 || !at_most(matrix_columns(operand(n, 1)), matrix_columns(a))) {
    return lower_error(n, "has operands that do not fit together");
  }
  matrix_pivoted_qr_t found = matrix_pivoted_qr(n->b, a, wanted);
  n->out[0] = result(found.qr.a);
  n->out[1].v = found.order;
  n->out[2] = result(found.qr.tau);
  return true;
}

static bool lower_orgqr(lower_op_t* n) {
  matrix_t a = operand(n, 0), tau = operand(n, 1);
  bool fits = tau.re->type->rank == a.re->type->rank - 1 && at_most(matrix_columns(tau), matrix_columns(a)) &&
              at_most(matrix_columns(a), matrix_rows(a)) && (tau.im != NULL) == (a.im != NULL);
  if (!fits) return lower_error(n, "needs no more reflectors than columns, and no more columns than rows");
  n->out[0] = result(matrix_reflectors(n->b, (matrix_qr_t){a, tau}));
  return true;
}

static bool lower_syevd(lower_op_t* n) {
  matrix_eigh_t eigh = matrix_eigh(n->b, operand(n, 0), is_lower(n));
  n->out[0] = result(eigh.vectors);
  n->out[1].v = eigh.values;
  n->out[2] = no_failure(n);
  return true;
}

// Eigh: its settings are a string, "1,..." for the lower triangle.
static bool lower_eigh(lower_op_t* n) {
  matrix_eigh_t eigh = matrix_eigh(n->b, operand(n, 0), ir_op_string(n->op, "backend_config", "1")[0] == '1');
  n->out[0] = result(eigh.vectors);
  n->out[1].v = eigh.values;
  return true;
}

// The run-time sizes of result i, as its shape says or, without one, as the batch of operand 0 has them. False where
// neither does.
static bool size_result(lower_op_t* n, uint32_t i, const ir_type_t* type, ir_value_t** sizes) {
  uint32_t shapes = count_shapes(n), count = 0;
  ir_value_t *x = n->in[0], *shape = i < shapes ? n->in[n->op->operand_count - shapes + i] : NULL;
  bool told = shape && ir_type_is_tensor(shape->type) && ir_type_count(shape->type) == type->rank;
  for (int32_t d = 0; d < type->rank; ++d) {
    if (type->dims[d] != IR_DYNAMIC) continue;
    if (!told && (d >= x->type->rank || x->type->dims[d] != IR_DYNAMIC)) return false;
    sizes[count++] = told ? lower_index_element(n->b, shape, d) : graph_dim(n->b, x, (uint32_t)d);
  }
  return true;
}

static lower_value_t nothing(lower_op_t* n, uint32_t i) {
  const ir_type_t* type = lower_out_type(n, i);
  const ir_type_t* scalar = ir_type_scalar(type);
  bool complex = scalar->kind == IR_TYPE_COMPLEX;
  const ir_type_t* parts = lower_type(n->ctx, complex ? ir_type_with_element(n->ctx, type, scalar->element) : type);
  ir_value_t* sizes[GRAPH_MAX_RANK];
  if (!parts || !ir_type_is_tensor(parts) || !size_result(n, i, parts, sizes)) return (lower_value_t){0};
  ir_value_t* zeros = graph_broadcast(n->b, graph_scalar_constant(n->b, parts->element, 0), parts, NULL, sizes);
  return (lower_value_t){.v = zeros, .im = complex ? zeros : NULL};
}

// gesdd: mode 'A' all of U and V^H, 'S' as many as singular values, 'N' none.
static bool lower_gesdd(lower_op_t* n) {
  int64_t mode = stablehlo_call_number(n, "mode", 'A');
  matrix_svd_t svd = matrix_svd(n->b, operand(n, 0), mode == 'A', mode != 'N');
  n->out[0] = n->values[0];
  n->out[1].v = svd.s;
  n->out[2] = mode == 'N' ? nothing(n, 2) : result(svd.u);
  n->out[3] = mode == 'N' ? nothing(n, 3) : result(svd.vt);
  n->out[4] = no_failure(n);
  return true;
}

// gesvdj gives V where gesdd gives V^H.
static bool lower_gesvdj(lower_op_t* n) {
  bool vectors = stablehlo_call_number(n, "compute_uv", 1) != 0;
  matrix_svd_t svd = matrix_svd(n->b, operand(n, 0), stablehlo_call_number(n, "full_matrices", 1) != 0, vectors);
  n->out[0] = n->values[0];
  n->out[1].v = svd.s;
  n->out[2] = vectors ? result(svd.u) : nothing(n, 2);
  n->out[3] = vectors ? result(matrix_adjoint(n->b, svd.vt)) : nothing(n, 3);
  n->out[4] = no_failure(n);
  return true;
}

// gehrd: rows and columns before `low` and behind `high`, from 1, are those of an upper triangle already, so that
// reflectors for them would change nothing. A matrix of one row has its form.
static bool lower_gehrd(lower_op_t* n) {
  matrix_t a = operand(n, 0);
  int64_t rows = matrix_rows(a), low = stablehlo_call_number(n, "low", 1);
  int64_t high = stablehlo_call_number(n, "high", rows);
  if (low < 1 || high > rows || low > high) {
    return lower_error(n, "needs rows 1 <= low <= high <= %lld, not %lld to %lld", (long long)rows, (long long)low,
                       (long long)high);
  }
  matrix_qr_t form = rows > 1 ? matrix_hessenberg(n->b, a) : (matrix_qr_t){a, {0}};
  n->out[0] = result(form.a);
  n->out[1] = rows > 1 ? result(form.tau) : nothing(n, 1);
  n->out[2] = no_failure(n);
  return true;
}

// Eigenvalues as results from `at` on: their parts for real matrices, one complex value for complex ones. Returns the
// next result's number.
static uint32_t put_eigenvalues(lower_op_t* n, uint32_t at, const matrix_schur_t* schur) {
  bool complex = n->values[0].im != NULL;
  n->out[at] = (lower_value_t){.v = schur->wr, .im = complex ? schur->wi : NULL};
  if (!complex) n->out[++at].v = schur->wi;
  return at + 1;
}

// The Schur form of the operand. Matrices with elements that are not finite have none, which the status -4 says, as
// jaxlib's calls do; zeros take their place, so that the others of a batch do not wait for them.
static matrix_schur_t find_schur(lower_op_t* n) {
  ir_builder_t* b = n->b;
  matrix_t a = operand(n, 0);
  ir_value_t* finite = graph_unary(b, SCALAR_is_finite, a.re);
  if (a.im) finite = graph_binary(b, SCALAR_and, finite, graph_unary(b, SCALAR_is_finite, a.im));
  finite = matrix_reduce(b, matrix_reduce(b, finite, MATRIX_COLUMN, "and"), MATRIX_COLUMN, "and");
  matrix_schur_t schur = matrix_schur(b, matrix_select(b, matrix_fill(b, finite, a.re), a, matrix_zeros(b, a)));
  schur.info = graph_select(b, finite, schur.info, graph_splat_like(b, schur.info, -4));
  return schur;
}

// geev: eigenvalues, left and right eigenvectors where they are asked for.
static bool lower_geev(lower_op_t* n) {
  static const char* const settings[] = {"compute_left", "compute_right"};
  matrix_schur_t schur = find_schur(n);
  uint32_t at = put_eigenvalues(n, 0, &schur);
  for (int i = 0; i < 2; ++i, ++at) {
    bool wanted = stablehlo_call_number(n, settings[i], 'N') == 'V';
    n->out[at] = wanted ? result(matrix_eigenvectors(n->b, &schur, i == 0)) : nothing(n, at);
  }
  n->out[at].v = schur.info;
  return true;
}

// gees without an order of eigenvalues: the form, its vectors, eigenvalues, how many were chosen.
static bool lower_gees(lower_op_t* n) {
  if (stablehlo_call_number(n, "sort", 'N') != 'N') return lower_unsupported(n, "eigenvalues in no order are");
  matrix_schur_t schur = find_schur(n);
  n->out[0] = result(schur.t);
  n->out[1] = result(schur.z);
  uint32_t at = put_eigenvalues(n, 2, &schur);
  n->out[at] = no_failure(n);
  n->out[at + 1].v = schur.info;
  return true;
}

// Both axes of matrices, or the one of vectors, the other way round.
static matrix_t flip(lower_op_t* n, matrix_t x, int32_t axes) {
  int64_t dims[2] = {x.re->type->rank - 1, x.re->type->rank - 2};
  return (matrix_t){graph_reverse(n->b, x.re, dims, (uint32_t)axes),
                    x.im ? graph_reverse(n->b, x.im, dims, (uint32_t)axes) : NULL};
}

// The diagonal that is `shift` rows below the main one.
static ir_value_t* diagonal_of(lower_op_t* n, ir_value_t* x, int64_t shift) {
  matrix_t inside = matrix_inner(n->b, (matrix_t){x, NULL}, MATRIX_ROW, shift, 0);
  inside = matrix_inner(n->b, inside, MATRIX_COLUMN, 0, shift);
  ir_value_t* here = matrix_triangle(n->b, inside.re, SCALAR_eq);
  return matrix_reduce(n->b, graph_select(n->b, here, inside.re, graph_splat_like(n->b, inside.re, 0)), MATRIX_COLUMN,
                       "add");
}

// A matrix of one row has its form; as a Hermitian one it is real.
static bool lower_sytrd_one(lower_op_t* n, matrix_t a) {
  n->out[0] = (lower_value_t){.v = a.re, .im = a.im ? lower_number_like(n, a.im, 0) : NULL};
  n->out[1].v = diagonal_of(n, a.re, 0);
  n->out[2] = nothing(n, 2);
  n->out[3] = nothing(n, 3);
  n->out[4] = no_failure(n);
  return true;
}

// sytrd: a Hermitian matrix is tridiagonal when it has Hessenberg's form. From the upper triangle it is made from the
// last row to the first.
static bool lower_sytrd(lower_op_t* n) {
  matrix_t a = operand(n, 0);
  bool lower = is_lower(n);
  if (matrix_rows(a) == 0) return lower_unsupported(n, "a row and more are");
  if (matrix_rows(a) == 1) return lower_sytrd_one(n, a);
  matrix_t whole = lower ? a : flip(n, a, 2);
  whole = matrix_select(n->b, matrix_triangle(n->b, a.re, SCALAR_ge), whole, matrix_adjoint(n->b, whole));
  if (a.im) {  // what the diagonal has of it is not read
    ir_value_t* diagonal = matrix_triangle(n->b, a.re, SCALAR_eq);
    whole.im = graph_select(n->b, diagonal, graph_splat_like(n->b, whole.im, 0), whole.im);
  }
  matrix_qr_t form = matrix_hessenberg(n->b, whole);
  matrix_t main = {diagonal_of(n, form.a.re, 0), NULL}, below = {diagonal_of(n, form.a.re, 1), NULL};
  ir_value_t* written = matrix_triangle(n->b, a.re, lower ? SCALAR_ge : SCALAR_le);
  n->out[0] = result(matrix_select(n->b, written, lower ? form.a : flip(n, form.a, 2), a));
  n->out[1].v = lower ? main.re : flip(n, main, 1).re;
  n->out[2].v = lower ? below.re : flip(n, below, 1).re;
  n->out[3] = result(lower ? form.tau : flip(n, form.tau, 1));
  n->out[4] = no_failure(n);
  return true;
}

// A vector on the diagonal that is `shift` columns to the right.
static matrix_t on_diagonal(lower_op_t* n, matrix_t v, ir_value_t* like, int64_t shift, matrix_t others) {
  ir_value_t *column = matrix_places(n->b, like, MATRIX_COLUMN), *row = matrix_places(n->b, like, MATRIX_ROW);
  row = graph_binary(n->b, SCALAR_add, row, graph_splat_like(n->b, row, (double)shift));
  ir_value_t* here = graph_binary(n->b, SCALAR_eq, column, row);
  return matrix_select(n->b, here, matrix_spread(n->b, v, like, MATRIX_COLUMN), others);
}

// Of three diagonals, each as long as the matrix, and right sides.
static bool solve_tridiagonal(lower_op_t* n, bool is_singular, lower_value_t* out) {
  matrix_t x = operand(n, 3);
  ir_value_t *rows = matrix_height(n->b, x), *zeros = matrix_new(n->b, x, NULL, (ir_value_t*[]){rows, rows}, 2, 0);
  matrix_t a = {zeros, x.im ? zeros : NULL};
  for (int i = 0; i < 3; ++i) {
    matrix_t v = operand(n, (uint32_t)i);
    bool fits = v.re->type->rank == x.re->type->rank - 1 && matrix_columns(v) == matrix_rows(x) &&
                (v.im != NULL) == (x.im != NULL);
    if (!fits) return lower_error(n, "has operands that do not fit together");
    a = on_diagonal(n, v, zeros, i - 1, a);
  }
  *out = result(matrix_general_solve(n->b, a, x, is_singular));
  return true;
}

// gtsv: what the diagonals become has no meaning.
static bool lower_gtsv(lower_op_t* n) {
  for (int i = 0; i < 3; ++i) n->out[i] = n->values[i];
  n->out[4].v = matrix_new(n->b, operand(n, 3), ir_type_int(n->ctx, 32), NULL, 0, 0);
  return solve_tridiagonal(n, false, &n->out[3]);
}
static bool lower_gtsv_singular(lower_op_t* n) { return solve_tridiagonal(n, true, &n->out[0]); }

static bool lower_permutation(lower_op_t* n) {
  const ir_type_t* type = lower_type(n->ctx, lower_out_type(n, 0));
  if (!type || !ir_type_is_tensor(type) || type->rank != n->in[0]->type->rank ||
      type->dims[type->rank - 1] == IR_DYNAMIC) {
    return lower_error(n, "needs a result with the operand's rank");
  }
  n->out[0].v = matrix_permutation(n->b, n->in[0], graph_index_constant(n->b, type->dims[type->rank - 1]));
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Names
//===----------------------------------------------------------------------------------------------------------------===

typedef struct row_t {
  const char* name;
  uint32_t operands, results;  // of complex elements; a real matrix with SPLIT eigenvalues has one result more
  bool square;
  bool (*lower)(lower_op_t* n);
} row_t;

enum { SPLIT = 16 };
static const row_t rows[] = {
    {"potrf", 1, 2, true, lower_potrf},
    {"trsm", 2, 1, false, lower_trsm},
    {"getrf", 1, 3, false, lower_getrf},
    {"geqrf", 1, 2, false, lower_geqrf},
    {"geqp3", 2, 3, false, lower_geqp3},
    {"orgqr", 2, 1, false, lower_orgqr},
    {"ungqr", 2, 1, false, lower_orgqr},
    {"syevd", 1, 3, true, lower_syevd},
    {"heevd", 1, 3, true, lower_syevd},
    {"gesdd", 1, 5, false, lower_gesdd},
    {"gesvd", 1, 5, false, lower_gesdd},
    {"gesvdj", 1, 5, false, lower_gesvdj},
    {"gehrd", 1, 3, true, lower_gehrd},
    {"geev", 1, 4 + SPLIT, true, lower_geev},
    {"gees", 1, 5 + SPLIT, true, lower_gees},
    {"sytrd", 1, 5, true, lower_sytrd},
    {"hetrd", 1, 5, true, lower_sytrd},
    {"gtsv", 4, 5, false, lower_gtsv},
    {"tridiagonal_solve_perturbed", 4, 1, false, lower_gtsv_singular},
    {"tridiagonal_solve_perturbed_ffi", 4, 1, false, lower_gtsv_singular},
    {"Qr", 1, 2, false, lower_geqrf},
    {"ProductOfElementaryHouseholderReflectors", 2, 1, false, lower_orgqr},
    {"Eigh", 1, 2, true, lower_eigh},
    {"LuDecomposition", 1, 3, false, lower_lu},
    {"lu_pivots_to_permutation", 1, 1, false, lower_permutation},
};

// The name without library, type letter and calling convention: lapack_sgeqrf_ffi, hipsolver_geqrf_ffi -> geqrf.
static bool is_named(const char* target, const char* name) {
  static const char* const libraries[] = {"lapack_", "blas_",    "cusolver_", "hipsolver_",
                                          "cublas_", "hipblas_", "cu_",       "hip_"};
  if (strcmp(target, name) == 0) return true;
  size_t length = strlen(name), at = 0;
  for (size_t i = 0; !at && i < sizeof(libraries) / sizeof(libraries[0]); ++i) {
    size_t size = strlen(libraries[i]);
    if (strncmp(target, libraries[i], size) == 0) at = size;
  }
  if (!at) return false;
  if (strncmp(target + at, name, length) && target[at] && strchr("sdcz", target[at])) ++at;
  return strncmp(target + at, name, length) == 0 && (!target[at + length] || strcmp(target + at + length, "_ffi") == 0);
}

// These have a size as a number of their own, or as their result's.
static bool needs_known_sizes(const row_t* row) { return row->lower == lower_gehrd || row->lower == lower_permutation; }

static bool has_known_sizes(const ir_type_t* type, int32_t batch) {
  for (int32_t d = batch; d < type->rank; ++d) {
    if (type->dims[d] == IR_DYNAMIC) return false;
  }
  return true;
}

// Where only a run of the program can tell, it stops.
static void require_square(lower_op_t* n, matrix_t x) {
  ir_value_t *rows = matrix_height(n->b, x), *columns = matrix_width(n->b, x);
  if (lower_size_same(rows, columns)) return;
  ir_value_t* same = lower_as_tensor(n->b, graph_binary(n->b, SCALAR_eq, rows, columns));
  graph_assert(n->b, same, "a matrix must be square");
}

static bool check_operand(lower_op_t* n, uint32_t i, const row_t* row) {
  bool tridiagonal = row->lower == lower_gtsv || row->lower == lower_gtsv_singular;
  bool floats = row->lower != lower_permutation && (row->lower != lower_geqp3 || i == 0), square = row->square;
  bool matrix = tridiagonal ? i == 3 : i == 0 || row->lower == lower_trsm;
  const ir_type_t* type = n->in[i] ? n->in[i]->type : NULL;
  if (!type || !ir_type_is_tensor(type) || type->rank < 1 + (floats && matrix) || lower_is_float(type) != floats) {
    return lower_unsupported(n, "matrices of %s are", floats ? "floats" : "integers");
  }
  const ir_type_t* first = n->in[0]->type;
  int32_t batch = first->rank - (tridiagonal || row->lower == lower_permutation ? 1 : 2);
  if (needs_known_sizes(row) && !has_known_sizes(type, batch)) {
    return lower_unsupported(n, "%s of a static size is; batches may have any", row->name);
  }
  bool fits = !square || lower_sizes_fit(type->dims[type->rank - 1], type->dims[type->rank - 2]);
  if (square && fits && matrix) require_square(n, operand(n, i));
  for (int32_t d = 0; fits && d < batch && i; ++d) fits = d < type->rank && type->dims[d] == first->dims[d];
  for (int32_t d = 0; fits && floats && d < type->rank; ++d) fits = type->dims[d] != 0;
  return fits || lower_unsupported(n, square ? "square matrices are" : "matrices of one batch are");
}

// Values of complex elements are not checked elsewhere.
static bool check_results(lower_op_t* n) {
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    lower_types_t types = LOWER_LIST(n->ctx);
    ir_value_t* parts[2] = {n->out[i].v, n->out[i].im};
    if (!lower_flat_types(n->ctx, lower_out_type(n, i), &types) || !parts[0] || types.count != (parts[1] ? 2 : 1)) {
      return lower_error(n, "cannot have a result %u of type %s", i, ir_type_str(n->ctx, lower_out_type(n, i)));
    }
    for (uint32_t k = 0; k < types.count; ++k) {
      if (lower_fits(parts[k]->type, types.items[k])) continue;
      return lower_error(n, "has a result %u of type %s where its operands give %s", i,
                         ir_type_str(n->ctx, types.items[k]), ir_type_str(n->ctx, parts[k]->type));
    }
  }
  return true;
}

// Matrices without rows and columns, or none of them: what they become has no elements, or says that nothing failed.
static bool is_empty(const lower_op_t* n) {
  const ir_type_t* type = n->op->operand_count && n->in[0] ? n->in[0]->type : NULL;
  if (!type || !ir_type_is_tensor(type) || !ir_type_is_static(type) || type->rank < 2) return false;
  bool no_batch = false;
  for (int32_t d = 0; d < type->rank - 2; ++d) no_batch |= type->dims[d] == 0;
  return no_batch || (type->dims[type->rank - 1] == 0 && type->dims[type->rank - 2] == 0);
}

bool stablehlo_lower_linear_call(lower_op_t* n, const char* target, bool* known) {
  const row_t* row = NULL;
  for (size_t i = 0; !row && i < sizeof(rows) / sizeof(rows[0]); ++i) {
    if (is_named(target, rows[i].name)) row = &rows[i];
  }
  *known = row != NULL;
  if (!row) return false;
  bool complex = n->op->operand_count && n->values[0].im;
  uint32_t results = row->results % SPLIT + (row->results >= SPLIT && !complex);
  if (n->op->operand_count - count_shapes(n) != row->operands || n->op->result_count != results) {
    return lower_unsupported(n, "%u operands and %u results are", row->operands, results);
  }
  if (is_empty(n)) {
    for (uint32_t i = 0; i < results; ++i) n->out[i] = nothing(n, i);
    return check_results(n);
  }
  for (uint32_t i = 0; i < row->operands; ++i) {
    if (!check_operand(n, i, row)) return false;
  }
  return row->lower(n) && check_results(n);
}
