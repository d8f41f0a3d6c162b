// Scalar functions (base/scalar.def) as instructions, on scalars or vectors.
#ifndef IREE_C_TARGET_LLVM_SCALAR_H_
#define IREE_C_TARGET_LLVM_SCALAR_H_

#include "target/llvm/emit.h"

// `operand` is the scalar type of the operands (select: of the last two), `result` that of the result.
LLVMValueRef emit_scalar(emit_t* e, scalar_fn_t fn, const LLVMValueRef in[3], const ir_type_t* operand,
                         const ir_type_t* result);

// One function of a row on operands in machine form: f32 or f64, or integers.
typedef LLVMValueRef (*emit_scalar_fn_t)(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c);
#define SCALAR(name, ...)                                                                    \
  LLVMValueRef emit_float_##name(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c); \
  LLVMValueRef emit_int_##name(emit_t* e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c);
#include "base/scalar.def"
#undef SCALAR

// cast and castu between machine forms.
LLVMValueRef emit_cast(emit_t* e, LLVMValueRef a, const ir_type_t* from, const ir_type_t* to, bool is_unsigned);

#endif  // IREE_C_TARGET_LLVM_SCALAR_H_
