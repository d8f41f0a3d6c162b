// See matrix.h.
#include "import/stablehlo/matrix.h"

#include <string.h>

#include "import/lowering_size.h"

static ir_value_t* binary(ir_builder_t* b, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  return graph_binary(b, fn, x, y);
}

//===----------------------------------------------------------------------------------------------------------------===
// Elementwise
//===----------------------------------------------------------------------------------------------------------------===

static matrix_t both(ir_builder_t* b, scalar_fn_t fn, matrix_t x, matrix_t y) {
  return (matrix_t){binary(b, fn, x.re, y.re), x.im ? binary(b, fn, x.im, y.im) : NULL};
}
matrix_t matrix_add(ir_builder_t* b, matrix_t x, matrix_t y) { return both(b, SCALAR_add, x, y); }
matrix_t matrix_sub(ir_builder_t* b, matrix_t x, matrix_t y) { return both(b, SCALAR_sub, x, y); }

matrix_t matrix_mul(ir_builder_t* b, matrix_t x, matrix_t y) {
  ir_value_t* re = binary(b, SCALAR_mul, x.re, y.re);
  if (!x.im && !y.im) return (matrix_t){re, NULL};
  if (!x.im) return (matrix_t){re, binary(b, SCALAR_mul, x.re, y.im)};
  if (!y.im) return (matrix_t){re, binary(b, SCALAR_mul, x.im, y.re)};
  ir_value_t *cross = binary(b, SCALAR_mul, x.re, y.im), *other = binary(b, SCALAR_mul, x.im, y.re);
  return (matrix_t){binary(b, SCALAR_sub, re, binary(b, SCALAR_mul, x.im, y.im)), binary(b, SCALAR_add, cross, other)};
}

// x conj(y) / |y|^2 with y brought to a size near 1 first, so that nothing overflows.
matrix_t matrix_div(ir_builder_t* b, matrix_t x, matrix_t y) {
  if (!y.im) {
    return (matrix_t){binary(b, SCALAR_div, x.re, y.re), x.im ? binary(b, SCALAR_div, x.im, y.re) : NULL};
  }
  ir_value_t* size = binary(b, SCALAR_max, graph_unary(b, SCALAR_abs, y.re), graph_unary(b, SCALAR_abs, y.im));
  matrix_t scale = {size, NULL}, unit = matrix_div(b, y, scale);
  matrix_t product = matrix_mul(b, x, matrix_conj(b, unit));
  return matrix_div(b, matrix_div(b, product, (matrix_t){matrix_norm2(b, unit), NULL}), scale);
}

matrix_t matrix_conj(ir_builder_t* b, matrix_t x) {
  return (matrix_t){x.re, x.im ? graph_unary(b, SCALAR_neg, x.im) : NULL};
}

matrix_t matrix_select(ir_builder_t* b, ir_value_t* mask, matrix_t x, matrix_t y) {
  return (matrix_t){graph_select(b, mask, x.re, y.re), x.im ? graph_select(b, mask, x.im, y.im) : NULL};
}

matrix_t matrix_zeros(ir_builder_t* b, matrix_t like) {
  return (matrix_t){graph_splat_like(b, like.re, 0), like.im ? graph_splat_like(b, like.im, 0) : NULL};
}

ir_value_t* matrix_norm2(ir_builder_t* b, matrix_t x) {
  ir_value_t* re = binary(b, SCALAR_mul, x.re, x.re);
  return x.im ? binary(b, SCALAR_add, re, binary(b, SCALAR_mul, x.im, x.im)) : re;
}

//===----------------------------------------------------------------------------------------------------------------===
// Shapes
//===----------------------------------------------------------------------------------------------------------------===

ir_value_t* matrix_height(ir_builder_t* b, matrix_t x) { return lower_size(b, x.re, x.re->type->rank - 2); }
ir_value_t* matrix_width(ir_builder_t* b, matrix_t x) { return lower_size(b, x.re, x.re->type->rank - 1); }

ir_value_t* matrix_more(ir_builder_t* b, ir_value_t* size, int64_t number) {
  return lower_index_binary(b, SCALAR_add, size, graph_index_constant(b, number));
}

ir_value_t* matrix_number(ir_builder_t* b, ir_value_t* size, const ir_type_t* element) {
  int64_t known;
  if (lower_constant_index(size, &known)) return graph_scalar_constant(b, element, (double)known);
  return graph_cast(b, lower_as_tensor(b, size), element, false);
}

