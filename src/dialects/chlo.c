// The chlo dialect: formats say it all.
#include "dialects/chlo.h"

#include "dialects/table.h"

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"chlo." #name, CHLO_##ENUM, __VA_ARGS__},
#include "dialects/chlo.def"
#undef OP
};
TABLE_DIALECT(chlo_dialect, IR_DIALECT_CHLO, "chlo", ops);
