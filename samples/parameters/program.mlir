// Weights that are not in the module: who runs it brings them, under names.
module @program {
  util.global private @weights = #flow.parameter.named<"model"::"weights"> : tensor<4x3xf32>
  util.global private @bias = #flow.parameter.named<"model"::"bias"> : tensor<3xf32>
  func.func @main(%x: tensor<1x4xf32>) -> tensor<1x3xf32> {
    %weights = util.global.load @weights : tensor<4x3xf32>
    %bias = util.global.load @bias : tensor<3xf32>
    %row = tensor.expand_shape %bias [[0, 1]] output_shape [1, 3] : tensor<3xf32> into tensor<1x3xf32>
    %y = linalg.matmul ins(%x, %weights : tensor<1x4xf32>, tensor<4x3xf32>) outs(%row : tensor<1x3xf32>)
        -> tensor<1x3xf32>
    return %y : tensor<1x3xf32>
  }
}
