// The hal dialect: formats say it all.
#include "dialects/hal.h"

#include "dialects/table.h"

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"hal." #name, HAL_##ENUM, __VA_ARGS__},
#include "dialects/hal.def"
#undef OP
};
TABLE_DIALECT(hal_dialect, IR_DIALECT_HAL, "hal", ops);
