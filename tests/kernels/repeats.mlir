// Elements that are there several times one after the other are loaded once and spread over lanes, masked where any of
// their lanes is; a number of times that divides no vector takes them one by one.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=haswell --compile-to=executable-configurations %s -o - | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=skylake-avx512 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefix=MASK

// CHECK-LABEL: kernel.func @twice_dispatch_0
// CHECK: kernel.for
// CHECK: kernel.load %arg0{{.*}} -> vector<4xf32>
// CHECK: kernel.shuffle {{.*}}0, 0, 1, 1, 2, 2, 3, 3{{.*}}vector<8xf32>
// CHECK-NOT: kernel.gather
// CHECK: kernel.return
func.func @twice(%x: tensor<3x32xf32>) -> tensor<3x64xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<3x32xf32>) -> tensor<3x32x2xf32>
  %1 = stablehlo.reshape %0 : (tensor<3x32x2xf32>) -> tensor<3x64xf32>
  return %1 : tensor<3x64xf32>
}

// MASK-LABEL: kernel.func @rest_dispatch_0
// MASK: kernel.load %arg0{{.*}} -> vector<8xf32>
// MASK: kernel.shuffle {{.*}}0, 2, 4, 6, 8, 10, 12, 14
// MASK: kernel.or {{.*}}vector<8xi1>
// MASK: kernel.load %arg0{{.*}}vector<8xi1>
// MASK-NOT: kernel.gather
// MASK: kernel.return
func.func @rest(%x: tensor<3x49xf32>, %y: tensor<3x98xf32>) -> tensor<3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<3x49xf32>) -> tensor<3x49x2xf32>
  %1 = stablehlo.reshape %0 : (tensor<3x49x2xf32>) -> tensor<3x98xf32>
  %2 = stablehlo.multiply %1, %y : tensor<3x98xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<3x98xf32>, tensor<f32>) -> tensor<3xf32>
  return %3 : tensor<3xf32>
}

// CHECK-LABEL: kernel.func @thrice_dispatch_0
// CHECK: kernel.gather
// CHECK: kernel.return
func.func @thrice(%x: tensor<3x32xf32>) -> tensor<3x96xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<3x32xf32>) -> tensor<3x32x3xf32>
  %1 = stablehlo.reshape %0 : (tensor<3x32x3xf32>) -> tensor<3x96xf32>
  return %1 : tensor<3x96xf32>
}
