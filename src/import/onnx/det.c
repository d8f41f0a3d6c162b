// Det: small matrices by their minors, others by elimination, all of a batch together.
#include "import/onnx/loops.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

static ir_value_t* with(onnx_node_t* n, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  return graph_binary(n->b, fn, x, y);
}

//===----------------------------------------------------------------------------------------------------------------===
// Minors
//===----------------------------------------------------------------------------------------------------------------===

// Entry (row, column) of every matrix, [batch...].
static ir_value_t* matrix_entry(onnx_node_t* n, ir_value_t* x, int64_t row, int64_t column) {
  int64_t offsets[ONNX_MAX_RANK] = {0}, sizes[ONNX_MAX_RANK], ones[ONNX_MAX_RANK];
  onnx_dim_t dims[ONNX_MAX_RANK];
  int32_t rank = x->type->rank;
  for (int32_t i = 0; i < rank; ++i) {
    sizes[i] = i < rank - 2 ? x->type->dims[i] : 1;
    ones[i] = 1;
    if (i < rank - 2) dims[i] = onnx_dim(n, x, i);
  }
  offsets[rank - 2] = row;
  offsets[rank - 1] = column;
  return onnx_reshape(n, graph_slice(n->b, x, offsets, sizes, ones), rank - 2, dims);
}

// Determinant of the rows from `row` on and the columns in `columns`, by the first row.
static ir_value_t* minor_det(onnx_node_t* n, ir_value_t* x, int64_t row, const int64_t* columns, int64_t count) {
  ir_value_t* sum = NULL;
  int64_t rest[8];
  if (count == 1) return matrix_entry(n, x, row, columns[0]);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < count - 1; ++k) rest[k] = columns[k < i ? k : k + 1];
    ir_value_t* part = minor_det(n, x, row + 1, rest, count - 1);
    part = graph_binary(n->b, SCALAR_mul, matrix_entry(n, x, row, columns[i]), part);
    sum = sum ? graph_binary(n->b, i % 2 ? SCALAR_sub : SCALAR_add, sum, part) : part;
  }
  return sum;
}

//===----------------------------------------------------------------------------------------------------------------===
// Elimination with pivots from the column at work
//===----------------------------------------------------------------------------------------------------------------===

static const int64_t of_batch[] = {0}, of_row[] = {0, 1}, of_column[] = {0, 2};

// Matrices [batch, size, size], and the product of the pivots so far.
typedef struct elimination_t {
  ir_value_t *a, *product;
} elimination_t;

// The rows of each matrix in which `there` ([batch, size]) is set: one at most.
static ir_value_t* pick_row(onnx_node_t* n, ir_value_t* a, ir_value_t* there) {
  static const int64_t rows = 1;
  ir_value_t* kept = graph_select(n->b, there, a, graph_splat_like(n->b, a, 0));
  return graph_reduce(n->b, kept, &rows, 1, "add");
}

