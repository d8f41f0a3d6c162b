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
  // Where something is known at run time only: `in` is IR_DYNAMIC, the scale 0 when the sizes give it, and these are
  // numbers in f32 (NULL: the one above is it).
  onnx_dim_t to[ONNX_MAX_RANK];
  ir_value_t *scale_at[ONNX_MAX_RANK], *start_at[ONNX_MAX_RANK], *end_at[ONNX_MAX_RANK];
} resize_t;

// x resized along dimension d. NULL after a diagnostic.
ir_value_t* onnx_resize_any(onnx_node_t* n, ir_value_t* x, int32_t d, const resize_t* r);
// Which places of the result lie inside of the input: booleans along dimension d.
ir_value_t* onnx_resize_inside(onnx_node_t* n, onnx_dim_t in, int32_t d, const resize_t* r);
// floor(size * scale), of the product in f32. False after a diagnostic.
bool onnx_scaled_dim(onnx_node_t* n, onnx_dim_t size, double scale, onnx_dim_t* out);
// floor(size * scale + offset), the scale being a number at run time; without an offset of the product in f32.
bool onnx_scaled_dim_at(onnx_node_t* n, onnx_dim_t size, ir_value_t* scale, double offset, onnx_dim_t* out);
// The least (or the largest) of sizes over the input's, in f64.
ir_value_t* onnx_common_scale(onnx_node_t* n, const int64_t* axes, const onnx_dim_t* sizes, uint32_t count,
                              bool largest);

#endif  // IREE_C_IMPORT_ONNX_RESIZE_H_
