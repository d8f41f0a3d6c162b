// Simplification to a fixed point: constants are folded (small ones by evaluating the op, weights of any size when the
// op only moves them), index maps that do nothing vanish and chains of them become one.
//
// Each rule is a row: it looks at one op and returns the value that replaces its first result, or NULL.
#include <string.h>

#include "dialects/evaluate.h"
#include "dialects/graph.h"
#include "dialects/scalar_rules.h"
#include "ir/rewrite.h"
#include "passes/constant_move.h"
#include "passes/passes.h"

enum { FOLD_ELEMENTS = 1 << 18, FOLD_PACKED = 1 << 10 };

//===----------------------------------------------------------------------------------------------------------------===
// Rules
//===----------------------------------------------------------------------------------------------------------------===

// transpose and reshape of a weight: the weight in that order.
static ir_value_t* fold_moved_constant(ir_builder_t* b, ir_op_t* op) {
  bool transposes = ir_is(op, GRAPH_TRANSPOSE);
  if (!transposes && !ir_is(op, GRAPH_RESHAPE)) return NULL;
  const ir_attr_t* value = graph_constant_value(ir_operand(op, 0));
  if (!value || !ir_type_is_static(op->results[0].type)) return NULL;
  int64_t perm[GRAPH_MAX_RANK];
  if (transposes) graph_get_perm(op, perm);
  return graph_constant(
      b, transposes ? constant_transpose(b->ctx, value, perm) : constant_reshape(b->ctx, value, op->results[0].type));
}

// An op over small constants.
static ir_value_t* fold_small(ir_builder_t* b, ir_op_t* op) {
  if (ir_op_dialect(op) != IR_DIALECT_GRAPH || ir_is(op, GRAPH_CONSTANT)) return NULL;
  if (op->region_count || op->result_count != 1 || op->operand_count == 0) return NULL;
  const ir_type_t* type = op->results[0].type;
  if (!ir_type_is_tensor(type) || !ir_type_is_static(type) || ir_type_count(type) > FOLD_ELEMENTS) return NULL;
  const ir_attr_t* inputs[16];
  if (op->operand_count > 16) return NULL;
  bool splats = true;
  int64_t largest = 0;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    inputs[i] = graph_constant_value(ir_operand(op, i));
    if (!inputs[i] || ir_type_count(inputs[i]->type) > FOLD_ELEMENTS) return NULL;
    bool packed = ir_type_is_packed(inputs[i]->type->element) && !inputs[i]->splat;
    if (packed && ir_type_count(inputs[i]->type) > FOLD_PACKED) return NULL;  // const-eval knows what it is for
    splats &= inputs[i]->splat || ir_type_count(inputs[i]->type) == 1;
    if (ir_type_count(inputs[i]->type) > largest) largest = ir_type_count(inputs[i]->type);
  }
  if (!splats && ir_type_count(type) > largest) return NULL;               // a repeated bias stays small
  if (splats && (ir_is(op, GRAPH_BROADCAST) || ir_is(op, GRAPH_SLICE))) {  // stays one number
    return graph_constant(b, ir_attr_elements(b->ctx, type, ir_attr_data(inputs[0]), ir_type_bytes(type->element)));
  }
  const ir_attr_t* output = NULL;
  if (!graph_evaluate_op(b->ctx, op, inputs, &output) || !output || output->type != type) return NULL;
  return graph_constant(b, output);
}

// broadcast of one number, of any size.
static ir_value_t* fold_splat_broadcast(ir_builder_t* b, ir_op_t* op) {
  if (!ir_is(op, GRAPH_BROADCAST) || !ir_type_is_static(op->results[0].type)) return NULL;
  const ir_attr_t* value = graph_constant_value(ir_operand(op, 0));
  if (!value || (!value->splat && ir_type_count(value->type) != 1)) return NULL;
  const ir_type_t* type = op->results[0].type;
  return graph_constant(b, ir_attr_elements(b->ctx, type, ir_attr_data(value), ir_type_bytes(type->element)));
}

