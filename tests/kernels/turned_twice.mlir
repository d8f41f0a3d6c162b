// What is turned in registers has its elements at the places of one square: where the result also reads it transposed, at
// others, each element is computed where it is read.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=both --input=4x4xf32=[0,1,2,3][4,5,6,7][8,9,10,11][12,13,14,15] --input=4xf32=1,2,3,4 --expected_output=4x4xf32=[0,9,26,51][9,20,39,66][26,39,60,89][51,66,89,120]
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --compile-to=flow %s | FileCheck %s

// CHECK-COUNT-1: graph.dispatch
// CHECK-NOT: graph.dispatch
func.func @both(%x: tensor<4x4xf32>, %h: tensor<4xf32>) -> tensor<4x4xf32> {
  %0 = "graph.transpose"(%x) <{perm = array<i64: 1, 0>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "graph.broadcast"(%h) <{dims = array<i64: 1>}> : (tensor<4xf32>) -> tensor<4x4xf32>
  %2 = "graph.mul"(%1, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = "graph.transpose"(%2) <{perm = array<i64: 1, 0>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = "graph.add"(%2, %3) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}
