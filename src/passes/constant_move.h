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

// [depth, columns] -> [columns / panel, depth / (16 g), terms, 16, panel, g], g elements to a word: what matrix
// instructions on tile registers (kernel.load_tile) add up lies side by side; zeros behind the ends. One term, or three
// bf16 ones that add up to each f32 number.
enum { CONSTANT_TERMS = 3 };
const ir_attr_t* constant_tiles(ir_context_t* ctx, const ir_attr_t* value, const ir_type_t* element, int64_t panel);
// Whether floats (f32, bf16) are 0, or at least 2^-40 and below 2^40. The bounds as bits of f32.
enum { CONSTANT_LEAST_BITS = 0x2b800000, CONSTANT_MOST_BITS = 0x53800000 };
bool constant_is_moderate(const ir_attr_t* value);

#endif  // IREE_C_PASSES_CONSTANT_MOVE_H_
