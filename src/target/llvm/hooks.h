// What each target does its own way, and which abilities its processors have.
#ifndef IREE_C_TARGET_LLVM_HOOKS_H_
#define IREE_C_TARGET_LLVM_HOOKS_H_

#include "target/llvm/emit.h"

extern const emit_target_t hooks_x86;
extern const emit_target_t hooks_amdgpu;
extern const emit_target_t hooks_nvptx;

const emit_target_t* hooks_for(const target_t* target);
emit_features_t hooks_features(const target_t* target);

// A function `name` in e->module with the builder at the start of its entry block.
LLVMValueRef hooks_add_function(emit_t* e, const char* name, LLVMTypeRef type);
void hooks_add_attribute(emit_t* e, LLVMValueRef function, unsigned index, const char* name, uint64_t value);
void hooks_add_string_attribute(emit_t* e, LLVMValueRef function, const char* name, const char* value);

// GPU kernels: bindings as pointers, constants as 32-bit arguments.
LLVMValueRef hooks_gpu_entry(emit_t* e, ir_op_t* func, unsigned call_convention);

// kernel.mma through the intrinsic that its row names; NULL when the target has no such instruction.
LLVMValueRef hooks_mma(emit_t* e, ir_op_t* op, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c);

#endif  // IREE_C_TARGET_LLVM_HOOKS_H_
