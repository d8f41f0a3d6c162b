// Parts of the pass `expand` (expand.c), for ops that become products.
#ifndef IREE_C_PASSES_EXPAND_H_
#define IREE_C_PASSES_EXPAND_H_

#include "dialects/graph.h"

// A transform with sizes that are known at run time only. It is replaced and erased.
void expand_open_fft(ir_context_t* ctx, ir_op_t* op);
void expand_attention(ir_context_t* ctx, ir_op_t* op);

#endif  // IREE_C_PASSES_EXPAND_H_
