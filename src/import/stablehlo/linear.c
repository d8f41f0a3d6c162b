// cholesky, triangular_solve and fft.
#include <string.h>

#include "dialects/stablehlo.h"
#include "import/stablehlo/matrix.h"
#include "import/stablehlo/ops.h"

static bool check_square(lower_op_t* n, const ir_value_t* x) {
  if (!x || !ir_type_is_tensor(x->type)) return lower_unsupported(n, "square matrices of floats are");
  const ir_type_t* type = x->type;
  bool square = type->rank >= 2 && lower_sizes_fit(type->dims[type->rank - 1], type->dims[type->rank - 2]);
  return (square && lower_is_float(type)) || lower_unsupported(n, "square matrices of floats are");
}

// Both sizes of a square matrix, where one is known.
static void size_square(lower_op_t* n, uint32_t operand) {
  lower_value_t* x = &n->values[operand];
  int32_t rows = x->v->type->rank - 2, columns = rows + 1;
  int64_t size = x->v->type->dims[x->v->type->dims[rows] == IR_DYNAMIC ? columns : rows];
  for (int32_t d = rows; d <= columns; ++d) {
    x->v = lower_sized(n, x->v, d, size);
    if (x->im) x->im = lower_sized(n, x->im, d, size);
  }
  n->in[operand] = x->v;
}

static matrix_t operand(const lower_op_t* n, uint32_t i) { return (matrix_t){n->values[i].v, n->values[i].im}; }

bool stablehlo_lower_cholesky(lower_op_t* n) {
  if (!check_square(n, n->in[0])) return false;
  size_square(n, 0);
  if (n->values[0].im) {
    matrix_t factor = matrix_cholesky(n->b, operand(n, 0), ir_op_flag(n->op, "lower"));
    n->out[0] = (lower_value_t){.v = factor.re, .im = factor.im};
    return true;
  }
  ir_named_attr_t attr = {"lower", ir_attr_unit(n->ctx)};
  return lower_return(n, lower_build(n, GRAPH_CHOLESKY, n->in, 1, n->in[0]->type, &attr, ir_op_flag(n->op, "lower")));
}

