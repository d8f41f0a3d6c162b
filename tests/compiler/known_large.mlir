// What comes of large rows that are made of nothing is computed when the program runs, not when it is compiled.
// RUN: iree-compile --compile-to=flow --iree-hal-target-backends=vmvx %s | FileCheck %s
// CHECK-LABEL: @large
// CHECK: graph.dispatch
// CHECK-LABEL: @small
// CHECK: dense<2147395600>
func.func @large() -> tensor<i32> {
  %0 = stablehlo.iota dim = 0 : tensor<2147483648xi32>
  %1 = stablehlo.multiply %0, %0 : tensor<2147483648xi32>
  %2 = stablehlo.constant dense<0> : tensor<i32>
  %3 = stablehlo.reduce(%1 init: %2) applies stablehlo.maximum across dimensions = [0] : (tensor<2147483648xi32>, tensor<i32>) -> tensor<i32>
  return %3 : tensor<i32>
}
func.func @small() -> tensor<i32> {
  %0 = stablehlo.iota dim = 0 : tensor<65536xi32>
  %1 = stablehlo.multiply %0, %0 : tensor<65536xi32>
  %2 = stablehlo.constant dense<0> : tensor<i32>
  %3 = stablehlo.reduce(%1 init: %2) applies stablehlo.maximum across dimensions = [0] : (tensor<65536xi32>, tensor<i32>) -> tensor<i32>
  return %3 : tensor<i32>
}
