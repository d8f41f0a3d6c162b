// See attention.h.
//
//   graph.attention that no kernel takes                =>  products and a softmax            expand_products.c
#include "passes/attention.h"

#include "ir/rewrite.h"
#include "passes/expand.h"
#include "passes/passes.h"

typedef struct run_t {
  ir_context_t* ctx;
  const attention_target_t* target;
  bool failed;
} run_t;

static bool visit(void* user, ir_op_t* op) {
  run_t* r = user;
  if (!ir_is(op, GRAPH_ATTENTION)) return false;
  if (r->target->carries && r->target->carries(r->target->user, op)) return false;
  if (op->result_count > 1 || graph_get_splits(op)) {
    r->failed = !ir_op_error(r->ctx, op, "has no kernel on these devices that gives logarithms or parts of the keys");
    return false;
  }
  expand_attention(r->ctx, op);
  return true;
}

pass_result_t attention_run(ir_op_t* module, ir_context_t* ctx, const attention_target_t* target) {
  run_t r = {ctx, target, false};
  bool changed = rewrite_each(module, visit, &r);
  return r.failed ? PASS_FAILED : changed ? PASS_CHANGED : PASS_UNCHANGED;
}
