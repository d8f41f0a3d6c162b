// The check dialect: what a test program expects of its own values. Rows are in check.def.
#ifndef IREE_C_DIALECTS_CHECK_H_
#define IREE_C_DIALECTS_CHECK_H_

#include "ir/ir.h"

enum {
  CHECK_FIRST_ = IR_CODE(IR_DIALECT_CHECK, 0) - 1,
#define OP(ENUM, ...) CHECK_##ENUM,
#include "dialects/check.def"
#undef OP
};

extern const ir_dialect_t check_dialect;

#endif  // IREE_C_DIALECTS_CHECK_H_
