// Arguments that callers give up with a call, so that results may be written where they are. A program says of which
// by JAX's attributes: `tf.aliasing_output = k` for result k, `jax.buffer_donor = true` for any result of its type.
// Whether a call really gives one up is its caller's to say each time:
//
//   @main(%x: T {tf.aliasing_output = 0}, %y: U) -> T
//   @main(%x: T {...}, %y: U, %into: T {iree.abi.output = 0, iree.abi.donor = 0}) -> T
//
// `%into` is memory for result 0: that of argument 0, or none (null), for which new memory is taken.
#ifndef IREE_C_COMPILER_DONATE_H_
#define IREE_C_COMPILER_DONATE_H_

#include "ir/ir.h"
#include "ir/pass.h"

typedef struct donation_t {
  uint32_t argument, result;
} donation_t;

// A function's, by argument; `out` has room for as many as it has arguments. None where a value of the signature has no
// static shape or elements below a byte.
uint32_t donate_find(const ir_op_t* func, donation_t* out);
// Adds the arguments for memory, in the same order, to public functions.
pass_result_t donate_arguments(ir_op_t* module, ir_context_t* ctx);

#endif  // IREE_C_COMPILER_DONATE_H_
