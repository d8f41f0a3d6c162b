// The complex dialect: formats say it all.
#include "dialects/complex.h"

#include "dialects/table.h"

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"complex." #name, COMPLEX_##ENUM, __VA_ARGS__},
#include "dialects/complex.def"
#undef OP
};
TABLE_DIALECT(complex_dialect, IR_DIALECT_COMPLEX, "complex", ops);
