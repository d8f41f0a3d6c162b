// error: large_together.mlir:2:1: error: .*what lives at the same time takes 2111062325[0-9]+ bytes
func.func @main(%arg0: tensor<17592186044416xf32>) -> tensor<f32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.tanh %arg0 : tensor<17592186044416xf32>
  %1 = "stablehlo.reverse"(%0) {dimensions = array<i64: 0>} : (tensor<17592186044416xf32>) -> tensor<17592186044416xf32>
  %b = stablehlo.optimization_barrier %1 : tensor<17592186044416xf32>
  %c = stablehlo.tanh %b : tensor<17592186044416xf32>
  %d = stablehlo.optimization_barrier %c : tensor<17592186044416xf32>
  %e = stablehlo.add %d, %b : tensor<17592186044416xf32>
  %f = stablehlo.optimization_barrier %e : tensor<17592186044416xf32>
  %g = stablehlo.add %f, %d : tensor<17592186044416xf32>
  %h = stablehlo.add %g, %b : tensor<17592186044416xf32>
  %5 = stablehlo.reduce(%h init: %z) applies stablehlo.add across dimensions = [0] : (tensor<17592186044416xf32>, tensor<f32>) -> tensor<f32>
  return %5 : tensor<f32>
}
