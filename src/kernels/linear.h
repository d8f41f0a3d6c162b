// Index arithmetic as linear forms: constant + sum of coefficient * value, plus a multiple of the lane number. Every
// index map (transpose, slice, reshape, pack, ...) is arithmetic on these, so that an address ends as one
// loop-invariant part, one step of the innermost loop and a constant displacement, which is what machines add for free.
//
// A `kernel_build_t` is the state of building one kernel.func: the builder, what is known of each index value (its
// range, and a number it is a multiple of), and equal computations found again.
#ifndef IREE_C_KERNELS_LINEAR_H_
#define IREE_C_KERNELS_LINEAR_H_

#include "dialects/kernel.h"
#include "kernels/device.h"

enum { LINEAR_TERMS = 16 };

// What is known of an index value; kept at ir_value_t.data while a kernel is built.
typedef struct index_facts_t {
  int64_t min, max;  // inclusive
  int64_t multiple;  // the value is a multiple of this; 1 when nothing is known
} index_facts_t;

typedef struct linear_t {
  int64_t constant;
  int64_t lane;  // coefficient of the lane number, 0 .. lanes-1
  uint32_t count;
  struct {
    ir_value_t* value;  // scalar index
    int64_t coefficient;
  } terms[LINEAR_TERMS];
  ir_value_t* vector;  // vector<lanes x index> added to it, or NULL
} linear_t;

typedef struct kernel_memo_t kernel_memo_t;
typedef struct kernel_build_t {
  ir_context_t* ctx;
  ir_builder_t b;
  const device_info_t* device;
  ir_op_t* func;
  int64_t lanes;                    // of the vectors being built; 1 for scalars
  ir_value_t* mask;                 // vector<lanes x i1> of lanes that may touch memory, or NULL for all
  kernel_memo_t* memo;              // equal index computations
  struct eval_memo_t* eval_values;  // equal elements, see eval_memo.h
  uint32_t eval_depth;
  ir_value_t** sizes;               // of the dispatch's operands: those that are numbers, else NULL
  const struct ir_op_t* inside_op;  // a window or convolution no part of which is outside along these result dims
  uint32_t inside_dims;
  uint32_t before_end_dims;  // and along these nothing of it is beyond the operand's end
} kernel_build_t;

linear_t linear_constant(int64_t value);
// A constant folds to a constant.
linear_t linear_value(ir_value_t* value);
linear_t linear_lane(void);
linear_t linear_vector(ir_value_t* vector);
linear_t linear_add(kernel_build_t* k, linear_t x, linear_t y);
linear_t linear_scale(kernel_build_t* k, linear_t x, int64_t factor);
// x times a run-time size.
linear_t linear_scale_value(kernel_build_t* k, linear_t x, ir_value_t* factor);
// x / d and x % d for x >= 0, d > 0; exact forms when ranges and multiples allow, else division instructions.
void linear_divide(kernel_build_t* k, linear_t x, int64_t d, linear_t* quotient, linear_t* remainder);
// How often each of consecutive numbers is there, lane after lane, where linear_divide made the form so; else 0.
int64_t linear_repeats(const kernel_build_t* k, const linear_t* x);
bool linear_is_constant(const linear_t* x, int64_t* out);
static inline bool linear_is_uniform(const linear_t* x) { return x->lane == 0 && !x->vector; }
bool linear_equal(const linear_t* x, const linear_t* y);
// A power of two that the form without its lane part is a multiple of, up to `most`.
int64_t linear_multiple(const linear_t* x, int64_t most);
// Inclusive bounds over all lanes.
void linear_range(const kernel_build_t* k, const linear_t* x, int64_t* min, int64_t* max);

// The form without lane and vector part as one scalar index, its loop-invariant parts computed outside the loops, but
// for the constant, which addresses add for free; linear_outside adds that outside, too.
ir_value_t* linear_outside(kernel_build_t* k, const linear_t* x);
ir_value_t* linear_scalar(kernel_build_t* k, const linear_t* x);
// The whole form as vector<lanes x index>; a scalar when lanes is 1.
ir_value_t* linear_lanes(kernel_build_t* k, const linear_t* x);

// Index arithmetic where it is as far outside of loops as its operands allow, made once, with what is known of it.
ir_value_t* index_binary(kernel_build_t* k, scalar_fn_t fn, ir_value_t* x, ir_value_t* y);
ir_value_t* index_constant(kernel_build_t* k, int64_t value);
void index_set_facts(kernel_build_t* k, ir_value_t* value, int64_t min, int64_t max, int64_t multiple);
// Facts of any index value: recorded ones, constants, or none.
index_facts_t index_facts(const ir_value_t* value);

// How many bits a value of at least 0 has: halvings of a range of so many until it is empty.
ir_value_t* index_bits(kernel_build_t* k, ir_value_t* value);

// A loop over [lower, upper) whose index has its facts recorded. Bounds may be any index values.
kernel_loop_t kernel_loop_begin(kernel_build_t* k, ir_value_t* lower, ir_value_t* upper, int64_t step,
                                ir_value_t* const* init, uint32_t count);
// The same with constant bounds.
kernel_loop_t kernel_loop_constant(kernel_build_t* k, int64_t lower, int64_t upper, int64_t step,
                                   ir_value_t* const* init, uint32_t count);

#endif  // IREE_C_KERNELS_LINEAR_H_
