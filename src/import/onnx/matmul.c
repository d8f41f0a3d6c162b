// Matrix products.
#include <string.h>

#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

// Batch dims of `x` (all but the last two) broadcast to `rank` dims of sizes `dims`, the matrix kept.
static ir_value_t* broadcast_batch(onnx_node_t* n, ir_value_t* x, int32_t batch_rank, const onnx_dim_t* batch) {
  onnx_dim_t dims[ONNX_MAX_RANK];
  int32_t rank = x->type->rank;
  bool same = rank == batch_rank + 2;
  for (int32_t i = 0; i < batch_rank; ++i) {
    int32_t own = i - (batch_rank + 2 - rank);
    onnx_dim_t size = own < 0 ? onnx_dim_of(1) : onnx_dim(n, x, own);
    bool agrees = onnx_dim_meets(size, batch[i]);
    dims[i] = agrees ? size : batch[i];
    same &= agrees;
  }
  if (same) return x;
  for (int32_t i = 0; i < 2; ++i) dims[batch_rank + i] = onnx_dim(n, x, rank - 2 + i);
  return onnx_broadcast_to(n, x, batch_rank + 2, dims);
}

static bool merge_dims(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b, onnx_dim_t* out) {
  bool known = a.size != IR_DYNAMIC && b.size != IR_DYNAMIC;
  if (known && a.size != b.size && a.size != 1 && b.size != 1) {
    return onnx_error(n, "batch sizes %lld and %lld do not broadcast", (long long)a.size, (long long)b.size);
  }
  return *out = onnx_dim_meets(a, b) ? a : onnx_dim_common(n, a, b), true;
}

static bool batch_dims(onnx_node_t* n, ir_value_t* a, ir_value_t* b, int32_t rank, onnx_dim_t* out) {
  for (int32_t i = 0; i < rank; ++i) {
    int32_t ai = i - (rank - (a->type->rank - 2)), bi = i - (rank - (b->type->rank - 2));
    onnx_dim_t x = ai < 0 ? onnx_dim_of(1) : onnx_dim(n, a, ai);
    onnx_dim_t y = bi < 0 ? onnx_dim_of(1) : onnx_dim(n, b, bi);
    if (!merge_dims(n, x, y, &out[i])) return false;
  }
  return true;
}

static bool sizes_fit(int64_t a, int64_t b) { return a == b || a == IR_DYNAMIC || b == IR_DYNAMIC; }

// A weight matrix of rank 2 takes all leading dims of the left side as rows, so that it is not repeated. How long those
// are is the matrix's to say, where the model leaves it open. NULL after a diagnostic.
static ir_value_t* contract_matrix(onnx_node_t* n, ir_value_t* a, ir_value_t* b, graph_contract_t* c,
                                   const ir_type_t* accumulator) {
  int64_t lhs = a->type->rank - 1, rhs = 0, depth = b->type->dims[0];
  if (depth != IR_DYNAMIC) a = onnx_sized(n, a, (int32_t)lhs, depth);
  if (!a) return NULL;
  c->lhs_contract = &lhs;
  c->rhs_contract = &rhs;
  c->contract_count = 1;
  return graph_contract(n->b, a, b, c, accumulator);
}

// Product of tensors of rank 2 or more. NULL after a diagnostic.
static ir_value_t* matmul(onnx_node_t* n, ir_value_t* a, ir_value_t* b, graph_contract_t c,
                          const ir_type_t* accumulator) {
  int32_t a_rank = a->type->rank, b_rank = b->type->rank;
  if (!sizes_fit(a->type->dims[a_rank - 1], b->type->dims[b_rank - 2])) {
    onnx_error(n, "columns of %s and rows of %s differ", ir_type_str(n->ctx, a->type), ir_type_str(n->ctx, b->type));
    return NULL;
  }
  if (b_rank == 2) return contract_matrix(n, a, b, &c, accumulator);
  onnx_dim_t batch[ONNX_MAX_RANK] = {0};
  int32_t rank = (a_rank > b_rank ? a_rank : b_rank) - 2;
  int64_t dims[ONNX_MAX_RANK], lhs = rank + 1, rhs = rank;
  if (!batch_dims(n, a, b, rank, batch)) return NULL;
  a = broadcast_batch(n, a, rank, batch);
  b = broadcast_batch(n, b, rank, batch);
  for (int32_t i = 0; i < rank; ++i) dims[i] = i;
  c.lhs_batch = c.rhs_batch = dims;
  c.batch_count = (uint32_t)rank;
  c.lhs_contract = &lhs;
  c.rhs_contract = &rhs;
  c.contract_count = 1;
  return graph_contract(n->b, a, b, &c, accumulator);
}

