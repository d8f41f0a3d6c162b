// Numbers that are constants, or known at run time only: sizes, axes, bounds, counts. An onnx_dim_t with the index
// value that the host program computes. Flags are the same with an i1 in place of the index.
#ifndef IREE_C_IMPORT_ONNX_NUMBERS_H_
#define IREE_C_IMPORT_ONNX_NUMBERS_H_

#include "import/onnx/lower.h"

static inline bool onnx_dim_known(onnx_dim_t dim) { return dim.size != IR_DYNAMIC; }

// Arithmetic beside lower.h's; all of it folds.
onnx_dim_t onnx_dim_min(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b);
onnx_dim_t onnx_dim_max(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b);
// a / b rounded up, 0 where a is negative; b is positive.
onnx_dim_t onnx_dim_ceil_div(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b);
// Flags: a fn b; both; one of them; and what they choose.
onnx_dim_t onnx_dim_test(onnx_node_t* n, scalar_fn_t fn, onnx_dim_t a, onnx_dim_t b);
onnx_dim_t onnx_flag_and(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b);
onnx_dim_t onnx_flag_or(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b);
onnx_dim_t onnx_dim_select(onnx_node_t* n, onnx_dim_t flag, onnx_dim_t a, onnx_dim_t b);
// 1 or 0.
onnx_dim_t onnx_flag_number(onnx_node_t* n, onnx_dim_t flag);
// Where a flag is not set: the diagnostic, now or as what stops the program.
bool onnx_require(onnx_node_t* n, onnx_dim_t flag, const char* format, ...) __attribute__((format(printf, 3, 4)));
// Adds `size` where x is negative, as indices from the end are written.
onnx_dim_t onnx_dim_wrap(onnx_node_t* n, onnx_dim_t x, onnx_dim_t size);
// x, whose dimension `axis` must have that size, by its type. NULL after a diagnostic.
ir_value_t* onnx_sized(onnx_node_t* n, ir_value_t* x, int32_t axis, int64_t size);
// A number as a tensor of i64 in the shape of `like`.
ir_value_t* onnx_dim_like(onnx_node_t* n, onnx_dim_t dim, ir_value_t* like);

// The node with another value as input i.
void onnx_set_input(onnx_node_t* n, uint32_t i, ir_value_t* v);
// Input i must be one value: where its sizes are known at run time only, they are required to be 1 and are so from here
// on.
bool onnx_check_single(onnx_node_t* n, uint32_t i);
// Input i, one number of any type, rounded towards zero.
bool onnx_number_input(onnx_node_t* n, uint32_t i, onnx_dim_t* out);
// A tensor of one signed integer as a number.
bool onnx_tensor_number(onnx_node_t* n, ir_value_t* v, onnx_dim_t* out);
// Input i as an axis of a tensor of that rank: 0..rank-1.
bool onnx_axis_input(onnx_node_t* n, uint32_t i, int32_t rank, onnx_dim_t* out);

// Input i, a vector, as exactly that many numbers; or as up to that many, with `fill` for the rest and `*given` for how
// many there were. Its length may be known at run time only.
bool onnx_dims_exactly(onnx_node_t* n, uint32_t i, uint32_t count, onnx_dim_t* dims);
bool onnx_dims_up_to(onnx_node_t* n, uint32_t i, uint32_t count, int64_t fill, onnx_dim_t* dims, onnx_dim_t* given);
// Input i, a vector whose length is known at run time only, with that length; others as they are. NULL after a
// diagnostic.
ir_value_t* onnx_vector_of(onnx_node_t* n, uint32_t i, int64_t length);
// Input i as sizes, as many as the program declares for the result where the vector's length is known at run time only.
bool onnx_shape_input(onnx_node_t* n, uint32_t i, onnx_dim_t* dims, uint32_t* count);

// Which dims of a tensor a list of axes names: a flag each.
typedef struct onnx_axes_t {
  onnx_dim_t flags[ONNX_MAX_RANK];
  int64_t count;  // of axes; IR_DYNAMIC: known at run time only
  bool constant;  // all flags are
} onnx_axes_t;
bool onnx_axes_input(onnx_node_t* n, uint32_t i, int32_t rank, onnx_axes_t* out);
// The sizes of x's dims that have no flag, in order: `count` of them, which is required to be right.
bool onnx_unflagged_dims(onnx_node_t* n, ir_value_t* x, const onnx_axes_t* axes, int32_t count, onnx_dim_t* out);
// What an op says whose result's rank follows from the number of axes in input 1, when that is not known either.
bool onnx_axes_unknown(onnx_node_t* n);
// The rank that the program declares for result i, -1 when it does not.
int32_t onnx_declared_rank(const onnx_node_t* n, uint32_t i);
// Else what is done with the result tells (ranks.c): the rank that an operator asks for, -1 when none does, and whether
// it makes a difference at all.
typedef struct onnx_asked_t {
  int32_t rank;
  bool matters;
} onnx_asked_t;
onnx_asked_t onnx_asked_rank(onnx_node_t* n, uint32_t i);
onnx_asked_t onnx_rank_of_uses(onnx_node_t* n, const ir_value_t* v);  // of the program
// The one or the other, -1 for neither.
int32_t onnx_result_rank(onnx_node_t* n, uint32_t i);

// x seen as [before, the axis, behind] for an axis known at run time only, and its last `kept` dims as they are.
ir_value_t* onnx_around_axis(onnx_node_t* n, ir_value_t* x, onnx_dim_t axis, int32_t kept);
// x in the shape of `like`, which has as many elements.
ir_value_t* onnx_reshape_like(onnx_node_t* n, ir_value_t* x, ir_value_t* like);

// One dimension of a slice: result element i is operand element first + i * step.
typedef struct onnx_range_t {
  onnx_dim_t first, size, step;
} onnx_range_t;
typedef struct onnx_bounds_t {
  onnx_dim_t start, end, step;
} onnx_bounds_t;
// x with that range of each dimension (slice_ops.c); the ranges are changed.
ir_value_t* onnx_take_ranges(onnx_node_t* n, ir_value_t* x, onnx_range_t* ranges);
// x with that range of one dimension.
ir_value_t* onnx_span(onnx_node_t* n, ir_value_t* x, int64_t axis, onnx_range_t range);
// x with that many zeros in front of and behind each dimension, or as many elements less (pad.c). NULL after a
// diagnostic.
ir_value_t* onnx_pad(onnx_node_t* n, ir_value_t* x, const onnx_dim_t* low, const onnx_dim_t* high);

#endif  // IREE_C_IMPORT_ONNX_NUMBERS_H_
