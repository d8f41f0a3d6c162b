// A few of a long line are found by one sweep over it on CPUs; other devices sort the line in rounds that all can
// share. Longer lists are sorted everywhere: blocks, then rounds that
// merge neighbours, as many as the host finds where only it knows the length. A window over much is one dimension after
// the other.
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
func.func @many(%x: tensor<2x2000xf32>) -> tensor<2x1025xf32> {
  %0, %1 = "graph.top_k"(%x) <{axis = 1 : i64, k = 1025 : i64}> : (tensor<2x2000xf32>) -> (tensor<2x1025xf32>, tensor<2x1025xi64>)
  return %0 : tensor<2x1025xf32>
}

// CHECK-LABEL: func.func @rounds
// CHECK: "graph.sort"(%arg0){{.*}}block = 64 : i64
// CHECK: "graph.sort"{{.*}}sorted = 64 : i64
// CHECK: "graph.sort"{{.*}}sorted = 128 : i64
// CHECK: "graph.sort"{{.*}}sorted = 256 : i64
// CHECK-NOT: "graph.sort"
func.func @rounds(%x: tensor<?x300xf32>) -> tensor<?x300xf32> {
  %0 = "graph.sort"(%x) <{axis = 1 : i64, keys = 1 : i64, stable}> : (tensor<?x300xf32>) -> tensor<?x300xf32>
  return %0 : tensor<?x300xf32>
}

// CHECK-LABEL: func.func @any_length
// CHECK: %[[N:.*]] = "graph.dim"(%arg0) <{index = 0 : i64}>
// CHECK: %[[B:.*]]:2 = "graph.sort"(%arg0, %arg1){{.*}}block = 64 : i64
// CHECK: %[[RUN:.*]] = "graph.constant"() <{value = 64 : index}>
// CHECK: "graph.while"(%[[B]]#0, %[[B]]#1, %[[RUN]])
// CHECK: "graph.lt"(%{{.*}}, %[[N]])
// CHECK: "graph.sort"(%{{.*}}, %{{.*}}, %{{.*}}){{.*}}(tensor<?xf32>, tensor<?xi32>, index)
func.func @any_length(%x: tensor<?xf32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %0, %1 = "graph.sort"(%x, %y) <{axis = 0 : i64, keys = 1 : i64, stable}> : (tensor<?xf32>, tensor<?xi32>) -> (tensor<?xf32>, tensor<?xi32>)
  return %1 : tensor<?xi32>
}

// CHECK-LABEL: func.func @window
// CHECK: %[[X:.*]] = "graph.window"(%arg0) {{.*}}sizes = array<i64: 1, 5, 1>{{.*}} -> tensor<2x5x9xf32>
// CHECK: "graph.window"(%[[X]]) {{.*}}sizes = array<i64: 1, 1, 4>{{.*}} -> tensor<2x5x7xf32>
func.func @window(%x: tensor<2x9x9xf32>) -> tensor<2x5x7xf32> {
  %0 = "graph.window"(%x) <{base_dilations = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, kind = "max", pad_high = array<i64: 0, 2, 1>, pad_low = array<i64: 0, 2, 0>, sizes = array<i64: 1, 5, 4>, strides = array<i64: 1, 2, 1>}> : (tensor<2x9x9xf32>) -> tensor<2x5x7xf32>
  return %0 : tensor<2x5x7xf32>
}
