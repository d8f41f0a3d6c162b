// A small fully connected network over a sequence: five steps of three features each, and one context vector of five
// that every step sees. Six dense layers, then a normalising reduction; `--iree-flow-export-benchmark-funcs` exports
// each kernel that they need as a function of its own.
module {
  func.func @main(%context: tensor<1x5xf32>, %sequence: tensor<1x5x3x1xf32>) -> tensor<5x1x5xf32> {
    %weights0 = stablehlo.constant dense<[
        [0.5, -0.25, 1.0, 0.0], [-1.0, 0.5, 0.25, 0.75], [0.25, 1.0, -0.5, 0.5], [0.75, -0.5, 0.0, 1.0],
        [0.0, 0.25, 0.5, -0.75]]> : tensor<5x4xf32>
    %weights1 = stablehlo.constant dense<[
        [1.0, 0.5, -0.25, 0.75], [-0.5, 0.25, 1.0, 0.5], [0.75, -1.0, 0.5, 0.25]]> : tensor<3x4xf32>
    %weights2 = stablehlo.constant dense<[
        [0.5, 0.25, -0.5, 1.0], [0.75, -0.25, 0.5, 0.0], [-0.25, 1.0, 0.25, 0.5], [0.0, 0.5, 0.75, -0.5]]>
        : tensor<4x4xf32>
    %weights3 = stablehlo.constant dense<[
        [0.25, 0.5, 0.75, -0.25], [1.0, -0.5, 0.25, 0.5], [0.5, 0.75, -0.25, 0.0], [-0.5, 0.25, 0.5, 1.0]]>
        : tensor<4x4xf32>
    %weights4 = stablehlo.constant dense<[
        [-0.25, 0.75, 0.5, 0.25], [0.5, 0.0, -0.5, 1.0], [0.25, 0.5, 1.0, -0.75], [0.75, -0.25, 0.25, 0.5]]>
        : tensor<4x4xf32>
    %weights5 = stablehlo.constant dense<[
        [0.5, -0.5, 0.25, 0.75, 1.0], [-0.25, 0.5, 1.0, 0.0, 0.25], [0.75, 0.25, -0.5, 0.5, -0.75],
        [0.0, 1.0, 0.5, -0.25, 0.5]]> : tensor<4x5xf32>
    %bias = stablehlo.constant dense<[0.125, -0.125, 0.25, 0.0]> : tensor<4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %fifth = stablehlo.constant dense<0.2> : tensor<5x5xf32>
    %zeros1 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<1x4xf32>
    %zeros5 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<5x4xf32>
    %bias1 = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %bias5 = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<4xf32>) -> tensor<5x4xf32>

    // The context, and the steps that see it.
    %0 = stablehlo.dot %context, %weights0 : (tensor<1x5xf32>, tensor<5x4xf32>) -> tensor<1x4xf32>
    %1 = stablehlo.add %0, %bias1 : tensor<1x4xf32>
    %2 = stablehlo.maximum %1, %zeros1 : tensor<1x4xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<5x4xf32>
    %4 = stablehlo.reshape %sequence : (tensor<1x5x3x1xf32>) -> tensor<5x3xf32>
    %5 = stablehlo.dot %4, %weights1 : (tensor<5x3xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
    %6 = stablehlo.add %5, %3 : tensor<5x4xf32>
    %7 = stablehlo.maximum %6, %zeros5 : tensor<5x4xf32>

    // Three hidden layers.
    %8 = stablehlo.dot_general %7, %weights2, contracting_dims = [1] x [0]
        : (tensor<5x4xf32>, tensor<4x4xf32>) -> tensor<5x4xf32>
    %9 = stablehlo.add %8, %bias5 : tensor<5x4xf32>
    %10 = stablehlo.maximum %9, %zeros5 : tensor<5x4xf32>
    %11 = stablehlo.dot_general %10, %weights3, contracting_dims = [1] x [0]
        : (tensor<5x4xf32>, tensor<4x4xf32>) -> tensor<5x4xf32>
    %12 = stablehlo.add %11, %bias5 : tensor<5x4xf32>
    %13 = stablehlo.maximum %12, %zeros5 : tensor<5x4xf32>
    %14 = stablehlo.dot_general %13, %weights4, contracting_dims = [1] x [0]
        : (tensor<5x4xf32>, tensor<4x4xf32>) -> tensor<5x4xf32>
    %15 = stablehlo.add %14, %bias5 : tensor<5x4xf32>
    %16 = stablehlo.maximum %15, %zeros5 : tensor<5x4xf32>

    // The output layer, centred: each step's five outputs add up to zero.
    %17 = stablehlo.dot %16, %weights5 : (tensor<5x4xf32>, tensor<4x5xf32>) -> tensor<5x5xf32>
    %18 = stablehlo.reduce(%17 init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<5x5xf32>, tensor<f32>) -> tensor<5xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0] : (tensor<5xf32>) -> tensor<5x5xf32>
    %20 = stablehlo.multiply %19, %fifth : tensor<5x5xf32>
    %21 = stablehlo.subtract %17, %20 : tensor<5x5xf32>
    %22 = stablehlo.reshape %21 : (tensor<5x5xf32>) -> tensor<5x1x5xf32>
    return %22 : tensor<5x1x5xf32>
  }
}
