// Numbers (no tensors) of types that the host program has no registers for are wider ones: floats below 32 bits become
// f32, integers between two widths the wider one. What is computed with them is computed as tensors without dims, in
// their own type.
//
//   func.func @f(%x: f16) -> f16 {        func.func @f(%x: f32) -> f32 attributes {iree.abi.type = (f16) -> f16} {
//     %0 = graph.mul %x, %x : f16    =>     %t = graph.to_tensor %x;  %u = graph.cast %t : tensor<f16>
//     return %0                             %v = graph.mul %u, %u;    %w = graph.cast %v : tensor<f32>
//   }                                       return (graph.to_scalar %w)
//                                         }
#include <string.h>

#include "dialects/func.h"
#include "dialects/graph.h"
#include "passes/passes.h"

// The type of a register that holds all numbers of a type; the type itself where it is one, or no number.
static const ir_type_t* register_type(ir_context_t* ctx, const ir_type_t* type) {
  if (type->kind == IR_TYPE_FLOAT) return type->width < 32 ? ir_type_float(ctx, IR_F32) : type;
  if (type->kind != IR_TYPE_INTEGER || type->width == 1 || type->width > 64) return type;
  uint32_t width = 8;
  while (width < type->width) width *= 2;
  return width == type->width ? type : ir_type_int(ctx, width);
}

static bool is_narrow(ir_context_t* ctx, const ir_type_t* type) { return register_type(ctx, type) != type; }

static bool has_narrow(ir_context_t* ctx, const ir_op_t* op) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (is_narrow(ctx, ir_operand(op, i)->type)) return true;
  }
  return op->result_count && is_narrow(ctx, op->results[0].type);
}

//===----------------------------------------------------------------------------------------------------------------===
// Arithmetic as that of tensors
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* as_tensor(ir_builder_t* b, ir_value_t* x) {
  if (ir_is(x->def, GRAPH_TO_SCALAR)) return ir_operand(x->def, 0);
  return graph_build(b, GRAPH_TO_TENSOR, &x, 1, ir_type_tensor(b->ctx, x->type, 0, NULL), NULL, 0);
}

static void compute_as_tensor(ir_context_t* ctx, ir_op_t* op) {
  ir_builder_t b = ir_builder_before(ctx, op);
  const ir_type_t *scalar = op->results[0].type, *type = ir_type_tensor(ctx, scalar, 0, NULL);
  ir_value_t *operands[3], *result;
  b.loc = op->loc;
  if (ir_is(op, GRAPH_CONSTANT)) {
    const ir_attr_t* value = graph_get_value(op);
    bool number = value->kind == IR_ATTR_FLOAT;
    result = number ? graph_splat_number(&b, type, value->number) : graph_splat_integer(&b, type, value->integer);
  } else {
    for (uint32_t i = 0; i < op->operand_count; ++i) operands[i] = as_tensor(&b, ir_operand(op, i));
    result = ir_build_value(&b, op->info->code, operands, op->operand_count, type);
  }
  ir_value_replace(ir_result(op, 0), graph_build(&b, GRAPH_TO_SCALAR, &result, 1, scalar, NULL, 0));
  ir_op_erase(op);
}

static bool compute_as_tensors(ir_context_t* ctx, ir_block_t* block) {
  bool changed = false;
  IR_FOR_OPS_SAFE(op, block) {
    for (uint32_t r = 0; r < op->region_count; ++r) {
      IR_FOR_BLOCKS(inner, &op->regions[r]) changed |= compute_as_tensors(ctx, inner);
    }
    if ((graph_scalar_fn(op) < 0 && !ir_is(op, GRAPH_CONSTANT)) || !has_narrow(ctx, op)) continue;
    compute_as_tensor(ctx, op);
    changed = true;
  }
  return changed;
}

//===----------------------------------------------------------------------------------------------------------------===
// What is left of them: arguments, results, values of control flow, and the ways from and to tensors
//===----------------------------------------------------------------------------------------------------------------===

