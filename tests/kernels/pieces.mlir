// Vectors do not cross from one place that elements come from to another: what lies in between is read in runs, only
// the border of a reflection by a gather.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=znver4 --compile-to=executable-configurations %s -o - | FileCheck %s
// CHECK-LABEL: kernel.func @tile_dispatch_0
// CHECK-NOT: kernel.gather
// CHECK: kernel.return
func.func @tile(%x: tensor<40x37xf32>) -> tensor<40x111xf32> {
  %0 = "graph.reshape"(%x) : (tensor<40x37xf32>) -> tensor<40x1x37xf32>
  %1 = "graph.broadcast"(%0) <{dims = array<i64: 0, 1, 2>}> : (tensor<40x1x37xf32>) -> tensor<40x3x37xf32>
  %2 = "graph.reshape"(%1) : (tensor<40x3x37xf32>) -> tensor<40x111xf32>
  return %2 : tensor<40x111xf32>
}

// CHECK-LABEL: kernel.func @parts_dispatch_0
// CHECK-NOT: kernel.gather
// CHECK-NOT: kernel.if
// CHECK: kernel.return
func.func @parts(%x: tensor<40x37xf32>, %y: tensor<40x5xf32>, %z: tensor<40x37xf32>) -> tensor<40x79xf32> {
  %0 = "graph.concat"(%x, %y, %z) <{axis = 1 : i64}> : (tensor<40x37xf32>, tensor<40x5xf32>, tensor<40x37xf32>) -> tensor<40x79xf32>
  return %0 : tensor<40x79xf32>
}

// CHECK-LABEL: kernel.func @reflect_dispatch_0
// CHECK: kernel.gather
// CHECK: kernel.for
// CHECK-NOT: kernel.gather
// CHECK: }
// CHECK: kernel.return
func.func @reflect(%x: tensor<40x99xf32>) -> tensor<40x105xf32> {
  %c = "graph.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "graph.pad"(%x, %c) <{high = array<i64: 0, 3>, interior = array<i64: 0, 0>, low = array<i64: 0, 3>, mode = "reflect"}> : (tensor<40x99xf32>, tensor<f32>) -> tensor<40x105xf32>
  return %0 : tensor<40x105xf32>
}

// A transpose turns squares in registers, also with what comes before and behind it; every third element is picked out
// of runs.
// CHECK-LABEL: kernel.func @turn_dispatch_0
// CHECK-NOT: kernel.gather
// CHECK: kernel.shuffle
// CHECK-NOT: kernel.gather
// CHECK: kernel.return
func.func @turn(%x: tensor<37x53xf32>, %y: tensor<53x37xf32>) -> tensor<53x37xf32> {
  %0 = "graph.neg"(%x) : (tensor<37x53xf32>) -> tensor<37x53xf32>
  %1 = "graph.transpose"(%0) <{perm = array<i64: 1, 0>}> : (tensor<37x53xf32>) -> tensor<53x37xf32>
  %2 = "graph.add"(%1, %y) : (tensor<53x37xf32>, tensor<53x37xf32>) -> tensor<53x37xf32>
  return %2 : tensor<53x37xf32>
}

// CHECK-LABEL: kernel.func @third_dispatch_0
// CHECK-NOT: kernel.gather
// CHECK: kernel.return
func.func @third(%x: tensor<40x300xf32>) -> tensor<40x100xf32> {
  %0 = "graph.slice"(%x) <{offsets = array<i64: 0, 1>, strides = array<i64: 1, 3>}> : (tensor<40x300xf32>) -> tensor<40x100xf32>
  return %0 : tensor<40x100xf32>
}

// The best of a line is found by vectors along it.
// CHECK-LABEL: kernel.func @best_dispatch_0
// CHECK-NOT: kernel.gather
// CHECK: kernel.gt {{.*}}vector<16xf32>
// CHECK: kernel.return
func.func @best(%x: tensor<40x300xf32>) -> tensor<40xi64> {
  %0:2 = "graph.arg_reduce"(%x) <{axis = 1 : i64, kind = "max"}> : (tensor<40x300xf32>) -> (tensor<40xf32>, tensor<40xi64>)
  return %0#1 : tensor<40xi64>
}

// Windows that lie inside are read without conditions: one for the row, none for each element.
// CHECK-LABEL: kernel.func @windows_dispatch_0
// CHECK: kernel.if
// CHECK: kernel.for {{.*}}step %c16
// CHECK-NOT: kernel.if
// CHECK-NOT: ], %{{[0-9]+}},
// CHECK: }
// CHECK: kernel.return
func.func @windows(%x: tensor<40x30x99xf32>) -> tensor<40x30x99xf32> {
  %0 = "graph.window"(%x) <{base_dilations = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, kind = "max", pad_high = array<i64: 0, 1, 1>, pad_low = array<i64: 0, 1, 1>, sizes = array<i64: 1, 3, 3>, strides = array<i64: 1, 1, 1>}> : (tensor<40x30x99xf32>) -> tensor<40x30x99xf32>
  return %0 : tensor<40x30x99xf32>
}
