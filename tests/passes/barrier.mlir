// A barrier keeps what is before it and what is behind it in kernels of their own, and costs nothing else.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --compile-to=flow %s -o - | FileCheck %s
// CHECK-LABEL: func.func @main
// CHECK: graph.dispatch
// CHECK: graph.abs
// CHECK-NOT: graph.barrier
// CHECK: graph.dispatch
// CHECK: graph.neg
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input=3xf32=1,-2,3 --expected_output=3xf32=-1,-2,-3
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=constant --expected_output=2xi32=4,5
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = math.absf %x : tensor<3xf32>
  %1 = stablehlo.optimization_barrier %0 : tensor<3xf32>
  %2 = arith.negf %1 : tensor<3xf32>
  return %2 : tensor<3xf32>
}

func.func @constant() -> tensor<2xi32> {
  %0 = util.unfoldable_constant dense<[4, 5]> : tensor<2xi32>
  return %0 : tensor<2xi32>
}
