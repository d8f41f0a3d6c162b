// Values that several ops of a dispatch use, built once for the same coordinates: a chain of ops that each use the
// last one twice would otherwise be built once for every path through it.
#ifndef IREE_C_KERNELS_EVAL_MEMO_H_
#define IREE_C_KERNELS_EVAL_MEMO_H_

#include "kernels/eval.h"

// Between them, values are kept; kept ones are forgotten when the outermost evaluation ends, since what strategies
// bind may change then.
void eval_memo_enter(kernel_build_t* k);
void eval_memo_leave(kernel_build_t* k);
// NULL when the value is not worth keeping, or not known at the builder's place.
ir_value_t* eval_memo_find(const kernel_build_t* k, const ir_value_t* tensor, const linear_t* coords);
void eval_memo_add(kernel_build_t* k, const ir_value_t* tensor, const linear_t* coords, ir_value_t* value);

#endif  // IREE_C_KERNELS_EVAL_MEMO_H_
