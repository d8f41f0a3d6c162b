// The ml_program dialect: global variables of models. Rows are in ml_program.def.
#ifndef IREE_C_DIALECTS_ML_PROGRAM_H_
#define IREE_C_DIALECTS_ML_PROGRAM_H_

#include "ir/ir.h"

enum {
  ML_PROGRAM_FIRST_ = IR_CODE(IR_DIALECT_ML_PROGRAM, 0) - 1,
#define OP(ENUM, ...) ML_PROGRAM_##ENUM,
#include "dialects/ml_program.def"
#undef OP
};

extern const ir_dialect_t ml_program_dialect;

#endif  // IREE_C_DIALECTS_ML_PROGRAM_H_
