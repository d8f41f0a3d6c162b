// The shape dialect: shapes as values. Rows are in shape.def.
#ifndef IREE_C_DIALECTS_SHAPE_H_
#define IREE_C_DIALECTS_SHAPE_H_

#include "ir/ir.h"

enum {
  SHAPE_FIRST_ = IR_CODE(IR_DIALECT_SHAPE, 0) - 1,
#define OP(ENUM, ...) SHAPE_##ENUM,
#include "dialects/shape.def"
#undef OP
};

extern const ir_dialect_t shape_dialect;

#endif  // IREE_C_DIALECTS_SHAPE_H_
