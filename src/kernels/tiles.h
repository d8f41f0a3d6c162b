// Contractions and convolutions by matrix instructions on tile registers (CPUs): what their weights look like, and the
// plan that tiles.c builds from. layout_tiles.c packs the weights of those that it chooses, and thereby the strategy.
#ifndef IREE_C_KERNELS_TILES_H_
#define IREE_C_KERNELS_TILES_H_

#include "kernels/strategy.h"

enum { TILES_SIDE = 16, TILES_PANEL = 32 };  // rows and columns of a tile of results; columns of a panel of weights
// Left operands whose products with moderate weights (constant_move.h) are at least 2^-102, so that what tile registers
// take for zero, below 2^-126, is no more than a rounding, and do not overflow: 0, or 2^-62 to 2^62. As bits of f32.
enum { TILES_LEAST_BITS = 0x20800000, TILES_MOST_BITS = 0x5e800000 };

// Weights [depth, columns] behind the index maps that lead to what constant_tiles made of them.
typedef struct tiles_weights_t {
  ir_value_t* arg;     // [panels, chunks, terms, 16, panel, group]
  ir_value_t* matrix;  // [depth, columns]
  int64_t depth, columns, terms, group;
} tiles_weights_t;

// Of the right operand of a contraction or convolution. False when it is something else.
bool tiles_read_weights(const ir_op_t* op, tiles_weights_t* out);

typedef struct tiles_t {
  dispatch_t* d;
  ir_op_t* op;
  const device_mma_t* mma;
  const ir_type_t* accumulator;
  tiles_weights_t w;
  bool is_conv;
  graph_conv_t conv;
  extent_t rows;                                         // of results
  extent_t row_sizes[1 + GRAPH_MAX_SPATIAL];             // convolutions: images and pixels, whose product they are
  int64_t chunk;                                         // elements of the depth that one instruction takes
  int64_t row_block, depth_block, depth_blocks, stride;  // of a panel of the left operand: rows, depth, from row to row
  bool streams;                                          // weights do not stay in a cache
  int64_t group_panels;                                  // of weights, that a workgroup multiplies
  ir_value_t *panel, *partial;                           // in workgroup memory
  // The block at work
  ir_value_t *first_row, *count;
  ir_value_t *lower, *upper;  // panels of weights
} tiles_t;

// Writes the left operand's rows of the block at work, and block `number` of the depth, into the panel:
// [row][term][depth_block]. An i1 that says whether all numbers are such that terms of them can be multiplied; NULL
// where any can.
ir_value_t* tiles_pack(tiles_t* t, linear_t number);
// Where a row's part in a block of the depth is in the left operand, for floats: its first element, which others follow
// along `axis`; not `inside` (i1, unless NULL): zeros.
typedef struct tiles_left_t {
  linear_t coords[GRAPH_MAX_RANK];
  int32_t axis;
  ir_value_t* inside;
} tiles_left_t;
tiles_left_t tiles_left(tiles_t* t, linear_t row, linear_t number);
// Coordinates of a row of results, but for its column.
void tiles_row(tiles_t* t, linear_t row, linear_t* coords);

#endif  // IREE_C_KERNELS_TILES_H_
