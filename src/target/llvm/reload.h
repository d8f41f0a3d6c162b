// Keeps equal loads apart. Code generation would merge two loads of one address in a block and hold the value in
// between; where a register tile lies in between, that value costs a spill, while loading again is free. So a load that
// repeats one from far above goes through an address that LLVM cannot know to be equal.
#ifndef IREE_C_TARGET_LLVM_RELOAD_H_
#define IREE_C_TARGET_LLVM_RELOAD_H_

#include "target/llvm/emit.h"

// The address of a load of `type`, kept apart from earlier ones if need be.
LLVMValueRef reload_address(emit_t* e, const ir_op_t* load, LLVMTypeRef element, LLVMTypeRef type);

#endif  // IREE_C_TARGET_LLVM_RELOAD_H_
