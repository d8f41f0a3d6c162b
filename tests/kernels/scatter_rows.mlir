// A CPU copies the operand of a scatter by vectors, and an update that is a whole row, whose index is read and checked
// once; single elements come one by one.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=haswell --compile-to=executable-configurations %s -o - | FileCheck %s

// CHECK-LABEL: kernel.func @rows_dispatch_0
// CHECK: kernel.load %arg0{{.*}} -> vector<8xf32>
// CHECK: kernel.for
// CHECK: kernel.load %arg1
// CHECK: kernel.if
// CHECK-NEXT: kernel.for
// CHECK: kernel.load %arg3{{.*}} -> vector<8xf32>
// CHECK: kernel.load %arg2{{.*}} -> vector<8xf32>
// CHECK: kernel.store {{.*}}vector<8xf32>
// CHECK: kernel.return
func.func @rows(%x: tensor<100x64xf32>, %i: tensor<30x1xi64>, %u: tensor<30x64xf32>) -> tensor<100x64xf32> {
  %0 = "graph.scatter"(%x, %i, %u) <{index_vector_dim = 1 : i64, indices_batch_dims = array<i64>, inserted_dims = array<i64: 0>, kind = "add", operand_batch_dims = array<i64>, scatter_dims_map = array<i64: 0>, update_window_dims = array<i64: 1>}> : (tensor<100x64xf32>, tensor<30x1xi64>, tensor<30x64xf32>) -> tensor<100x64xf32>
  return %0 : tensor<100x64xf32>
}

// CHECK-LABEL: kernel.func @elements_dispatch_0
// CHECK: kernel.load %arg0{{.*}} -> vector<8xf32>
// CHECK: kernel.load %arg2{{.*}} -> f32
// CHECK: kernel.return
func.func @elements(%x: tensor<100x64xf32>, %i: tensor<30x2xi64>, %u: tensor<30xf32>) -> tensor<100x64xf32> {
  %0 = "graph.scatter"(%x, %i, %u) <{index_vector_dim = 1 : i64, indices_batch_dims = array<i64>, inserted_dims = array<i64: 0, 1>, kind = "set", operand_batch_dims = array<i64>, scatter_dims_map = array<i64: 0, 1>, update_window_dims = array<i64>}> : (tensor<100x64xf32>, tensor<30x2xi64>, tensor<30xf32>) -> tensor<100x64xf32>
  return %0 : tensor<100x64xf32>
}
