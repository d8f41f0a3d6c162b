// See control.h.
#include <string.h>

#include "import/control.h"

// Lowers one side into a new block of `region`; nothing is yielded yet.
static bool lower_branch(lower_op_t* n, const lower_branch_t* branch, ir_region_t* region, lower_list_t* out,
                         ir_block_t** block) {
  ir_builder_t saved = *n->b;
  *block = ir_block_create(n->ctx);
  ir_region_append(region, *block);
  n->b->block = *block;
  n->b->before = NULL;
  uint32_t count = n->op->result_count;
  lower_value_t* results = n->out;
  bool ok = branch->block ? lower_block(n->l, branch->block, NULL, &results, &count) : branch->build(n, branch->number);
  if (ok && count != n->op->result_count) {
    ok = lower_error(n, "has a branch that gives %u values for %u results", count, n->op->result_count);
  }
  for (uint32_t i = 0; ok && i < count; ++i) {
    ok = lower_flatten(results[i], out) || lower_unsupported(n, "fewer results are");
  }
  *n->b = saved;
  return ok;
}

static bool yield(lower_op_t* n, ir_block_t* block, lower_list_t* list, const lower_types_t* types) {
  ir_builder_t saved = *n->b;
  n->b->block = block;
  n->b->before = NULL;
  bool ok = list->count == types->count || lower_error(n, "has branches with different results");
  for (uint32_t i = 0; ok && i < list->count; ++i) {
    ok = (list->items[i] = lower_coerce(n->l, list->items[i], types->items[i])) != NULL;
  }
  if (ok) ir_build_op(n->b, GRAPH_YIELD, list->items, list->count, NULL);
  *n->b = saved;
  return ok;
}

bool lower_build_if(lower_op_t* n, ir_value_t* condition, const lower_branch_t* then, const lower_branch_t* other) {
  lower_types_t types = {.count = 0};
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    if (lower_flat_types(n->ctx, lower_out_type(n, i), &types)) continue;
    return lower_unsupported(n, "results that are tensors of known rank, numbers and tuples of them are");
  }
  condition = lower_as_tensor(n->b, condition);
  ir_op_state_t state = {.info = ir_context_op(n->ctx, GRAPH_IF),
                         .operands = &condition,
                         .operand_count = 1,
                         .result_types = types.items,
                         .result_count = types.count,
                         .region_count = 2};
  ir_op_t* op = ir_build(n->b, &state);
  for (int i = 0; i < 2; ++i) {
    lower_list_t list = {.count = 0};
    ir_block_t* block;
    if (!lower_branch(n, i ? other : then, &op->regions[i], &list, &block) || !yield(n, block, &list, &types)) {
      return false;
    }
  }
  ir_value_t* results[LOWER_MAX_FLAT];
  for (uint32_t i = 0; i < types.count; ++i) results[i] = ir_result(op, i);
  ir_value_t* const* next = results;
  for (uint32_t i = 0; i < n->op->result_count; ++i) n->out[i] = lower_unflatten(n->l, lower_out_type(n, i), &next);
  return true;
}

bool lower_top_k(lower_op_t* n, ir_value_t* x, int64_t k, bool smallest) {
  const ir_type_t* type = x->type;
  int64_t axis = type->rank - 1, dims[GRAPH_MAX_RANK];
  if (!ir_type_is_tensor(type) || axis < 0) return lower_unsupported(n, "tensors with a dimension are");
  if (k < 0 || (type->dims[axis] != IR_DYNAMIC && k > type->dims[axis])) {
    return lower_error(n, "takes %lld of %lld elements", (long long)k, (long long)type->dims[axis]);
  }
  memcpy(dims, type->dims, sizeof(*dims) * (size_t)type->rank);
  dims[axis] = k;
  const ir_type_t* index = lower_element(n->ctx, ir_type_scalar(lower_out_type(n, 1)));
  const ir_type_t* types[2] = {ir_type_tensor(n->ctx, type->element, type->rank, dims),
                               ir_type_tensor(n->ctx, index, type->rank, dims)};
  ir_named_attr_t attrs[3] = {
      {"axis", ir_attr_i64(n->ctx, axis)}, {"k", ir_attr_i64(n->ctx, k)}, {"smallest", ir_attr_unit(n->ctx)}};
  ir_op_state_t state = {.info = ir_context_op(n->ctx, GRAPH_TOP_K),
                         .operands = &x,
                         .operand_count = 1,
                         .result_types = types,
                         .result_count = 2,
                         .attrs = attrs,
                         .attr_count = smallest ? 3 : 2};
  ir_op_t* op = ir_build(n->b, &state);
  for (uint32_t i = 0; i < 2; ++i) n->out[i].v = ir_result(op, i);
  return true;
}
