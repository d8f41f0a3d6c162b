// What Resize asks for, as resize.c reads it, and the dimensions whose sizes are known at run time only (resize_any.c).
#ifndef IREE_C_IMPORT_ONNX_RESIZE_H_
#define IREE_C_IMPORT_ONNX_RESIZE_H_

#include "import/onnx/lower.h"

typedef enum { MODE_NEAREST, MODE_LINEAR, MODE_CUBIC } resize_mode_t;
typedef enum {
  AT_HALF_PIXEL,
  AT_HALF_PIXEL_SYMMETRIC,
  AT_PYTORCH_HALF_PIXEL,
  AT_ALIGN_CORNERS,
  AT_ASYMMETRIC,
  AT_TF_HALF_PIXEL_FOR_NN,
  AT_TF_CROP_AND_RESIZE
} coordinates_t;
typedef enum { ROUND_PREFER_FLOOR, ROUND_PREFER_CEIL, ROUND_FLOOR, ROUND_CEIL } rounding_t;

typedef struct resize_t {
  resize_mode_t mode;
  coordinates_t coordinates;
  rounding_t nearest;
  double cubic_a, extrapolation;
  bool antialias, exclude_outside, crop;
  // Per dim of x.
  bool resized[ONNX_MAX_RANK];
  double scale[ONNX_MAX_RANK], start[ONNX_MAX_RANK], end[ONNX_MAX_RANK];
  int64_t in[ONNX_MAX_RANK], out[ONNX_MAX_RANK];
  onnx_dim_t to[ONNX_MAX_RANK];  // the result's size where it or the input's is no constant; the scale may then be 0
} resize_t;

// x resized along dimension d. NULL after a diagnostic.
ir_value_t* onnx_resize_any(onnx_node_t* n, ir_value_t* x, int32_t d, const resize_t* r);
// floor(size * scale)
onnx_dim_t onnx_scaled_dim(onnx_node_t* n, onnx_dim_t size, double scale);

#endif  // IREE_C_IMPORT_ONNX_RESIZE_H_
