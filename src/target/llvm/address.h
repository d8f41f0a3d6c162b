// Addresses in global memory of GPUs, as their instructions add them up: a scalar base, which is the same in all lanes
// and costs no vector instruction, an offset of 32 bits that each lane has of its own, and a constant.
#ifndef IREE_C_TARGET_LLVM_ADDRESS_H_
#define IREE_C_TARGET_LLVM_ADDRESS_H_

#include "target/llvm/emit.h"

// The address of the element that an access names by its operands `memory_operand` and the next one.
LLVMValueRef address_of(emit_t* e, const ir_op_t* op, uint32_t memory_operand);

#endif  // IREE_C_TARGET_LLVM_ADDRESS_H_
