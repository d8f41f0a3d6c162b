// Functions whose arguments and results are views of tensors, as programs have them that were prepared for their
// callers before: callers pass the same for a tensor.
//
//   func.func @f(%v: !hal.buffer_view) -> !hal.buffer_view {
//     %x = hal.tensor.import %v "input0" : !hal.buffer_view -> tensor<4xf32>     func.func @f(%x: tensor<4xf32>) ->
//     %y = arith.addf %x, %x : tensor<4xf32>                                 =>      tensor<4xf32> {
//     %w = hal.tensor.export %y "output0" : tensor<4xf32> -> !hal.buffer_view      %y = arith.addf %x, %x : ...
//     return %w                                                                    return %y
#include <string.h>

#include "dialects/arith.h"
#include "dialects/builtin.h"
#include "dialects/hal.h"
#include "dialects/tensor.h"
#include "import/lowering_control.h"

static const ir_type_t* type_attr(const ir_op_t* op, const char* name) {
  const ir_attr_t* attr = ir_op_attr(op, name);
  return attr && attr->kind == IR_ATTR_TYPE ? attr->type : NULL;
}

// What a view is imported as, always; NULL when it is something else too.
static const ir_type_t* imported_type(const ir_value_t* view) {
  const ir_type_t* type = NULL;
  if (view->type->kind != IR_TYPE_OPAQUE || strcmp(view->type->name, "hal.buffer_view")) return NULL;
  IR_FOR_USES(use, view) {
    if (ir_is(use->owner, HAL_BUFFER_VIEW_DIM)) continue;
    bool imports = ir_is(use->owner, HAL_TENSOR_IMPORT) && use == use->owner->operands;
    const ir_type_t* own = imports ? type_attr(use->owner, "target_encoding") : NULL;
    if (!own || own != use->owner->results[0].type || (type && own != type)) return NULL;
    type = own;
  }
  return type;
}

static ir_value_t* build_dim(ir_context_t* ctx, ir_op_t* dim, ir_value_t* tensor) {
  ir_builder_t b = ir_builder_before(ctx, dim);
  const ir_type_t* index = ir_type_index(ctx);
  b.loc = dim->loc;
  ir_named_attr_t attr = {"value", ir_attr_integer(ctx, index, ir_op_int(dim, "index", 0))};
  ir_op_t* number = ir_build(&b, &(ir_op_state_t){.info = ir_context_op(ctx, ARITH_CONSTANT),
                                                  .result_types = &index,
                                                  .result_count = 1,
                                                  .attrs = &attr,
                                                  .attr_count = 1});
  ir_value_t* operands[] = {tensor, ir_result(number, 0)};
  ir_op_t* op = ir_build(&b, &(ir_op_state_t){.info = ir_context_op(ctx, TENSOR_DIM),
                                              .operands = operands,
                                              .operand_count = 2,
                                              .result_types = &index,
                                              .result_count = 1});
  return ir_result(op, 0);
}

static bool enter_argument(ir_context_t* ctx, ir_value_t* view) {
  const ir_type_t* type = imported_type(view);
  if (!type) return false;
  view->type = type;
  while (true) {
    ir_op_t* user = NULL;
    IR_FOR_USES(use, view) {
      if (ir_is(use->owner, HAL_TENSOR_IMPORT) || ir_is(use->owner, HAL_BUFFER_VIEW_DIM)) user = use->owner;
    }
    if (!user) return true;
    ir_value_t* value = ir_is(user, HAL_BUFFER_VIEW_DIM) ? build_dim(ctx, user, view) : view;
    ir_value_replace(ir_result(user, 0), value);
    ir_op_erase(user);
  }
}

// A result of the function: the tensor of which it is a view.
static bool leave(ir_op_t* terminator, uint32_t i) {
  ir_op_t* export = ir_operand(terminator, i)->def;
  if (!ir_is(export, HAL_TENSOR_EXPORT) || type_attr(export, "source_encoding") != ir_operand(export, 0)->type) {
    return false;
  }
  ir_op_set_operand(terminator, i, ir_operand(export, 0));
  if (!export->results[0].uses) ir_op_erase(export);
  return true;
}

void views_enter(ir_context_t* ctx, ir_op_t* func) {
  ir_block_t* body = func->regions[0].first;
  const ir_type_t* type = type_attr(func, "function_type");
  if (!type || body->next || !body->last || body->arg_count != type->input_count ||
      body->last->operand_count != type->result_count) {
    return;
  }
  bool any = false;
  const ir_type_t** types =
      ARENA_ARRAY(ir_context_arena(ctx), const ir_type_t*, body->arg_count + type->result_count + 1);
  for (uint32_t i = 0; i < body->arg_count; ++i) {
    any |= enter_argument(ctx, body->args[i]);
    types[i] = body->args[i]->type;
  }
  const ir_type_t** results = types + body->arg_count;
  for (uint32_t i = 0; i < type->result_count; ++i) {
    bool left = leave(body->last, i);
    results[i] = left ? ir_operand(body->last, i)->type : type->results[i];
    any |= left;
  }
  if (!any) return;
  type = ir_type_function(ctx, types, body->arg_count, results, type->result_count);
  ir_op_set_attr(ctx, func, "function_type", ir_attr_type(ctx, type));
}
