// See expand.h.
//
//   graph.fft of open length   along each dimension a product with the matrix of roots of unity, which is computed when
//                              the size is known
//   graph.attention            product, softmax, product: softmax(scale q k' + mask) v
#include <math.h>
#include <string.h>

#include "passes/expand.h"

//===----------------------------------------------------------------------------------------------------------------===
// Numbers that may be known at run time only
//===----------------------------------------------------------------------------------------------------------------===

// A dimension's size as tensor<T>.
static ir_value_t* size_number(ir_builder_t* b, ir_value_t* x, int64_t dim, const ir_type_t* element) {
  int64_t size = x->type->dims[dim];
  if (size != IR_DYNAMIC) {
    const ir_type_t* scalar = ir_type_tensor(b->ctx, element, 0, NULL);
    return ir_type_is_float(element) ? graph_splat_number(b, scalar, (double)size)
                                     : graph_splat_integer(b, scalar, size);
  }
  ir_value_t* number = graph_dim(b, x, (uint32_t)dim);
  const ir_type_t* type = ir_type_tensor(b->ctx, number->type, 0, NULL);
  return graph_cast(b, graph_build(b, GRAPH_TO_TENSOR, &number, 1, type, NULL, 0), element, false);
}

// Index values for the '?' of a type whose dimensions are those `dims` of `xs`.
typedef struct source_t {
  ir_value_t* x;
  int64_t dim;
} source_t;
static void size_values(ir_builder_t* b, const source_t* sources, int32_t count, ir_value_t** out) {
  for (int32_t i = 0; i < count; ++i) {
    if (sources[i].x->type->dims[sources[i].dim] == IR_DYNAMIC)
      *out++ = graph_dim(b, sources[i].x, (uint32_t)sources[i].dim);
  }
}

// A plane of the sizes of two dimensions.
typedef struct plane_t {
  source_t sides[2];
  int64_t dims[2];
  ir_value_t* dynamic[2];
} plane_t;
static plane_t plane_of(ir_builder_t* b, source_t rows, source_t columns) {
  plane_t p = {.sides = {rows, columns}};
  for (int i = 0; i < 2; ++i) p.dims[i] = p.sides[i].x->type->dims[p.sides[i].dim];
  size_values(b, p.sides, 2, p.dynamic);
  return p;
}
static ir_value_t* plane_iota(ir_builder_t* b, const plane_t* p, int64_t axis, const ir_type_t* element) {
  return graph_iota(b, ir_type_tensor(b->ctx, element, 2, p->dims), axis, p->dynamic);
}
static ir_value_t* plane_full(ir_builder_t* b, const plane_t* p, ir_value_t* number) {
  return graph_broadcast(b, number, ir_type_tensor(b->ctx, number->type->element, 2, p->dims), NULL, p->dynamic);
}

//===----------------------------------------------------------------------------------------------------------------===
// Transforms
//===----------------------------------------------------------------------------------------------------------------===

// cos and sin of sign * 2 pi (j k mod n) / n, in double and then rounded.
static void roots_of(ir_builder_t* b, ir_value_t* x, int64_t dim, int sign, ir_value_t* out[2]) {
  const ir_type_t *i64 = ir_type_int(b->ctx, 64), *f64 = ir_type_float(b->ctx, IR_F64);
  plane_t p = plane_of(b, (source_t){x, dim}, (source_t){x, dim});
  ir_value_t* product = graph_binary(b, SCALAR_mul, plane_iota(b, &p, 0, i64), plane_iota(b, &p, 1, i64));
  product = graph_binary(b, SCALAR_rem, product, plane_full(b, &p, size_number(b, x, dim, i64)));
  ir_value_t* turn = plane_full(b, &p, graph_scalar_constant(b, f64, sign * 2 * M_PI));
  ir_value_t* angle = graph_binary(b, SCALAR_mul, graph_cast(b, product, f64, false), turn);
  angle = graph_binary(b, SCALAR_div, angle, plane_full(b, &p, size_number(b, x, dim, f64)));
  out[0] = graph_cast(b, graph_unary(b, SCALAR_cos, angle), x->type->element, false);
  out[1] = graph_cast(b, graph_unary(b, SCALAR_sin, angle), x->type->element, false);
}

// x times a symmetric matrix along `dim`, which stays where it is.
static ir_value_t* multiply_along(ir_builder_t* b, ir_value_t* x, ir_value_t* matrix, int64_t dim) {
  int64_t perm[GRAPH_MAX_RANK], zero = 0;
  graph_contract_t contract = {.lhs_contract = &dim, .rhs_contract = &zero, .contract_count = 1};
  ir_value_t* y = graph_contract(b, x, matrix, &contract, x->type->element);
  int32_t last = x->type->rank - 1;
  for (int32_t i = 0; i <= last; ++i) perm[i] = i < dim ? i : i == dim ? last : i - 1;
  return graph_transpose(b, y, perm);
}

