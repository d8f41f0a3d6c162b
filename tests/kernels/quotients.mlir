// A softmax on CPUs divides by its sum once: in the last sweep the reciprocal is multiplied and what is missing added,
// which rounds as a division does; only sums that are out of all bounds are divided by, in a sweep of their own.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=haswell --compile-to=executable-configurations %s -o - | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=softmax --input=2x16xf32=[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0][1,2,nan,0,0,0,0,0,0,0,0,0,0,0,0,0] | FileCheck --check-prefix=EVEN %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=other --input=2x9xf32=[1e30,1e30,1e30,1e30,1e30,1e30,1e30,1e30,1e30][1e-30,0,0,0,0,0,0,0,0] | FileCheck --check-prefix=OTHER %s

// CHECK-LABEL: kernel.func @softmax_dispatch_0
// CHECK: kernel.exp
// CHECK: kernel.ge
// CHECK: kernel.lt
// CHECK: kernel.div {{.*}} : f32
// CHECK: kernel.if
// CHECK-NEXT: kernel.for
// CHECK-NOT: kernel.if
// CHECK: kernel.mul {{.*}} : vector<8xf32>
// CHECK: kernel.fma {{.*}} : vector<8xf32>
// CHECK: kernel.fma {{.*}} : vector<8xf32>
// CHECK: } else {
// CHECK-NEXT: kernel.for
// CHECK: kernel.div {{.*}} : vector<8xf32>
// EVEN: [0.0625 0.0625 0.0625 {{.*}}0.0625][{{-?(nan|NAN)}} {{-?(nan|NAN)}}
func.func @softmax(%x: tensor<2x16xf32>) -> tensor<2x16xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<2x16xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<2xf32>) -> tensor<2x16xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<2x16xf32>
  %3 = stablehlo.exponential %2 : tensor<2x16xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x16xf32>, tensor<f32>) -> tensor<2xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<2xf32>) -> tensor<2x16xf32>
  %6 = stablehlo.divide %3, %5 : tensor<2x16xf32>
  return %6 : tensor<2x16xf32>
}

// Numbers themselves by their sum, which may be large or small.
// OTHER: [0.111111 0.111111 0.111111 0.111111 0.111111 0.111111 0.111111 0.111111 0.111111][1 0 0 0 0 0 0 0 0]
func.func @other(%x: tensor<2x9xf32>) -> tensor<2x9xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x9xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<2xf32>) -> tensor<2x9xf32>
  %2 = stablehlo.divide %x, %1 : tensor<2x9xf32>
  return %2 : tensor<2x9xf32>
}
