// Attention of few queries to many keys, so that it has work for all of a device:
//
//   graph.attention q, k, v   =>   parts, logarithms = graph.attention q, k, v {splits}    more workgroups
//                                  sum over splits of parts softmax(logarithms)
//
// Before that, heads of queries that share heads of keys and values become rows of one head, which reads those once.
#include <math.h>
#include <string.h>

#include "passes/attention.h"

enum { MAX_SPLITS = 64, MAX_ROWS = 64, LEAST_ROWS = 16 };

//===----------------------------------------------------------------------------------------------------------------===
// Shared heads
//===----------------------------------------------------------------------------------------------------------------===

// x in the shape, in which at most one size is known at run time only, and is one of x's.
static ir_value_t* reshaped(ir_builder_t* b, ir_value_t* x, int32_t rank, const int64_t* sizes) {
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  uint32_t count = 0;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    if (x->type->dims[i] == IR_DYNAMIC) dynamic[count++] = graph_dim(b, x, (uint32_t)i);
  }
  return graph_reshape(b, x, rank, sizes, dynamic);
}

// What broadcast(x) repeats in the last of the leading dimensions, as [.., 1, rows, columns].
static ir_value_t* before_broadcast(ir_builder_t* b, ir_value_t* x, int64_t* times) {
  int64_t dims[GRAPH_MAX_RANK], sizes[GRAPH_MAX_RANK];
  int32_t rank = x->type->rank, at = rank - 3;
  const ir_type_t* from = ir_operand(x->def, 0)->type;
  if (rank < 3 || from->rank != rank - 1 || ir_type_open_dims(from) > 1 || x->type->dims[at] == IR_DYNAMIC) return NULL;
  graph_get_dims(x->def, dims);
  memcpy(sizes, x->type->dims, sizeof(*sizes) * (size_t)rank);
  for (int32_t i = 0; i < from->rank; ++i) {
    if (dims[i] != i + (i >= at) || from->dims[i] != sizes[dims[i]]) return NULL;
  }
  *times = sizes[at];
  sizes[at] = 1;
  return reshaped(b, ir_operand(x->def, 0), rank, sizes);
}

// What reshape(broadcast(x)) repeats `*times` times in the last of the leading dimensions, as [.., heads, rows,
// columns]; NULL where it is none of that form.
static ir_value_t* before_repeat(ir_builder_t* b, ir_value_t* x, int64_t* times) {
  int64_t dims[GRAPH_MAX_RANK], sizes[GRAPH_MAX_RANK];
  int32_t rank = x->type->rank;
  if (x->def && ir_is(x->def, GRAPH_BROADCAST)) return before_broadcast(b, x, times);
  if (!x->def || !ir_is(x->def, GRAPH_RESHAPE) || rank < 3 || ir_type_open_dims(x->type) > 1) return NULL;
  const ir_op_t* broadcast = ir_operand(x->def, 0)->def;
  if (!broadcast || !ir_is(broadcast, GRAPH_BROADCAST)) return NULL;
  const ir_type_t *from = ir_operand(broadcast, 0)->type, *to = broadcast->results[0].type;
  if (to->rank != rank + 1 || ir_type_open_dims(to) > 1) return NULL;
  graph_get_dims(broadcast, dims);
  int64_t at = rank - 2;  // of what is repeated, in `to`
  for (int32_t i = 0; i < rank + 1; ++i) {
    int64_t size = i < at - 1 ? x->type->dims[i] : i > at ? x->type->dims[i - 1] : to->dims[i];
    if (to->dims[i] != size) return NULL;
    if (i != at) sizes[i - (i > at)] = to->dims[i];
  }
  int32_t next = 0;
  for (int32_t i = 0; i < from->rank; ++i) {  // all but that dimension, as it is
    if (dims[i] == at && from->dims[i] != 1) return NULL;
    if (dims[i] == at) continue;
    if (dims[i] != next + (next >= at) || from->dims[i] != to->dims[dims[i]]) return NULL;
    ++next;
  }
  if (next != rank) return NULL;
  if (to->dims[at] == IR_DYNAMIC) return NULL;
  *times = to->dims[at];
  return reshaped(b, ir_operand(broadcast, 0), rank, sizes);
}

