// A product that is only read transposed is made of its operands in the other order, as gradients of weights are: the
// kernel stores its rows as they lie.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --compile-to=flow %s | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=values --expected_output=i32=0 --expected_output=i32=14400
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-hal-dump-executable-sources-to=%t.kernels %s -o %t.vmfb
// RUN: cat %t.kernels/*gradient*.mlir | FileCheck --check-prefix=KERNEL %s

// CHECK-LABEL: func.func @gradient
// CHECK: graph.contract{{.*}}-> tensor<128x256xf32>
// CHECK-NOT: tensor<128x256xf32>) -> tensor<256x128xf32>
// KERNEL: kernel.func @gradient
// KERNEL-NOT: kernel.scatter
func.func @gradient(%g: tensor<64x256xf32>, %x: tensor<64x128xf32>) -> tensor<128x256xf32> {
  %0 = stablehlo.dot_general %g, %x, contracting_dims = [0] x [0] : (tensor<64x256xf32>, tensor<64x128xf32>) -> tensor<256x128xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<256x128xf32>) -> tensor<128x256xf32>
  return %1 : tensor<128x256xf32>
}

// Bytes without a sign by bytes with one: which is which stays with the operand; batches stay in front. Row r and column
// c of a batch are 8 * 200 * (c - 10).
func.func @values() -> (tensor<i32>, tensor<i32>) {
  %u = util.unfoldable_constant dense<200> : tensor<2x8x16xui8>
  %i = stablehlo.iota dim = 2 : tensor<2x8x20xi8>
  %ten = stablehlo.constant dense<10> : tensor<2x8x20xi8>
  %d = stablehlo.subtract %i, %ten : tensor<2x8x20xi8>
  %s = util.optimization_barrier %d : tensor<2x8x20xi8>
  %0 = stablehlo.dot_general %s, %u, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x8x20xi8>, tensor<2x8x16xui8>) -> tensor<2x20x16xi32>
  %1 = stablehlo.transpose %0, dims = [0, 2, 1] : (tensor<2x20x16xi32>) -> tensor<2x16x20xi32>
  %c = stablehlo.iota dim = 2 : tensor<2x16x20xi32>
  %by = stablehlo.constant dense<1600> : tensor<2x16x20xi32>
  %from = stablehlo.constant dense<10> : tensor<2x16x20xi32>
  %2 = stablehlo.subtract %c, %from : tensor<2x16x20xi32>
  %3 = stablehlo.multiply %2, %by : tensor<2x16x20xi32>
  %4 = stablehlo.subtract %1, %3 : tensor<2x16x20xi32>
  %5 = stablehlo.abs %4 : tensor<2x16x20xi32>
  %least = stablehlo.constant dense<-2147483648> : tensor<i32>
  %6 = stablehlo.reduce(%5 init: %least) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x16x20xi32>, tensor<i32>) -> tensor<i32>
  %7 = stablehlo.reduce(%1 init: %least) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x16x20xi32>, tensor<i32>) -> tensor<i32>
  return %6, %7 : tensor<i32>, tensor<i32>
}