// Rows k and p, of the largest element at or below row k, change places, and the others lose their column k. Row k is
// not looked at again, so it need not be kept.
static elimination_t eliminate(onnx_node_t* n, elimination_t e, ir_value_t* k) {
  static const int64_t row = 1, column = 2;
  graph_extreme_t largest = {.axis = 1, .index = k->type->element};
  ir_value_t *left = onnx_element(n, e.a, column, k), *top = onnx_element(n, e.a, row, k);
  const onnx_dim_t dims[] = {onnx_dim(n, left, 0), onnx_dim(n, left, 1)};
  ir_value_t* number = onnx_numbers(n, 2, dims, 1);
  ir_value_t* open = with(n, SCALAR_ge, number, onnx_broadcast_as(n, k, number, NULL));
  ir_value_t* size = graph_select(n->b, open, onnx_unary(n, SCALAR_abs, left), graph_splat_like(n->b, left, -1));
  ir_value_t* p = ir_result(graph_arg_reduce(n->b, size, &largest), 1);
  ir_value_t* is_p = with(n, SCALAR_eq, number, onnx_broadcast_as(n, p, number, of_batch));
  ir_value_t* at_p = onnx_broadcast_as(n, is_p, e.a, of_row);
  ir_value_t* pivot = pick_row(n, left, is_p);
  ir_value_t *line = pick_row(n, e.a, at_p), *corner = onnx_element(n, top, 1, k);
  left = graph_select(n->b, is_p, onnx_broadcast_as(n, corner, left, of_batch), left);
  ir_value_t* divisor = onnx_broadcast_as(n, pivot, left, of_batch);
  ir_value_t* is_zero = onnx_binary_number(n, SCALAR_eq, divisor, 0);
  ir_value_t* factor = graph_select(n->b, is_zero, graph_splat_like(n->b, left, 0), with(n, SCALAR_div, left, divisor));
  ir_value_t* swapped = graph_select(n->b, at_p, onnx_broadcast_as(n, top, e.a, of_column), e.a);
  ir_value_t* taken =
      with(n, SCALAR_mul, onnx_broadcast_as(n, factor, e.a, of_row), onnx_broadcast_as(n, line, e.a, of_column));
  ir_value_t* stays = with(n, SCALAR_eq, p, onnx_broadcast_as(n, k, p, NULL));
  pivot = graph_select(n->b, stays, pivot, onnx_unary(n, SCALAR_neg, pivot));
  return (elimination_t){with(n, SCALAR_sub, swapped, taken), with(n, SCALAR_mul, e.product, pivot)};
}

// Of matrices [batch, size, size].
static ir_value_t* pivots_det(onnx_node_t* n, ir_value_t* a) {
  const onnx_dim_t batch = onnx_dim(n, a, 0);
  ir_value_t* one = graph_scalar_constant(n->b, a->type->element, 1);
  ir_value_t* initial[] = {a, onnx_broadcast_to(n, one, 1, &batch)};
  if (a->type->dims[1] == 0) return initial[1];
  const ir_type_t* types[] = {a->type, initial[1]->type};
  ir_value_t* limit = onnx_dim_tensor(n, onnx_dim(n, a, 1), 0);
  onnx_loop_t loop;
  onnx_loop_begin(&loop, n, types, 2);
  ir_value_t** args = loop.body->args;
  elimination_t e = eliminate(n, (elimination_t){args[1], args[2]}, args[0]);
  ir_value_t* next[] = {e.a, e.product};
  return ir_result(onnx_loop_end(&loop, initial, next, limit, -1), 2);
}

bool onnx_lower_det(onnx_node_t* n) {
  enum { BY_MINORS = 5 };
  static const int64_t columns[BY_MINORS] = {0, 1, 2, 3, 4};
  onnx_value_t x = n->in[0];
  int32_t rank = onnx_rank(x);
  onnx_dim_t dims[ONNX_MAX_RANK], flat[3] = {onnx_dim_of(1)};
  if (!onnx_check_float(n, 0) || !onnx_check_rank(n, 0, 2, ONNX_MAX_RANK)) return false;
  for (int32_t i = 0; i < rank; ++i) dims[i] = onnx_dim(n, x.v, i);
  for (int32_t i = 0; i < rank - 2; ++i) flat[0] = onnx_dim_mul(n, flat[0], dims[i]);
  flat[1] = flat[2] = onnx_dim_known(dims[rank - 1]) ? dims[rank - 1] : dims[rank - 2];
  onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, dims[rank - 2], dims[rank - 1]);
  if (!onnx_require(n, fits, "the matrices are not square")) return false;
  if (onnx_dim_known(flat[1]) && flat[1].size >= 1 && flat[1].size <= BY_MINORS) {
    dims[rank - 2] = dims[rank - 1] = flat[1];
    return onnx_return(n, minor_det(n, onnx_reshape(n, x.v, rank, dims), 0, columns, flat[1].size), x.element);
  }
  bool narrow = x.element->width < 32;
  onnx_value_t wide = narrow ? onnx_cast(n, x, onnx_f32(n->ctx)) : x;
  ir_value_t* y = pivots_det(n, onnx_reshape(n, wide.v, 3, flat));
  n->out[0] = onnx_cast(n, onnx_value(onnx_reshape(n, y, rank - 2, dims), wide.element), x.element);
  return true;
}