// A tensor of these sizes with the same number everywhere.
static ir_value_t* filled(ir_builder_t* b, ir_value_t* const* sizes, uint32_t rank, const ir_type_t* element,
                          double number) {
  int64_t dims[GRAPH_MAX_RANK];
  ir_value_t* open[GRAPH_MAX_RANK];
  lower_split_sizes(sizes, rank, dims, open);
  const ir_type_t* type = ir_type_tensor(b->ctx, element, (int32_t)rank, dims);
  if (ir_type_is_static(type)) return graph_splat_number(b, type, number);
  return graph_broadcast(b, graph_scalar_constant(b, element, number), type, NULL, open);
}

ir_value_t* matrix_new(ir_builder_t* b, matrix_t x, const ir_type_t* element, ir_value_t* const* sizes, uint32_t count,
                       double number) {
  ir_value_t* all[GRAPH_MAX_RANK];
  uint32_t batch = (uint32_t)x.re->type->rank - 2;
  for (uint32_t i = 0; i < batch; ++i) all[i] = graph_dim(b, x.re, i);
  for (uint32_t i = 0; i < count; ++i) all[batch + i] = sizes[i];
  return filled(b, all, batch + count, element ? element : x.re->type->element, number);
}

ir_value_t* matrix_reduce(ir_builder_t* b, ir_value_t* x, int32_t axis, const char* kind) {
  int64_t dim = x->type->rank - 1 - axis;
  return graph_reduce(b, x, &dim, 1, kind);
}

matrix_t matrix_sum(ir_builder_t* b, matrix_t x, int32_t axis) {
  return (matrix_t){matrix_reduce(b, x.re, axis, "add"), x.im ? matrix_reduce(b, x.im, axis, "add") : NULL};
}

ir_value_t* matrix_any(ir_builder_t* b, ir_value_t* flags) {
  int64_t dims[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < flags->type->rank; ++i) dims[i] = i;
  return graph_reduce(b, flags, dims, (uint32_t)flags->type->rank, "or");
}

double matrix_roundoff(const ir_type_t* element) {
  switch (element->float_kind) {
    case IR_F64:
      return 0x1p-53;
    case IR_F32:
      return 0x1p-24;
    case IR_F16:
      return 0x1p-11;
    default:
      return 0x1p-8;
  }
}

static ir_value_t* spread(ir_builder_t* b, ir_value_t* x, ir_value_t* as, int32_t skipped) {
  const ir_type_t* like = as->type;
  int64_t dims[GRAPH_MAX_RANK];
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  uint32_t count = 0;
  lower_dynamic_dims(b, as, like, dynamic);
  for (int32_t i = 0; i < like->rank && count < (uint32_t)x->type->rank; ++i) {
    if (i != skipped) dims[count++] = i;
  }
  return graph_broadcast(b, x, ir_type_with_element(b->ctx, like, x->type->element), dims, dynamic);
}

matrix_t matrix_spread(ir_builder_t* b, matrix_t x, ir_value_t* like, int32_t axis) {
  int32_t skipped = like->type->rank - 1 - axis;
  return (matrix_t){spread(b, x.re, like, skipped), x.im ? spread(b, x.im, like, skipped) : NULL};
}

ir_value_t* matrix_fill(ir_builder_t* b, ir_value_t* x, ir_value_t* like) { return spread(b, x, like, -1); }

ir_value_t* matrix_splat(ir_builder_t* b, ir_value_t* like, const ir_type_t* type, double number) {
  if (ir_type_is_static(type)) return graph_splat_number(b, type, number);
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  lower_dynamic_dims(b, like, type, dynamic);
  return graph_broadcast(b, graph_scalar_constant(b, type->element, number), type, NULL, dynamic);
}

ir_value_t* matrix_places(ir_builder_t* b, ir_value_t* like, int32_t axis) {
  const ir_type_t* type = ir_type_with_element(b->ctx, like->type, ir_type_int(b->ctx, 32));
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  lower_dynamic_dims(b, like, type, dynamic);
  return graph_iota(b, type, type->rank - 1 - axis, dynamic);
}

ir_value_t* matrix_where(ir_builder_t* b, ir_value_t* like, int32_t axis, scalar_fn_t fn, ir_value_t* k) {
  return binary(b, fn, matrix_places(b, like, axis), spread(b, k, like, -1));
}

ir_value_t* matrix_triangle(ir_builder_t* b, ir_value_t* like, scalar_fn_t fn) {
  return binary(b, fn, matrix_places(b, like, MATRIX_ROW), matrix_places(b, like, MATRIX_COLUMN));
}

matrix_t matrix_pick(ir_builder_t* b, matrix_t x, int32_t axis, ir_value_t* k) {
  ir_value_t* there = matrix_where(b, x.re, axis, SCALAR_eq, k);
  return matrix_sum(b, matrix_select(b, there, x, matrix_zeros(b, x)), axis);
}

