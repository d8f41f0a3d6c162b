// Tensor values at coordinates: the one place that knows how each graph op computes an element. `eval_at` walks from a
// value back to memory through index maps (which only change the coordinates) and scalar functions (which become
// instructions), and makes loops for reductions, so that any chain of graph ops has a kernel; strategies give the hot
// shapes better loops and use it for everything around them.
//
// Coordinates are linear forms; with k->lanes > 1 the result is a vector over the lane number, or a scalar when it is
// the same in all lanes.
#ifndef IREE_C_KERNELS_EVAL_H_
#define IREE_C_KERNELS_EVAL_H_

#include "dialects/graph.h"
#include "kernels/extent.h"

// Where a tensor's elements come from, kept at the tensor value's `data` while its kernel is built.
typedef enum { SOURCE_MEMORY, SOURCE_BOUND } source_kind_t;
typedef struct source_t {
  source_kind_t kind;
  ir_value_t* memory;      // MEMORY: flat, row-major
  ir_value_t* words;       // the same as i32, once it is asked for
  const int64_t* numbers;  // of the run-time sizes of what is in memory, one for each '?' (extent.h)
  ir_value_t* value;       // BOUND: the element at the coordinates being built
} source_t;

void eval_set_memory(kernel_build_t* k, ir_value_t* tensor, ir_value_t* memory, const int64_t* numbers);
void eval_set_bound(kernel_build_t* k, ir_value_t* tensor, ir_value_t* value);

// Whether vectors of the type are shuffled by few instructions.
bool eval_shuffles(const ir_type_t* scalar);
ir_value_t* eval_at(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords);
// The same as a vector of k->lanes, also when all lanes are equal.
ir_value_t* eval_lanes(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords);
// `lanes` words (i32) of four bytes each that are one behind the other in memory, where index maps alone lead to from
// the coordinates of the first.
ir_value_t* eval_words(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords, int64_t lanes);
// Where the element is in memory; false where more than index maps lie between.
bool eval_place(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords, ir_value_t** memory, linear_t* offset);
// Stores into a row-major tensor's memory; `value` is a scalar or has k->lanes lanes. Respects k->mask.
void eval_store(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords, ir_value_t* value);
// Notes how an access at `offset` of memory that begins at a multiple of 16 bytes is aligned.
void eval_set_alignment(kernel_build_t* k, ir_op_t* access, const ir_type_t* element, const linear_t* offset);
// Row-major position of the coordinates.
linear_t eval_offset(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords);
// Size of a dimension; as an index value.
extent_t eval_extent(const ir_value_t* tensor, int32_t dim);
ir_value_t* eval_size(kernel_build_t* k, const ir_value_t* tensor, int32_t dim);
// Sizes of all dimensions; their product.
void eval_extents(const ir_value_t* tensor, extent_t* out);
extent_t eval_count(const ir_value_t* tensor);
bool eval_same_shape(const ir_value_t* x, const ir_value_t* y);

// Maps coordinates of an op's only operand to those of its result: transpose, reshape, pack (a one-to-one index map).
// False when the op is none of these.
bool eval_forward(kernel_build_t* k, const ir_op_t* op, const linear_t* in, linear_t* out);
// Coordinates in a dynamic_update's result for those of what it brings.
void eval_update_place(kernel_build_t* k, const ir_op_t* op, const linear_t* in, linear_t* out);
// Coordinates of operand 0 for result coordinates, for index maps without conditions (transpose, reshape, broadcast,
// slice, reverse, unpack). False for others.
bool eval_backward(kernel_build_t* k, const ir_op_t* op, const linear_t* out, linear_t* in);
// The elementwise op applied to operand values at hand.
ir_value_t* eval_apply(kernel_build_t* k, const ir_op_t* op, ir_value_t* const* operands);

// How a kind of reduction combines, starts, and in what type it accumulates (f32 for narrower floats).
scalar_fn_t eval_combiner(const char* kind);
const ir_type_t* eval_accumulator(ir_context_t* ctx, const ir_type_t* element);
ir_value_t* eval_start_value(kernel_build_t* k, const char* kind, const ir_type_t* scalar, int64_t lanes);
ir_value_t* eval_convert(kernel_build_t* k, ir_value_t* value, const ir_type_t* scalar);
// x * y + sum, rounded once where the device does that by itself, else twice: exact arithmetic would cost it a hundred
// times as much.
ir_value_t* eval_multiply_add(kernel_build_t* k, ir_value_t* x, ir_value_t* y, ir_value_t* sum);

