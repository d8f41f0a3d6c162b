// One branch gives a large constant.
func.func @main(%arg0: tensor<i1>, %x : tensor<1099511627776xf32>) -> tensor<1099511627776xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<1099511627776xf32>
  %1 = "stablehlo.if"(%arg0) ({
    stablehlo.return %0 : tensor<1099511627776xf32>
  }, {
    stablehlo.return %x : tensor<1099511627776xf32>
  }) : (tensor<i1>) -> tensor<1099511627776xf32>
  return %1 : tensor<1099511627776xf32>
}
