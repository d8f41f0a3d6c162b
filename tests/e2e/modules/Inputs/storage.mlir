module @storage {
  func.func @abs(%x: tensor<6xf32>) -> tensor<6xf32> {
    %y = math.absf %x : tensor<6xf32>
    return %y : tensor<6xf32>
  }
  func.func @mul(%x: tensor<6xf32>, %y: tensor<6xf32>, %into: tensor<6xf32> {iree.abi.output = 0 : index}) -> tensor<6xf32> {
    %z = arith.mulf %x, %y : tensor<6xf32>
    return %z : tensor<6xf32>
  }
}
