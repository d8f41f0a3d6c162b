// Tile registers of x86-64 (AMX) in LLVM.
#ifndef IREE_C_TARGET_LLVM_TILES_H_
#define IREE_C_TARGET_LLVM_TILES_H_

#include "target/llvm/emit.h"

// Whether a kernel value of the type is in a tile register.
bool tiles_is_type(const emit_t* e, const ir_type_t* type);
// False after a message when the op has operands or results in tile registers but does not work on them.
bool tiles_fit(emit_t* e, ir_op_t* op);
LLVMValueRef tiles_zero(emit_t* e);
// emit_target_t.mma
LLVMValueRef tiles_mma(emit_t* e, ir_op_t* op, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c);

#endif  // IREE_C_TARGET_LLVM_TILES_H_
