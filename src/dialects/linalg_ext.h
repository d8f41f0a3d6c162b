// The iree_linalg_ext dialect: structured ops that linalg lacks. Rows are in linalg_ext.def.
#ifndef IREE_C_DIALECTS_LINALG_EXT_H_
#define IREE_C_DIALECTS_LINALG_EXT_H_

#include "ir/ir.h"

enum {
  LINALG_EXT_FIRST_ = IR_CODE(IR_DIALECT_LINALG_EXT, 0) - 1,
#define OP(ENUM, ...) LINALG_EXT_##ENUM,
#include "dialects/linalg_ext.def"
#undef OP
};

extern const ir_dialect_t linalg_ext_dialect;

#endif  // IREE_C_DIALECTS_LINALG_EXT_H_
