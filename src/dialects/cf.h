// The cf dialect: branches between blocks. Rows are in cf.def.
#ifndef IREE_C_DIALECTS_CF_H_
#define IREE_C_DIALECTS_CF_H_

#include "ir/ir.h"

enum {
  CF_FIRST_ = IR_CODE(IR_DIALECT_CF, 0) - 1,
#define OP(ENUM, ...) CF_##ENUM,
#include "dialects/cf.def"
#undef OP
};

extern const ir_dialect_t cf_dialect;

#endif  // IREE_C_DIALECTS_CF_H_
