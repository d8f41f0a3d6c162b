// The linalg dialect: structured operations over loop nests. Rows are in linalg.def.
#ifndef IREE_C_DIALECTS_LINALG_H_
#define IREE_C_DIALECTS_LINALG_H_

#include "ir/ir.h"

enum {
  LINALG_FIRST_ = IR_CODE(IR_DIALECT_LINALG, 0) - 1,
#define OP(ENUM, ...) LINALG_##ENUM,
#include "dialects/linalg.def"
#undef OP
};

extern const ir_dialect_t linalg_dialect;

#endif  // IREE_C_DIALECTS_LINALG_H_
