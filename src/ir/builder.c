// The builder: an insertion point that moves on with each op.
#include <assert.h>

#include "ir/context.h"

ir_builder_t ir_builder_at_end(ir_context_t* ctx, ir_block_t* block) {
  return (ir_builder_t){.ctx = ctx, .block = block, .loc = ctx->unknown};
}
ir_builder_t ir_builder_before(ir_context_t* ctx, ir_op_t* op) {
  return (ir_builder_t){.ctx = ctx, .block = op->parent, .before = op, .loc = op->loc};
}

ir_op_t* ir_build(ir_builder_t* b, const ir_op_state_t* state) {
  ir_op_state_t copy = *state;
  if (!copy.loc) copy.loc = b->loc;
  ir_op_t* op = ir_op_create(b->ctx, &copy);
  ir_block_insert_before(b->block, op, b->before);
  return op;
}

ir_op_t* ir_build_op(ir_builder_t* b, uint32_t code, ir_value_t* const* operands, uint32_t operand_count,
                     const ir_type_t* type) {
  const ir_op_info_t* info = ir_context_op(b->ctx, code);
  assert(info && "dialect not registered");
  ir_op_state_t state = {.info = info,
                         .operands = operands,
                         .operand_count = operand_count,
                         .result_types = &type,
                         .result_count = type != NULL,
                         .region_count = info->regions > 0 ? (uint32_t)info->regions : 0};
  return ir_build(b, &state);
}

ir_value_t* ir_build_value(ir_builder_t* b, uint32_t code, ir_value_t* const* operands, uint32_t operand_count,
                           const ir_type_t* type) {
  return ir_result(ir_build_op(b, code, operands, operand_count, type), 0);
}