// x without dimension `at`, of size 1.
static ir_value_t* drop_dim(onnx_node_t* n, ir_value_t* x, int32_t at) {
  onnx_dim_t dims[ONNX_MAX_RANK];
  for (int32_t i = 0, count = 0; i < x->type->rank; ++i) {
    if (i != at) dims[count++] = onnx_dim(n, x, i);
  }
  return onnx_reshape(n, x, x->type->rank - 1, dims);
}

// NumPy's matmul: vectors become matrices for the time of the product.
ir_value_t* onnx_matmul(onnx_node_t* n, ir_value_t* a, ir_value_t* b, graph_contract_t c,
                        const ir_type_t* accumulator) {
  static const int64_t row[] = {1}, column[] = {0};
  bool a_vector = a->type->rank == 1, b_vector = b->type->rank == 1;
  if (a->type->rank == 0 || b->type->rank == 0) return onnx_error(n, "scalars have no matrix product"), NULL;
  if (a_vector) a = onnx_spread(n, a, 2, row);
  if (b_vector) b = onnx_spread(n, b, 2, column);
  ir_value_t* y = matmul(n, a, b, c, accumulator);
  if (y && b_vector) y = drop_dim(n, y, y->type->rank - 1);
  if (y && a_vector) y = drop_dim(n, y, y->type->rank - (b_vector ? 1 : 2));
  return y;
}

bool onnx_lower_matmul(onnx_node_t* n) {
  if (!onnx_check_same_element(n, 0, 1)) return false;
  ir_value_t *a = n->in[0].v, *b = n->in[1].v;
  return onnx_return(n, onnx_matmul(n, a, b, (graph_contract_t){0}, a->type->element), n->in[0].element);
}

static ir_value_t* swap_last(onnx_node_t* n, ir_value_t* x) {
  int64_t perm[ONNX_MAX_RANK];
  int32_t rank = x->type->rank;
  for (int32_t i = 0; i < rank; ++i) perm[i] = i;
  perm[rank - 1] = rank - 2;
  perm[rank - 2] = rank - 1;
  return graph_transpose(n->b, x, perm);
}

// [rows, batch..., columns] as [batch..., rows, columns].
static ir_value_t* batch_first(onnx_node_t* n, ir_value_t* x) {
  int64_t perm[ONNX_MAX_RANK];
  int32_t rank = x->type->rank;
  for (int32_t i = 0; i < rank; ++i) perm[i] = i < rank - 2 ? i + 1 : i == rank - 2 ? 0 : i;
  return graph_transpose(n->b, x, perm);
}

bool onnx_lower_fused_matmul(onnx_node_t* n) {
  ir_value_t *a = n->in[0].v, *b = n->in[1].v;
  if (!onnx_check_same_element(n, 0, 1) || !onnx_check_float(n, 0)) return false;
  if (onnx_int(n, "transBatchA", 0) && a->type->rank > 2) a = batch_first(n, a);
  if (onnx_int(n, "transBatchB", 0) && b->type->rank > 2) b = batch_first(n, b);
  if (onnx_int(n, "transA", 0) && a->type->rank > 1) a = swap_last(n, a);
  if (onnx_int(n, "transB", 0) && b->type->rank > 1) b = swap_last(n, b);
  ir_value_t* y = onnx_matmul(n, a, b, (graph_contract_t){0}, a->type->element);
  double alpha = onnx_float(n, "alpha", 1);
  if (y && alpha != 1) y = onnx_binary_number(n, SCALAR_mul, y, alpha);
  return onnx_return(n, y, n->in[0].element);
}

// How far each row of a is from each row of b.
bool onnx_lower_cdist(onnx_node_t* n) {
  static const int64_t last = 2, rows_at[] = {0, 2}, columns_at[] = {1, 2};
  const char* metric = onnx_string(n, "metric", "sqeuclidean");
  if (!onnx_check_same_element(n, 0, 1) || !onnx_check_float(n, 0)) return false;
  if (!onnx_check_rank(n, 0, 2, 2) || !onnx_check_rank(n, 1, 2, 2)) return false;
  ir_value_t *a = n->in[0].v, *b = n->in[1].v;
  bool root = strcmp(metric, "euclidean") == 0;
  if (!root && strcmp(metric, "sqeuclidean") != 0)
    return onnx_error(n, "metric '%s' is none of euclidean, sqeuclidean", metric);
  if (!sizes_fit(a->type->dims[1], b->type->dims[1])) return onnx_error(n, "the rows differ in length");
  const onnx_dim_t dims[] = {onnx_dim(n, a, 0), onnx_dim(n, b, 0), onnx_dim(n, a, 1)};
  ir_value_t* left = onnx_broadcast_to(n, onnx_spread(n, a, 3, rows_at), 3, dims);
  ir_value_t* apart = graph_binary(n->b, SCALAR_sub, left, onnx_broadcast_as(n, b, left, columns_at));
  ir_value_t* y = graph_reduce(n->b, graph_binary(n->b, SCALAR_mul, apart, apart), &last, 1, "add");
  return onnx_return(n, root ? onnx_unary(n, SCALAR_sqrt, y) : y, n->in[0].element);
}

