// See attention.h.
//
//   contract(softmax(scale contract(q, k) + mask), v)   =>  graph.attention q, k, v, mask     attention_match.c
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

static bool is_carried(const run_t* r, const ir_op_t* op) { return r->target->carries(r->target->user, op); }

// Takes back what was built behind the op, and the op.
static void drop(attention_found_t found) {
  while (found.result->def != found.op) {
    ir_op_t* op = found.result->def;
    found.result = ir_operand(op, 0);
    ir_op_erase(op);
  }
  ir_op_erase(found.op);
}

static bool recognise(const run_t* r, ir_op_t* product) {
  attention_found_t found = attention_match(r->ctx, product);
  if (!found.op) return false;
  if (!is_carried(r, found.op)) {
    drop(found);
    return false;
  }
  ir_value_replace(ir_result(product, 0), found.result);
  ir_op_erase(product);
  return true;
}

static bool visit(void* user, ir_op_t* op) {
  run_t* r = user;
  if (ir_is(op, GRAPH_CONTRACT)) return recognise(r, op);
  if (!ir_is(op, GRAPH_ATTENTION) || is_carried(r, op)) return false;
  if (op->result_count > 1 || graph_get_splits(op)) {
    r->failed = !ir_op_error(r->ctx, op, "has no kernel on these devices that gives logarithms or parts of the keys");
    return false;
  }
  expand_attention(r->ctx, op);
  return true;
}

static bool carries_all(void* user, const ir_op_t* op) { return true; }

pass_result_t pass_attention(ir_op_t* module, ir_context_t* ctx) {
  return attention_run(module, ctx, &(attention_target_t){.carries = carries_all});
}

pass_result_t attention_run(ir_op_t* module, ir_context_t* ctx, const attention_target_t* target) {
  run_t r = {ctx, target, false};
  bool changed = rewrite_each(module, visit, &r);
  return r.failed ? PASS_FAILED : changed ? PASS_CHANGED : PASS_UNCHANGED;
}
