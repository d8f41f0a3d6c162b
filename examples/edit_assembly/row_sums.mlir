// Sums of 64 rows of 256 numbers: one kernel.
func.func @row_sums(%x: tensor<64x256xf32>) -> tensor<64xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x256xf32>, tensor<f32>) -> tensor<64xf32>
  return %sum : tensor<64xf32>
}
