// Rows of a product that are split again by a size known at run time: results go where the rows are, and no remainder
// is taken for each of them.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=znver4 --compile-to=executable-configurations %s -o - | FileCheck %s
// CHECK: kernel.func @split_dispatch_0
// CHECK-NOT: kernel.remu %{{[0-9]+}}, %arg
// CHECK: kernel.return
func.func @split(%x: tensor<4x?x64xf32>) -> tensor<4x?x32xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<64x32xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<4x?x64xf32>, tensor<64x32xf32>) -> tensor<4x?x32xf32>
  return %0 : tensor<4x?x32xf32>
}
