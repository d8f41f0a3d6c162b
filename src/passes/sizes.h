// Run-time sizes: for every '?' in the type of a value, the index value that says how large it is. Equal sizes are the
// same value wherever that can be told; where sizes must agree and it cannot, a graph.assert says so at run time.
// sizes.c numbers index arithmetic and walks the program; dialects/graph_shape.h knows each op's shape rule.
#ifndef IREE_C_PASSES_SIZES_H_
#define IREE_C_PASSES_SIZES_H_

#include "dialects/graph.h"

// Finds the sizes of all values of the function, to be asked for with sizes_of until sizes_clear. Asserts and index
// arithmetic are added to the program; graph.dim of what is computed is replaced. False after a diagnostic.
bool sizes_resolve(ir_context_t* ctx, ir_op_t* func);
void sizes_clear(ir_op_t* func);
// The size of a '?' dimension of the value: an index. NULL when it is not known (a value of a later stage).
ir_value_t* sizes_of(const ir_value_t* value, int32_t dim);
// Hands the sizes of a value on to one that takes its place.
void sizes_move(const ir_value_t* from, ir_value_t* to);
// The same shape, run-time sizes too.
bool sizes_same_shape(const ir_value_t* x, const ir_value_t* y);

#endif  // IREE_C_PASSES_SIZES_H_