// A mask that is the same for all heads and queries, for other numbers of them.
static ir_value_t* other_mask(ir_builder_t* b, ir_value_t* mask, const ir_type_t* scores) {
  int64_t dims[GRAPH_MAX_RANK];
  if (!mask->def || !ir_is(mask->def, GRAPH_BROADCAST) || mask->type->rank != scores->rank) return NULL;
  ir_value_t* from = ir_operand(mask->def, 0);
  graph_get_dims(mask->def, dims);
  for (int32_t i = 0; i < from->type->rank; ++i) {
    bool changes = dims[i] == scores->rank - 2 || dims[i] == scores->rank - 3;
    if (changes && from->type->dims[i] != 1) return NULL;
  }
  return graph_broadcast(b, from, ir_type_with_element(b->ctx, scores, mask->type->element), dims, NULL);
}

static ir_op_t* rebuild(ir_context_t* ctx, ir_builder_t* b, const ir_op_t* op, ir_value_t* const* operands,
                        bool causal) {
  ir_named_attr_t attrs[3];
  uint32_t n = 0;
  if (graph_get_blank(op)) attrs[n++] = (ir_named_attr_t){"blank", ir_attr_unit(ctx)};
  if (causal) attrs[n++] = (ir_named_attr_t){"causal", ir_attr_unit(ctx)};
  if (graph_get_scale(op)) attrs[n++] = (ir_named_attr_t){"scale", graph_get_scale(op)};
  const ir_type_t *q = operands[0]->type, *v = operands[2]->type;
  int64_t dims[GRAPH_MAX_RANK];
  memcpy(dims, q->dims, sizeof(*dims) * (size_t)q->rank);
  dims[q->rank - 1] = v->dims[v->rank - 1];
  const ir_type_t* type = ir_type_tensor(ctx, op->results[0].type->element, q->rank, dims);
  return graph_build(b, GRAPH_ATTENTION, operands, op->operand_count, type, attrs, n)->def;
}

ir_op_t* attention_share_heads(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t* q = ir_operand(op, 0)->type;
  int32_t rank = q->rank;
  int64_t of_k = 0, of_v = 0, sizes[GRAPH_MAX_RANK];
  bool one_query = q->dims[rank - 2] == 1;
  if (!ir_type_is_static(q) || op->result_count > 1 || graph_get_splits(op)) return op;
  if (!one_query && (op->operand_count > 3 || graph_get_causal(op))) return op;
  ir_builder_t b = ir_builder_before(ctx, op);
  ir_value_t *operands[4] = {ir_operand(op, 0)}, *k = before_repeat(&b, ir_operand(op, 1), &of_k);
  ir_value_t* v = k ? before_repeat(&b, ir_operand(op, 2), &of_v) : NULL;
  if (!v || of_k != of_v || of_k * q->dims[rank - 2] > MAX_ROWS) return op;
  memcpy(sizes, q->dims, sizeof(*sizes) * (size_t)rank);
  sizes[rank - 3] /= of_k, sizes[rank - 2] *= of_k;
  operands[0] = graph_reshape(&b, operands[0], rank, sizes, NULL);
  operands[1] = k, operands[2] = v;
  if (op->operand_count > 3) {
    int64_t scores[GRAPH_MAX_RANK];
    memcpy(scores, sizes, sizeof(*scores) * (size_t)rank);
    scores[rank - 1] = k->type->dims[rank - 2];
    operands[3] = other_mask(&b, ir_operand(op, 3), ir_type_tensor(ctx, q->element, rank, scores));
    if (!operands[3]) return op;
  }
  ir_op_t* shared = rebuild(ctx, &b, op, operands, false);  // one query sees all keys
  const ir_type_t* type = op->results[0].type;
  ir_value_replace(ir_result(op, 0), graph_reshape(&b, ir_result(shared, 0), type->rank, type->dims, NULL));
  ir_op_erase(op);
  return shared;
}

//===----------------------------------------------------------------------------------------------------------------===
// Parts
//===----------------------------------------------------------------------------------------------------------------===

