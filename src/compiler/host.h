// The host program: what is left of a module when its dispatches have become kernels. Plans memory, builds command
// tables and functions with the module writer.
#ifndef IREE_C_COMPILER_HOST_H_
#define IREE_C_COMPILER_HOST_H_

#include "ir/ir.h"
#include "module/writer.h"

// Attributes that each graph.dispatch must have by now: `entry` (number in the executable) and `workgroups` (three).
// Adds functions, tables, constants and exports to `writer`; `executable` holds all kernels. False after diagnostics.
bool host_emit(ir_context_t* ctx, ir_op_t* module, module_writer_t* writer, uint32_t device, uint32_t executable,
               bool strip_source_map);

// Scalar functions that the host program has no instruction for become ops on tensors; conditions that are numbers stay
// numbers. Before dispatches are formed.
void host_scalar_prepare(ir_context_t* ctx, ir_op_t* module);

#endif  // IREE_C_COMPILER_HOST_H_
