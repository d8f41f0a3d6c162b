// A device that is not there sends nothing.
// RUN: not iree-compile --compile-to=input %s 2>&1 | FileCheck %s
// CHECK: error: 'stablehlo.collective_permute' op with operands (tensor<2xf32>) is not supported: programs for one device are
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.collective_permute"(%a) {source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
