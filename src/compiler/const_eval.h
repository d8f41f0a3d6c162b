// Constants computed at compile time by the kernels that would have computed them at run time, whatever their size.
#ifndef IREE_C_COMPILER_CONST_EVAL_H_
#define IREE_C_COMPILER_CONST_EVAL_H_

#include "target/target.h"

typedef struct const_eval_options_t {
  const target_t* target;  // whose kernels to use when this machine can run them; NULL: this machine's
  uint32_t threads;
} const_eval_options_t;

// Replaces what is computed from constants alone by its value, unless that is much larger than what it comes from. What
// cannot be computed here stays as it is. True when anything changed.
bool const_eval_module(ir_context_t* ctx, ir_op_t* module, const const_eval_options_t* options);

#endif  // IREE_C_COMPILER_CONST_EVAL_H_
