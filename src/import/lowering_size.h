// Sizes of dimensions while a program is lowered: constants, or index values whose origin is traced, so that equal
// sizes are recognised; and the one place where operands of different shapes are brought to one.
//
// Two sizes that are known at run time only are broadcast to graph_common_size, which costs a factor 0 or 1 in each
// operand's coordinates. Nothing is left of it where the sizes are surely equal, and where a model gives them one name:
// those must agree, or the call stops. passes/sizes.c finds what only the whole program tells.
#ifndef IREE_C_IMPORT_LOWERING_SIZE_H_
#define IREE_C_IMPORT_LOWERING_SIZE_H_

#include "dialects/graph.h"

// Attribute of a function: for each argument what the model calls its dimensions, "" for nothing.
#define LOWER_SIZE_NAMES "dim_params"

// The size of a dimension as an index value, traced as near to the function's arguments as it can be told.
ir_value_t* lower_size(ir_builder_t* b, ir_value_t* x, int32_t i);
// Whether two sizes are surely equal.
bool lower_size_same(const ir_value_t* a, const ir_value_t* b);
// a - b, where it is a number that can be told.
bool lower_size_distance(const ir_value_t* a, const ir_value_t* b, int64_t* out);
// Or the model says so: what has such sizes is not broadcast, and must agree.
bool lower_size_agrees(const ir_value_t* a, const ir_value_t* b);
// Or they differ by the end of a table only, min(a, 512) and a: where they are not equal, they do not broadcast.
bool lower_size_meets(const ir_value_t* a, const ir_value_t* b);
// The constant that a size is, if it is one.
bool lower_size_constant(const ir_value_t* v, int64_t* out);
// What two sizes broadcast to: one of them, where it can be told which.
ir_value_t* lower_size_common(ir_builder_t* b, ir_value_t* x, ir_value_t* y);

// NumPy rules: operands to their common shape (sizes equal or 1). False after a diagnostic at b->loc.
bool lower_broadcast(ir_builder_t* b, ir_value_t** values, uint32_t count);
bool lower_broadcast_together(ir_builder_t* b, ir_value_t** x, ir_value_t** y);
// x, whose static sizes fit, in the shape of `like`, which has its rank or more.
ir_value_t* lower_broadcast_onto(ir_builder_t* b, ir_value_t* x, ir_value_t* like);

#endif  // IREE_C_IMPORT_LOWERING_SIZE_H_
