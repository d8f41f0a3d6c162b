// The graph dialect's table and the builders of constants, elementwise ops and index maps. Each builder knows its op's
// shape rule, also for dimensions known only at run time.
#include "dialects/graph.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define V IR_VARIADIC
// The attributes of each row: lists of one more, for those that may be anywhere.
#define A(name, rule) {GRAPH_ATTR_##name, GRAPH_RULE_##rule, true},
#define M(name, rule) {GRAPH_ATTR_##name, GRAPH_RULE_##rule, false},
#define OP(NAME, text, operands, results, regions, traits, fusion, types, shape, eval, element, ...) \
  static const graph_attr_row_t attrs_##text[] = {__VA_ARGS__{GRAPH_ATTR_COUNT, GRAPH_RULE_ANY, false}};
#include "dialects/graph.def"
#undef OP
#undef A
#undef M
static const graph_attr_row_t attrs_scalar[] = {{GRAPH_ATTR_COUNT, GRAPH_RULE_ANY, false}};

static const graph_row_t rows[] = {
#define SCALAR(name, ...) {attrs_scalar},
#include "base/scalar.def"
#undef SCALAR
#define OP(NAME, text, ...) {attrs_##text},
#include "dialects/graph.def"
#undef OP
};

static const ir_op_info_t graph_ops[] = {
#define SCALAR(fn, arity, type_set, result_rule, comm, f, i)             \
  {.name = "graph." #fn,                                                 \
   .code = GRAPH_##fn,                                                   \
   .operands = arity,                                                    \
   .results = 1,                                                         \
   .traits = IR_TRAIT_PURE | IR_TRAIT_ELEMENTWISE | IR_TRAIT_SAME_SHAPE, \
   .verify = graph_verify,                                               \
   .extra = &scalar_info[SCALAR_##fn]},
#include "base/scalar.def"
#undef SCALAR
#define OP(NAME, text, operand_count, result_count, region_count, trait_set, ...) \
  {.name = "graph." #text,                                                        \
   .code = GRAPH_##NAME,                                                          \
   .operands = operand_count,                                                     \
   .results = result_count,                                                       \
   .regions = region_count,                                                       \
   .traits = trait_set,                                                           \
   .verify = graph_verify},
#include "dialects/graph.def"
#undef OP
};
#undef V
const ir_dialect_t graph_dialect = {IR_DIALECT_GRAPH, "graph", graph_ops, sizeof(graph_ops) / sizeof(graph_ops[0])};

const graph_row_t* graph_row(const ir_op_t* op) {
  assert(ir_op_dialect(op) == IR_DIALECT_GRAPH);
  return &rows[op->info->code - IR_CODE(IR_DIALECT_GRAPH, 0)];
}

ir_value_t* graph_build(ir_builder_t* b, uint32_t code, ir_value_t* const* operands, uint32_t operand_count,
                        const ir_type_t* type, const ir_named_attr_t* attrs, uint32_t attr_count) {
  ir_op_state_t state = {.info = ir_context_op(b->ctx, code),
                         .operands = operands,
                         .operand_count = operand_count,
                         .result_types = &type,
                         .result_count = 1,
                         .attrs = attrs,
                         .attr_count = attr_count};
  assert(state.info && "graph dialect not registered");
  return ir_result(ir_build(b, &state), 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Constants and sizes
//===----------------------------------------------------------------------------------------------------------------===

const ir_attr_t* graph_constant_value(const ir_value_t* value) {
  if (!value->def || !ir_is(value->def, GRAPH_CONSTANT)) return NULL;
  const ir_attr_t* attr = graph_get_value(value->def);
  return attr && attr->kind == IR_ATTR_ELEMENTS ? attr : NULL;
}

ir_value_t* graph_constant(ir_builder_t* b, const ir_attr_t* elements) {
  ir_named_attr_t attr = {"value", elements};
  return graph_build(b, GRAPH_CONSTANT, NULL, 0, elements->type, &attr, 1);
}

ir_value_t* graph_splat_number(ir_builder_t* b, const ir_type_t* tensor, double value) {
  unsigned char data[16] = {0};
  ir_scalar_store_number(tensor->element, value, data);
  return graph_constant(b, ir_attr_elements(b->ctx, tensor, data, ir_type_bytes(tensor->element)));
}

ir_value_t* graph_splat_integer(ir_builder_t* b, const ir_type_t* tensor, int64_t value) {
  unsigned char data[16] = {0};
  ir_scalar_store_integer(tensor->element, value, data);
  return graph_constant(b, ir_attr_elements(b->ctx, tensor, data, ir_type_bytes(tensor->element)));
}

ir_value_t* graph_scalar_constant(ir_builder_t* b, const ir_type_t* element, double value) {
  return graph_splat_number(b, ir_type_tensor(b->ctx, element, 0, NULL), value);
}

ir_value_t* graph_index_constant(ir_builder_t* b, int64_t value) {
  const ir_type_t* index = ir_type_index(b->ctx);
  ir_named_attr_t attr = {"value", ir_attr_integer(b->ctx, index, value)};
  return graph_build(b, GRAPH_CONSTANT, NULL, 0, index, &attr, 1);
}

static ir_value_t* run_time_dim(ir_builder_t* b, ir_value_t* x, uint32_t i) {
  ir_named_attr_t attr = {"index", ir_attr_i64(b->ctx, i)};
  return graph_build(b, GRAPH_DIM, &x, 1, ir_type_index(b->ctx), &attr, 1);
}

ir_value_t* graph_dim(ir_builder_t* b, ir_value_t* x, uint32_t i) {
  assert((int32_t)i < x->type->rank);
  int64_t dim = x->type->dims[i];
  return dim == IR_DYNAMIC ? run_time_dim(b, x, i) : graph_index_constant(b, dim);
}

static bool constant_index(const ir_value_t* v, int64_t* out) {
  if (!ir_is(v->def, GRAPH_CONSTANT) || v->type->kind != IR_TYPE_INDEX) return false;
  *out = graph_get_value(v->def)->integer;
  return true;
}

ir_value_t* graph_common_size(ir_builder_t* b, ir_value_t* x, ir_value_t* y) {
  int64_t number;
  if (x == y) return x;
  if (constant_index(x, &number)) return number == 1 ? y : x;
  if (constant_index(y, &number)) return number == 1 ? x : y;
  ir_value_t* operands[] = {x, graph_index_constant(b, 1)};
  ir_value_t* is_one = ir_build_value(b, graph_scalar_code(SCALAR_eq), operands, 2, ir_type_int(b->ctx, 1));
  return ir_build_value(b, GRAPH_select, (ir_value_t*[]){is_one, y, x}, 3, ir_type_index(b->ctx));
}

bool graph_common_parts(const ir_value_t* v, ir_value_t** x, ir_value_t** y) {
  int64_t one;
  if (v->type->kind != IR_TYPE_INDEX || !ir_is(v->def, GRAPH_select)) return false;
  const ir_op_t* test = ir_operand(v->def, 0)->def;
  *y = ir_operand(v->def, 1);
  *x = ir_operand(v->def, 2);
  return ir_is(test, GRAPH_eq) && ir_operand(test, 0) == *x && constant_index(ir_operand(test, 1), &one) && one == 1;
}

static bool is_natural(const ir_value_t* x, int depth) {
  enum { MAX_DEPTH = 12 };
  int64_t number;
  if (constant_index(x, &number)) return number >= 0;
  if (!x->def || depth > MAX_DEPTH) return false;
  if (ir_is(x->def, GRAPH_DIM)) return true;
  bool first = x->def->operand_count > 0 && is_natural(ir_operand(x->def, 0), depth + 1);
  bool second = x->def->operand_count > 1 && is_natural(ir_operand(x->def, 1), depth + 1);
  switch (graph_scalar_fn(x->def)) {
    case SCALAR_add:
    case SCALAR_mul:
    case SCALAR_div:
    case SCALAR_min:
      return first && second;
    case SCALAR_max:
      return first || second;
    case SCALAR_rem:
      return first;
    case SCALAR_select:
      return second && is_natural(ir_operand(x->def, 2), depth + 1);
    default:
      return false;
  }
}

bool graph_size_is_natural(const ir_value_t* x) { return is_natural(x, 0); }

ir_value_t* graph_splat_like(ir_builder_t* b, ir_value_t* x, double value) {
  if (ir_type_is_static(x->type)) return graph_splat_number(b, x->type, value);
  return graph_broadcast_like(b, graph_scalar_constant(b, x->type->element, value), x, NULL);
}

//===----------------------------------------------------------------------------------------------------------------===
// Elementwise
//===----------------------------------------------------------------------------------------------------------------===

// The more static of two types of one shape.
static const ir_type_t* merged_shape(ir_builder_t* b, const ir_type_t* x, const ir_type_t* y) {
  if (!ir_type_is_shaped(x) || x == y || ir_type_is_static(x)) return x;
  int64_t dims[GRAPH_MAX_RANK];
  assert(x->rank == y->rank);
  for (int32_t i = 0; i < x->rank; ++i) dims[i] = x->dims[i] == IR_DYNAMIC ? y->dims[i] : x->dims[i];
  return ir_type_tensor(b->ctx, x->element, x->rank, dims);
}

static ir_value_t* elementwise(ir_builder_t* b, scalar_fn_t fn, ir_value_t* const* operands, const ir_type_t* type) {
  const scalar_info_t* info = &scalar_info[fn];
  for (int i = 0; i + 1 < info->arity; ++i) assert(operands[i]->type->rank == operands[i + 1]->type->rank);
  if (info->result == SCALAR_RESULT_BOOL) type = ir_type_with_element(b->ctx, type, ir_type_int(b->ctx, 1));
  return ir_build_value(b, graph_scalar_code(fn), operands, info->arity, type);
}

ir_value_t* graph_unary(ir_builder_t* b, scalar_fn_t fn, ir_value_t* x) { return elementwise(b, fn, &x, x->type); }

ir_value_t* graph_binary(ir_builder_t* b, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  assert(ir_type_scalar(x->type) == ir_type_scalar(y->type));
  return elementwise(b, fn, (ir_value_t*[]){x, y}, merged_shape(b, x->type, y->type));
}

ir_value_t* graph_select(ir_builder_t* b, ir_value_t* condition, ir_value_t* x, ir_value_t* y) {
  return elementwise(b, SCALAR_select, (ir_value_t*[]){condition, x, y}, merged_shape(b, x->type, y->type));
}

ir_value_t* graph_cast(ir_builder_t* b, ir_value_t* x, const ir_type_t* element, bool is_unsigned) {
  if (ir_type_scalar(x->type) == element) return x;
  return elementwise(b, is_unsigned ? SCALAR_castu : SCALAR_cast, &x, ir_type_with_element(b->ctx, x->type, element));
}

ir_value_t* graph_bitcast(ir_builder_t* b, ir_value_t* x, const ir_type_t* element) {
  if (ir_type_scalar(x->type) == element) return x;
  return elementwise(b, SCALAR_bitcast, &x, ir_type_with_element(b->ctx, x->type, element));
}

//===----------------------------------------------------------------------------------------------------------------===
// Index maps
//===----------------------------------------------------------------------------------------------------------------===

static uint32_t dynamic_count(int32_t rank, const int64_t* dims) {
  uint32_t count = 0;
  for (int32_t i = 0; i < rank; ++i) count += dims[i] == IR_DYNAMIC;
  return count;
}

// Builds `code` over x and the run-time sizes of `type`.
static ir_value_t* with_dims(ir_builder_t* b, uint32_t code, ir_value_t* x, const ir_type_t* type,
                             ir_value_t* const* dynamic, const ir_named_attr_t* attr) {
  ir_value_t* operands[1 + GRAPH_MAX_RANK];
  uint32_t count = 0, sizes = dynamic_count(type->rank, type->dims);
  if (x) operands[count++] = x;
  for (uint32_t i = 0; i < sizes; ++i) operands[count++] = dynamic[i];
  return graph_build(b, code, operands, count, type, attr, attr != NULL);
}

ir_value_t* graph_reshape(ir_builder_t* b, ir_value_t* x, int32_t rank, const int64_t* dims,
                          ir_value_t* const* dynamic) {
  const ir_type_t* type = ir_type_tensor(b->ctx, x->type->element, rank, dims);
  if (type == x->type && ir_type_is_static(type)) return x;
  return with_dims(b, GRAPH_RESHAPE, x, type, dynamic, NULL);
}

ir_value_t* graph_transpose(ir_builder_t* b, ir_value_t* x, const int64_t* perm) {
  int64_t dims[GRAPH_MAX_RANK];
  bool identity = true;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    dims[i] = x->type->dims[perm[i]];
    identity &= perm[i] == i;
  }
  if (identity) return x;
  ir_named_attr_t attr = {"perm", ir_attr_i64_array(b->ctx, perm, (uint32_t)x->type->rank)};
  return graph_build(b, GRAPH_TRANSPOSE, &x, 1, ir_type_tensor(b->ctx, x->type->element, x->type->rank, dims), &attr,
                     1);
}

// Whether the sizes are x's own, of dimensions in their order.
static bool keeps_sizes(const ir_value_t* x, const int64_t* dims, ir_value_t* const* dynamic) {
  uint32_t count = 0;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    if (dims && dims[i] != i) return false;
    if (x->type->dims[i] != IR_DYNAMIC) continue;
    const ir_op_t* def = dynamic[count++]->def;
    if (!def || !ir_is(def, GRAPH_DIM) || ir_operand(def, 0) != x || graph_get_index(def) != i) return false;
  }
  return true;
}

ir_value_t* graph_broadcast(ir_builder_t* b, ir_value_t* x, const ir_type_t* type, const int64_t* dims,
                            ir_value_t* const* dynamic) {
  if (x->type == type && (ir_type_is_static(type) || keeps_sizes(x, dims, dynamic))) return x;
  type = ir_type_tensor(b->ctx, x->type->element, type->rank, type->dims);
  ir_named_attr_t attr = {"dims", ir_attr_i64_array(b->ctx, dims, (uint32_t)x->type->rank)};
  return with_dims(b, GRAPH_BROADCAST, x, type, dynamic, &attr);
}

ir_value_t* graph_broadcast_like(ir_builder_t* b, ir_value_t* x, ir_value_t* like, const int64_t* dims) {
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  uint32_t count = 0;
  for (int32_t i = 0; i < like->type->rank; ++i) {
    if (like->type->dims[i] == IR_DYNAMIC) dynamic[count++] = run_time_dim(b, like, (uint32_t)i);
  }
  return graph_broadcast(b, x, like->type, dims, dynamic);
}

ir_value_t* graph_slice(ir_builder_t* b, ir_value_t* x, const int64_t* offsets, const int64_t* sizes,
                        const int64_t* strides) {
  uint32_t rank = (uint32_t)x->type->rank, count = 0;
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < rank; ++i) {
    if (sizes[i] == IR_DYNAMIC) dynamic[count++] = graph_dim(b, x, i);  // a whole dynamic dimension
  }
  const ir_type_t* type = ir_type_tensor(b->ctx, x->type->element, (int32_t)rank, sizes);
  if (type == x->type && count == 0) {
    bool whole = true;
    for (uint32_t i = 0; i < rank; ++i) whole &= offsets[i] == 0 && (strides[i] == 1 || sizes[i] == 1);
    if (whole) return x;
  }
  ir_named_attr_t attrs[] = {{"offsets", ir_attr_i64_array(b->ctx, offsets, rank)},
                             {"strides", ir_attr_i64_array(b->ctx, strides, rank)}};
  ir_value_t* operands[1 + GRAPH_MAX_RANK] = {x};
  for (uint32_t i = 0; i < count; ++i) operands[1 + i] = dynamic[i];
  return graph_build(b, GRAPH_SLICE, operands, 1 + count, type, attrs, 2);
}

ir_value_t* graph_pad(ir_builder_t* b, ir_value_t* x, ir_value_t* value, const int64_t* low, const int64_t* high,
                      const int64_t* interior, const char* mode) {
  static const int64_t zeros[GRAPH_MAX_RANK] = {0};
  uint32_t rank = (uint32_t)x->type->rank;
  int64_t dims[GRAPH_MAX_RANK];
  if (!interior) interior = zeros;
  bool nothing = true;
  for (uint32_t i = 0; i < rank; ++i) {
    int64_t dim = x->type->dims[i];
    dims[i] = dim == IR_DYNAMIC ? dim : dim + low[i] + high[i] + (dim > 1 ? (dim - 1) * interior[i] : 0);
    nothing &= low[i] == 0 && high[i] == 0 && interior[i] == 0;
  }
  if (nothing) return x;
  ir_named_attr_t attrs[] = {{"low", ir_attr_i64_array(b->ctx, low, rank)},
                             {"high", ir_attr_i64_array(b->ctx, high, rank)},
                             {"interior", ir_attr_i64_array(b->ctx, interior, rank)},
                             {"mode", ir_attr_cstring(b->ctx, mode ? mode : "constant")}};
  if (!value) value = graph_scalar_constant(b, x->type->element, 0);
  const ir_type_t* type = ir_type_tensor(b->ctx, x->type->element, (int32_t)rank, dims);
  return graph_build(b, GRAPH_PAD, (ir_value_t*[]){x, value}, 2, type, attrs, 4);
}

ir_value_t* graph_concat(ir_builder_t* b, ir_value_t* const* xs, uint32_t count, int64_t axis) {
  if (count == 1) return xs[0];
  int64_t dims[GRAPH_MAX_RANK];
  int32_t rank = xs[0]->type->rank;
  memcpy(dims, xs[0]->type->dims, sizeof(int64_t) * (size_t)rank);
  for (uint32_t i = 1; i < count; ++i) {
    int64_t add = xs[i]->type->dims[axis];
    dims[axis] = dims[axis] == IR_DYNAMIC || add == IR_DYNAMIC ? IR_DYNAMIC : dims[axis] + add;
    for (int32_t d = 0; d < rank; ++d) {
      if (d != axis && dims[d] == IR_DYNAMIC) dims[d] = xs[i]->type->dims[d];
    }
  }
  ir_named_attr_t attr = {"axis", ir_attr_i64(b->ctx, axis)};
  return graph_build(b, GRAPH_CONCAT, xs, count, ir_type_tensor(b->ctx, xs[0]->type->element, rank, dims), &attr, 1);
}

ir_value_t* graph_reverse(ir_builder_t* b, ir_value_t* x, const int64_t* dims, uint32_t count) {
  if (!count) return x;
  ir_named_attr_t attr = {"dims", ir_attr_i64_array(b->ctx, dims, count)};
  return graph_build(b, GRAPH_REVERSE, &x, 1, x->type, &attr, 1);
}

ir_value_t* graph_iota(ir_builder_t* b, const ir_type_t* type, int64_t axis, ir_value_t* const* dynamic) {
  ir_named_attr_t attr = {"axis", ir_attr_i64(b->ctx, axis)};
  return with_dims(b, GRAPH_IOTA, NULL, type, dynamic, &attr);
}
