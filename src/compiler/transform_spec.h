// Programs' own replacements of ops, as --iree-preprocessing-transform-spec-filename has them.
#ifndef IREE_C_COMPILER_TRANSFORM_SPEC_H_
#define IREE_C_COMPILER_TRANSFORM_SPEC_H_

#include "ir/ir.h"

// Runs @__transform_main of the module in the file on a program in input dialects. False after a diagnostic.
bool transform_spec_run(ir_context_t* ctx, ir_op_t* module, const char* path);
// The same by a module that was read.
bool transform_spec_apply(ir_context_t* ctx, ir_op_t* module, ir_op_t* spec);

#endif  // IREE_C_COMPILER_TRANSFORM_SPEC_H_
