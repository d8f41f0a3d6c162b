// How kernel values look in LLVM. Registers: integers as they are, index i64, f32 and f64 native, f16 `half` where the
// processor converts it and its bits otherwise, all narrower or odder floats as their bits. Memory: the same, except
// that i1 to i7 take a byte.
#ifndef IREE_C_TARGET_LLVM_TYPES_H_
#define IREE_C_TARGET_LLVM_TYPES_H_

#include "target/llvm/emit.h"

// NULL after an error when there is no such value.
LLVMTypeRef emit_type(emit_t* e, const ir_type_t* type);
LLVMTypeRef emit_scalar_type(emit_t* e, const ir_type_t* scalar);
LLVMTypeRef emit_memory_type(emit_t* e, const ir_type_t* type);  // scalar or vector

// Register form <-> memory form.
LLVMValueRef emit_from_memory(emit_t* e, const ir_type_t* type, LLVMValueRef value);
LLVMValueRef emit_to_memory(emit_t* e, const ir_type_t* type, LLVMValueRef value);

// Floats below 32 bits, in register form <-> f32 of the same shape.
bool emit_is_small_float(const ir_type_t* scalar);
LLVMValueRef emit_widen(emit_t* e, const ir_type_t* scalar, LLVMValueRef value);
LLVMValueRef emit_narrow(emit_t* e, const ir_type_t* scalar, LLVMValueRef value);
// From f64, rounding once.
LLVMValueRef emit_narrow_f64(emit_t* e, const ir_type_t* scalar, LLVMValueRef value);

// One number of a scalar type in register form.
LLVMValueRef emit_number(emit_t* e, const ir_type_t* scalar, double number, int64_t integer);

#endif  // IREE_C_TARGET_LLVM_TYPES_H_
