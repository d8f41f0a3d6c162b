// Constants moved at compile time: transposed and packed copies of weights.
#ifndef IREE_C_KERNELS_LAYOUT_CONSTANT_H_
#define IREE_C_KERNELS_LAYOUT_CONSTANT_H_

#include "ir/ir.h"

// The constant with its dims permuted (result dim i is dim perm[i]).
const ir_attr_t* constant_transpose(ir_context_t* ctx, const ir_attr_t* value, const int64_t* perm);
// graph.pack of one axis: [.., axis, ..] -> [.., ceil(axis / tile), .., tile], zeros behind the end.
const ir_attr_t* constant_pack(ir_context_t* ctx, const ir_attr_t* value, int64_t axis, int64_t tile);

#endif  // IREE_C_KERNELS_LAYOUT_CONSTANT_H_
