// A function that is called with more than its signature says: what it computes has the sizes that its caller knows.
// RUN: iree-opt --pass=inline --pass=refine --pass=dce %s | FileCheck %s

// CHECK-LABEL: @product
// CHECK-SAME: -> tensor<3x5xf32> attributes {iree.abi.type = (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<?x?xf32>}
// CHECK: %[[P:.+]] = "graph.contract"(%arg0, %arg1) {{.*}} -> tensor<3x5xf32>
// CHECK: %[[B:.+]] = "graph.broadcast"(%{{.+}}) <{dims = array<i64>}> : (tensor<f32>) -> tensor<3x5xf32>
// CHECK: %[[S:.+]] = "graph.add"(%[[P]], %[[B]]) : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
// CHECK: return %[[S]] : tensor<3x5xf32>
func.func @product(%x: tensor<3x4xf32>, %y: tensor<4x5xf32>) -> tensor<?x?xf32> {
  %0 = "graph.call"(%x, %y) <{callee = @any_product}> : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func private @any_product(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = "graph.contract"(%x, %y) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %m = "graph.dim"(%0) <{index = 0 : i64}> : (tensor<?x?xf32>) -> index
  %n = "graph.dim"(%0) <{index = 1 : i64}> : (tensor<?x?xf32>) -> index
  %one = "graph.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  %1 = "graph.broadcast"(%one, %m, %n) <{dims = array<i64>}> : (tensor<f32>, index, index) -> tensor<?x?xf32>
  %2 = "graph.add"(%0, %1) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}

// What only one of two sizes says stays; arithmetic on those that are known is done.
// CHECK-LABEL: @half
// CHECK: %[[N:.+]] = "graph.dim"(%arg0) <{index = 0 : i64}>
// CHECK: "graph.broadcast"(%arg1, %[[N]]) <{dims = array<i64>}> : (tensor<f32>, index) -> tensor<?x8xf32>
func.func @half(%x: tensor<?x4xf32>, %y: tensor<f32>) -> tensor<?x?xf32> {
  %0 = "graph.call"(%x, %y) <{callee = @twice_as_wide}> : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func private @twice_as_wide(%x: tensor<?x?xf32>, %y: tensor<f32>) -> tensor<?x?xf32> {
  %two = "graph.constant"() <{value = 2 : index}> : () -> index
  %m = "graph.dim"(%x) <{index = 0 : i64}> : (tensor<?x?xf32>) -> index
  %n = "graph.dim"(%x) <{index = 1 : i64}> : (tensor<?x?xf32>) -> index
  %wide = "graph.mul"(%n, %two) : (index, index) -> index
  %0 = "graph.broadcast"(%y, %m, %wide) <{dims = array<i64>}> : (tensor<f32>, index, index) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// A loop carries what it begins with: the type that its body has comes back.
// CHECK-LABEL: @carried
// CHECK: %[[X:.+]] = "graph.neg"(%arg0) : (tensor<3xf32>) -> tensor<3xf32>
// CHECK: %[[BACK:.+]] = "graph.reshape"(%[[X]], %{{.+}}) : (tensor<3xf32>, index) -> tensor<?xf32>
// CHECK: "graph.while"(%[[BACK]])
func.func @carried(%x: tensor<3xf32>) -> tensor<?xf32> {
  %0 = "graph.call"(%x) <{callee = @loop}> : (tensor<3xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func private @loop(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "graph.neg"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = "graph.while"(%0) ({
  ^bb0(%v: tensor<?xf32>):
    %s = "graph.reduce"(%v) <{dims = array<i64: 0>, kind = "add"}> : (tensor<?xf32>) -> tensor<f32>
    %limit = "graph.constant"() <{value = dense<9.0> : tensor<f32>}> : () -> tensor<f32>
    %c = "graph.lt"(%s, %limit) : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "graph.yield"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%v: tensor<?xf32>):
    %w = "graph.add"(%v, %v) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    "graph.yield"(%w) : (tensor<?xf32>) -> ()
  }) : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// Sizes that a caller made tensors of are the caller's numbers again: nothing is read back from a tensor.
// CHECK-LABEL: @shaped
// CHECK: %[[N:.+]] = "graph.dim"(%arg0) <{index = 0 : i64}>
// CHECK: %[[M:.+]] = "graph.add"(%[[N]], %{{.+}}) : (index, index) -> index
// CHECK-NOT: graph.to_scalar
// CHECK: "graph.broadcast"(%arg1, %[[M]]) <{dims = array<i64>}> : (tensor<f32>, index) -> tensor<?x8xf32>
// CHECK: return
func.func @shaped(%x: tensor<?x4xf32>, %y: tensor<f32>) -> tensor<?x8xf32> {
  %n = "graph.dim"(%x) {index = 0 : i64} : (tensor<?x4xf32>) -> index
  %i = "graph.cast"(%n) : (index) -> i32
  %t = "graph.to_tensor"(%i) : (i32) -> tensor<i32>
  %0 = "graph.call"(%t, %y) {callee = @of_shape} : (tensor<i32>, tensor<f32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
func.func private @of_shape(%n: tensor<i32>, %y: tensor<f32>) -> tensor<?x8xf32> {
  %one = "graph.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %m = "graph.add"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %r = "graph.reshape"(%m) : (tensor<i32>) -> tensor<1xi32>
  %eight = "graph.constant"() {value = dense<8> : tensor<1xi32>} : () -> tensor<1xi32>
  %s = "graph.concat"(%r, %eight) {axis = 0 : i64} : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %p = "graph.slice"(%s) {offsets = array<i64: 0>, strides = array<i64: 1>} : (tensor<2xi32>) -> tensor<1xi32>
  %q = "graph.reshape"(%p) : (tensor<1xi32>) -> tensor<i32>
  %i = "graph.to_scalar"(%q) : (tensor<i32>) -> i32
  %d = "graph.cast"(%i) : (i32) -> index
  %0 = "graph.broadcast"(%y, %d) {dims = array<i64>} : (tensor<f32>, index) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
