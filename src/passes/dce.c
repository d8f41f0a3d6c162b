// Dead code: pure ops nobody uses.
#include "passes/passes.h"

static bool is_dead(const ir_op_t* op) {
  if (!ir_has_trait(op, IR_TRAIT_PURE) || op->result_count == 0) return false;
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (op->results[i].uses) return false;
  }
  return true;
}

// Backwards, so that one sweep removes whole chains.
static bool visit(ir_op_t* parent) {
  bool changed = false;
  for (uint32_t r = 0; r < parent->region_count; ++r) {
    IR_FOR_BLOCKS(block, &parent->regions[r]) {
      for (ir_op_t *op = block->last, *previous; op; op = previous) {
        previous = op->prev;
        if (is_dead(op)) {
          ir_op_erase(op);
          changed = true;
        } else {
          changed |= visit(op);
        }
      }
    }
  }
  return changed;
}

pass_result_t pass_dce(ir_op_t* module, ir_context_t* ctx) {
  (void)ctx;
  return visit(module) ? PASS_CHANGED : PASS_UNCHANGED;
}
