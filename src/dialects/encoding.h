// The iree_encoding dialect: layouts of tensors as a program asks for them. Rows are in encoding.def.
#ifndef IREE_C_DIALECTS_ENCODING_H_
#define IREE_C_DIALECTS_ENCODING_H_

#include "ir/ir.h"

enum {
  ENCODING_FIRST_ = IR_CODE(IR_DIALECT_ENCODING, 0) - 1,
#define OP(ENUM, ...) ENCODING_##ENUM,
#include "dialects/encoding.def"
#undef OP
};

extern const ir_dialect_t encoding_dialect;

#endif  // IREE_C_DIALECTS_ENCODING_H_
