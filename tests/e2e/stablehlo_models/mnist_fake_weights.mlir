// A digit classifier of the usual shape (784-128-10) whose weights are splats, so that the file is small and the result
// is known: all ten logits are equal for any image, hence every probability is 0.1.
module {
  func.func @predict(%image: tensor<1x28x28x1xf32>) -> tensor<1x10xf32> {
    %weights1 = stablehlo.constant dense<5.000000e-01> : tensor<784x128xf32>
    %bias1 = stablehlo.constant dense<2.500000e-01> : tensor<128xf32>
    %weights2 = stablehlo.constant dense<1.250000e-01> : tensor<128x10xf32>
    %bias2 = stablehlo.constant dense<-5.000000e-01> : tensor<10xf32>
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>

    // Hidden layer.
    %pixels = stablehlo.reshape %image : (tensor<1x28x28x1xf32>) -> tensor<1x784xf32>
    %0 = stablehlo.dot %pixels, %weights1, precision = [DEFAULT, DEFAULT]
        : (tensor<1x784xf32>, tensor<784x128xf32>) -> tensor<1x128xf32>
    %1 = "stablehlo.broadcast_in_dim"(%bias1) {broadcast_dimensions = array<i64: 1>}
        : (tensor<128xf32>) -> tensor<1x128xf32>
    %2 = stablehlo.add %0, %1 : tensor<1x128xf32>
    %3 = "stablehlo.broadcast_in_dim"(%zero) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<1x128xf32>
    %hidden = stablehlo.maximum %2, %3 : tensor<1x128xf32>

    // Logits.
    %4 = stablehlo.dot %hidden, %weights2, precision = [DEFAULT, DEFAULT]
        : (tensor<1x128xf32>, tensor<128x10xf32>) -> tensor<1x10xf32>
    %5 = "stablehlo.broadcast_in_dim"(%bias2) {broadcast_dimensions = array<i64: 1>}
        : (tensor<10xf32>) -> tensor<1x10xf32>
    %logits = stablehlo.add %4, %5 : tensor<1x10xf32>

    // Softmax.
    %6 = "stablehlo.reduce"(%logits, %lowest) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %max = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %max : tensor<f32>
    }) {dimensions = array<i64: 1>} : (tensor<1x10xf32>, tensor<f32>) -> tensor<1xf32>
    %7 = "stablehlo.broadcast_in_dim"(%6) {broadcast_dimensions = array<i64: 0>}
        : (tensor<1xf32>) -> tensor<1x10xf32>
    %8 = stablehlo.subtract %logits, %7 : tensor<1x10xf32>
    %9 = stablehlo.exponential %8 : tensor<1x10xf32>
    %10 = stablehlo.reduce(%9 init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<1x10xf32>, tensor<f32>) -> tensor<1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<1xf32>) -> tensor<1x10xf32>
    %probabilities = stablehlo.divide %9, %11 : tensor<1x10xf32>
    return %probabilities : tensor<1x10xf32>
  }
}