int64_t attention_splits(const ir_op_t* op, int64_t workgroups) {
  enum { LEAST_KEYS = 2 * GRAPH_ATTENTION_KEYS, UNKNOWN_KEYS = 4096, EACH = 2 };
  const ir_type_t *q = ir_operand(op, 0)->type, *k = ir_operand(op, 1)->type;
  int64_t keys = k->dims[k->rank - 2], items = 1;
  if (!ir_type_is_static(q) || op->result_count > 1 || graph_get_splits(op) || q->rank >= GRAPH_MAX_RANK - 1) return 1;
  if (k->dims[k->rank - 1] == IR_DYNAMIC || ir_type_count(op->results[0].type) <= 0) return 1;
  for (int32_t i = 0; i < q->rank - 2; ++i) items *= q->dims[i];
  items *= (q->dims[q->rank - 2] + LEAST_ROWS - 1) / LEAST_ROWS;
  if (keys == IR_DYNAMIC) keys = UNKNOWN_KEYS;
  int64_t splits = items * EACH > workgroups ? 1 : (EACH * workgroups + items - 1) / items;
  if (splits > keys / LEAST_KEYS) splits = keys / LEAST_KEYS;
  return splits > MAX_SPLITS ? MAX_SPLITS : splits;
}

// Repeated to the shape of `like`, which has dimension `without` more.
static ir_value_t* spread(ir_builder_t* b, ir_value_t* x, const ir_value_t* like, int64_t without) {
  int64_t dims[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < x->type->rank; ++i) dims[i] = i + (i >= without);
  return graph_broadcast(b, x, like->type, dims, NULL);
}

// Of parts [.., s, m, e] and logarithms [.., s, m]: their mean with the softmax of the logarithms as weights. All of it
// in the parts' shape, so that it is one kernel: powers are few, launches are dear.
static ir_value_t* combine(ir_builder_t* b, ir_value_t* parts, ir_value_t* logarithms, bool blank) {
  int64_t split = parts->type->rank - 3;
  ir_value_t* all = spread(b, logarithms, parts, parts->type->rank - 1);
  ir_value_t* most = spread(b, graph_reduce(b, all, &split, 1, "max"), parts, split);
  ir_value_t* weights = graph_unary(b, SCALAR_exp, graph_binary(b, SCALAR_sub, all, most));
  ir_value_t* sum = graph_reduce(b, weights, &split, 1, "add");
  ir_value_t* result = graph_reduce(b, graph_binary(b, SCALAR_mul, parts, weights), &split, 1, "add");
  result = graph_binary(b, SCALAR_div, result, sum);
  return blank ? graph_select(b, graph_unary(b, SCALAR_is_nan, sum), graph_splat_like(b, result, 0), result) : result;
}

ir_op_t* attention_split(ir_context_t* ctx, ir_op_t* op, int64_t splits, ir_value_t** out) {
  ir_builder_t b = ir_builder_before(ctx, op);
  const ir_type_t *type = op->results[0].type, *f32 = ir_type_float(ctx, IR_F32);
  int32_t rank = type->rank;
  int64_t dims[GRAPH_MAX_RANK];
  memcpy(dims, type->dims, sizeof(*dims) * (size_t)rank);
  dims[rank - 2] = splits, dims[rank - 1] = type->dims[rank - 2], dims[rank] = type->dims[rank - 1];
  const ir_type_t* types[] = {ir_type_tensor(ctx, f32, rank + 1, dims), ir_type_tensor(ctx, f32, rank, dims)};
  ir_named_attr_t attrs[4];
  uint32_t n = 0;
  if (graph_get_causal(op)) attrs[n++] = (ir_named_attr_t){"causal", ir_attr_unit(ctx)};
  if (graph_get_scale(op)) attrs[n++] = (ir_named_attr_t){"scale", graph_get_scale(op)};
  attrs[n++] = (ir_named_attr_t){"splits", ir_attr_i64(ctx, splits)};
  ir_value_t* operands[4];
  for (uint32_t i = 0; i < op->operand_count; ++i) operands[i] = ir_operand(op, i);
  ir_op_state_t state = {.info = ir_context_op(ctx, GRAPH_ATTENTION),
                         .operands = operands,
                         .operand_count = op->operand_count,
                         .result_types = types,
                         .result_count = 2,
                         .attrs = attrs,
                         .attr_count = n};
  ir_op_t* split = ir_build(&b, &state);
  *out =
      graph_cast(&b, combine(&b, ir_result(split, 0), ir_result(split, 1), graph_get_blank(op)), type->element, false);
  return split;
}
