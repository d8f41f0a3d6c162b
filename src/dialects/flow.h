// The flow dialect: its tensor ops, parameters and dispatch regions. Rows are in flow.def.
#ifndef IREE_C_DIALECTS_FLOW_H_
#define IREE_C_DIALECTS_FLOW_H_

#include "ir/ir.h"

enum {
  FLOW_FIRST_ = IR_CODE(IR_DIALECT_FLOW, 0) - 1,
#define OP(ENUM, ...) FLOW_##ENUM,
#include "dialects/flow.def"
#undef OP
};

extern const ir_dialect_t flow_dialect;

#endif  // IREE_C_DIALECTS_FLOW_H_
