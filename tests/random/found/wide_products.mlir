func.func @main(%arg0: tensor<5xi64>, %arg1: tensor<4x5xi64>) -> tensor<4xi64> attributes {test.sizes = array<i64>, test.tolerance = [0.000000e+00 : f64]} {
  %1 = "graph.constant"() <{value = dense<4611686018427387905> : tensor<5xi64>}> : () -> tensor<5xi64>
  %2 = "graph.mul"(%arg0, %1) : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi64>
  %3 = "graph.contract"(%2, %arg1) <{lhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_batch = array<i64>, rhs_contract = array<i64: 1>}> : (tensor<5xi64>, tensor<4x5xi64>) -> tensor<4xi64>
  return %3 : tensor<4xi64>
}
