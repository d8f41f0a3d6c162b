// What conv.c knows of a convolution before it builds: axes by the layouts' letters, the sweep along each spatial
// dimension, how channels fill vectors, and which taps belong to which columns.
#ifndef IREE_C_KERNELS_CONV_PLAN_H_
#define IREE_C_KERNELS_CONV_PLAN_H_

#include "kernels/strategy.h"

enum { CONV_MAX_ACCUMULATORS = 32, CONV_MAX_VECTORS = 8, CONV_WORD = 4 };

// The sweep along one spatial dimension: input position = output * stride + tap * w_dilation - pad_low, where only
// multiples of x_dilation exist.
typedef struct conv_sweep_t {
  int32_t x_axis, y_axis;
  int64_t kernel, stride, w_dilation, x_dilation, pad_low;
  int64_t over;     // input positions that are read behind the last one, at most
  int64_t in, out;  // IR_DYNAMIC: the extents
  extent_t in_size, out_size;
} conv_sweep_t;

// Output columns first, first + period, ...: they read the same taps, tap + i * tap_step for i < count, at input
// columns column * stride + offset + i * offset_step, where `column` counts this phase's.
typedef struct conv_phase_t {
  int64_t first, period, stride;
  int64_t count, tap, tap_step, offset, offset_step;
} conv_phase_t;

// Part of a vector of results: where its channels are, and the lanes that are in it.
typedef struct conv_part_t {
  linear_t channel;
  ir_value_t* mask;  // NULL: all
} conv_part_t;

typedef struct conv_plan_t {
  dispatch_t* d;
  ir_op_t* op;
  graph_conv_t c;
  ir_value_t* weights;  // packed: [groups, blocks, channels of a group, kernel .., block]
  int64_t word;  // channels that one step multiplies: 1, or 4 bytes in a word; then the weights end in [.., block, 4]
  bool depthwise, merged;
  bool blocks_inside;  // a loop over the blocks of channels is inside those over rows and tiles
  int32_t x_batch, x_channel, y_batch, y_channel;  // axes
  uint32_t outer;                                  // spatial dimensions but the last
  conv_sweep_t sweeps[GRAPH_MAX_SPATIAL];          // the last is along columns
  int64_t images, groups, group_out, group_in;     // channels of a group; depthwise: one group of all
  int64_t block, blocks, lanes, vectors;           // output channels
  int64_t x_block;                                 // input channels blocked in memory, or 0
  int64_t y_block;  // largest block of channels that results are read or written in, or 0
  int64_t pixels;   // of a tile
  const ir_type_t* accumulator;
  ir_value_t* spill;                                           // one tile in memory, for long epilogues, or NULL
  linear_t image, group, block_index, row[GRAPH_MAX_SPATIAL];  // of the output at work
  linear_t channel;                                            // first of the block
  conv_part_t parts[CONV_MAX_VECTORS][2];
  uint32_t part_count[CONV_MAX_VECTORS];
} conv_plan_t;

// Kernel rows inside the image for the output row at work: row tap + i * tap_step reads input row at + i * at_step.
typedef struct conv_rows_t {
  ir_value_t *lower, *upper;  // of i
  linear_t tap, at;
  int64_t tap_step, at_step;
} conv_rows_t;

static inline conv_sweep_t* conv_columns(conv_plan_t* p) { return &p->sweeps[p->outer]; }

// False when the dispatch is no convolution of packed weights (layout.c).
bool conv_plan_read(conv_plan_t* p, const dispatch_t* d);
// What is left once the kernel's operands are bound.
void conv_plan_finish(conv_plan_t* p);
// Phase `first` of the columns.
conv_phase_t conv_phase(const conv_sweep_t* s, int64_t first);
// How many phases there are.
int64_t conv_period(const conv_sweep_t* s);
int64_t conv_gcd(int64_t a, int64_t b);
// Makes a block of output channels the one at work: its number counts those of all groups.
void conv_enter_block(conv_plan_t* p, ir_value_t* number);
// Along an outer spatial dimension, at p->row.
conv_rows_t conv_find_rows(conv_plan_t* p, uint32_t dim);

#endif  // IREE_C_KERNELS_CONV_PLAN_H_
