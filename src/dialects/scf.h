// The scf dialect: structured control flow. Rows are in scf.def.
#ifndef IREE_C_DIALECTS_SCF_H_
#define IREE_C_DIALECTS_SCF_H_

#include "ir/ir.h"

enum {
  SCF_FIRST_ = IR_CODE(IR_DIALECT_SCF, 0) - 1,
#define OP(ENUM, ...) SCF_##ENUM,
#include "dialects/scf.def"
#undef OP
};

extern const ir_dialect_t scf_dialect;

#endif  // IREE_C_DIALECTS_SCF_H_
