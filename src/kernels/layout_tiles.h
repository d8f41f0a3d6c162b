// Weights for tile registers; see tiles.h.
#ifndef IREE_C_KERNELS_LAYOUT_TILES_H_
#define IREE_C_KERNELS_LAYOUT_TILES_H_

#include "dialects/graph.h"
#include "kernels/device.h"

// What a contraction or convolution would multiply by tiles: rows (IR_DYNAMIC), depth and columns of its weights.
typedef struct layout_tiles_t {
  const ir_op_t* op;
  const ir_attr_t* weights;  // known: [depth, columns]
  int64_t rows;
} layout_tiles_t;

// The matrix instruction on tiles for the operands of a contraction or convolution, NULL: none.
const device_mma_t* layout_tiles_instruction(const device_info_t* device, const ir_op_t* op);
// Whether they are worth it.
bool layout_tiles_wants(const device_info_t* device, const layout_tiles_t* shape);
// Packed for them; and in front of an op in the region, [depth, columns] out of an argument of that type.
const ir_attr_t* layout_tiles_pack(ir_context_t* ctx, const layout_tiles_t* shape);
ir_value_t* layout_tiles_unpack(ir_builder_t* b, ir_value_t* arg, const ir_type_t* plain);

#endif  // IREE_C_KERNELS_LAYOUT_TILES_H_
