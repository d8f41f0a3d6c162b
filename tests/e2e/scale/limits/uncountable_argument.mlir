// error: uncountable_argument.mlir:2:\d+: error: shape has too many elements
func.func @main(%arg0: tensor<4611686018427387904x8xf32>) -> tensor<4611686018427387904x8xf32> {
  %2 = stablehlo.add %arg0, %arg0 : tensor<4611686018427387904x8xf32>
  return %2 : tensor<4611686018427387904x8xf32>
}
