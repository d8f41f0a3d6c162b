// The geometry that convolutions and pools share: kernel, strides, dilations and paddings of the spatial dims.
#ifndef IREE_C_IMPORT_ONNX_SWEEP_H_
#define IREE_C_IMPORT_ONNX_SWEEP_H_

#include "import/onnx/lower.h"

typedef struct onnx_sweep_t {
  uint32_t spatial;
  onnx_dim_t taps[GRAPH_MAX_SPATIAL];  // the kernel's sizes; `kernel` is IR_DYNAMIC where only a call knows them
  int64_t kernel[GRAPH_MAX_SPATIAL], strides[GRAPH_MAX_SPATIAL], dilations[GRAPH_MAX_SPATIAL];
  int64_t pad_low[GRAPH_MAX_SPATIAL], pad_high[GRAPH_MAX_SPATIAL];
  int64_t extra[GRAPH_MAX_SPATIAL];  // behind pad_high, so that ceil_mode's last window has a whole extent
  int64_t out[GRAPH_MAX_SPATIAL];    // result sizes, IR_DYNAMIC where the input's or the kernel's is
  bool pads_any;                     // SAME of run-time sizes: onnx_sweep_input does what pad_low and pad_high do not
  bool upper;
  bool any[GRAPH_MAX_SPATIAL];
} onnx_sweep_t;

// Reads the attributes of a convolution or pool over x: [n, c, spatial...]. `*w` are the weights, which have the
// kernel's sizes, or get those of the attribute kernel_shape; where `w` is NULL that attribute is needed. False after a
// diagnostic.
bool onnx_read_sweep(onnx_node_t* n, ir_value_t* x, ir_value_t** w, onnx_sweep_t* out);
// What is swept over: x, or x with the padding that depends on its run-time sizes, filled with `outside`.
ir_value_t* onnx_sweep_input(onnx_node_t* n, ir_value_t* x, const onnx_sweep_t* s, double outside);
// The same for a transposed convolution, whose result sizes and SAME paddings are computed otherwise: neither is set.
bool onnx_read_transposed_sweep(onnx_node_t* n, ir_value_t* x, ir_value_t** w, onnx_sweep_t* out);
// (taps - 1) * dilation: how far the last tap of spatial dim i is from the first.
onnx_dim_t onnx_sweep_reach(onnx_node_t* n, const onnx_sweep_t* s, uint32_t i);
// "nc01", "oi01" and the like: two letters and one digit per spatial dim.
const char* onnx_layout(onnx_node_t* n, const char* letters, uint32_t spatial);

#endif  // IREE_C_IMPORT_ONNX_SWEEP_H_
