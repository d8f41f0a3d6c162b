// Ops with regions over numbers: reducers, comparators, bodies of loop nests. The region becomes instructions wherever
// a strategy applies it.
#ifndef IREE_C_KERNELS_REGION_H_
#define IREE_C_KERNELS_REGION_H_

#include "kernels/eval.h"

enum { REGION_VALUES = 32 };  // operands and results that a region may have

// True when everything in the op's first region has instructions.
bool region_supports(const ir_op_t* op);
// The values that the region yields for `args`; results may be where args are.
void region_apply(kernel_build_t* k, ir_block_t* block, ir_value_t* const* args, ir_value_t** results);

#endif  // IREE_C_KERNELS_REGION_H_
