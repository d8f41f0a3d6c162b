// See pass_through.h.
#include "compiler/pass_through.h"

#include "dialects/builtin.h"
#include "dialects/func.h"

// Callers see its type, both as argument and as result.
static bool is_passed(const ir_value_t* arg, const ir_type_t* signature) {
  if (!ir_type_is_tensor(arg->type) || arg->type != signature->inputs[arg->index]) return false;
  const ir_op_t* terminator = arg->block->last;
  IR_FOR_USES(use, arg) {
    if (use->owner != terminator || signature->results[use - terminator->operands] != arg->type) return false;
  }
  return true;
}

static const ir_type_t* own_type(ir_context_t* ctx, const ir_block_t* body) {
  arena_t* arena = ir_context_arena(ctx);
  const ir_type_t** inputs = ARENA_ARRAY(arena, const ir_type_t*, body->arg_count + 1);
  const ir_type_t** results = ARENA_ARRAY(arena, const ir_type_t*, body->last->operand_count + 1);
  for (uint32_t i = 0; i < body->arg_count; ++i) inputs[i] = body->args[i]->type;
  for (uint32_t i = 0; i < body->last->operand_count; ++i) results[i] = ir_operand(body->last, i)->type;
  return ir_type_function(ctx, inputs, body->arg_count, results, body->last->operand_count);
}

static void pass_in(ir_context_t* ctx, ir_op_t* func) {
  ir_block_t* body = func->regions[0].first;
  const ir_attr_t *type = ir_op_attr(func, "function_type"), *abi = ir_op_attr(func, "iree.abi.type");
  const ir_type_t* signature = (abi ? abi : type)->type;
  if (signature->input_count != body->arg_count || signature->result_count != body->last->operand_count) return;
  bool any = false;
  for (uint32_t i = 0; i < body->arg_count; ++i) {
    if (!is_passed(body->args[i], signature)) continue;
    body->args[i]->type = ir_type_opaque(ctx, "hal.buffer_view", NULL);
    any = true;
  }
  if (!any) return;
  if (!abi) ir_op_set_attr(ctx, func, "iree.abi.type", type);
  ir_op_set_attr(ctx, func, "function_type", ir_attr_type(ctx, own_type(ctx, body)));
}

void pass_through_views(ir_context_t* ctx, ir_op_t* module) {
  IR_FOR_OPS(func, ir_module_body(module)) {
    if (ir_is(func, FUNC_FUNC) && func->regions[0].first) pass_in(ctx, func);
  }
}
