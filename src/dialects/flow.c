// The flow dialect: formats say it all.
#include "dialects/flow.h"

#include "dialects/table.h"

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"flow." #name, FLOW_##ENUM, __VA_ARGS__},
#include "dialects/flow.def"
#undef OP
};
TABLE_DIALECT(flow_dialect, IR_DIALECT_FLOW, "flow", ops);