// Before: %t = graph.to_tensor %x : tensor<f16>, where %x has become an f32.
static void enter_tensor(ir_context_t* ctx, ir_op_t* op) {
  ir_builder_t b = ir_builder_before(ctx, op);
  const ir_type_t* element = op->results[0].type->element;
  ir_value_t *x = ir_operand(op, 0), *wide;
  b.loc = op->loc;
  wide = graph_build(&b, GRAPH_TO_TENSOR, &x, 1, ir_type_tensor(ctx, register_type(ctx, element), 0, NULL), NULL, 0);
  ir_value_replace(ir_result(op, 0), graph_cast(&b, wide, element, false));
  ir_op_erase(op);
}

static void leave_tensor(ir_context_t* ctx, ir_op_t* op) {
  ir_builder_t b = ir_builder_before(ctx, op);
  const ir_type_t* type = register_type(ctx, op->results[0].type);
  b.loc = op->loc;
  ir_value_t* wide = graph_cast(&b, ir_operand(op, 0), type, false);
  ir_value_replace(ir_result(op, 0), graph_build(&b, GRAPH_TO_SCALAR, &wide, 1, type, NULL, 0));
  ir_op_erase(op);
}

static bool widen(ir_context_t* ctx, ir_block_t* block) {
  bool changed = false;
  for (uint32_t i = 0; i < block->arg_count; ++i) {
    changed |= is_narrow(ctx, block->args[i]->type);
    block->args[i]->type = register_type(ctx, block->args[i]->type);
  }
  IR_FOR_OPS_SAFE(op, block) {
    for (uint32_t r = 0; r < op->region_count; ++r) {
      IR_FOR_BLOCKS(inner, &op->regions[r]) changed |= widen(ctx, inner);
    }
    if (ir_is(op, GRAPH_TO_TENSOR) && is_narrow(ctx, op->results[0].type->element)) {
      enter_tensor(ctx, op);
      changed = true;
    } else if (ir_is(op, GRAPH_TO_SCALAR) && is_narrow(ctx, op->results[0].type)) {
      leave_tensor(ctx, op);
      changed = true;
    } else {
      for (uint32_t i = 0; i < op->result_count; ++i) {
        changed |= is_narrow(ctx, op->results[i].type);
        op->results[i].type = register_type(ctx, op->results[i].type);
      }
    }
  }
  return changed;
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

// The signature that callers know stays.
static bool widen_function(ir_context_t* ctx, ir_op_t* func) {
  ir_block_t* body = func->regions[0].first;
  bool changed = compute_as_tensors(ctx, body);
  if (!widen(ctx, body)) return changed;
  uint32_t inputs = body->arg_count, outputs = body->last->operand_count;
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(ctx), const ir_type_t*, inputs + outputs + 1);
  for (uint32_t i = 0; i < inputs; ++i) types[i] = body->args[i]->type;
  for (uint32_t i = 0; i < outputs; ++i) types[inputs + i] = ir_operand(body->last, i)->type;
  const ir_attr_t* type = ir_attr_type(ctx, ir_type_function(ctx, types, inputs, types + inputs, outputs));
  const ir_attr_t* before = ir_op_attr(func, "function_type");
  if (type == before) return true;
  if (!ir_op_attr(func, "iree.abi.type")) ir_op_set_attr(ctx, func, "iree.abi.type", before);
  ir_op_set_attr(ctx, func, "function_type", type);
  return true;
}

pass_result_t pass_numbers(ir_op_t* module, ir_context_t* ctx) {
  pass_result_t result = PASS_UNCHANGED;
  IR_FOR_OPS(op, ir_module_body(module)) {
    if (!ir_is(op, FUNC_FUNC) || !op->regions[0].first || op->regions[0].first->next) continue;
    if (widen_function(ctx, op)) result = PASS_CHANGED;
  }
  return result;
}
