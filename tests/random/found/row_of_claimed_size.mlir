// A result whose type says a size that the operand leaves open.
func.func @main(%arg0: tensor<1x?x1xf32>, %arg1: tensor<1x33xf32>) -> (tensor<1x1xf32>, tensor<?x1x33xf32>) attributes {test.sizes = array<i64: 1>} {
  %0 = "graph.reduce"(%arg0) <{dims = array<i64: 2>, kind = "add"}> : (tensor<1x?x1xf32>) -> tensor<1x1xf32>
  %1 = "graph.contract"(%arg0, %arg1) <{lhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<1x?x1xf32>, tensor<1x33xf32>) -> tensor<?x1x33xf32>
  return %0, %1 : tensor<1x1xf32>, tensor<?x1x33xf32>
}
