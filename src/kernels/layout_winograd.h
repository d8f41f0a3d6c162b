// Weights of Winograd's convolution (passes/winograd.h, winograd.c): which convolutions take it, and what theirs look
// like in a region.
#ifndef IREE_C_KERNELS_LAYOUT_WINOGRAD_H_
#define IREE_C_KERNELS_LAYOUT_WINOGRAD_H_

#include "dialects/graph.h"
#include "kernels/device.h"
#include "passes/winograd.h"

// The form that a convolution by known weights should take, NULL: none, then `why`, unless NULL, is a part of a
// sentence.
const winograd_form_t* layout_winograd_choose(const device_info_t* device, const ir_op_t* op, const char** why);
// Outputs of a panel of weights.
int64_t layout_winograd_panel(const device_info_t* device, int64_t outputs);
// [3, 3, inputs, outputs] out of an argument with what constant_winograd made.
ir_value_t* layout_winograd_unpack(ir_builder_t* b, ir_value_t* arg, int64_t outputs);

// Finds that again.
typedef struct winograd_weights_t {
  ir_value_t* arg;  // [panels, side^2, inputs, panel]
  const winograd_form_t* form;
  int64_t inputs, outputs, panel;
} winograd_weights_t;
// Whether an op with such weights is one that a form computes.
bool layout_winograd_fits(const ir_op_t* op);
bool layout_winograd_read(const ir_op_t* op, winograd_weights_t* out);

#endif  // IREE_C_KERNELS_LAYOUT_WINOGRAD_H_
