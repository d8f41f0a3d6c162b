// A window over open sizes: where all of it lies inside, vectors read without asking; that the last one of a row may
// overlap the one before spares a rest.
// RUN: iree-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=haswell --compile-to=executable-sources %s -o - | FileCheck %s

// CHECK-LABEL: kernel.func @pool_
// CHECK: kernel.if
// CHECK: kernel.for
// CHECK: %[[AT:.+]] = kernel.min
// CHECK-NOT: kernel.if
// CHECK-COUNT-9: kernel.load %arg0[%{{[^]]+}}] : (memref<?xf32>, index) -> vector<8xf32>
// CHECK-NOT: kernel.if
// CHECK: kernel.store {{.*}}vector<8xf32>
func.func @pool(%x: tensor<1x4x?x?xf32>) -> tensor<1x4x?x?xf32> {
  %0 = "graph.window"(%x) <{base_dilations = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1, 1, 1>, kind = "max", pad_high = array<i64: 0, 0, 1, 1>, pad_low = array<i64: 0, 0, 1, 1>, sizes = array<i64: 1, 1, 3, 3>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<1x4x?x?xf32>) -> tensor<1x4x?x?xf32>
  return %0 : tensor<1x4x?x?xf32>
}
