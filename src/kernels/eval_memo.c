// See eval_memo.h.
#include "kernels/eval_memo.h"

#include <string.h>

typedef struct eval_memo_t {
  struct eval_memo_t* next;
  const ir_value_t* tensor;
  const ir_value_t* mask;
  ir_value_t* value;
  int64_t lanes;
  linear_t coords[];
} eval_memo_t;

void eval_memo_enter(kernel_build_t* k) { ++k->eval_depth; }

void eval_memo_leave(kernel_build_t* k) {
  if (--k->eval_depth == 0) k->eval_values = NULL;
}

// Results in a dispatch's own block that more than one op uses. Inside a region for numbers the same value means
// another one each time the region is applied.
static bool is_kept(const ir_value_t* tensor) {
  const ir_op_t* op = tensor->def;
  if (ir_is(op, GRAPH_CONSTANT) || ir_is(op, GRAPH_IOTA) || ir_is(op, GRAPH_EMPTY)) return false;
  if (!tensor->uses || ir_has_one_use(tensor)) return false;
  return op->parent && op->parent->parent && ir_is(op->parent->parent->parent, GRAPH_DISPATCH);
}

static bool encloses(const ir_block_t* outer, const ir_block_t* block) {
  while (block && block != outer) block = block->parent && block->parent->parent ? block->parent->parent->parent : NULL;
  return block != NULL;
}

ir_value_t* eval_memo_find(const kernel_build_t* k, const ir_value_t* tensor, const linear_t* coords) {
  if (!is_kept(tensor)) return NULL;
  for (const eval_memo_t* memo = k->eval_values; memo; memo = memo->next) {
    if (memo->tensor != tensor || memo->lanes != k->lanes || memo->mask != k->mask) continue;
    bool same = encloses(memo->value->def ? memo->value->def->parent : memo->value->block, k->b.block);
    for (int32_t i = 0; same && i < tensor->type->rank; ++i) same = linear_equal(&memo->coords[i], &coords[i]);
    if (same) return memo->value;
  }
  return NULL;
}

void eval_memo_add(kernel_build_t* k, const ir_value_t* tensor, const linear_t* coords, ir_value_t* value) {
  if (!is_kept(tensor)) return;
  size_t bytes = sizeof(linear_t) * (size_t)tensor->type->rank;
  eval_memo_t* memo = arena_alloc(ir_context_arena(k->ctx), sizeof(eval_memo_t) + bytes);
  *memo = (eval_memo_t){k->eval_values, tensor, k->mask, value, k->lanes};
  if (bytes) memcpy(memo->coords, coords, bytes);
  k->eval_values = memo;
}
