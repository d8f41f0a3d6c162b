// A transpose on a CPU turns squares in registers: one after the other where a cache holds all that is read and stored,
// else the squares of two vectors of a line at once, and where the sizes are known at run time only.
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
// CHECK-COUNT-16: kernel.load %arg0{{.*}} -> vector<8xf32>
// CHECK-COUNT-8: kernel.store {{.*}}vector<8xf32>
// CHECK-NOT: kernel.load
// CHECK: return
func.func @tall(%x: tensor<1x112x112x64xf32>) -> tensor<1x64x112x112xf32> {
  %0 = "graph.transpose"(%x) <{perm = array<i64: 0, 3, 1, 2>}> : (tensor<1x112x112x64xf32>) -> tensor<1x64x112x112xf32>
  return %0 : tensor<1x64x112x112xf32>
}

// Lanes are zipped within 16 bytes, which then change places; what is stored next comes near. The last square ends with
// the lines, so that one of 126 is made twice.
// CHECK-LABEL: kernel.func @uneven_
// CHECK-COUNT-8: kernel.load %arg0{{.*}} -> vector<8xf32>
// CHECK: kernel.shuffle {{.*}}0, 8, 1, 9, 4, 12, 5, 13
// CHECK: kernel.shuffle {{.*}}2, 10, 3, 11, 6, 14, 7, 15
// CHECK: kernel.shuffle {{.*}}0, 1, 2, 3, 8, 9, 10, 11
// CHECK: kernel.shuffle {{.*}}4, 5, 6, 7, 12, 13, 14, 15
// CHECK: kernel.prefetch %arg1{{.*}}write
// CHECK: kernel.store {{.*}}vector<8xf32>
// CHECK-COUNT-8: kernel.load %arg0{{.*}} -> vector<8xf32>
func.func @uneven(%x: tensor<1000x1000xf32>) -> tensor<1000x1000xf32> {
  %0 = "graph.transpose"(%x) <{perm = array<i64: 1, 0>}> : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  return %0 : tensor<1000x1000xf32>
}

// CHECK-LABEL: kernel.func @halves_
// CHECK-COUNT-8: kernel.load %arg0{{.*}} -> vector<8xf16>
// CHECK-COUNT-8: kernel.store {{.*}}vector<8xf16>
func.func @halves(%x: tensor<100x100xf16>) -> tensor<100x100xf16> {
  %0 = "graph.transpose"(%x) <{perm = array<i64: 1, 0>}> : (tensor<100x100xf16>) -> tensor<100x100xf16>
  return %0 : tensor<100x100xf16>
}

// CHECK-LABEL: kernel.func @open_
// CHECK-COUNT-16: kernel.load %arg0{{.*}} -> vector<8xf32>
// CHECK: kernel.store {{.*}}vector<8xf32>
func.func @open(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = "graph.transpose"(%x) <{perm = array<i64: 1, 0>}> : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
