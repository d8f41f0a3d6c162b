// The affine dialect: index arithmetic by maps. Rows are in affine.def.
#ifndef IREE_C_DIALECTS_AFFINE_H_
#define IREE_C_DIALECTS_AFFINE_H_

#include "ir/ir.h"

enum {
  AFFINE_FIRST_ = IR_CODE(IR_DIALECT_AFFINE, 0) - 1,
#define OP(ENUM, ...) AFFINE_##ENUM,
#include "dialects/affine.def"
#undef OP
};

extern const ir_dialect_t affine_dialect;

#endif  // IREE_C_DIALECTS_AFFINE_H_
