// What comes before what in graph.sort, graph.top_k and graph.sort_generic.
#ifndef IREE_C_KERNELS_ORDER_H_
#define IREE_C_KERNELS_ORDER_H_

#include "kernels/region.h"

// True for the three ops when their order has instructions.
bool order_supports(const ir_op_t* op);
// How many leading operands the order looks at.
uint32_t order_keys(const ir_op_t* op);
// i1: the element with keys `a` comes strictly before the one with keys `b`.
ir_value_t* order_before(kernel_build_t* k, const ir_op_t* op, ir_value_t* const* a, ir_value_t* const* b);

#endif  // IREE_C_KERNELS_ORDER_H_