bool stablehlo_lower_triangular_solve(lower_op_t* n) {
  const char* transpose = stablehlo_enum(ir_op_attr(n->op, "transpose_a"));
  bool left = ir_op_flag(n->op, "left_side"), adjoint = transpose && strcmp(transpose, "ADJOINT") == 0;
  if (!check_square(n, n->in[0])) return false;
  size_square(n, 0);
  const ir_type_t *a = n->in[0]->type, *b = n->in[1] ? n->in[1]->type : NULL;
  bool fits = b && ir_type_is_tensor(b) && b->rank == a->rank && b->element == a->element &&
              lower_sizes_fit(b->dims[b->rank - (left ? 2 : 1)], a->dims[a->rank - 1]) &&
              (n->values[0].im != NULL) == (n->values[1].im != NULL);
  if (!fits) return lower_error(n, "has operands that do not fit together");
  matrix_solve_t how = {.left = left,
                        .lower = ir_op_flag(n->op, "lower"),
                        .unit_diagonal = ir_op_flag(n->op, "unit_diagonal"),
                        .transpose = adjoint || (transpose && strcmp(transpose, "TRANSPOSE") == 0),
                        .conjugate = adjoint};
  matrix_t x = matrix_solve(n->b, operand(n, 0), operand(n, 1), how);
  n->out[0] = (lower_value_t){.v = x.re, .im = x.im};
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// fft
//===----------------------------------------------------------------------------------------------------------------===

typedef struct spectrum_t {
  ir_value_t *re, *im;
} spectrum_t;

static spectrum_t transform(lower_op_t* n, spectrum_t x, const char* kind, uint32_t dims) {
  ir_value_t* parts[] = {x.re, x.im};
  graph_fft(n->b, parts, kind, dims);
  return (spectrum_t){parts[0], parts[1]};
}

// x[.., first : first + size] along `dim`.
static ir_value_t* piece(lower_op_t* n, ir_value_t* x, int32_t dim, int64_t first, int64_t size) {
  int64_t offsets[GRAPH_MAX_RANK] = {0}, sizes[GRAPH_MAX_RANK], ones[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < x->type->rank; ++i) sizes[i] = x->type->dims[i], ones[i] = 1;
  offsets[dim] = first;
  sizes[dim] = size;
  return graph_slice(n->b, x, offsets, sizes, ones);
}

// The other half of a real signal's spectrum: element k is the conjugate of element -k.
static ir_value_t* mirror(lower_op_t* n, ir_value_t* half, uint32_t dims, int64_t length, bool negate) {
  int32_t last = half->type->rank - 1;
  int64_t missing = length - half->type->dims[last], axis = last;
  if (missing <= 0) return half;
  ir_value_t* x = graph_reverse(n->b, piece(n, half, last, 1, missing), &axis, 1);
  for (int32_t d = last - (int32_t)dims + 1; d < last; ++d) {  // element 0 stays, the others turn around
    int64_t dim = d, size = x->type->dims[d];
    if (size < 2) continue;
    ir_value_t* rest = graph_reverse(n->b, piece(n, x, d, 1, size - 1), &dim, 1);
    x = graph_concat(n->b, (ir_value_t*[]){piece(n, x, d, 0, 1), rest}, 2, d);
  }
  if (negate) x = graph_unary(n->b, SCALAR_neg, x);
  return graph_concat(n->b, (ir_value_t*[]){half, x}, 2, last);
}

// Sums of nothing.
static bool zeros_of(lower_op_t* n) {
  const ir_type_t *type = lower_out_type(n, 0), *element = ir_type_scalar(type);
  bool complex = element->kind == IR_TYPE_COMPLEX;
  if (!ir_type_is_tensor(type) || !ir_type_is_static(type)) return lower_unsupported(n, "a static size is");
  ir_value_t* v = graph_splat_number(n->b, ir_type_with_element(n->ctx, type, complex ? element->element : element), 0);
  n->out[0] = (lower_value_t){.v = v, .im = complex ? v : NULL};
  return true;
}

bool stablehlo_lower_fft(lower_op_t* n) {
  const char* kind = stablehlo_enum(ir_op_attr(n->op, "fft_type"));
  int64_t length[GRAPH_MAX_RANK];
  uint32_t dims;
  spectrum_t x = {n->values[0].v, n->values[0].im}, y;
  if (!kind || !lower_list(n, "fft_length", length, &dims)) return lower_error(n, "needs fft_type and fft_length");
  if (!x.re || !ir_type_is_tensor(x.re->type)) return lower_unsupported(n, "tensors are");
  const ir_type_t* type = x.re->type;
  int32_t last = type->rank - 1;
  bool real = strcmp(kind, "RFFT") == 0, inverse_real = strcmp(kind, "IRFFT") == 0, inverse = strcmp(kind, "IFFT") == 0;
  if (!real && !inverse_real && !inverse && strcmp(kind, "FFT") != 0) return lower_error(n, "fft_type is unknown");
  if (dims < 1 || (int32_t)dims > type->rank || (real ? x.im != NULL : !x.im)) {
    return lower_unsupported(n, real ? "real tensors are" : "complex tensors are");
  }
  for (uint32_t i = 0; i < dims; ++i) {
    bool halved = inverse_real && i + 1 == dims;
    int32_t dim = type->rank - (int32_t)dims + (int32_t)i;
    int64_t size = type->dims[dim], wanted = halved ? length[i] / 2 + 1 : length[i];
    if (length[i] == 0) return zeros_of(n);
    if (length[i] > 0) {
      x.re = lower_sized(n, x.re, dim, wanted);
      if (x.im) x.im = lower_sized(n, x.im, dim, wanted);
    }
    if (length[i] < 1 || !lower_sizes_fit(size, wanted)) {
      return lower_error(n, "has a dimension of size %lld where fft_length says %lld", (long long)size,
                         (long long)length[i]);
    }
  }
  if (real) x.im = lower_number_like(n, x.re, 0);
  if (inverse_real) {
    x.re = mirror(n, x.re, dims, length[dims - 1], false);
    x.im = mirror(n, x.im, dims, length[dims - 1], true);
  }
  y = transform(n, x, inverse || inverse_real ? "ifft" : "fft", dims);
  if (real) {
    int64_t kept = length[dims - 1] / 2 + 1;
    y = (spectrum_t){piece(n, y.re, last, 0, kept), piece(n, y.im, last, 0, kept)};
  }
  n->out[0] = (lower_value_t){.v = y.re, .im = inverse_real ? NULL : y.im};
  return true;
}