static ir_value_t* scaled(onnx_node_t* n, ir_value_t* x, double by) {
  return by == 1 ? x : onnx_binary_number(n, SCALAR_mul, x, by);
}

// alpha A' B' + beta C
bool onnx_lower_gemm(onnx_node_t* n) {
  if (!onnx_check_same_element(n, 0, 1) || !onnx_check_same_element(n, 0, 2)) return false;
  if (!onnx_check_rank(n, 0, 2, 2) || !onnx_check_rank(n, 1, 2, 2)) return false;
  ir_value_t *a = n->in[0].v, *b = n->in[1].v;
  int64_t lhs = onnx_int(n, "transA", 0) ? 0 : 1, rhs = onnx_int(n, "transB", 0) ? 1 : 0;
  if (!sizes_fit(a->type->dims[lhs], b->type->dims[rhs])) return onnx_error(n, "the summed dimensions differ in size");
  if (b->type->dims[rhs] != IR_DYNAMIC) a = onnx_sized(n, a, (int32_t)lhs, b->type->dims[rhs]);
  if (!a) return false;
  graph_contract_t c = {.lhs_contract = &lhs, .rhs_contract = &rhs, .contract_count = 1};
  ir_value_t* y = scaled(n, graph_contract(n->b, a, b, &c, a->type->element), onnx_float(n, "alpha", 1));
  if (onnx_has(n, 2)) {
    ir_value_t* bias = scaled(n, n->in[2].v, onnx_float(n, "beta", 1));
    if (!(y = onnx_binary_onto(n, SCALAR_add, y, bias))) return false;
  }
  return onnx_return(n, y, n->in[0].element);
}

// 8-bit elements less their zero point, as i32. Zero points: absent, a scalar, or one per index of `axis`. NULL after a
// diagnostic.
ir_value_t* onnx_centered(onnx_node_t* n, uint32_t x, uint32_t zero, int64_t axis) {
  const ir_type_t* si32 = ir_type_integer(n->ctx, 32, IR_SIGNED);
  ir_value_t* wide = onnx_cast(n, n->in[x], si32).v;
  if (!onnx_has(n, zero)) return wide;
  if (!onnx_check_same_element(n, x, zero)) return NULL;
  ir_value_t* point = onnx_cast(n, n->in[zero], si32).v;
  if (point->type->rank > 1) {
    return onnx_binary_onto(n, SCALAR_sub, wide, point);
  }
  point = onnx_one_or_along(n, point, axis, wide);
  return point ? graph_binary(n->b, SCALAR_sub, wide, point) : NULL;
}

bool onnx_lower_matmul_integer(onnx_node_t* n) {
  const ir_type_t* i32 = ir_type_int(n->ctx, 32);
  graph_contract_t c = {0};
  int32_t a_rank = onnx_rank(n->in[0]), b_rank = onnx_rank(n->in[1]);
  ir_value_t *a = n->in[0].v, *b = n->in[1].v;
  if (!onnx_is_int(n->in[0]) || !onnx_is_int(n->in[1])) return onnx_error(n, "needs integers");
  if (a_rank < 1 || b_rank < 1) return onnx_error(n, "scalars have no matrix product");
  if (!onnx_has(n, 2) && !onnx_has(n, 3)) {
    c.unsigned_lhs = onnx_is_unsigned(n->in[0]);
    c.unsigned_rhs = onnx_is_unsigned(n->in[1]);
  } else {
    a = onnx_centered(n, 0, 2, a_rank > 1 ? a_rank - 2 : 0);
    b = onnx_centered(n, 1, 3, b_rank - 1);
  }
  ir_value_t* y = a && b ? onnx_matmul(n, a, b, c, i32) : NULL;
  return onnx_return(n, y, ir_type_integer(n->ctx, 32, IR_SIGNED));
}
