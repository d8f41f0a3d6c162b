// The util dialect: functions, globals and buffers are read by shared.c, the rest by formats.
#include "dialects/util.h"

#include "dialects/table.h"

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"util." #name, UTIL_##ENUM, __VA_ARGS__},
#include "dialects/util.def"
#undef OP
};
TABLE_DIALECT(util_dialect, IR_DIALECT_UTIL, "util", ops);