// An index map whose result is its operand: same type, static, and nothing moved.
static ir_value_t* drop_identity(ir_builder_t* b, ir_op_t* op) {
  (void)b;
  if (!op->operand_count || op->results[0].type != ir_operand(op, 0)->type || !ir_type_is_static(op->results[0].type)) {
    return NULL;
  }
  if (ir_is(op, GRAPH_RESHAPE)) return ir_operand(op, 0);
  int64_t list[GRAPH_MAX_RANK];
  if (!ir_is(op, GRAPH_TRANSPOSE) && !ir_is(op, GRAPH_BROADCAST)) return NULL;
  uint32_t count = ir_is(op, GRAPH_TRANSPOSE) ? graph_get_perm(op, list) : graph_get_dims(op, list);
  for (uint32_t i = 0; i < count; ++i) {
    if (list[i] != i) return NULL;
  }
  return ir_operand(op, 0);
}

// reshape of reshape, transpose of transpose, cast to the type a cast came from when nothing was lost.
static ir_value_t* merge_chain(ir_builder_t* b, ir_op_t* op) {
  ir_op_t* inner = op->operand_count ? ir_operand(op, 0)->def : NULL;
  if (!inner || inner->info != op->info) return NULL;
  ir_value_t* x = ir_operand(inner, 0);
  const ir_type_t* type = op->results[0].type;
  if (ir_is(op, GRAPH_RESHAPE) && ir_type_is_static(type)) return graph_reshape(b, x, type->rank, type->dims, NULL);
  if (ir_is(op, GRAPH_TRANSPOSE)) {
    int64_t outer[GRAPH_MAX_RANK], first[GRAPH_MAX_RANK], both[GRAPH_MAX_RANK];
    graph_get_perm(op, outer);
    graph_get_perm(inner, first);
    for (int32_t i = 0; i < type->rank; ++i) both[i] = first[outer[i]];
    return graph_transpose(b, x, both);
  }
  return NULL;
}

// transpose that moves only dimensions of size 1: a reshape.
static ir_value_t* transpose_to_reshape(ir_builder_t* b, ir_op_t* op) {
  if (!ir_is(op, GRAPH_TRANSPOSE) || !ir_type_is_static(op->results[0].type)) return NULL;
  int64_t perm[GRAPH_MAX_RANK], last = -1;
  graph_get_perm(op, perm);
  const ir_type_t *from = ir_operand(op, 0)->type, *to = op->results[0].type;
  for (int32_t i = 0; i < to->rank; ++i) {
    if (from->dims[perm[i]] == 1) continue;
    if (perm[i] < last) return NULL;
    last = perm[i];
  }
  return graph_reshape(b, ir_operand(op, 0), to->rank, to->dims, NULL);
}

// A number that is read from a tensor and made one again, or the other way round.
static ir_value_t* drop_round_trip(ir_builder_t* b, ir_op_t* op) {
  (void)b;
  bool to_tensor = ir_is(op, GRAPH_TO_TENSOR);
  if (!to_tensor && !ir_is(op, GRAPH_TO_SCALAR)) return NULL;
  const ir_op_t* inner = ir_operand(op, 0)->def;
  if (!inner || !ir_is(inner, to_tensor ? GRAPH_TO_SCALAR : GRAPH_TO_TENSOR)) return NULL;
  ir_value_t* x = ir_operand(inner, 0);
  return x->type == op->results[0].type ? x : NULL;
}

pass_result_t pass_canonicalize(ir_op_t* module, ir_context_t* ctx) {
  static const rewrite_fn_t rules[] = {drop_identity,   fold_moved_constant,  fold_splat_broadcast, merge_chain,
                                       drop_round_trip, transpose_to_reshape, scalar_rules_rewrite, fold_small};
  bool changed = rewrite_greedily(ctx, module, rules, sizeof(rules) / sizeof(rules[0]));
  return changed ? PASS_CHANGED : PASS_UNCHANGED;
}
