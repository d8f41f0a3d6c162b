// Long lines with few results are taken apart for GPUs, so that more than a workgroup has something to do.
//
// RUN: iree-compile --iree-hal-target-device=hip --iree-hip-target=gfx1100 --compile-to=flow %s -o - | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --compile-to=flow %s -o - | FileCheck %s --check-prefix=CPU

// CHECK-LABEL: func.func @sum
// CHECK: "graph.reduce"{{.*}}(tensor<122x8197xf32>) -> tensor<122xf32>
// CHECK: "graph.reduce"{{.*}}(tensor<122xf32>) -> tensor<f32>
// CPU-LABEL: func.func @sum
// CPU-COUNT-1: "graph.dispatch"
// CPU-NOT: "graph.dispatch"
func.func @sum(%x: tensor<1000003xf32>) -> tensor<f32> {
  %0 = "graph.reduce"(%x) {dims = array<i64: 0>, kind = "add"} : (tensor<1000003xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CPUs have workers too.
// CPU-LABEL: func.func @longer
// CPU: "graph.reduce"{{.*}}(tensor<32x312500xf32>) -> tensor<32xf32>
func.func @longer(%x: tensor<10000000xf32>) -> tensor<f32> {
  %0 = "graph.reduce"(%x) {dims = array<i64: 0>, kind = "add"} : (tensor<10000000xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// Rows of enough results stay whole.
// CHECK-LABEL: func.func @rows
// CHECK-COUNT-1: "graph.dispatch"
// CHECK-NOT: "graph.dispatch"
func.func @rows(%x: tensor<512x4096xf32>) -> tensor<512xf32> {
  %0 = "graph.reduce"(%x) {dims = array<i64: 1>, kind = "add"} : (tensor<512x4096xf32>) -> tensor<512xf32>
  return %0 : tensor<512xf32>
}

// Narrow floats are added up as f32 across the parts.
// CHECK-LABEL: func.func @narrow
// CHECK: "graph.reduce"{{.*}}(tensor<4x8192xf32>) -> tensor<4xf32>
// CHECK: "graph.reduce"{{.*}}(tensor<4xf32>) -> tensor<f32>
func.func @narrow(%x: tensor<32768xf16>) -> tensor<f16> {
  %0 = "graph.reduce"(%x) {dims = array<i64: 0>, kind = "add"} : (tensor<32768xf16>) -> tensor<f16>
  return %0 : tensor<f16>
}

// CHECK-LABEL: func.func @unknown
// CHECK: "graph.reduce"{{.*}}(tensor<?x4096xf32>) -> tensor<4096xf32>
// CHECK: "graph.reduce"{{.*}}(tensor<4096xf32>) -> tensor<f32>
func.func @unknown(%x: tensor<?xf32>) -> tensor<f32> {
  %0 = "graph.reduce"(%x) {dims = array<i64: 0>, kind = "max"} : (tensor<?xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @place
// CHECK: "graph.arg_reduce"{{.*}} -> (tensor<?x197xf32>, tensor<?x197xi64>)
// CHECK: "graph.arg_reduce"{{.*}}(tensor<?x197xf32>) -> (tensor<?xf32>, tensor<?xi64>)
func.func @place(%x: tensor<?x50257xf32>) -> (tensor<?xf32>, tensor<?xi64>) {
  %0, %1 = "graph.arg_reduce"(%x) {axis = 1 : i64, kind = "max"} : (tensor<?x50257xf32>) -> (tensor<?xf32>, tensor<?xi64>)
  return %0, %1 : tensor<?xf32>, tensor<?xi64>
}

// A line of any length, in parts of 32 and those in parts of 32; a running sum in 128 parts.
// CHECK-LABEL: func.func @any_place
// CHECK: "graph.arg_reduce"{{.*}}(tensor<?x32xf32>) -> (tensor<?xf32>, tensor<?xi64>)
// CHECK: "graph.arg_reduce"{{.*}}(tensor<?x32xf32>) -> (tensor<?xf32>, tensor<?xi64>)
// CHECK: "graph.arg_reduce"{{.*}}(tensor<?xf32>) -> (tensor<f32>, tensor<i64>)
func.func @any_place(%x: tensor<?xf32>) -> tensor<i64> {
  %0, %1 = "graph.arg_reduce"(%x) {axis = 0 : i64, kind = "max"} : (tensor<?xf32>) -> (tensor<f32>, tensor<i64>)
  return %1 : tensor<i64>
}

// CHECK-LABEL: func.func @any_running
// CHECK-DAG: "graph.scan"{{.*}}exclusive{{.*}}tensor<128xi32>
// CHECK-DAG: "graph.scan"{{.*}}tensor<128x?xi32>
func.func @any_running(%x: tensor<?xi32>) -> tensor<?xi32> {
  %0 = "graph.scan"(%x) {axis = 0 : i64, kind = "add"} : (tensor<?xi32>) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

// CHECK-LABEL: func.func @running
// CHECK: "graph.scan"{{.*}}tensor<9x2224xi32>
// CHECK: "graph.scan"{{.*}}tensor<9xi32>
func.func @running(%x: tensor<20011xi32>) -> tensor<20011xi32> {
  %0 = "graph.scan"(%x) {axis = 0 : i64, kind = "add", exclusive} : (tensor<20011xi32>) -> tensor<20011xi32>
  return %0 : tensor<20011xi32>
}

// CHECK-LABEL: func.func @region
// CHECK: "graph.reduce_generic"
// CHECK: -> tensor<32xi32>
// CHECK: "graph.reduce_generic"
// CHECK: (tensor<32xi32>, tensor<i32>) -> tensor<i32>
func.func @region(%x: tensor<1009xi32>, %start: tensor<i32>) -> tensor<i32> {
  %0 = "graph.reduce_generic"(%x, %start) ({
  ^bb0(%a: tensor<i32>, %e: tensor<i32>):
    %1 = "graph.xor"(%a, %e) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "graph.yield"(%1) : (tensor<i32>) -> ()
  }) {dims = array<i64: 0>} : (tensor<1009xi32>, tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// Updates in the order of their rows, and their sums of 32 neighbours, so that no row is one thread's work however many
// it has; the result's place is part of the kernel.
// CHECK-LABEL: func.func @scattered
// CHECK-COUNT-4: "graph.sort"
// CHECK: "graph.reduce"{{.*}}dims = array<i64: 1>, kind = "add"{{.*}}(tensor<10x32x5xf32>) -> tensor<10x5xf32>
// CHECK: "graph.scatter"{{.*}}sorted = 1 : i64{{.*}}(tensor<71x5xf32>, tensor<300xi32>, tensor<300x5xf32>, tensor<10x5xf32>) -> tensor<71x5xf32>
// CHECK-NEXT: "graph.transpose"
// CHECK-NOT: "graph.dispatch"
// CPU-LABEL: func.func @scattered
// CPU-NOT: "graph.sort"
func.func @scattered(%x: tensor<5x71xf32>, %at: tensor<300x1xi64>, %updates: tensor<5x300xf32>) -> tensor<5x71xf32> {
  %0 = "graph.scatter"(%x, %at, %updates) {update_window_dims = array<i64: 0>, inserted_dims = array<i64: 1>, operand_batch_dims = array<i64>, indices_batch_dims = array<i64>, scatter_dims_map = array<i64: 1>, index_vector_dim = 1 : i64, kind = "add"} : (tensor<5x71xf32>, tensor<300x1xi64>, tensor<5x300xf32>) -> tensor<5x71xf32>
  return %0 : tensor<5x71xf32>
}

// CHECK-LABEL: func.func @few
// CHECK-NOT: "graph.sort"
// CHECK-LABEL: func.func @wide
// CHECK-NOT: "graph.sort"
func.func @few(%x: tensor<5000xf32>, %at: tensor<64x1xi64>, %updates: tensor<64xf32>) -> tensor<5000xf32> {
  %0 = "graph.scatter"(%x, %at, %updates) {update_window_dims = array<i64>, inserted_dims = array<i64: 0>, operand_batch_dims = array<i64>, indices_batch_dims = array<i64>, scatter_dims_map = array<i64: 0>, index_vector_dim = 1 : i64, kind = "set"} : (tensor<5000xf32>, tensor<64x1xi64>, tensor<64xf32>) -> tensor<5000xf32>
  return %0 : tensor<5000xf32>
}
func.func @wide(%x: tensor<100x4096xf32>, %at: tensor<99x1xi64>, %updates: tensor<99x4096xf32>) -> tensor<100x4096xf32> {
  %0 = "graph.scatter"(%x, %at, %updates) {update_window_dims = array<i64: 1>, inserted_dims = array<i64: 0>, operand_batch_dims = array<i64>, indices_batch_dims = array<i64>, scatter_dims_map = array<i64: 0>, index_vector_dim = 1 : i64, kind = "set"} : (tensor<100x4096xf32>, tensor<99x1xi64>, tensor<99x4096xf32>) -> tensor<100x4096xf32>
  return %0 : tensor<100x4096xf32>
}

// Sums that are few and long; enough of them stay whole.
// CHECK-LABEL: func.func @product
// CHECK: "graph.contract"{{.*}} -> tensor<8x2x64xf32>
// CHECK-COUNT-7: "graph.add"{{.*}} -> tensor<2x64xf32>
// CHECK-NOT: "graph.add"
// CPU-LABEL: func.func @product
// CPU-COUNT-1: "graph.dispatch"
// CPU-NOT: "graph.dispatch"
func.func @product(%a: tensor<2x4096xf32>, %b: tensor<4096x64xf32>) -> tensor<2x64xf32> {
  %0 = "graph.contract"(%a, %b) {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x4096xf32>, tensor<4096x64xf32>) -> tensor<2x64xf32>
  return %0 : tensor<2x64xf32>
}

// CHECK-LABEL: func.func @any_product
// CPU-LABEL: func.func @any_product
// CHECK: "graph.reduce"{{.*}}(tensor<128x2x64xf32>) -> tensor<2x64xf32>
// CHECK-LABEL: func.func @square
// CHECK-NOT: "graph.reduce"
func.func @any_product(%a: tensor<2x?xf32>, %b: tensor<?x64xf32>) -> tensor<2x64xf32> {
  %0 = "graph.contract"(%a, %b) {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x?xf32>, tensor<?x64xf32>) -> tensor<2x64xf32>
  return %0 : tensor<2x64xf32>
}
func.func @square(%a: tensor<512x1024xf32>, %b: tensor<1024x512xf32>) -> tensor<512x512xf32> {
  %0 = "graph.contract"(%a, %b) {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<512x1024xf32>, tensor<1024x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
