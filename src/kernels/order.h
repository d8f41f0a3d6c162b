// What comes before what in graph.sort, graph.top_k and graph.sort_generic.
#ifndef IREE_C_KERNELS_ORDER_H_
#define IREE_C_KERNELS_ORDER_H_

#include "kernels/region.h"
#include "kernels/strategy.h"

// True for the three ops when their order has instructions.
bool order_supports(const ir_op_t* op);
// Whether that is so of the dispatch's root and the results are its own, or else why not.
bool order_proposes(const dispatch_t* d, candidate_t* c);
// How many leading operands the order looks at.
uint32_t order_keys(const ir_op_t* op);
// i1: the element with keys `a` comes strictly before the one with keys `b`.
ir_value_t* order_before(kernel_build_t* k, const ir_op_t* op, ir_value_t* const* a, ir_value_t* const* b);
// Bits that are in the op's order as numbers without a sign, of a key whose type has digits (graph_sort_digits), which
// are of so many bits.
ir_value_t* order_bits(kernel_build_t* k, const ir_op_t* op, ir_value_t* key);
enum { ORDER_DIGITS = 256, ORDER_DIGIT_BITS = 8 };

#endif  // IREE_C_KERNELS_ORDER_H_
