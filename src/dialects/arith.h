// The arith dialect: arithmetic on integers, floats and their vectors and tensors. Rows are in arith.def.
#ifndef IREE_C_DIALECTS_ARITH_H_
#define IREE_C_DIALECTS_ARITH_H_

#include "ir/ir.h"

enum {
  ARITH_FIRST_ = IR_CODE(IR_DIALECT_ARITH, 0) - 1,
#define OP(ENUM, ...) ARITH_##ENUM,
#include "dialects/arith.def"
#undef OP
};

extern const ir_dialect_t arith_dialect;

#endif  // IREE_C_DIALECTS_ARITH_H_
