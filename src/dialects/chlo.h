// The chlo dialect: client operations over StableHLO. Rows are in chlo.def.
#ifndef IREE_C_DIALECTS_CHLO_H_
#define IREE_C_DIALECTS_CHLO_H_

#include "ir/ir.h"

enum {
  CHLO_FIRST_ = IR_CODE(IR_DIALECT_CHLO, 0) - 1,
#define OP(ENUM, ...) CHLO_##ENUM,
#include "dialects/chlo.def"
#undef OP
};

extern const ir_dialect_t chlo_dialect;

#endif  // IREE_C_DIALECTS_CHLO_H_
