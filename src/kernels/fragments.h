// A product (product.h) by a matrix instruction (mma.def): what a lane of a wave holds of the operands' fragments and
// of the result's, and what becomes of that. The strategies on top differ in where the operands' fragments come from.
#ifndef IREE_C_KERNELS_FRAGMENTS_H_
#define IREE_C_KERNELS_FRAGMENTS_H_

#include "dialects/mma.h"
#include "kernels/product.h"

enum { FRAGMENT_MAX_HELD = 16, FRAGMENT_MAX_GRID = 65535, FRAGMENT_MAX_OPEN = INT32_MAX };

// A position that grows with the lane: base + low * (lane % split) + high * (lane / split).
typedef struct place_t {
  int32_t base, low, high;
} place_t;

// Places of a fragment's elements.
typedef struct held_t {
  int32_t count;
  place_t row[FRAGMENT_MAX_HELD], column[FRAGMENT_MAX_HELD];
} held_t;

typedef struct fragments_t {
  product_t product;
  const mma_row_t* row;
  int32_t split;
  bool turned;  // what the instruction has as rows are the product's columns: its operands change places
  bool mixed;   // a lane's elements of the result follow each other; rows or columns of an operand are in that order
  held_t a, b, c;
  const ir_type_t* element;             // of both operands
  linear_t low, high;                   // of the lane
  linear_t matrix_row, matrix_bits[2];  // of the lane, for kernel.load_matrix: which row of which matrix
} fragments_t;

// Whether the dispatch is a GPU's, all of its sizes are known (or, where one may be open, all but a contraction's rows
// or a convolution's images), and its root is a product whose operands have one type.
bool fragments_read(fragments_t* f, dispatch_t* d, bool takes_open);
bool fragments_has_open_rows(const product_t* p);
bool fragments_has_open_columns(const product_t* p);
// Why a product is not one for matrix instructions (`takes_open` as above); `other` where it is.
const char* fragments_decline(dispatch_t* d, bool takes_open, const char* other);
// Makes `row` the instruction; false when it does not do this product.
bool fragments_fit(fragments_t* f, const device_mma_t* row);
// The same; also false when padding to whole fragments would cost more than it brings.
bool fragments_take(fragments_t* f, const device_mma_t* row);
// The same without an instruction (row->instruction is NULL): a lane multiplies one row by four columns. Fragments are
// of the accumulator's type then, once they are loaded (product_widen).
bool fragments_take_lanes(fragments_t* f);
// The parts of both: reads the row's layouts, false where they are of no form known here; and the row of lanes, NULL
// for subgroups of other sizes.
bool fragments_set_row(fragments_t* f, const mma_row_t* row);
const mma_row_t* fragments_lanes_row(const device_info_t* device);
// How many elements of a fragment of that side follow each other along the depth, from each multiple of it on.
int32_t fragment_run(const fragments_t* f, product_side_t side);
// The same across the depth, of all elements; else 1.
int32_t fragment_free_run(const fragments_t* f, product_side_t side);
// How many 8 x 16-byte matrices a fragment of that side is, as kernel.load_matrix gives them (element i of matrix m is
// element m * 4 / bytes + i); 0 when it is none.
int32_t fragment_matrices(const fragments_t* f, product_side_t side);
// Places along the depth, and across it, of a side's fragment.
static inline const place_t* fragment_depths(const fragments_t* f, product_side_t side) {
  return side == PRODUCT_LEFT ? f->a.column : f->b.row;
}
static inline const place_t* fragment_frees(const fragments_t* f, product_side_t side) {
  return side == PRODUCT_LEFT ? f->a.row : f->b.column;
}
static inline const held_t* fragment_held(const fragments_t* f, product_side_t side) {
  return side == PRODUCT_LEFT ? &f->a : &f->b;
}
bool place_equal(const place_t* x, const place_t* y);

// Turns the instruction's sides where more of the result's elements that a lane has follow each other in memory then;
// `mixes`: the order of rows or columns may be mixed for that, too.
void fragments_arrange(fragments_t* f, bool mixes);
// How many do.
int32_t fragments_stored_run(const fragments_t* f);
// The side whose rows or columns are mixed, if any are; and where such a place of the tile goes to.
product_side_t fragments_run_side(const fragments_t* f);
linear_t fragments_mixed_place(fragments_t* f, linear_t place);

