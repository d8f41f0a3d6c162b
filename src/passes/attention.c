// See attention.h.
//
//   contract(softmax(scale contract(q, k) + mask), v)   =>  graph.attention q, k, v, mask     attention_match.c
//   few queries, many keys                              =>  parts of the keys, put together   attention_split.c
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

// Work for all of the device.
static void share_out(const run_t* r, ir_op_t* op) {
  if (!r->target->workgroups) return;
  op = attention_share_heads(r->ctx, op);
  int64_t splits = attention_splits(op, r->target->workgroups);
  if (splits <= 1) return;
  ir_value_t* result;
  ir_op_t* split = attention_split(r->ctx, op, splits, &result);
  if (!is_carried(r, split)) return;  // the parts have no users
  ir_value_replace(ir_result(op, 0), result);
  ir_op_erase(op);
}

static bool recognise(const run_t* r, ir_op_t* product) {
  const ir_op_t* before = product->prev;
  attention_found_t found = attention_match(r->ctx, product);
  if (!found.op) return false;
  if (!is_carried(r, found.op)) {
    attention_forget(&found, before, product);
    return false;
  }
  ir_value_replace(ir_result(product, 0), found.result);
  ir_op_erase(product);
  share_out(r, found.op);
  return true;
}

static bool visit(void* user, ir_op_t* op) {
  run_t* r = user;
  if (ir_is(op, GRAPH_CONTRACT)) return recognise(r, op);
  if (!ir_is(op, GRAPH_ATTENTION)) return false;
  if (is_carried(r, op)) {
    share_out(r, op);
    return true;
  }
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
