// The importer's last step for an op: version and types. Also parameters that stay outside of the module.
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

bool onnx_is_external(const onnx_importer_t* im, const ir_type_t* type) {
  return im->options->externalize && ir_type_count(type) >= im->options->minimum_elements;
}
ir_value_t* onnx_externalize(onnx_importer_t* im, const char* name, const ir_type_t* type, const ir_attr_t* value) { return NULL; }
