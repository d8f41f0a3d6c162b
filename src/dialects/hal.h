// The hal dialect: buffers at a program's edge. Rows are in hal.def.
#ifndef IREE_C_DIALECTS_HAL_H_
#define IREE_C_DIALECTS_HAL_H_

#include "ir/ir.h"

enum {
  HAL_FIRST_ = IR_CODE(IR_DIALECT_HAL, 0) - 1,
#define OP(ENUM, ...) HAL_##ENUM,
#include "dialects/hal.def"
#undef OP
};

extern const ir_dialect_t hal_dialect;

#endif  // IREE_C_DIALECTS_HAL_H_
