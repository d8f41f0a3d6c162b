// Parts of the pass `expand` (expand.c), for sorts and for ops that become products.
#ifndef IREE_C_PASSES_EXPAND_H_
#define IREE_C_PASSES_EXPAND_H_

#include "dialects/graph.h"

// Of a line that is long, or may be. It is replaced and erased.
bool expand_sort(ir_context_t* ctx, ir_op_t* op);
// Of those with few results, or of the others.
bool expand_top_k(ir_context_t* ctx, ir_op_t* op, bool few);

// A transform with sizes that are known at run time only. It is replaced and erased.
void expand_open_fft(ir_context_t* ctx, ir_op_t* op);

// In terms of products and a softmax (attention.c asks for it). It is replaced and erased.
void expand_attention(ir_context_t* ctx, ir_op_t* op);

#endif  // IREE_C_PASSES_EXPAND_H_
