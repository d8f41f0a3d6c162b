// Constants moved at compile time: transposed, reshaped and packed copies of weights.
#ifndef IREE_C_PASSES_CONSTANT_MOVE_H_
#define IREE_C_PASSES_CONSTANT_MOVE_H_

#include "ir/ir.h"

// The constant with its dims permuted (result dim i is dim perm[i]).
const ir_attr_t* constant_transpose(ir_context_t* ctx, const ir_attr_t* value, const int64_t* perm);
// graph.pack of one axis: [.., axis, ..] -> [.., ceil(axis / tile), .., tile], zeros behind the end.
const ir_attr_t* constant_pack(ir_context_t* ctx, const ir_attr_t* value, int64_t axis, int64_t tile);
// The same data with another shape of as many elements.
const ir_attr_t* constant_reshape(ir_context_t* ctx, const ir_attr_t* value, const ir_type_t* type);

#endif  // IREE_C_PASSES_CONSTANT_MOVE_H_
