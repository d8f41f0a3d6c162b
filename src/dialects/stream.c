// The stream dialect.
#include "dialects/stream.h"

#include "dialects/dispatch.h"

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"stream." #name, STREAM_##ENUM, __VA_ARGS__},
#include "dialects/stream.def"
#undef OP
};
TABLE_DIALECT(stream_dialect, IR_DIALECT_STREAM, "stream", ops);
