// Names of dispatches, and so of kernels, which tell what they compute: main_dispatch_0_matmul_64x48x32_f16xf16xf32.
#ifndef IREE_C_PASSES_DISPATCH_NAME_H_
#define IREE_C_PASSES_DISPATCH_NAME_H_

#include "dialects/graph.h"

// `what` is the op that the kernel is about; NULL: a copy. '?' sizes are written D.
const char* dispatch_name(ir_context_t* ctx, const char* func, uint32_t number, const ir_op_t* what);

#endif  // IREE_C_PASSES_DISPATCH_NAME_H_
