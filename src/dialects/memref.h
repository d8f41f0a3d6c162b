// The memref dialect: memory, as functions of executables use it. Rows are in memref.def.
#ifndef IREE_C_DIALECTS_MEMREF_H_
#define IREE_C_DIALECTS_MEMREF_H_

#include "ir/ir.h"

enum {
  MEMREF_FIRST_ = IR_CODE(IR_DIALECT_MEMREF, 0) - 1,
#define OP(ENUM, ...) MEMREF_##ENUM,
#include "dialects/memref.def"
#undef OP
};

extern const ir_dialect_t memref_dialect;

#endif  // IREE_C_DIALECTS_MEMREF_H_
