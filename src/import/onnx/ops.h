// Declares the handlers that ops.def names.
#ifndef IREE_C_IMPORT_ONNX_OPS_H_
#define IREE_C_IMPORT_ONNX_OPS_H_

#include "import/onnx/lower.h"

bool onnx_lower_unary(onnx_node_t* n);
bool onnx_lower_binary(onnx_node_t* n);
bool onnx_lower_compare(onnx_node_t* n);
bool onnx_lower_nary(onnx_node_t* n);
#define OP(name, min, max, handler) bool handler(onnx_node_t* n);
#define STRINGS(name, min, max, handler) bool handler(onnx_node_t* n);
#define MOVE(name, min, max, handler) bool handler(onnx_node_t* n);
#define HOLDER(name, min, max, handler) bool handler(onnx_node_t* n);
#define HOLDER_MOVE(name, min, max, handler) bool handler(onnx_node_t* n);
#define UNARY(name, fn)
#define BINARY(name, fn, unsigned_fn)
#define COMPARE(name, fn, unsigned_fn)
#define NARY(name, fn, unsigned_fn)
#include "import/onnx/ops.def"

#endif  // IREE_C_IMPORT_ONNX_OPS_H_