static ir_value_t* slice(ir_builder_t* b, ir_value_t* x, int32_t dim, ir_value_t* first, ir_value_t* count) {
  int64_t offsets[GRAPH_MAX_RANK] = {0}, sizes[GRAPH_MAX_RANK], strides[GRAPH_MAX_RANK];
  ir_value_t *starts[1 + 2 * GRAPH_MAX_RANK] = {x}, *all[GRAPH_MAX_RANK];
  uint32_t rank = (uint32_t)x->type->rank;
  for (uint32_t i = 0; i < rank; ++i) {
    bool here = (int32_t)i == dim;
    starts[1 + i] = here ? first : graph_index_constant(b, 0);
    all[i] = here ? count : graph_dim(b, x, i);
    strides[i] = 1;
  }
  bool known = lower_constant_index(first, &offsets[dim]);
  uint32_t at = known ? 1 : 1 + rank, open = lower_split_sizes(all, rank, sizes, starts + at);
  if (known && !open) return graph_slice(b, x, offsets, sizes, strides);
  ir_named_attr_t attrs[] = {{"offsets", ir_attr_i64_array(b->ctx, offsets, rank)},
                             {"strides", ir_attr_i64_array(b->ctx, strides, rank)}};
  const ir_type_t* type = ir_type_tensor(b->ctx, x->type->element, (int32_t)rank, sizes);
  return graph_build(b, known ? GRAPH_SLICE : GRAPH_DYNAMIC_SLICE, starts, at + open, type, attrs, known ? 2 : 0);
}

matrix_t matrix_slice(ir_builder_t* b, matrix_t x, int32_t axis, ir_value_t* first, ir_value_t* count) {
  int32_t dim = x.re->type->rank - 1 - axis;
  return (matrix_t){slice(b, x.re, dim, first, count), x.im ? slice(b, x.im, dim, first, count) : NULL};
}

matrix_t matrix_inner(ir_builder_t* b, matrix_t x, int32_t axis, int64_t front, int64_t back) {
  ir_value_t* count = matrix_more(b, lower_size(b, x.re, x.re->type->rank - 1 - axis), -front - back);
  return matrix_slice(b, x, axis, graph_index_constant(b, front), count);
}

matrix_t matrix_concat(ir_builder_t* b, const matrix_t* parts, uint32_t count, int32_t axis) {
  ir_value_t *re[4], *im[4];
  for (uint32_t i = 0; i < count; ++i) re[i] = parts[i].re, im[i] = parts[i].im;
  int64_t dim = re[0]->type->rank - 1 - axis;
  return (matrix_t){graph_concat(b, re, count, dim), im[0] ? graph_concat(b, im, count, dim) : NULL};
}

matrix_t matrix_pad(ir_builder_t* b, matrix_t x, int32_t axis, ir_value_t* count) {
  ir_value_t* sizes[GRAPH_MAX_RANK];
  int64_t known;
  uint32_t rank = (uint32_t)x.re->type->rank;
  if (lower_constant_index(count, &known) && !known) return x;
  for (uint32_t i = 0; i < rank; ++i) sizes[i] = graph_dim(b, x.re, i);
  sizes[rank - 1 - (uint32_t)axis] = count;
  ir_value_t* zeros = filled(b, sizes, rank, x.re->type->element, 0);
  return matrix_concat(b, (matrix_t[]){x, {zeros, x.im ? zeros : NULL}}, 2, axis);
}

matrix_t matrix_transpose(ir_builder_t* b, matrix_t x) {
  int64_t perm[GRAPH_MAX_RANK];
  int32_t rank = x.re->type->rank;
  for (int32_t i = 0; i < rank; ++i) perm[i] = i;
  perm[rank - 2] = rank - 1;
  perm[rank - 1] = rank - 2;
  return (matrix_t){graph_transpose(b, x.re, perm), x.im ? graph_transpose(b, x.im, perm) : NULL};
}

matrix_t matrix_adjoint(ir_builder_t* b, matrix_t x) { return matrix_transpose(b, matrix_conj(b, x)); }

static ir_value_t* product(ir_builder_t* b, ir_value_t* x, ir_value_t* y) {
  int64_t batch[GRAPH_MAX_RANK], rank = x->type->rank, inner = rank - 1, outer = rank - 2;
  for (int64_t i = 0; i < outer; ++i) batch[i] = i;
  graph_contract_t dims = {.lhs_batch = batch,
                           .rhs_batch = batch,
                           .lhs_contract = &inner,
                           .rhs_contract = &outer,
                           .batch_count = (uint32_t)outer,
                           .contract_count = 1};
  return graph_contract(b, x, y, &dims, x->type->element);
}

