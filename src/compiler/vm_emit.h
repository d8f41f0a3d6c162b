// --compile-mode=vm: programs of IREE's virtual machine, written in its dialect, as modules of ours.
#ifndef IREE_C_COMPILER_VM_EMIT_H_
#define IREE_C_COMPILER_VM_EMIT_H_

#include "ir/ir.h"
#include "module/writer.h"

// The program's one vm.module, or NULL after a diagnostic.
ir_op_t* vm_find_module(ir_context_t* ctx, ir_op_t* program);

// Adds its functions, globals, constants, imports and exports to `writer`, with where its instructions come from if
// `locations`. False after diagnostics.
bool vm_emit(ir_context_t* ctx, ir_op_t* module, bool locations, module_writer_t* writer);

#endif  // IREE_C_COMPILER_VM_EMIT_H_
