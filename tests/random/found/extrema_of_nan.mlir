// Windows of maxima and minima over NaN, which is where arguments are 0, and zeros of both signs.
func.func @main(%arg0: tensor<2x9x37xf32>, %arg1: tensor<5x70xf64>) -> (tensor<2x9x37xf32>, tensor<2x5x19xf32>, tensor<5x70xf64>, tensor<2x9x37xf32>) attributes {test.sizes = array<i64>, test.tolerance = [0.0 : f64, 0.0 : f64, 0.0 : f64, 0.0 : f64]} {
  %0 = "graph.div"(%arg0, %arg0) : (tensor<2x9x37xf32>, tensor<2x9x37xf32>) -> tensor<2x9x37xf32>
  %1 = "graph.mul"(%0, %arg0) : (tensor<2x9x37xf32>, tensor<2x9x37xf32>) -> tensor<2x9x37xf32>
  %2 = "graph.window"(%1) <{base_dilations = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, kind = "max", pad_high = array<i64: 0, 1, 1>, pad_low = array<i64: 0, 1, 1>, sizes = array<i64: 1, 3, 3>, strides = array<i64: 1, 1, 1>}> : (tensor<2x9x37xf32>) -> tensor<2x9x37xf32>
  %3 = "graph.window"(%1) <{base_dilations = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, kind = "min", pad_high = array<i64: 0, 1, 1>, pad_low = array<i64: 0, 1, 1>, sizes = array<i64: 1, 3, 2>, strides = array<i64: 1, 2, 2>}> : (tensor<2x9x37xf32>) -> tensor<2x5x19xf32>
  %4 = "graph.div"(%arg1, %arg1) : (tensor<5x70xf64>, tensor<5x70xf64>) -> tensor<5x70xf64>
  %5 = "graph.max"(%4, %arg1) : (tensor<5x70xf64>, tensor<5x70xf64>) -> tensor<5x70xf64>
  %6 = "graph.min"(%5, %4) : (tensor<5x70xf64>, tensor<5x70xf64>) -> tensor<5x70xf64>
  %7 = "graph.neg"(%arg1) : (tensor<5x70xf64>) -> tensor<5x70xf64>
  %8 = "graph.max"(%7, %6) : (tensor<5x70xf64>, tensor<5x70xf64>) -> tensor<5x70xf64>
  %9 = "graph.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %10 = "graph.broadcast"(%9) <{dims = array<i64>}> : (tensor<f32>) -> tensor<2x9x37xf32>
  %11 = "graph.mul"(%arg0, %10) : (tensor<2x9x37xf32>, tensor<2x9x37xf32>) -> tensor<2x9x37xf32>
  %12 = "graph.window"(%11) <{base_dilations = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, kind = "max", pad_high = array<i64: 0, 1, 1>, pad_low = array<i64: 0, 1, 1>, sizes = array<i64: 1, 3, 3>, strides = array<i64: 1, 1, 1>}> : (tensor<2x9x37xf32>) -> tensor<2x9x37xf32>
  %13 = "graph.div"(%0, %12) : (tensor<2x9x37xf32>, tensor<2x9x37xf32>) -> tensor<2x9x37xf32>
  return %2, %3, %8, %13 : tensor<2x9x37xf32>, tensor<2x5x19xf32>, tensor<5x70xf64>, tensor<2x9x37xf32>
}
