// A transpose on a CPU turns squares in registers: one after the other where the lines that are read stay in a cache
// until the next squares of them come, else the squares of four vectors of a line at once.
// RUN: iree-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=haswell --compile-to=executable-sources %s -o - | FileCheck %s

// CHECK-LABEL: kernel.func @small_
// CHECK: kernel.for
// CHECK-COUNT-8: kernel.load %arg0{{.*}} -> vector<8xf32>
// CHECK-NOT: kernel.load
// CHECK-COUNT-8: kernel.store {{.*}}vector<8xf32>
// CHECK-NOT: kernel.store
// CHECK: return
func.func @small(%x: tensor<128x64xf32>) -> tensor<64x128xf32> {
  %0 = "graph.transpose"(%x) <{perm = array<i64: 1, 0>}> : (tensor<128x64xf32>) -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// CHECK-LABEL: kernel.func @tall_
// CHECK: kernel.for
// CHECK-COUNT-32: kernel.load %arg0{{.*}} -> vector<8xf32>
// CHECK-COUNT-8: kernel.store {{.*}}vector<8xf32>
// CHECK-NOT: kernel.load
// CHECK: return
func.func @tall(%x: tensor<1x112x112x64xf32>) -> tensor<1x64x112x112xf32> {
  %0 = "graph.transpose"(%x) <{perm = array<i64: 0, 3, 1, 2>}> : (tensor<1x112x112x64xf32>) -> tensor<1x64x112x112xf32>
  return %0 : tensor<1x64x112x112xf32>
}
