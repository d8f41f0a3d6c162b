// The tensor dialect: whole-tensor values: shapes, slices, elements. Rows are in tensor.def.
#ifndef IREE_C_DIALECTS_TENSOR_H_
#define IREE_C_DIALECTS_TENSOR_H_

#include "ir/ir.h"

enum {
  TENSOR_FIRST_ = IR_CODE(IR_DIALECT_TENSOR, 0) - 1,
#define OP(ENUM, ...) TENSOR_##ENUM,
#include "dialects/tensor.def"
#undef OP
};

extern const ir_dialect_t tensor_dialect;

#endif  // IREE_C_DIALECTS_TENSOR_H_
