// TOSA's control flow and variables.
#include "import/control.h"

#include <string.h>

#include "dialects/tosa.h"
#include "import/tosa/ops.h"

static ir_block_t* only_block(const ir_region_t* region) {
  ir_block_t* block = region->first;
  return block && !block->next && block->last ? block : NULL;
}

// Condition, inputs; both regions take the inputs, or use outer values.
bool tosa_lower_cond_if(lower_op_t* n) {
  lower_branch_t sides[2];
  const ir_type_t* flag = n->op->operand_count ? n->in[0]->type : NULL;
  if (!flag || !lower_is_bool(flag) || ir_type_count(flag) != 1) return lower_error(n, "needs a condition of type i1");
  for (int i = 0; i < 2; ++i) {
    sides[i] = (lower_branch_t){.block = only_block(&n->op->regions[i]), .args = n->values + 1};
    uint32_t count = sides[i].block ? sides[i].block->arg_count : 1;
    if (!sides[i].block || (count && count != n->op->operand_count - 1)) {
      return lower_error(n, "needs two regions of one block that take its inputs");
    }
  }
  ir_value_t* condition = ir_type_is_tensor(flag) ? graph_reshape(n->b, n->in[0], 0, NULL, NULL) : n->in[0];
  return lower_build_if(n, condition, &sides[0], &sides[1]);
}

bool tosa_lower_while_loop(lower_op_t* n) {
  ir_block_t *condition = only_block(&n->op->regions[0]), *body = only_block(&n->op->regions[1]);
  uint32_t count = n->op->operand_count;
  if (!condition || !body || condition->arg_count != count || body->arg_count != count ||
      n->op->result_count != count || !condition->last->operand_count) {
    return lower_error(n, "needs two regions of one block that take its inputs");
  }
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(n->ctx), const ir_type_t*, count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    types[i] = lower_type(n->ctx, condition->args[i]->type);
    if (!types[i]) return lower_unsupported(n, "tensors of known rank are");
    if (!(n->in[i] = lower_coerce(n->l, n->in[i], types[i]))) return false;
  }
  ir_op_state_t state = {.info = ir_context_op(n->ctx, GRAPH_WHILE),
                         .operands = n->in,
                         .operand_count = count,
                         .result_types = types,
                         .result_count = count,
                         .region_count = 2};
  ir_op_t* loop = ir_build(n->b, &state);
  const ir_type_t* flag = lower_type(n->ctx, ir_operand(condition->last, 0)->type);
  if (!flag || !ir_type_is_tensor(flag) || flag->rank) return lower_unsupported(n, "a condition of type tensor<i1> is");
  if (!lower_region(n->l, condition, &loop->regions[0], &flag, 1)) return false;
  if (!lower_region(n->l, body, &loop->regions[1], types, count)) return false;
  for (uint32_t i = 0; i < count; ++i) n->out[i].v = ir_result(loop, i);
  return true;
}

// The variable's name is `name`, a symbol or a string.
bool tosa_lower_variable_read(lower_op_t* n) { return lower_global_load(n); }

bool tosa_lower_variable_write(lower_op_t* n) { return lower_global_store(n); }
