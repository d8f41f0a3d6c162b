// Products through workgroup memory (staged.c), in parts: how a tile is cut (staged_plan.c), how the operands get to
// workgroup memory (staged_move.c), and how slices of a workgroup put their results together (staged_sum.c).
#ifndef IREE_C_KERNELS_STAGED_H_
#define IREE_C_KERNELS_STAGED_H_

#include "kernels/fragments.h"

enum {
  STAGED_MAX_DOWN = 8,
  STAGED_MAX_ACROSS = 8,
  STAGED_MAX_FRAGMENTS = 32,
  STAGED_MAX_PIECES = 16,
  STAGED_MAX_LOADS = 64,
  STAGED_MAX_STAGES = 8
};

typedef struct staged_side_t {
  bool along_depth;       // in workgroup memory
  bool turns;             // loads are along the depth, and their elements stored apart
  bool cached;            // copies go through the unit's own cache
  bool copies;            // pieces may be copied without a register between
  int32_t matrices;       // of a fragment that kernel.load_matrix loads; 0: it is loaded by runs
  int64_t size;           // rows or columns of the tile
  int64_t width;          // elements of a load
  int64_t run;            // elements that lie side by side along the depth where loads go across it
  int64_t part;           // loads of a piece: of as many of a run; threads next to each other have the others
  int64_t pieces;         // of a thread
  int64_t plane;          // elements of workgroup memory from one of a load's to the next; 0: they are side by side
  int64_t neighbours;     // threads next to each other that have pieces of as many rows, not of one
  int64_t rows;           // short ones along the depth that lie side by side, as many as all banks are
  int64_t stride, stage;  // elements of workgroup memory: from one row or group to the next, of a stage
  ir_value_t* memory;
  linear_t first;  // row or column of the tile
  linear_t free[STAGED_MAX_PIECES], depth[STAGED_MAX_PIECES];
  product_column_t columns[STAGED_MAX_PIECES];  // of the right
} staged_side_t;

typedef struct staged_t {
  fragments_t f;
  int64_t down, across;              // fragments of a wave
  int64_t waves_down, waves_across;  // of a slice
  int64_t slices;                    // of a workgroup: each multiplies its part of a tile's depth
  int64_t depth;                     // of a tile
  int64_t stages;                    // tiles in workgroup memory
  int32_t joined;                    // steps of the instruction whose fragments are loaded at once
  bool arranged;                     // tiles go through registers to matrix instructions, in an order of our own
  bool async;                        // they are copied while others are multiplied; else they go through registers
  staged_side_t sides[2];
  linear_t wave_row, wave_column;  // where the wave begins in the tile
  linear_t slice, slice_thread;    // of the thread; its number there
  kernel_branch_t sum;             // of the first slice
} staged_t;

static inline int64_t staged_slice_threads(const staged_t* s) {
  return s->f.row->subgroup * s->waves_down * s->waves_across;
}
static inline int64_t staged_threads(const staged_t* s) { return staged_slice_threads(s) * s->slices; }
static inline int64_t staged_fragments(const staged_t* s) { return s->down * s->across; }
// Of a tile's depth, what a slice multiplies.
static inline int64_t staged_slice_depth(const staged_t* s) { return s->depth / s->slices; }
// Tiles along the depth.
static inline int64_t staged_depths(const staged_t* s) { return ceil_div(s->f.product.depth, s->depth); }
static inline int64_t staged_steps(const staged_t* s) { return s->f.product.taps * staged_depths(s); }

// Elements of a side's fragments that a lane has of joined steps: how many, how many of them lie side by side along the
// depth, and where number i is there. The steps' order of the depth is that of the lanes: each has the first of its
// elements in the first step.
static inline int32_t staged_held(const staged_t* s, product_side_t which) {
  return fragment_held(&s->f, which)->count * s->joined;
}
static inline int32_t staged_run(const staged_t* s, product_side_t which) {
  return fragment_run(&s->f, which) * s->joined;
}
static inline place_t staged_depth_place(const staged_t* s, product_side_t which, int32_t i) {
  return fragment_joined_place(&s->f, which, s->joined, i);
}

// Reads the dispatch and cuts the tile; false when this is no product for it.
bool staged_plan(staged_t* s, dispatch_t* d);
// Prints all ways to cut it, each with its cost.
void staged_list_plans(dispatch_t* d);

// Waves of a SIMD at a time for which there are registers, where each holds no more than it must: what is in no hurry
// comes late. 0: not known.
int64_t staged_waves(const staged_t* s);

// Whether it does, with asynchronous copies.
bool staged_copies_tiles(dispatch_t* d);

// Where this thread's pieces are: in the tile, and of the operand.
void staged_find_pieces(staged_t* s, product_side_t which, linear_t thread);
// Where a row or column along the depth begins in workgroup memory; where one of a group is there.
linear_t staged_row_place(staged_t* s, const staged_side_t* side, linear_t row);
linear_t staged_free_place(staged_t* s, const staged_side_t* side, linear_t free);
// All loads of this thread for a step, in order; and their stores to a stage.
uint32_t staged_load(staged_t* s, linear_t step, ir_value_t** out);
void staged_store(staged_t* s, linear_t stage, ir_value_t* const* loads);
// Both at once, as asynchronous copies: begun once for a step, issued a few at a time, in the blocks of the beginning
// or inside. Without `exist` (i1; NULL: always) zeros are written.
typedef struct staged_copies_t {
  product_tap_t tap;
  linear_t first, stage;
  ir_value_t* exist;
  int64_t count, done;
} staged_copies_t;
staged_copies_t staged_copies_begin(staged_t* s, linear_t step, linear_t stage, ir_value_t* exist);
void staged_copies_issue(staged_t* s, staged_copies_t* copies, int64_t until);

// Bytes of workgroup memory for the sum over slices; and the sum itself, which the threads of the first slice have from
// its beginning to its end.
int64_t staged_sum_bytes(const staged_t* s);
void staged_sum_begin(staged_t* s, ir_value_t** acc);
void staged_sum_end(staged_t* s);

#endif  // IREE_C_KERNELS_STAGED_H_
