// The op that somebody may have meant by a name that is none.
#ifndef IREE_C_IR_NEAR_OP_H_
#define IREE_C_IR_NEAR_OP_H_

#include "ir/ir.h"

// Of the nearest dialect that is registered the nearest name, or of all. NULL when none is near.
const char* ir_context_nearest_op(const ir_context_t* ctx, const char* name, size_t size);

#endif  // IREE_C_IR_NEAR_OP_H_
