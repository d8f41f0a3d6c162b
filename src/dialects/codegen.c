// The iree_codegen dialect.
#include "dialects/codegen.h"

#include "dialects/table.h"

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"iree_codegen." #name, CODEGEN_##ENUM, __VA_ARGS__},
#include "dialects/codegen.def"
#undef OP
};
TABLE_DIALECT(codegen_dialect, IR_DIALECT_CODEGEN, "iree_codegen", ops);
