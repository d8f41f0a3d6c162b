// A signature for callers that does not tell of the function is refused.
// RUN: not iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o /dev/null 2>&1 | FileCheck %s

// CHECK: error: 'func.func' op has an iree.abi.type whose arguments are not the function's
func.func @arguments(%a: tensor<4xf32>) -> tensor<4xf32> attributes {iree.abi.type = (i32) -> tensor<4xf32>} {
  %0 = "graph.neg"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: error: 'func.func' op has an iree.abi.type whose results are not the function's
func.func @results(%a: tensor<4xf32>) -> tensor<4xf32> attributes {iree.abi.type = (tensor<4xf32>) -> (tensor<4xf32>, i32)} {
  %0 = "graph.neg"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
