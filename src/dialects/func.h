// The func dialect: functions, calls and returns. Rows are in func.def.
#ifndef IREE_C_DIALECTS_FUNC_H_
#define IREE_C_DIALECTS_FUNC_H_

#include "ir/ir.h"

enum {
  FUNC_FIRST_ = IR_CODE(IR_DIALECT_FUNC, 0) - 1,
#define OP(ENUM, ...) FUNC_##ENUM,
#include "dialects/func.def"
#undef OP
};

extern const ir_dialect_t func_dialect;

#endif  // IREE_C_DIALECTS_FUNC_H_