void expand_open_fft(ir_context_t* ctx, ir_op_t* op) {
  ir_builder_t b = ir_builder_before(ctx, op);
  ir_value_t *re = ir_operand(op, 0), *im = ir_operand(op, 1);
  bool inverse = strcmp(graph_get_kind(op), "ifft") == 0;
  int32_t rank = re->type->rank;
  for (int64_t d = rank - graph_get_rank(op); d < rank; ++d) {
    ir_value_t *roots[2], *x = re, *y = im;
    roots_of(&b, re, d, inverse ? 1 : -1, roots);
    re = graph_binary(&b, SCALAR_sub, multiply_along(&b, x, roots[0], d), multiply_along(&b, y, roots[1], d));
    im = graph_binary(&b, SCALAR_add, multiply_along(&b, x, roots[1], d), multiply_along(&b, y, roots[0], d));
    if (!inverse) continue;
    ir_value_t *n = size_number(&b, re, d, re->type->element), *all[GRAPH_MAX_RANK];
    source_t sources[GRAPH_MAX_RANK];
    for (int32_t i = 0; i < rank; ++i) sources[i] = (source_t){re, i};
    size_values(&b, sources, rank, all);
    n = graph_broadcast(&b, n, re->type, NULL, all);
    re = graph_binary(&b, SCALAR_div, re, n);
    im = graph_binary(&b, SCALAR_div, im, n);
  }
  ir_value_replace(ir_result(op, 0), re);
  ir_value_replace(ir_result(op, 1), im);
  ir_op_erase(op);
}

//===----------------------------------------------------------------------------------------------------------------===
// Attention
//===----------------------------------------------------------------------------------------------------------------===

// tensor<T> or what stands along some dimensions, repeated to the sizes of `like`.
static ir_value_t* spread(ir_builder_t* b, ir_value_t* x, ir_value_t* like, const int64_t* dims) {
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  source_t sources[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < like->type->rank; ++i) sources[i] = (source_t){like, i};
  size_values(b, sources, like->type->rank, dynamic);
  return graph_broadcast(b, x, ir_type_with_element(b->ctx, like->type, x->type->element), dims, dynamic);
}

static ir_value_t* scale_of(ir_builder_t* b, const ir_op_t* op, const ir_type_t* element) {
  const ir_attr_t* scale = graph_get_scale(op);
  ir_value_t* q = ir_operand(op, 0);
  if (scale) return graph_scalar_constant(b, element, scale->number);
  return graph_unary(b, SCALAR_rsqrt, size_number(b, q, q->type->rank - 1, element));
}

// Row i sees columns up to i + n - m.
static ir_value_t* hide_later(ir_builder_t* b, ir_value_t* scores) {
  const ir_type_t *i64 = ir_type_int(b->ctx, 64), *element = scores->type->element;
  int32_t rank = scores->type->rank;
  int64_t last[2] = {rank - 2, rank - 1};
  plane_t p = plane_of(b, (source_t){scores, last[0]}, (source_t){scores, last[1]});
  ir_value_t* ahead =
      graph_binary(b, SCALAR_sub, size_number(b, scores, last[1], i64), size_number(b, scores, last[0], i64));
  ir_value_t* most = graph_binary(b, SCALAR_add, plane_iota(b, &p, 0, i64), plane_full(b, &p, ahead));
  ir_value_t* sees = graph_binary(b, SCALAR_le, plane_iota(b, &p, 1, i64), most);
  ir_value_t* nothing = spread(b, graph_scalar_constant(b, element, -INFINITY), scores, NULL);
  return graph_select(b, spread(b, sees, scores, last), scores, nothing);
}

void expand_attention(ir_context_t* ctx, ir_op_t* op) {
  ir_builder_t b = ir_builder_before(ctx, op);
  ir_value_t *q = ir_operand(op, 0), *k = ir_operand(op, 1), *v = ir_operand(op, 2);
  const ir_type_t *element = op->results[0].type->element, *wide = element;
  if (!ir_type_is_float(element) || element->width < 32) wide = ir_type_float(ctx, IR_F32);
  int32_t rank = q->type->rank;
  int64_t dims[GRAPH_MAX_RANK], columns = rank - 1, rows = rank - 2;
  for (int32_t i = 0; i < rank; ++i) dims[i] = i;
  graph_contract_t product = {dims, dims, &columns, &columns, .batch_count = (uint32_t)rows, .contract_count = 1};
  ir_value_t* scores = graph_contract(&b, q, k, &product, wide);
  scores = graph_binary(&b, SCALAR_mul, scores, spread(&b, scale_of(&b, op, wide), scores, NULL));
  if (op->operand_count > 3) {
    ir_value_t* mask = graph_cast(&b, ir_operand(op, 3), wide, false);
    scores = graph_binary(&b, SCALAR_add, scores, spread(&b, mask, scores, dims + rank - mask->type->rank));
  }
  if (graph_get_causal(op)) scores = hide_later(&b, scores);
  ir_value_t* most = spread(&b, graph_reduce(&b, scores, &columns, 1, "max"), scores, dims);
  ir_value_t* weights = graph_unary(&b, SCALAR_exp, graph_binary(&b, SCALAR_sub, scores, most));
  ir_value_t* sum = spread(&b, graph_reduce(&b, weights, &columns, 1, "add"), scores, dims);
  weights = graph_binary(&b, SCALAR_div, weights, sum);
  if (graph_get_blank(op)) {
    weights = graph_select(&b, graph_unary(&b, SCALAR_is_nan, weights), graph_splat_like(&b, weights, 0), weights);
  }
  graph_contract_t mix = {dims, dims, &columns, &rows, .batch_count = (uint32_t)rows, .contract_count = 1};
  ir_value_t* out = graph_contract(&b, weights, graph_cast(&b, v, wide, false), &mix, wide);
  ir_value_replace(ir_result(op, 0), graph_cast(&b, out, element, false));
  ir_op_erase(op);
}
