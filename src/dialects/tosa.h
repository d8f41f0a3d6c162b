// The tosa dialect: tensor operator set architecture. Rows are in tosa.def.
#ifndef IREE_C_DIALECTS_TOSA_H_
#define IREE_C_DIALECTS_TOSA_H_

#include "ir/ir.h"

enum {
  TOSA_FIRST_ = IR_CODE(IR_DIALECT_TOSA, 0) - 1,
#define OP(ENUM, ...) TOSA_##ENUM,
#include "dialects/tosa.def"
#undef OP
};

extern const ir_dialect_t tosa_dialect;

#endif  // IREE_C_DIALECTS_TOSA_H_
