// Attention as one op: found where a program spells it out, kept where the devices have a kernel for it, its keys split
// where few queries would leave a device idle; else two products and a softmax.
#ifndef IREE_C_PASSES_ATTENTION_H_
#define IREE_C_PASSES_ATTENTION_H_

#include "dialects/graph.h"
#include "ir/pass.h"

typedef struct attention_target_t {
  // Whether the devices have a kernel for a graph.attention, which may stand in no block.
  bool (*carries)(void* user, const ir_op_t* op);
  void* user;
  int64_t workgroups;  // that make a device busy; 0: unknown
} attention_target_t;

pass_result_t attention_run(ir_op_t* module, ir_context_t* ctx, const attention_target_t* target);

// The graph.attention that the product `op` ends, before it, and what becomes of its result in the place of the
// product's: index maps behind it. NULL where it ends none (attention_match.c).
typedef struct attention_found_t {
  ir_op_t* op;
  ir_value_t* result;
  ir_op_t* turned;  // a product built for it elsewhere, or NULL
} attention_found_t;
attention_found_t attention_match(ir_context_t* ctx, ir_op_t* op);
// Without it: what was built behind `before`, in front of the product, and elsewhere.
void attention_forget(attention_found_t* found, const ir_op_t* before, ir_op_t* product);

// For few queries to many keys (attention_split.c). The op with heads of queries that share keys as rows of one head,
// in its place; or as it was.
ir_op_t* attention_share_heads(ir_context_t* ctx, ir_op_t* op);
// In how many parts so many workgroups have work with its keys: 1 where they have without.
int64_t attention_splits(const ir_op_t* op, int64_t workgroups);
// The op in parts, before it, and its result put together from them.
ir_op_t* attention_split(ir_context_t* ctx, ir_op_t* op, int64_t splits, ir_value_t** out);

#endif  // IREE_C_PASSES_ATTENTION_H_
