// The util dialect: functions, globals and hints of compiled programs. Rows are in util.def.
#ifndef IREE_C_DIALECTS_UTIL_H_
#define IREE_C_DIALECTS_UTIL_H_

#include "ir/ir.h"

enum {
  UTIL_FIRST_ = IR_CODE(IR_DIALECT_UTIL, 0) - 1,
#define OP(ENUM, ...) UTIL_##ENUM,
#include "dialects/util.def"
#undef OP
};

extern const ir_dialect_t util_dialect;

#endif  // IREE_C_DIALECTS_UTIL_H_
