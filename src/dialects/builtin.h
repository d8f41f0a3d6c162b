// The builtin dialect: modules and casts between dialects' types. Rows are in builtin.def.
#ifndef IREE_C_DIALECTS_BUILTIN_H_
#define IREE_C_DIALECTS_BUILTIN_H_

#include "ir/ir.h"

enum {
#define OP(ENUM, ...) BUILTIN_##ENUM,
#include "dialects/builtin.def"
#undef OP
};

extern const ir_dialect_t builtin_dialect;

#endif  // IREE_C_DIALECTS_BUILTIN_H_
