func.func @main(%arg0: tensor<5x0xf32>) -> (tensor<5x2xf32>) attributes {test.sizes = array<i64>, test.tolerance = [0.000000e+00 : f64]} {
  %8 = "graph.constant"() <{value = dense<2.0> : tensor<f32>}> : () -> tensor<f32>
  %9 = "graph.pad"(%arg0, %8) <{high = array<i64: 0, 0>, interior = array<i64: 0, 1>, low = array<i64: 0, 2>, mode = "constant"}> : (tensor<5x0xf32>, tensor<f32>) -> tensor<5x2xf32>
  return %9 : tensor<5x2xf32>
}
