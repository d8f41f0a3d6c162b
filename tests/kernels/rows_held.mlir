// On GPUs a row that fits in the registers of a subgroup, or of a workgroup, is read once: softmax by vectors of 16 bytes.
// Of a longer row the beginning is held, and the rest a loop in each sweep. A row whose length is known at run time only
// is read by each sweep.
//
// RUN: iree-compile --iree-hal-target-device=cuda --iree-cuda-target=sm_90 --compile-to=executable-configurations %s -o - | FileCheck %s

// CHECK-LABEL: kernel.func @short_dispatch_0
// CHECK-COUNT-8: kernel.load %{{.*}} {align = 16 : i64} : (memref<?xf32>, index) -> vector<4xf32>
// CHECK-NOT: kernel.load
// CHECK: kernel.subgroup_shuffle xor
// CHECK-COUNT-8: kernel.exp
// CHECK-NOT: kernel.exp
// CHECK-NOT: kernel.load
// CHECK-COUNT-8: kernel.store
// CHECK: kernel.return
func.func @short(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %0 = "graph.reduce"(%x) <{dims = array<i64: 1>, kind = "max"}> : (tensor<4096x1024xf32>) -> tensor<4096xf32>
  %1 = "graph.broadcast"(%0) <{dims = array<i64: 0>}> : (tensor<4096xf32>) -> tensor<4096x1024xf32>
  %2 = "graph.sub"(%x, %1) : (tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %3 = "graph.exp"(%2) : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %4 = "graph.reduce"(%3) <{dims = array<i64: 1>, kind = "add"}> : (tensor<4096x1024xf32>) -> tensor<4096xf32>
  %5 = "graph.broadcast"(%4) <{dims = array<i64: 0>}> : (tensor<4096xf32>) -> tensor<4096x1024xf32>
  %6 = "graph.div"(%3, %5) : (tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  return %6 : tensor<4096x1024xf32>
}

// 8193 elements among 512 threads: 17 pieces of one, of which the last one is there for the first thread.
// CHECK-LABEL: kernel.func @odd_dispatch_0
// CHECK-SAME: workgroup_size = array<i64: 512, 1, 1>
// CHECK-COUNT-17: kernel.load %arg0
// CHECK-NOT: kernel.load %arg0
// CHECK: kernel.return
func.func @odd(%x: tensor<2048x8193xf16>) -> tensor<2048x8193xf16> {
  %0 = "graph.cast"(%x) : (tensor<2048x8193xf16>) -> tensor<2048x8193xf32>
  %1 = "graph.mul"(%0, %0) : (tensor<2048x8193xf32>, tensor<2048x8193xf32>) -> tensor<2048x8193xf32>
  %2 = "graph.reduce"(%1) <{dims = array<i64: 1>, kind = "add"}> : (tensor<2048x8193xf32>) -> tensor<2048xf32>
  %3 = "graph.broadcast"(%2) <{dims = array<i64: 0>}> : (tensor<2048xf32>) -> tensor<2048x8193xf32>
  %4 = "graph.div"(%0, %3) : (tensor<2048x8193xf32>, tensor<2048x8193xf32>) -> tensor<2048x8193xf32>
  %5 = "graph.cast"(%4) : (tensor<2048x8193xf32>) -> tensor<2048x8193xf16>
  return %5 : tensor<2048x8193xf16>
}

// CHECK-LABEL: kernel.func @long_dispatch_0
// CHECK-SAME: workgroup_size = array<i64: 512, 1, 1>
// CHECK-COUNT-16: kernel.load %arg0
// CHECK-NOT: kernel.load %arg0
// CHECK: kernel.for
// CHECK: kernel.load %arg0
// CHECK: kernel.barrier
// CHECK: kernel.for
// CHECK: kernel.load %arg0
// CHECK: kernel.return
func.func @long(%x: tensor<2048x65536xf32>) -> tensor<2048x65536xf32> {
  %0 = "graph.reduce"(%x) <{dims = array<i64: 1>, kind = "add"}> : (tensor<2048x65536xf32>) -> tensor<2048xf32>
  %1 = "graph.broadcast"(%0) <{dims = array<i64: 0>}> : (tensor<2048xf32>) -> tensor<2048x65536xf32>
  %2 = "graph.div"(%x, %1) : (tensor<2048x65536xf32>, tensor<2048x65536xf32>) -> tensor<2048x65536xf32>
  return %2 : tensor<2048x65536xf32>
}

// Half as many bytes leave less time to compute: all quotients are products with one reciprocal, and what is missing.
// CHECK-LABEL: kernel.func @half_dispatch_0
// CHECK: kernel.div %cst{{.*}} : f32
// CHECK: kernel.if
// CHECK: kernel.neg %{{.*}} : vector<8xf32>
// CHECK: kernel.mul %{{.*}} : vector<8xf32>
// CHECK-COUNT-2: kernel.fma %{{.*}} : vector<8xf32>
// CHECK: } else {
// CHECK: kernel.div %{{.*}} : vector<8xf32>
// CHECK: kernel.return
func.func @half(%x: tensor<4096x1024xf16>) -> tensor<4096x1024xf16> {
  %0 = "graph.cast"(%x) : (tensor<4096x1024xf16>) -> tensor<4096x1024xf32>
  %1 = "graph.exp"(%0) : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %2 = "graph.reduce"(%1) <{dims = array<i64: 1>, kind = "add"}> : (tensor<4096x1024xf32>) -> tensor<4096xf32>
  %3 = "graph.broadcast"(%2) <{dims = array<i64: 0>}> : (tensor<4096xf32>) -> tensor<4096x1024xf32>
  %4 = "graph.div"(%1, %3) : (tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %5 = "graph.cast"(%4) : (tensor<4096x1024xf32>) -> tensor<4096x1024xf16>
  return %5 : tensor<4096x1024xf16>
}

// What a transpose reads too is not held: it is another row's.
// CHECK-LABEL: kernel.func @turned_dispatch_0
// CHECK: kernel.subgroup_shuffle
// CHECK: kernel.load %arg0
// CHECK: kernel.return
func.func @turned(%x: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %0 = "graph.reduce"(%x) <{dims = array<i64: 1>, kind = "add"}> : (tensor<128x128xf32>) -> tensor<128xf32>
  %1 = "graph.broadcast"(%0) <{dims = array<i64: 0>}> : (tensor<128xf32>) -> tensor<128x128xf32>
  %2 = "graph.transpose"(%x) <{perm = array<i64: 1, 0>}> : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %3 = "graph.div"(%2, %1) : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  return %3 : tensor<128x128xf32>
}
