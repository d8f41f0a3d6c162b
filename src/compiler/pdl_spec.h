// Programs' own rewritings of ops, as --iree-preprocessing-pdl-spec-filename has them.
#ifndef IREE_C_COMPILER_PDL_SPEC_H_
#define IREE_C_COMPILER_PDL_SPEC_H_

#include "ir/ir.h"

// Rewrites a program in input dialects by the pdl.pattern ops of the file until none matches. False after a diagnostic.
bool pdl_spec_run(ir_context_t* ctx, ir_op_t* module, const char* path);
// The same by a module that was read.
bool pdl_spec_apply(ir_context_t* ctx, ir_op_t* module, ir_op_t* spec);

#endif  // IREE_C_COMPILER_PDL_SPEC_H_
