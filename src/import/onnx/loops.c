// See loops.h.
#include "import/onnx/loops.h"

#include <string.h>

#include "import/lowering_size.h"
#include "import/onnx/holder.h"
#include "import/onnx/numbers.h"
#include "import/onnx/strings.h"

static ir_block_t* block_with_args(ir_context_t* ctx, const ir_type_t* const* types, uint32_t count) {
  ir_block_t* block = ir_block_create(ctx);
  ir_block_add_arg(ctx, block, ir_type_tensor(ctx, ir_type_int(ctx, 64), 0, NULL));
  for (uint32_t i = 0; i < count; ++i) ir_block_add_arg(ctx, block, types[i]);
  return block;
}

static void yield(ir_builder_t* b, ir_value_t* const* values, uint32_t count) {
  ir_op_state_t state = {.info = ir_context_op(b->ctx, GRAPH_YIELD), .operands = values, .operand_count = count};
  ir_build(b, &state);
}

void onnx_loop_begin(onnx_loop_t* loop, onnx_node_t* n, const ir_type_t* const* types, uint32_t count) {
  *loop = (onnx_loop_t){.n = n, .outside = *n->b, .body = block_with_args(n->ctx, types, count)};
  *n->b = ir_builder_at_end(n->ctx, loop->body);
  n->b->loc = loop->outside.loc;
}

void onnx_loop_drop(onnx_loop_t* loop) {
  while (loop->body->last) ir_op_erase(loop->body->last);
  *loop->n->b = loop->outside;
}

// ^(counter, values...): counter < limit and flag
static ir_block_t* build_condition(onnx_loop_t* loop, ir_value_t* limit, int32_t flag) {
  ir_context_t* ctx = loop->n->ctx;
  ir_block_t* block = ir_block_create(ctx);
  for (uint32_t i = 0; i < loop->body->arg_count; ++i) ir_block_add_arg(ctx, block, loop->body->args[i]->type);
  ir_builder_t b = ir_builder_at_end(ctx, block);
  b.loc = loop->outside.loc;
  ir_value_t* below = limit ? graph_binary(&b, SCALAR_lt, block->args[0], limit) : NULL;
  ir_value_t* go = flag >= 0 ? block->args[1 + flag] : below;
  if (below && flag >= 0) go = graph_binary(&b, SCALAR_and, below, go);
  if (!go) go = graph_scalar_constant(&b, ir_type_int(ctx, 1), 1);
  yield(&b, &go, 1);
  return block;
}

ir_op_t* onnx_loop_end(onnx_loop_t* loop, ir_value_t* const* initial, ir_value_t* const* next, ir_value_t* limit,
                       int32_t flag) {
  onnx_node_t* n = loop->n;
  uint32_t count = loop->body->arg_count;
  arena_t* arena = ir_context_arena(n->ctx);
  ir_value_t** values = ARENA_ARRAY(arena, ir_value_t*, count);
  const ir_type_t** types = ARENA_ARRAY(arena, const ir_type_t*, count);
  values[0] = onnx_binary_number(n, SCALAR_add, loop->body->args[0], 1);
  for (uint32_t i = 1; i < count; ++i) values[i] = onnx_coerce(n, next[i - 1], loop->body->args[i]->type);
  yield(n->b, values, count);
  *n->b = loop->outside;
  for (uint32_t i = 0; i < count; ++i) types[i] = loop->body->args[i]->type;
  values[0] = graph_splat_integer(n->b, types[0], 0);
  for (uint32_t i = 1; i < count; ++i) values[i] = onnx_coerce(n, initial[i - 1], types[i]);
  ir_op_state_t state = {.info = ir_context_op(n->ctx, GRAPH_WHILE),
                         .operands = values,
                         .operand_count = count,
                         .result_types = types,
                         .result_count = count,
                         .region_count = 2};
  ir_op_t* op = ir_build(n->b, &state);
  ir_region_append(&op->regions[0], build_condition(loop, limit, flag));
  ir_region_append(&op->regions[1], loop->body);
  return op;
}

// A place as a number of the host.
static ir_value_t* place_of(onnx_node_t* n, ir_value_t* at) {
  ir_value_t* index = graph_cast(n->b, at, ir_type_index(n->ctx), false);
  return ir_build_value(n->b, GRAPH_TO_SCALAR, &index, 1, ir_type_index(n->ctx));
}

