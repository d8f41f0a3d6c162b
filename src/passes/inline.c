// Calls of private functions with one block are replaced by the function's body; functions without callers vanish.
// Recursion is refused: the host program has no stack for tensors.
#include <string.h>

#include "dialects/graph.h"
#include "passes/passes.h"

enum { MAX_DEPTH = 4096 };

static bool is_call(const ir_op_t* op) { return ir_is(op, GRAPH_CALL) || strcmp(op->name, "func.call") == 0; }
static bool is_private(const ir_op_t* func) {
  return strcmp(ir_op_string(func, "sym_visibility", "public"), "private") == 0;
}

static void inline_call(ir_context_t* ctx, ir_op_t* call, ir_op_t* callee) {
  ir_block_t* body = callee->regions[0].first;
  ir_value_map_t* map = ir_value_map_create(ctx);
  for (uint32_t i = 0; i < body->arg_count; ++i) ir_value_map_set(map, body->args[i], ir_operand(call, i));
  IR_FOR_OPS(op, body) {
    if (op == body->last) break;
    ir_block_insert_before(call->parent, ir_op_clone(ctx, op, map), call);
  }
  for (uint32_t i = 0; i < call->result_count; ++i) {
    ir_value_t* value = ir_operand(body->last, i);
    ir_value_t* mapped = ir_value_map_get(map, value);
    ir_value_replace(ir_result(call, i), mapped ? mapped : value);
  }
  ir_op_erase(call);
}

static pass_result_t visit(ir_context_t* ctx, ir_op_t* module, ir_op_t* parent, int depth) {
  pass_result_t result = PASS_UNCHANGED;
  for (uint32_t r = 0; r < parent->region_count; ++r) {
    IR_FOR_BLOCKS(block, &parent->regions[r]) {
      for (ir_op_t *op = block->first, *next; op; op = next) {
        next = op->next;
        pass_result_t inner = visit(ctx, module, op, depth);
        if (inner == PASS_FAILED) return inner;
        if (inner == PASS_CHANGED) result = inner;
        if (!is_call(op)) continue;
        const char* name = graph_get_callee(op);
        ir_op_t* callee = ir_symbol_lookup(module, name);
        if (!callee || !callee->regions[0].first) {
          ir_op_error(ctx, op, "calls @%s, which this module does not define", name);
          return PASS_FAILED;
        }
        ir_block_t* body = callee->regions[0].first;
        if (body->next || body->arg_count != op->operand_count || body->last->operand_count != op->result_count) {
          ir_op_error(ctx, op, "calls @%s, which has another signature or several blocks", name);
          return PASS_FAILED;
        }
        if (depth > MAX_DEPTH || ir_op_is_inside(op, callee)) {
          ir_op_error(ctx, op, "calls @%s recursively; recursion cannot be compiled", name);
          return PASS_FAILED;
        }
        ir_op_t* before = op->prev;
        inline_call(ctx, op, callee);
        next = before ? before->next : block->first;  // what was inlined may call again
        ++depth;
        result = PASS_CHANGED;
      }
    }
  }
  return result;
}

pass_result_t pass_inline(ir_op_t* module, ir_context_t* ctx) {
  pass_result_t result = PASS_UNCHANGED;
  IR_FOR_OPS(func, ir_module_body(module)) {
    if (strcmp(func->name, "func.func") || is_private(func)) continue;
    pass_result_t inner = visit(ctx, module, func, 0);
    if (inner == PASS_FAILED) return inner;
    if (inner == PASS_CHANGED) result = inner;
  }
  IR_FOR_OPS_SAFE(func, ir_module_body(module)) {
    if (strcmp(func->name, "func.func") || !is_private(func)) continue;
    ir_op_erase(func);
    result = PASS_CHANGED;
  }
  return result;
}
