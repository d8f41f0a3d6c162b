// The complex dialect: complex numbers. Rows are in complex.def.
#ifndef IREE_C_DIALECTS_COMPLEX_H_
#define IREE_C_DIALECTS_COMPLEX_H_

#include "ir/ir.h"

enum {
  COMPLEX_FIRST_ = IR_CODE(IR_DIALECT_COMPLEX, 0) - 1,
#define OP(ENUM, ...) COMPLEX_##ENUM,
#include "dialects/complex.def"
#undef OP
};

extern const ir_dialect_t complex_dialect;

#endif  // IREE_C_DIALECTS_COMPLEX_H_
