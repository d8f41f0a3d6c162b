// Sums along rows where there are no masks: whole vectors, and what they leave of a row one by one into the first lane,
// whether the row's length is known or not.
// RUN: iree-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=haswell --compile-to=executable-sources %s -o - | FileCheck %s

// CHECK-LABEL: kernel.func @open_
// CHECK: kernel.for {{.*}}vector<8xf32>
// CHECK: kernel.load {{.*}} -> vector<8xf32>
// CHECK: %[[REST:.+]] = kernel.for {{.*}} -> (f32)
// CHECK: kernel.load {{.*}} -> f32
// CHECK: kernel.splat %[[REST]]
// CHECK: kernel.reduce
func.func @open(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %0 = "graph.reduce"(%x) <{dims = array<i64: 1>, kind = "add"}> : (tensor<?x?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: kernel.func @odd_
// CHECK: kernel.load {{.*}} -> vector<8xf32>
// CHECK: kernel.load {{.*}} -> f32
// CHECK: kernel.reduce
func.func @odd(%x: tensor<4x1001xf32>) -> tensor<4xf32> {
  %0 = "graph.reduce"(%x) <{dims = array<i64: 1>, kind = "add"}> : (tensor<4x1001xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
