// What a step makes beside the program is printed with it.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx --mlir-print-ir-after=build-kernels %s -o /dev/null 2>&1 | FileCheck %s
// CHECK: IR Dump After build-kernels
// CHECK: graph.dispatch
// CHECK: IR Dump After build-kernels
// CHECK: kernel.func @main_dispatch_0_
// CHECK: kernel.abs
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.abs %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