ir_value_t* onnx_element(onnx_node_t* n, ir_value_t* x, int64_t axis, ir_value_t* at) {
  ir_value_t* operands[1 + 2 * ONNX_MAX_RANK] = {x};
  onnx_dim_t slice[ONNX_MAX_RANK], dims[ONNX_MAX_RANK];
  int64_t sizes[ONNX_MAX_RANK];
  int32_t rank = x->type->rank, count = 0;
  uint32_t open = 0;
  for (int32_t i = 0; i < rank; ++i) {
    slice[i] = i == axis ? onnx_dim_of(1) : onnx_dim(n, x, i);
    open += !onnx_dim_known(slice[i]);
    if (i != axis) dims[count++] = slice[i];
    operands[1 + i] = i == axis ? place_of(n, at) : graph_index_constant(n->b, 0);
  }
  onnx_split_dims(rank, slice, sizes, operands + 1 + rank);
  const ir_type_t* type = ir_type_tensor(n->ctx, x->type->element, rank, sizes);
  ir_value_t* element = graph_build(n->b, GRAPH_DYNAMIC_SLICE, operands, 1 + (uint32_t)rank + open, type, NULL, 0);
  return onnx_reshape(n, element, count, dims);
}

ir_value_t* onnx_put_element(onnx_node_t* n, ir_value_t* x, ir_value_t* element, ir_value_t* at) {
  onnx_dim_t dims[ONNX_MAX_RANK + 1] = {onnx_dim_of(1)};
  ir_value_t* operands[2 + ONNX_MAX_RANK] = {x};
  int32_t rank = x->type->rank;
  for (int32_t i = 1; i < rank; ++i) dims[i] = onnx_dim(n, element, i - 1);
  operands[1] = onnx_reshape(n, element, rank, dims);
  operands[2] = place_of(n, at);
  for (int32_t i = 1; i < rank; ++i) operands[2 + i] = graph_index_constant(n->b, 0);
  return graph_build(n->b, GRAPH_DYNAMIC_UPDATE, operands, 2 + (uint32_t)rank, x->type, NULL, 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Collected results
//===----------------------------------------------------------------------------------------------------------------===

enum { MAX_NESTING = 64 };

// Carried values of a loop whose body is complete.
typedef struct rounds_t {
  onnx_loop_t* loop;
  ir_value_t *const *initial, *const *next;
  uint32_t carried;
} rounds_t;

// Dimension i of a carried value, before the loop: NULL where a round may change it.
static ir_value_t* kept_size(rounds_t* r, ir_value_t* arg, int32_t i) {
  onnx_node_t* n = r->loop->n;
  uint32_t k = arg->index - 1;  // the counter has no dimensions
  if (k >= r->carried || r->next[k]->type->rank != arg->type->rank) return NULL;
  if (!lower_size_same(lower_size(n->b, r->next[k], i), lower_size(n->b, arg, i))) return NULL;
  return lower_size(&r->loop->outside, r->initial[k], i);
}

// A size that the body computes, before the loop: NULL where it is not from sizes alone that no round changes.
static ir_value_t* size_outside(rounds_t* r, ir_value_t* v, uint32_t depth) {
  const ir_op_t* op = v->def;
  int64_t constant;
  ir_value_t* operands[3];
  if (lower_size_constant(v, &constant)) return graph_index_constant(&r->loop->outside, constant);
  if (!op || op->parent != r->loop->body) return v;
  if (ir_is(op, GRAPH_DIM)) {
    ir_value_t* x = ir_operand(op, 0);
    int32_t i = (int32_t)graph_get_index(op);
    if (x->def) return x->def->parent == r->loop->body ? NULL : lower_size(&r->loop->outside, x, i);
    return x->block == r->loop->body ? kept_size(r, x, i) : lower_size(&r->loop->outside, x, i);
  }
  if (graph_scalar_fn(op) < 0 || ir_type_is_shaped(v->type) || op->operand_count > 3 || depth >= MAX_NESTING)
    return NULL;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (!(operands[i] = size_outside(r, ir_operand(op, i), depth + 1))) return NULL;
  }
  return ir_build_value(&r->loop->outside, ir_code(op), operands, op->operand_count, v->type);
}

bool onnx_round_shape(onnx_loop_t* loop, onnx_value_t element, ir_value_t* const* initial, ir_value_t* const* next,
                      uint32_t carried, onnx_dim_t* dims) {
  rounds_t r = {loop, initial, next, carried};
  const ir_type_t* type = element.v->type;
  if (onnx_is_string(element)) return false;  // of any width
  for (int32_t i = 0; i < type->rank; ++i) {
    dims[i] = onnx_dim(loop->n, element.v, i);
    if (dims[i].size == IR_DYNAMIC && !(dims[i].value = size_outside(&r, dims[i].value, 0))) return false;
  }
  return true;
}

ir_value_t* onnx_accumulator(onnx_node_t* n, onnx_dim_t count, const ir_type_t* element, const onnx_dim_t* dims) {
  onnx_dim_t all[ONNX_MAX_RANK + 1] = {count};
  for (int32_t i = 0; i < element->rank; ++i) all[1 + i] = dims[i];
  return onnx_broadcast_to(n, graph_scalar_constant(n->b, element->element, 0), 1 + element->rank, all);
}

void onnx_grow(onnx_loop_t* loop, onnx_value_t element, bool front, onnx_growing_t* out) {
  static const int64_t any[] = {IR_DYNAMIC, IR_DYNAMIC}, none[] = {0, 0};
  onnx_node_t* n = loop->n;
  *out = (onnx_growing_t){.element = element.v->type, .strings = onnx_is_string(element)};
  const ir_type_t* type = ir_type_tensor(n->ctx, out->element->element, 1 + out->strings, any);
  ir_value_t *before = ir_block_add_arg(n->ctx, loop->body, type), *flat = onnx_flatten(n, element);
  ir_value_t* both[] = {front ? flat : before, front ? before : flat};
  if (out->strings) onnx_string_align(n, both, 2);
  out->next = graph_concat(n->b, both, 2, 0);
  ir_builder_t inside = *n->b;
  *n->b = loop->outside;
  const ir_type_t* empty = ir_type_tensor(n->ctx, type->element, type->rank, none);
  out->initial = graph_splat_number(n->b, empty, 0);
  *n->b = inside;
}

void onnx_grow_sizes(onnx_loop_t* loop, onnx_value_t element, onnx_growing_t* out) {
  onnx_node_t* n = loop->n;
  const int64_t rank = onnx_rank(element);
  const ir_type_t* type = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), 1, &rank);
  ir_value_t* before = ir_block_add_arg(n->ctx, loop->body, type);
  out->next_sizes = onnx_shape_vector(n, element);
  ir_value_t* first = onnx_binary_number(n, SCALAR_eq, loop->body->args[0], 0);
  ir_value_t* same = graph_binary(n->b, SCALAR_eq, before, out->next_sizes);
  same = graph_binary(n->b, SCALAR_or, same, onnx_broadcast_as(n, first, same, NULL));
  graph_assert(n->b, same, "the values that a loop collects must be of one shape");
  ir_builder_t inside = *n->b;
  *n->b = loop->outside;
  out->initial_sizes = graph_splat_number(n->b, type, 0);
  *n->b = inside;
}

