// Signal processing: signal.c does what is known when compiling, signal_any.c the rest.
#ifndef IREE_C_IMPORT_ONNX_SIGNAL_H_
#define IREE_C_IMPORT_ONNX_SIGNAL_H_

#include "import/onnx/lower.h"

enum { ONNX_MAX_SIGNAL = 1 << 24 };  // samples

typedef struct onnx_transform_t {
  bool inverse, onesided;
} onnx_transform_t;

// x: [before, samples, behind, 1 or 2 components], cut or continued with zeros to `length`, transformed along dimension
// 1. NULL after a diagnostic.
ir_value_t* onnx_transform_any(onnx_node_t* n, ir_value_t* x, onnx_dim_t length, const onnx_transform_t* t);
// The operators, when the axis, a length or the input's shape is known at run time only.
bool onnx_dft_any(onnx_node_t* n, onnx_dim_t axis, const onnx_transform_t* t);
bool onnx_stft_any(onnx_node_t* n);
// factors[0] + factors[1] cos(2 pi i / n) + factors[2] cos(4 pi i / n)
bool onnx_window_any(onnx_node_t* n, onnx_dim_t size, const double* factors, const ir_type_t* element);
bool onnx_mel_any(onnx_node_t* n, const ir_type_t* element);

#endif  // IREE_C_IMPORT_ONNX_SIGNAL_H_
