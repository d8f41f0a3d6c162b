// CPUs: lines side by side have a vector's lane each; squares are turned in registers, whatever the sizes.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=haswell --compile-to=executable-configurations %s -o - | FileCheck %s

// The list is carried in registers; where no lane goes before its last entry, nothing else is done.
// CHECK-LABEL: kernel.func @top_dispatch_0_top_k
// CHECK: kernel.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xi32>, vector<8xi32>)
// CHECK: kernel.reduce or
// CHECK: kernel.if
// CHECK: kernel.yield
// CHECK: kernel.store {{.*}}vector<8xf32>
// CHECK: kernel.return
func.func @top(%x: tensor<100x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xi32>) {
  %0:2 = "graph.top_k"(%x) <{axis = 0 : i64, k = 2 : i64}> : (tensor<100x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xi32>)
  return %0#0, %0#1 : tensor<2x64xf32>, tensor<2x64xi32>
}

// Along the last dimension a vector of which nothing gets into the list is passed over; else its elements are looked at
// one by one.
// CHECK-LABEL: kernel.func @line_dispatch_0_top_k
// CHECK-NOT: kernel.alloc
// CHECK: kernel.for {{.*}} -> (f32, f32, i32, i32)
// CHECK: kernel.load {{.*}}vector<8xf32>
// CHECK: kernel.reduce or
// CHECK: kernel.if
// CHECK: kernel.for {{.*}} -> (f32, f32, i32, i32)
// CHECK: kernel.for {{.*}} -> (f32, f32, i32, i32)
// CHECK: kernel.return
func.func @line(%x: tensor<64x100xf32>) -> (tensor<64x2xf32>, tensor<64x2xi32>) {
  %0:2 = "graph.top_k"(%x) <{axis = 1 : i64, k = 2 : i64}> : (tensor<64x100xf32>) -> (tensor<64x2xf32>, tensor<64x2xi32>)
  return %0#0, %0#1 : tensor<64x2xf32>, tensor<64x2xi32>
}

// Squares of eight where both sizes are at least that, the last ones ending with them; else one by one.
// CHECK-LABEL: kernel.func @turn_dispatch_0
// CHECK: kernel.if
// CHECK: kernel.load {{.*}}vector<8xf32>
// CHECK: kernel.shuffle
// CHECK: kernel.store {{.*}}vector<8xf32>
// CHECK: kernel.for
// CHECK: kernel.for
// CHECK: kernel.store {{.*}}f32, memref<?xf32>
// CHECK: kernel.return
func.func @turn(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = "graph.transpose"(%x) <{perm = array<i64: 1, 0>}> : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
