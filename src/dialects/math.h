// The math dialect: mathematical functions. Rows are in math.def.
#ifndef IREE_C_DIALECTS_MATH_H_
#define IREE_C_DIALECTS_MATH_H_

#include "ir/ir.h"

enum {
  MATH_FIRST_ = IR_CODE(IR_DIALECT_MATH, 0) - 1,
#define OP(ENUM, ...) MATH_##ENUM,
#include "dialects/math.def"
#undef OP
};

extern const ir_dialect_t math_dialect;

#endif  // IREE_C_DIALECTS_MATH_H_
