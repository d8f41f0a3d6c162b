// A few of a long line are found by one sweep over it on CPUs; other devices sort the line in rounds that all can
// share. Longer lists are sorted everywhere. A window over much is one dimension after the other.
//
// RUN: iree-opt --pass=expand %s | FileCheck %s
// RUN: iree-opt --pass=expand-top-k %s | FileCheck %s --check-prefix=ROUNDS
// CHECK-LABEL: func.func @few
// CHECK: "graph.top_k"
// ROUNDS-LABEL: func.func @few
// ROUNDS-NOT: "graph.top_k"
// ROUNDS: "graph.sort"
func.func @few(%x: tensor<2x1000xf32>) -> tensor<2x128xf32> {
  %0, %1 = "graph.top_k"(%x) <{axis = 1 : i64, k = 128 : i64}> : (tensor<2x1000xf32>) -> (tensor<2x128xf32>, tensor<2x128xi64>)
  return %0 : tensor<2x128xf32>
}

// CHECK-LABEL: func.func @many
// CHECK: "graph.sort"
func.func @many(%x: tensor<2x1000xf32>) -> tensor<2x129xf32> {
  %0, %1 = "graph.top_k"(%x) <{axis = 1 : i64, k = 129 : i64}> : (tensor<2x1000xf32>) -> (tensor<2x129xf32>, tensor<2x129xi64>)
  return %0 : tensor<2x129xf32>
}

// CHECK-LABEL: func.func @window
// CHECK: %[[X:.*]] = "graph.window"(%arg0) {{.*}}sizes = array<i64: 1, 5, 1>{{.*}} -> tensor<2x5x9xf32>
// CHECK: "graph.window"(%[[X]]) {{.*}}sizes = array<i64: 1, 1, 4>{{.*}} -> tensor<2x5x7xf32>
func.func @window(%x: tensor<2x9x9xf32>) -> tensor<2x5x7xf32> {
  %0 = "graph.window"(%x) <{base_dilations = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, kind = "max", pad_high = array<i64: 0, 2, 1>, pad_low = array<i64: 0, 2, 0>, sizes = array<i64: 1, 5, 4>, strides = array<i64: 1, 2, 1>}> : (tensor<2x9x9xf32>) -> tensor<2x5x7xf32>
  return %0 : tensor<2x5x7xf32>
}
