// The math dialect: formats say it all.
#include "dialects/math.h"

#include "dialects/table.h"

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"math." #name, MATH_##ENUM, __VA_ARGS__},
#include "dialects/math.def"
#undef OP
};
TABLE_DIALECT(math_dialect, IR_DIALECT_MATH, "math", ops);