matrix_t matrix_product(ir_builder_t* b, matrix_t x, matrix_t y) {
  ir_value_t* re = product(b, x.re, y.re);
  if (!x.im) return (matrix_t){re, NULL};
  return (matrix_t){binary(b, SCALAR_sub, re, product(b, x.im, y.im)),
                    binary(b, SCALAR_add, product(b, x.re, y.im), product(b, x.im, y.re))};
}

matrix_t matrix_identity(ir_builder_t* b, matrix_t like, ir_value_t* rows, ir_value_t* columns) {
  ir_value_t* sizes[2] = {rows, columns};
  ir_value_t *one = matrix_new(b, like, NULL, sizes, 2, 1), *zero = matrix_new(b, like, NULL, sizes, 2, 0);
  ir_value_t* diagonal = matrix_triangle(b, zero, SCALAR_eq);
  return (matrix_t){graph_select(b, diagonal, one, zero), like.im ? zero : NULL};
}

//===----------------------------------------------------------------------------------------------------------------===
// Loops
//===----------------------------------------------------------------------------------------------------------------===

static uint32_t flatten(const matrix_t* values, uint32_t count, ir_value_t** out) {
  uint32_t flat = 0;
  for (uint32_t i = 0; i < count; ++i) {
    out[flat++] = values[i].re;
    if (values[i].im) out[flat++] = values[i].im;
  }
  return flat;
}

static void unflatten(matrix_loop_t* loop, ir_value_t* const* flat) {
  for (uint32_t i = 0; i < loop->count; ++i) {
    loop->values[i].re = *flat++;
    if (loop->values[i].im) loop->values[i].im = *flat++;
  }
}

// As the counter is: an index, or an i32 without dims.
static ir_value_t* counter_value(const matrix_loop_t* loop, ir_builder_t* b, ir_value_t* value) {
  return loop->counts_places ? value : matrix_number(b, value, ir_type_int(b->ctx, 32));
}

void matrix_loop_begin(matrix_loop_t* loop, ir_builder_t* b, ir_value_t* limit, const matrix_t* values,
                       uint32_t count) {
  ir_value_t *inits[2 * MATRIX_LOOP_VALUES + 1], *end = counter_value(loop, b, limit);
  const ir_type_t* types[2 * MATRIX_LOOP_VALUES + 1];
  inits[0] = counter_value(loop, b, graph_index_constant(b, 0));
  uint32_t flat = 1 + flatten(values, count, inits + 1);
  for (uint32_t i = 0; i < flat; ++i) types[i] = inits[i]->type;
  ir_op_state_t state = {.info = ir_context_op(b->ctx, GRAPH_WHILE),
                         .operands = inits,
                         .operand_count = flat,
                         .result_types = types,
                         .result_count = flat,
                         .region_count = 2};
  loop->op = ir_build(b, &state);
  loop->b = b;
  loop->outside = *b;
  loop->count = count;
  memcpy(loop->values, values, sizeof(*values) * count);
  for (int r = 0; r < 2; ++r) {
    ir_block_t* block = ir_block_create(b->ctx);
    ir_region_append(&loop->op->regions[r], block);
    for (uint32_t i = 0; i < flat; ++i) ir_block_add_arg(b->ctx, block, types[i]);
    *b = ir_builder_at_end(b->ctx, block);
    b->loc = loop->outside.loc;
    if (r) break;
    ir_value_t* go_on = lower_as_tensor(b, binary(b, SCALAR_lt, block->args[0], end));
    if (loop->has_flag) go_on = binary(b, SCALAR_and, go_on, block->args[1]);
    ir_build_op(b, GRAPH_YIELD, &go_on, 1, NULL);
  }
  loop->k = b->block->args[0];
  unflatten(loop, b->block->args + 1);
}

void matrix_loop_end(matrix_loop_t* loop, const matrix_t* next) {
  ir_value_t* flat[2 * MATRIX_LOOP_VALUES + 1];
  ir_builder_t* b = loop->b;
  flat[0] = binary(b, SCALAR_add, loop->k, counter_value(loop, b, graph_index_constant(b, 1)));
  uint32_t count = 1 + flatten(next, loop->count, flat + 1);
  ir_build_op(b, GRAPH_YIELD, flat, count, NULL);
  *b = loop->outside;
  for (uint32_t i = 0; i < count; ++i) flat[i] = ir_result(loop->op, i);
  unflatten(loop, flat + 1);
}

ir_value_t* matrix_loop_back(const matrix_loop_t* loop, ir_value_t* count) {
  ir_value_t* last = counter_value(loop, loop->b, matrix_more(loop->b, count, -1));
  return binary(loop->b, SCALAR_sub, last, loop->k);
}
