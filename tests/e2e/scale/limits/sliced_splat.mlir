// A few elements of a large constant.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<1099511627776xf32>
  %1 = "stablehlo.slice"(%0) {start_indices = array<i64: 5>, limit_indices = array<i64: 9>, strides = array<i64: 1>} : (tensor<1099511627776xf32>) -> tensor<4xf32>
  %2 = stablehlo.add %1, %arg0 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