// An operand's element of a contraction or convolution, in the type in which products are summed.
ir_value_t* eval_widened(kernel_build_t* k, ir_op_t* op, uint32_t operand, const linear_t* coords);

// Whether a window takes result dimension `dim` as it is.
bool eval_window_stays(const graph_window_t* w, int32_t dim);

// Lanes along the line of an arg_reduce, where one result at a time is better than many.
int64_t eval_arg_lanes(const device_info_t* device, const ir_op_t* op);

// Conditions under which an element is read: `low <= x < high` over coordinates that may be outside.
typedef struct guard_t {
  ir_value_t* condition;  // i1, same for all lanes; NULL: always
  ir_value_t* mask;       // per lane; NULL: all
  ir_value_t* outer_mask;
  kernel_branch_t branch;
} guard_t;
void guard_range(kernel_build_t* k, guard_t* guard, const linear_t* x, int64_t low, int64_t high);
void guard_extent(kernel_build_t* k, guard_t* guard, const linear_t* x, const extent_t* high);
void guard_below(kernel_build_t* k, guard_t* guard, const linear_t* x, ir_value_t* high);
// Of elements `spread` apart: the number of the one at x, where there is one.
linear_t guard_spread(kernel_build_t* k, guard_t* guard, linear_t x, const extent_t* size, int64_t spread);
void guard_equal(kernel_build_t* k, guard_t* guard, const linear_t* x, int64_t value);
void guard_begin(kernel_build_t* k, guard_t* guard, const ir_type_t* scalar);
// `value` where the conditions hold, else `other` (scalar or lanes, made outside).
ir_value_t* guard_end(kernel_build_t* k, guard_t* guard, ir_value_t* value, ir_value_t* other);
// The same for up to GUARD_VALUES of one type, which become what there is behind.
enum { GUARD_VALUES = 8 };
void guard_begin_all(kernel_build_t* k, guard_t* guard, const ir_type_t* scalar, uint32_t count);
void guard_end_all(kernel_build_t* k, guard_t* guard, ir_value_t** values, ir_value_t* const* others, uint32_t count);

// How a window or convolution moves along a dimension; and a tap of result `out` along its dimension `dim`, in the
// operand, of `size` there.
typedef struct eval_reach_t {
  int64_t stride, dilation, low, spread;
} eval_reach_t;
typedef struct eval_tap_t {
  const ir_op_t* op;
  int32_t dim;
  eval_reach_t reach;
  linear_t out, tap;
  extent_t size;
} eval_tap_t;
// Where that is, guarded against padding and holes of the operand unless it is known to be inside (k->inside_op).
linear_t eval_tap(kernel_build_t* k, guard_t* guard, const eval_tap_t* tap);

// Loops over sizes[0..count) around `body`, which gets the loop coordinates and accumulators and replaces the latter.
// eval_fixed_loops: the same for sizes that are numbers.
enum { EVAL_ACCUMULATORS = 64 };
typedef void (*eval_body_fn_t)(kernel_build_t* k, const linear_t* at, ir_value_t** accumulators, void* user);
void eval_loops(kernel_build_t* k, const extent_t* sizes, uint32_t count, ir_value_t** accumulators,
                uint32_t accumulator_count, eval_body_fn_t body, void* user);
void eval_fixed_loops(kernel_build_t* k, const int64_t* sizes, uint32_t count, ir_value_t** accumulators,
                      uint32_t accumulator_count, eval_body_fn_t body, void* user);

// An element of an op's result, one function for each row of graph.def (eval.c, eval_reduce.c, eval_move.c).
#define OP(NAME, text, operands, results, regions, traits, fusion, types, shape, eval, element, ...) \
  ir_value_t* element_##element(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords);
#include "dialects/graph.def"
#undef OP
// True when eval_at has a rule for the op.
bool eval_supports(const ir_op_t* op);

#endif  // IREE_C_KERNELS_EVAL_H_
