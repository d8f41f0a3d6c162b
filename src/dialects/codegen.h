// The iree_codegen dialect, as far as functions over memory use it. Rows are in codegen.def.
#ifndef IREE_C_DIALECTS_CODEGEN_H_
#define IREE_C_DIALECTS_CODEGEN_H_

#include "ir/ir.h"

enum {
  CODEGEN_FIRST_ = IR_CODE(IR_DIALECT_CODEGEN, 0) - 1,
#define OP(ENUM, ...) CODEGEN_##ENUM,
#include "dialects/codegen.def"
#undef OP
};

extern const ir_dialect_t codegen_dialect;

#endif  // IREE_C_DIALECTS_CODEGEN_H_
