// Parts of the pass `expand` (expand.c), for sorts and for ops that become products.
#ifndef IREE_C_PASSES_EXPAND_H_
#define IREE_C_PASSES_EXPAND_H_

#include "dialects/graph.h"
#include "ir/pass.h"

// How many elements of a long line are sorted at once before runs of them are merged: GPUs merge at a higher price.
enum { EXPAND_BLOCK = 64, EXPAND_BLOCK_CPU = 8 };

// The pass, with such blocks.
pass_result_t expand_run(ir_op_t* module, ir_context_t* ctx, int64_t block);

// Of a line that is long, or may be. It is replaced and erased.
bool expand_sort(ir_context_t* ctx, ir_op_t* op, int64_t block);
// Of those with few results, or of the others.
bool expand_top_k(ir_context_t* ctx, ir_op_t* op, bool few, int64_t block);

// A transform with sizes that are known at run time only. It is replaced and erased.
void expand_open_fft(ir_context_t* ctx, ir_op_t* op);

// In terms of products and a softmax (attention.c asks for it). It is replaced and erased.
void expand_attention(ir_context_t* ctx, ir_op_t* op);

#endif  // IREE_C_PASSES_EXPAND_H_
