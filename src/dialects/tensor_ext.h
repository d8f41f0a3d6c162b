// The iree_tensor_ext dialect, as far as dispatches of programs use it. Rows are in tensor_ext.def.
#ifndef IREE_C_DIALECTS_TENSOR_EXT_H_
#define IREE_C_DIALECTS_TENSOR_EXT_H_

#include "ir/ir.h"

enum {
  TENSOR_EXT_FIRST_ = IR_CODE(IR_DIALECT_TENSOR_EXT, 0) - 1,
#define OP(ENUM, ...) TENSOR_EXT_##ENUM,
#include "dialects/tensor_ext.def"
#undef OP
};

extern const ir_dialect_t tensor_ext_dialect;

#endif  // IREE_C_DIALECTS_TENSOR_EXT_H_
