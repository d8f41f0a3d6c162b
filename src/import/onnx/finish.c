// The importer's last step for an op: version and types.
#include "import/onnx/importer.h"

bool onnx_finish_op(onnx_importer_t* im, ir_op_t* op) {
  ir_op_t* before = op->prev;
  if (im->from_opset && im->from_opset < im->to_opset && !onnx_upgrade_op(im->ctx, op, im->from_opset, im->to_opset)) {
    return false;
  }
  for (ir_op_t* step = before ? before->next : op->parent->first; im->lowering; step = step->next) {
    if (!onnx_infer_op(im->lowering, step)) return false;
    if (step == op) break;
  }
  return true;
}
