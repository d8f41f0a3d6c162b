func.func @main(%arg1: tensor<13x13x17xi32>, %arg3: tensor<13x13x33xi32>) -> (tensor<13x17x33xi16>) attributes {test.sizes = array<i64>, test.tolerance = [0.000000e+00 : f64]} {
  %3 = "graph.contract"(%arg1, %arg3) <{lhs_batch = array<i64: 1>, lhs_contract = array<i64: 0>, rhs_batch = array<i64: 1>, rhs_contract = array<i64: 0>}> : (tensor<13x13x17xi32>, tensor<13x13x33xi32>) -> tensor<13x17x33xi32>
  %5 = "graph.cast"(%3) : (tensor<13x17x33xi32>) -> tensor<13x17x33xi16>
  return %5 : tensor<13x17x33xi16>
}
