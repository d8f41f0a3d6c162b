// Rewriting to a fixed point. A rule looks at one op and returns the value that replaces its first result, or NULL;
// new ops are built before the op. The driver keeps a list of ops to look at again: the users of what changed.
#ifndef IREE_C_IR_REWRITE_H_
#define IREE_C_IR_REWRITE_H_

#include "ir/ir.h"

typedef ir_value_t* (*rewrite_fn_t)(ir_builder_t* b, ir_op_t* op);

// Applies the rules, the first that fits, to every op inside `root` until none fits; pure ops that lost their users
// are erased. True when anything changed. Rules must not erase ops themselves. The number of rewrites is bounded by the
// number of ops, so that rules which undo each other cannot loop for ever.
bool rewrite_greedily(ir_context_t* ctx, ir_op_t* root, const rewrite_fn_t* rules, uint32_t count);

// Calls `fn` for every op inside `root`, for those in an op's regions before it; it may erase its op, and what it puts
// in front is not visited. Whether any call gave true.
bool rewrite_each(ir_op_t* root, bool (*fn)(void* user, ir_op_t* op), void* user);

#endif  // IREE_C_IR_REWRITE_H_
