// StableHLO, also under its older name mhlo: opcodes and readers of its attributes. Rows are in stablehlo.def.
#ifndef IREE_C_DIALECTS_STABLEHLO_H_
#define IREE_C_DIALECTS_STABLEHLO_H_

#include "ir/ir.h"

enum {
  STABLEHLO_FIRST_ = IR_CODE(IR_DIALECT_STABLEHLO, 0) - 1,
#define OP(ENUM, ...) STABLEHLO_##ENUM,
#include "dialects/stablehlo.def"
#undef OP
};

extern const ir_dialect_t stablehlo_dialect;

// The word of an enum attribute in any spelling (#stablehlo<comparison_direction EQ>, "EQ"), or NULL. The string is
// the attribute's own.
const char* stablehlo_enum(const ir_attr_t* attr);

#endif  // IREE_C_DIALECTS_STABLEHLO_H_
