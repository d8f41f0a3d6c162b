// Calls two modules that are compiled apart, and waits for each.
module @pipeline {
  func.func private @numbers.magnitude(tensor<4096xf32>) -> tensor<4096xf32>
  func.func private @products.multiply(tensor<4096xf32>, tensor<4096xf32>,
                                       tensor<4096xf32> {iree.abi.output = 0 : index}) -> tensor<4096xf32>
  func.func @run(%x: tensor<4096xf32>) -> tensor<4096xf32> {
    %0 = call @numbers.magnitude(%x) : (tensor<4096xf32>) -> tensor<4096xf32>
    %storage = tensor.empty() : tensor<4096xf32>
    %1 = call @products.multiply(%0, %0, %storage)
        : (tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    return %1 : tensor<4096xf32>
  }
}
