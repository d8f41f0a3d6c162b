// Dispatches that may write a result where they read an argument which the caller gives up.
//
// RUN: iree-opt --pass=form-dispatches --pass=donation %s | FileCheck %s

// CHECK-LABEL: func.func @step
// CHECK: "graph.dispatch"
// CHECK-SAME: overwrites = array<i64: 1, 0>
func.func @step(%w: tensor<4x5xf32>, %g: tensor<4x5xf32>,
                %into: tensor<4x5xf32> {iree.abi.donor = 0 : index, iree.abi.output = 0 : index}) -> tensor<4x5xf32> {
  %0 = "graph.mul"(%g, %g) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = "graph.sub"(%w, %0) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}

// What is added to all products is read where it is written; the factors are not.
// CHECK-LABEL: func.func @product
// CHECK: "graph.dispatch"(%arg1, %arg2, %arg0)
// CHECK-SAME: overwrites = array<i64: 2, 0>
func.func @product(%w: tensor<4x4xf32>, %x: tensor<4x4xf32>, %y: tensor<4x4xf32>,
                   %into: tensor<4x4xf32> {iree.abi.donor = 0 : index, iree.abi.output = 0 : index}) -> tensor<4x4xf32> {
  %0 = "graph.contract"(%x, %y) <{lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract = [0]}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "graph.add"(%w, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @factor
// CHECK: "graph.dispatch"
// CHECK-NOT: overwrites
func.func @factor(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>,
                  %into: tensor<4x4xf32> {iree.abi.donor = 0 : index, iree.abi.output = 0 : index}) -> tensor<4x4xf32> {
  %0 = "graph.contract"(%x, %y) <{lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract = [0]}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "graph.add"(%x, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// Elsewhere than it is written.
// CHECK-LABEL: func.func @turned
// CHECK: "graph.dispatch"
// CHECK-NOT: overwrites
func.func @turned(%x: tensor<4x4xf32>,
                  %into: tensor<4x4xf32> {iree.abi.donor = 0 : index, iree.abi.output = 0 : index}) -> tensor<4x4xf32> {
  %0 = "graph.transpose"(%x) <{perm = [1, 0]}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "graph.add"(%x, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
