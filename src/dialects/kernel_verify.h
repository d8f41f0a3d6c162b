// Verifiers of the kernel dialect: one function behind every row of its op table.
#ifndef IREE_C_DIALECTS_KERNEL_VERIFY_H_
#define IREE_C_DIALECTS_KERNEL_VERIFY_H_

#include "dialects/kernel.h"

// The rules of kernel.def and scalar.def: operand and result types, lane counts, memory spaces, attributes. Structure
// (operand counts, terminators, dominance) is checked by ir_verify before.
bool kernel_verify_op(ir_context_t* ctx, ir_op_t* op);

// Kinds of kernel.reduce and kernel.atomic: the scalar function that joins two elements, or -1. "exchange" joins by
// taking the new one, so it has none: callers that accept it compare the name first.
int kernel_reduce_fn(const char* kind);

#endif  // IREE_C_DIALECTS_KERNEL_VERIFY_H_
