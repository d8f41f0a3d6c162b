// The vector dialect: vectors, as functions of executables use them. Rows are in vector.def.
#ifndef IREE_C_DIALECTS_VECTOR_H_
#define IREE_C_DIALECTS_VECTOR_H_

#include "ir/ir.h"

enum {
  VECTOR_FIRST_ = IR_CODE(IR_DIALECT_VECTOR, 0) - 1,
#define OP(ENUM, ...) VECTOR_##ENUM,
#include "dialects/vector.def"
#undef OP
};

extern const ir_dialect_t vector_dialect;

#endif  // IREE_C_DIALECTS_VECTOR_H_
