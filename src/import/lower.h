// From input dialects to graph: picks the frontend of each module.
#ifndef IREE_C_IMPORT_LOWER_H_
#define IREE_C_IMPORT_LOWER_H_

#include "ir/ir.h"

// Replaces every function of input dialects by one of graph ops over tensors. `input_type` is --iree-input-type
// (NULL or "auto": decided by the ops present; else ops of other frontends are refused). False after diagnostics, also
// when ops remain that no frontend knows.
bool lower_module(ir_context_t* ctx, ir_op_t* module, const char* input_type);

// Whether the op is an executable that a program brings. What has no function that dispatches bring in stays in the
// module when it is lowered: dispatches run its code.
bool lower_is_executable(const ir_op_t* op);

#endif  // IREE_C_IMPORT_LOWER_H_
