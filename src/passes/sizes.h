// Run-time sizes: for every '?' in the type of a value, the index value that says how large it is. Equal sizes are the
// same value wherever that can be told; where sizes must agree and it cannot, a graph.assert says so at run time.
// sizes.c numbers index arithmetic and walks the program; size_rules.c knows each op's shape rule.
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

// For the rules ----------------------------------------------------------------------------------------------------

typedef struct sizes_t sizes_t;
// Index value of any dimension: a constant for static ones.
ir_value_t* sizes_dim(sizes_t* s, const ir_value_t* x, int64_t dim);
ir_value_t* sizes_constant(sizes_t* s, int64_t value);
// Index arithmetic, folded, and made once.
ir_value_t* sizes_binary(sizes_t* s, scalar_fn_t fn, ir_value_t* x, ir_value_t* y);
ir_value_t* sizes_add(sizes_t* s, ir_value_t* x, int64_t y);
ir_value_t* sizes_mul(sizes_t* s, ir_value_t* x, int64_t y);
ir_value_t* sizes_not_negative(sizes_t* s, ir_value_t* x);
bool sizes_is_constant(const ir_value_t* x, int64_t* out);
// Stops the program unless `x fn y`; `rule` ends the message: "dimension 0 of both operands must be equal".
void sizes_require(sizes_t* s, scalar_fn_t fn, ir_value_t* x, ir_value_t* y, const char* rule);
// The same for equality; returns the one to go on with.
ir_value_t* sizes_agree(sizes_t* s, ir_value_t* x, ir_value_t* y, const char* rule);

// Sizes of a result: `out` gets one for each '?', in order. Adds what must hold at run time. False when there is no
// rule.
bool size_rule(sizes_t* s, ir_op_t* op, uint32_t result, ir_value_t** out);

#endif  // IREE_C_PASSES_SIZES_H_
