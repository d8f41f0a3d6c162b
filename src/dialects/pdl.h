// The pdl dialect: patterns of ops and what is written in their place (compiler/pdl_spec.h). Rows are in pdl.def.
#ifndef IREE_C_DIALECTS_PDL_H_
#define IREE_C_DIALECTS_PDL_H_

#include "ir/ir.h"

enum {
  PDL_FIRST_ = IR_CODE(IR_DIALECT_PDL, 0) - 1,
#define OP(ENUM, ...) PDL_##ENUM,
#include "dialects/pdl.def"
#undef OP
};

extern const ir_dialect_t pdl_dialect;

#endif  // IREE_C_DIALECTS_PDL_H_
