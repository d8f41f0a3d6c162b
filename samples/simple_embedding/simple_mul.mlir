module @module {
  func.func @simple_mul(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %z = arith.mulf %x, %y : tensor<4xf32>
    return %z : tensor<4xf32>
  }
}