// Sets what is the lane's.
void fragments_set_lane(fragments_t* f, linear_t lane);
// `first` plus the lane's place.
linear_t fragment_at(fragments_t* f, linear_t first, const place_t* place);
// `at`, or the last place below `size` where `width` elements fit; both are multiples of the width.
linear_t fragment_clamp(kernel_build_t* k, linear_t at, int64_t size, int64_t width);
// The same for rows and columns of the product, of which run time may tell how many there are; there is one then.
linear_t fragments_clamp_row(fragments_t* f, linear_t row, int64_t width);
linear_t fragments_clamp_column(fragments_t* f, linear_t column, int64_t width);
// Whether there is such a row or column (i1); NULL where there always is.
ir_value_t* fragments_row_exists(fragments_t* f, const linear_t* row);
ir_value_t* fragments_column_exists(fragments_t* f, const linear_t* column);
// i1: at < size; NULL where it always is.
ir_value_t* fragment_below(kernel_build_t* k, const linear_t* at, int64_t size);
// Fragments of a side one behind the other across the depth, in workgroup memory as kernel.load_matrix takes them:
// element (free, depth) is at free * stride + depth, or turned at depth * stride + free.
typedef struct fragment_matrices_t {
  product_side_t side;
  ir_value_t* memory;
  linear_t offset;  // of element (0, 0)
  int64_t stride;
  bool turned;
  linear_t free, depth;  // where the first fragment begins
} fragment_matrices_t;
// `count` fragments from number `first` on, as many matrices at a time as one instruction loads.
void fragments_load_matrices(fragments_t* f, const fragment_matrices_t* from, int64_t first, int64_t count,
                             ir_value_t** out);
// Rows of workgroup memory of which a thread has `run` at once, `width` of their elements side by side: those of one
// place in a thread's vectors make a plane, in which threads next to each other store side by side, and planes are
// shifted so that fragments find neighbouring elements in different banks.
typedef struct fragment_planes_t {
  int64_t width, run;
  int64_t plane, stride;  // elements from one plane to the next (0: there is but one), from one run of rows to the next
} fragment_planes_t;
fragment_planes_t fragment_planes(int64_t size, int64_t width, int64_t run, int64_t bytes);
// Where an element of the rows is.
linear_t fragment_plane_place(kernel_build_t* k, const fragment_planes_t* planes, linear_t at);
// Whether a lane's elements of a fragment are one run of the depth.
bool fragment_is_one_run(const fragments_t* f, product_side_t side);
// Of steps of the instruction whose fragments a lane loads at once as `count` elements: where number i is along the
// depth. The steps' order of the depth is that of the lanes: each has the first of its elements in the first step.
static inline place_t fragment_joined_place(const fragments_t* f, product_side_t side, int32_t joined, int32_t i) {
  place_t place = fragment_depths(f, side)[i / joined];
  return joined == 1 ? place : (place_t){i, 0, place.high * joined};
}
// Elements `first` on of a vector, as many as a fragment of that side holds.
ir_value_t* fragment_part(fragments_t* f, product_side_t side, ir_value_t* loaded, int32_t part);
// Loads on their way to workgroup memory: `run` of them with `width` elements each.
typedef struct fragment_piece_t {
  ir_value_t* memory;
  int64_t width, run;
  int64_t apart;  // elements from those of one place in the loads to the next one's; 0: one store of all, in turn
} fragment_piece_t;
void fragment_store_piece(kernel_build_t* k, const fragment_piece_t* piece, linear_t at, ir_value_t* const* loads);
// Column `i` of the loads alone.
void fragment_store_column(kernel_build_t* k, const fragment_piece_t* piece, linear_t at, ir_value_t* const* loads,
                           int64_t i);
// a * b + c.
ir_value_t* fragment_multiply_add(fragments_t* f, ir_value_t* a, ir_value_t* b, ir_value_t* c);
// How many elements of a result's fragment, from each multiple of it on, lie side by side in the result's memory.
int32_t fragment_result_run(const fragments_t* f);
// Stores `count` fragments of the result that lie side by side along the columns. Where lanes hold short runs of each,
// they exchange them first, so that each has a long one of another fragment.
void fragments_store(fragments_t* f, linear_t row, linear_t column, ir_value_t* const* results, int64_t count);
// Elements i to i + run - 1 of a result's fragment, at a place that may be past the ends: then nothing is stored.
void fragment_store(fragments_t* f, linear_t row, linear_t column, ir_value_t* fragment, int32_t i, int32_t run);

// A workgroup's number along an axis with so many of them.
linear_t fragment_workgroup(kernel_build_t* k, int64_t axis, int64_t count);

#endif  // IREE_C_KERNELS_FRAGMENTS_H_
