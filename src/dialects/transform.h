// The transform dialect, as far as programs find patterns of ops with it and put calls in their place
// (compiler/transform_spec.h). Rows are in transform.def.
#ifndef IREE_C_DIALECTS_TRANSFORM_H_
#define IREE_C_DIALECTS_TRANSFORM_H_

#include "ir/ir.h"

enum {
  TRANSFORM_FIRST_ = IR_CODE(IR_DIALECT_TRANSFORM, 0) - 1,
#define OP(ENUM, ...) TRANSFORM_##ENUM,
#include "dialects/transform.def"
#undef OP
};

extern const ir_dialect_t transform_dialect;

#endif  // IREE_C_DIALECTS_TRANSFORM_H_
