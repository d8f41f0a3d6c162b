// Places that are tensors, as StableHLO's loops have them: each round updates the row that its counter says.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --input=4x2xf32=1,2,3,4,5,6,7,8 | FileCheck %s

// CHECK: 4x2xf32=[2 4][6 8][10 12][14 16]
func.func @main(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<4x2xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %all = %zeros) : tensor<i32>, tensor<4x2xf32>
    cond {
      %four = stablehlo.constant dense<4> : tensor<i32>
      %0 = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
    } do {
      %c0 = stablehlo.constant dense<0> : tensor<i32>
      %c1 = stablehlo.constant dense<1> : tensor<i32>
      %row = stablehlo.dynamic_slice %x, %i, %c0, sizes = [1, 2] : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
      %twice = stablehlo.add %row, %row : tensor<1x2xf32>
      %more = stablehlo.dynamic_update_slice %all, %twice, %i, %c0 : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
      %next = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %next, %more : tensor<i32>, tensor<4x2xf32>
    }
  return %r#1 : tensor<4x2xf32>
}
