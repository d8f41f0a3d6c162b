// The stream dialect, as far as dispatches of programs use it. Rows are in stream.def.
#ifndef IREE_C_DIALECTS_STREAM_H_
#define IREE_C_DIALECTS_STREAM_H_

#include "ir/ir.h"

enum {
  STREAM_FIRST_ = IR_CODE(IR_DIALECT_STREAM, 0) - 1,
#define OP(ENUM, ...) STREAM_##ENUM,
#include "dialects/stream.def"
#undef OP
};

extern const ir_dialect_t stream_dialect;

#endif  // IREE_C_DIALECTS_STREAM_H_
