// The iree_tensor_ext dialect.
#include "dialects/tensor_ext.h"

#include "dialects/dispatch.h"

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"iree_tensor_ext." #name, TENSOR_EXT_##ENUM, __VA_ARGS__},
#include "dialects/tensor_ext.def"
#undef OP
};
TABLE_DIALECT(tensor_ext_dialect, IR_DIALECT_TENSOR_EXT, "iree_tensor_ext", ops);