ir_value_t* onnx_grown(onnx_node_t* n, const onnx_growing_t* growing, ir_value_t* count, ir_value_t* vector,
                       ir_value_t* sizes) {
  onnx_dim_t dims[1 + ONNX_MAX_RANK];
  const ir_type_t* element = growing->element;
  const onnx_value_t in[] = {onnx_value(count, onnx_si64(n->ctx)), onnx_value(sizes, onnx_si64(n->ctx))};
  onnx_node_t inner = *n;
  uint32_t found;
  inner.in = in, inner.in_count = 2;
  if (!onnx_dims_input(&inner, 0, dims, 1, &found)) return NULL;
  if (sizes && !onnx_dims_input(&inner, 1, dims + 1, ONNX_MAX_RANK, &found)) return NULL;
  for (int32_t i = 0; i < element->rank; ++i) {
    if (element->dims[i] != IR_DYNAMIC) dims[1 + i] = onnx_dim_of(element->dims[i]);
  }
  if (growing->strings) dims[element->rank] = onnx_dim(n, vector, 1);
  return onnx_reshape(n, vector, 1 + element->rank, dims);
}

ir_value_t* onnx_coerce(onnx_node_t* n, ir_value_t* v, const ir_type_t* type) {
  if (v->type == type) return v;
  ir_value_t* dynamic[ONNX_MAX_RANK];
  for (int32_t i = 0, k = 0; i < type->rank; ++i) {
    if (type->dims[i] == IR_DYNAMIC) dynamic[k++] = lower_size(n->b, v, i);
  }
  return graph_reshape(n->b, v, type->rank, type->dims, dynamic);
}

const ir_type_t* onnx_merge_types(ir_context_t* ctx, const ir_type_t* a, const ir_type_t* b) {
  int64_t dims[ONNX_MAX_RANK];
  if (a == b) return a;
  if (a->rank != b->rank || a->element != b->element) return NULL;
  for (int32_t i = 0; i < a->rank; ++i) dims[i] = a->dims[i] == b->dims[i] ? a->dims[i] : IR_DYNAMIC;
  return ir_type_tensor(ctx, a->element, a->rank, dims);
}
