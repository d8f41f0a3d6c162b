#include "import/onnx/lower.h"
bool onnx_upgrade_op(ir_context_t* ctx, ir_op_t* op, int64_t from, int64_t to) { return true; }
bool onnx_needs_upgrade(const ir_op_t* op, int64_t from, int64_t to) { return false; }
