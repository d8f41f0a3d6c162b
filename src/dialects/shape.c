// The shape dialect.
#include "dialects/shape.h"

#include "dialects/table.h"

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"shape." #name, SHAPE_##ENUM, __VA_ARGS__},
#include "dialects/shape.def"
#undef OP
};
TABLE_DIALECT(shape_dialect, IR_DIALECT_SHAPE, "shape", ops);
