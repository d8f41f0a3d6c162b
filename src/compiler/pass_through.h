// Tensors that a program without a device only passes through.
#ifndef IREE_C_COMPILER_PASS_THROUGH_H_
#define IREE_C_COMPILER_PASS_THROUGH_H_

#include "ir/ir.h"

// Arguments that are tensors and nothing but results of their function become the views that callers pass, which need
// no device:
//   func.func @f(%x: tensor<2xi32>) -> tensor<2xi32> { return %x }
//   => func.func @f(%x: !hal.buffer_view) -> !hal.buffer_view attributes {iree.abi.type = (tensor<2xi32>) -> ...}
void pass_through_views(ir_context_t* ctx, ir_op_t* module);

#endif  // IREE_C_COMPILER_PASS_THROUGH_H_
