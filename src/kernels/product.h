// A dispatch's heavy op as a matrix product, for the GPU strategies that build tiles of it. A convolution is one too,
// without a copy of its image (implicit GEMM):
//
//   result[batch, row, column] = sum over taps and depth of left[batch, row, tap, depth] * right[batch, column, tap,
//   depth]
//
//               batch   row                    column               tap                  depth
//   contract    batch   rows of the left       columns of the right -                    the reduction
//   conv        group   channel of the group   image and position   place in the window  input channel of the group
//
// Columns are what neighbouring threads take; a contraction with few columns is turned around.
#ifndef IREE_C_KERNELS_PRODUCT_H_
#define IREE_C_KERNELS_PRODUCT_H_

#include "kernels/strategy.h"

typedef enum { PRODUCT_LEFT, PRODUCT_RIGHT } product_side_t;

typedef struct product_t {
  dispatch_t* d;
  ir_op_t* op;
  bool is_conv, turned;
  int64_t batch, rows, columns, taps, depth;  // a guess where it is known at run time only
  bool dynamic;                               // some are; product_measure tells which
  extent_t batch_size, row_size, column_size, depth_size;
  graph_conv_t conv;
  uint32_t spatial;
  int64_t window[GRAPH_MAX_SPATIAL];
  const ir_type_t* accumulator;
  linear_t at_batch;  // of the workgroup; the strategy sets it
} product_t;

// What does not depend on the reduction.
typedef struct product_column_t {
  linear_t column;
  linear_t image, position[GRAPH_MAX_SPATIAL];  // conv: of the result
} product_column_t;

// A place in the window, and for each column where that is in the image.
typedef struct product_tap_t {
  linear_t at[GRAPH_MAX_SPATIAL];
} product_tap_t;
typedef struct product_point_t {
  linear_t image, at[GRAPH_MAX_SPATIAL];  // always inside
  ir_value_t* inside;                     // i1: the element is not padding; NULL: it never is
} product_point_t;

// False when the dispatch's root is no such op. A convolution's number of images and all sizes of a contraction may be
// known at run time only.
bool product_read(product_t* p, dispatch_t* d);
// Sets the extents, when the kernel has been begun.
void product_measure(product_t* p);
// Coordinates of a column, which must be in range.
product_column_t product_column(product_t* p, linear_t column);
product_tap_t product_tap(product_t* p, linear_t tap);
product_point_t product_point(product_t* p, const product_column_t* column, const product_tap_t* tap);
// Which element of an operand that is. `inside` (i1) as in product_point_t.
typedef struct product_element_t {
  ir_value_t *tensor, *inside;
  linear_t coords[GRAPH_MAX_RANK];
} product_element_t;
product_element_t product_left_element(product_t* p, linear_t row, const product_tap_t* tap, linear_t depth);
product_element_t product_right_element(product_t* p, const product_column_t* column, const product_point_t* point,
                                        linear_t depth);
// Elements in their own type, k->lanes of them where a coordinate has a lane. Padding is 0.
ir_value_t* product_load(product_t* p, product_element_t element);
static inline ir_value_t* product_left(product_t* p, linear_t row, const product_tap_t* tap, linear_t depth) {
  return product_load(p, product_left_element(p, row, tap, depth));
}
static inline ir_value_t* product_right(product_t* p, const product_column_t* column, const product_point_t* point,
                                        linear_t depth) {
  return product_load(p, product_right_element(p, column, point, depth));
}
// As the accumulator's type.
ir_value_t* product_widen(product_t* p, product_side_t side, ir_value_t* value);
// How many elements of the result in a line, columns from a multiple on, lie side by side in memory; 1: none.
int64_t product_line(const product_t* p);
// The same of rows.
int64_t product_row_line(const product_t* p);
// Makes the column the first of k->lanes in such a line.
void product_set_lane(const product_t* p, product_column_t* column);
// Runs the epilogue on one element of the result, or k->lanes of them.
void product_store(product_t* p, linear_t row, const product_column_t* column, ir_value_t* value);

// The dimension along which a value's elements lie one after the other in memory, or -1.
int32_t product_inner_dim(const ir_value_t* value);
// What lies one after the other in memory behind an operand; rows stand for the columns of the right.
typedef enum { PRODUCT_ALONG_NOTHING, PRODUCT_ALONG_ROWS, PRODUCT_ALONG_DEPTH } product_along_t;
product_along_t product_along(const product_t* p, product_side_t side);
// How many elements along that, a power of two up to `most`, are in memory as they are and aligned to their size,
// wherever a multiple of them begins. 0 where elements are computed.
int64_t product_copy_width(const product_t* p, product_side_t side, int64_t most);
// The same of a value's last dimension.
int64_t product_value_copy_width(const ir_value_t* value, int64_t most);

#endif  // IREE_C_KERNELS_PRODUCT_H_
