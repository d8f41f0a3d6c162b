func.func @main(%arg0: tensor<8x16x8xf64>, %arg1: tensor<16x16xf64>) -> tensor<8x8x16xf64> attributes {test.sizes = array<i64>, test.tolerance = [1.0e-9 : f64]} {
  %1 = "graph.contract"(%arg0, %arg1) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<8x16x8xf64>, tensor<16x16xf64>) -> tensor<8x8x16xf64>
  %2 = "graph.cos"(%1) : (tensor<8x8x16xf64>) -> tensor<8x8x16xf64>
  return %2 : tensor<8x8x16xf64>
}
