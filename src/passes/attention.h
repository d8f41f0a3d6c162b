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
} attention_found_t;
attention_found_t attention_match(ir_context_t* ctx, ir_op_t* op);

#endif  // IREE_C_PASSES_ATTENTION_H_
