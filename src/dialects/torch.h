// The torch dialect: PyTorch and, as torch.operator "onnx.X", ONNX. Rows are in torch.def.
#ifndef IREE_C_DIALECTS_TORCH_H_
#define IREE_C_DIALECTS_TORCH_H_

#include "ir/ir.h"

enum {
  TORCH_FIRST_ = IR_CODE(IR_DIALECT_TORCH, 0) - 1,
#define OP(ENUM, ...) TORCH_##ENUM,
#include "dialects/torch.def"
#undef OP
};

extern const ir_dialect_t torch_dialect;

#endif  // IREE_C_DIALECTS_TORCH_H_
