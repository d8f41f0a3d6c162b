// A sum of no products, folded from two dimensions.
func.func @main(%arg0: tensor<3x8xf32>, %arg1: tensor<33x0x16x2xf32>, %arg2: tensor<16x31x0xf32>) -> (tensor<33x2x31xf32>, tensor<33x2x29xf32>, tensor<17x2x30xf32>, tensor<f32>) attributes {test.sizes = array<i64>, test.tolerance = [0.000000e+00 : f64, 0.000000e+00 : f64, 0.000000e+00 : f64, 0.000000e+00 : f64]} {
  %1 = "graph.contract"(%arg1, %arg2) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1, 2>, rhs_batch = array<i64>, rhs_contract = array<i64: 2, 0>}> : (tensor<33x0x16x2xf32>, tensor<16x31x0xf32>) -> tensor<33x2x31xf32>
  %2 = "graph.window"(%1) <{base_dilations = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, kind = "min", pad_high = array<i64: 0, 0, 0>, pad_low = array<i64: 0, 1, 0>, sizes = array<i64: 1, 2, 3>, strides = array<i64: 1, 1, 1>}> : (tensor<33x2x31xf32>) -> tensor<33x2x29xf32>
  %3 = "graph.window"(%2) <{base_dilations = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, kind = "max", pad_high = array<i64: 0, 0, 1>, pad_low = array<i64: 0, 0, 2>, sizes = array<i64: 1, 1, 3>, strides = array<i64: 2, 1, 1>}> : (tensor<33x2x29xf32>) -> tensor<17x2x30xf32>
  %4 = "graph.reduce"(%3) <{dims = array<i64: 0, 1, 2>, kind = "min"}> : (tensor<17x2x30xf32>) -> tensor<f32>
  return %1, %2, %3, %4 : tensor<33x2x31xf32>, tensor<33x2x29xf32>, tensor<17x2x30xf32>, tensor<f32>
}
