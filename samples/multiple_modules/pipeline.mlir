// Calls two modules that are compiled apart. With the fences' model the second call begins when the first one's kernels
// end, not before, and the host waits for neither.
module @pipeline {
  func.func private @numbers.magnitude(tensor<4096xf32>) -> tensor<4096xf32>
      attributes {iree.abi.model = "coarse-fences"}
  func.func private @products.multiply(tensor<4096xf32>, tensor<4096xf32>,
                                       tensor<4096xf32> {iree.abi.output = 0 : index}) -> tensor<4096xf32>
      attributes {iree.abi.model = "coarse-fences"}
  func.func @run(%x: tensor<4096xf32>) -> tensor<4096xf32> {
    %0 = call @numbers.magnitude(%x) : (tensor<4096xf32>) -> tensor<4096xf32>
    %storage = tensor.empty() : tensor<4096xf32>
    %1 = call @products.multiply(%0, %0, %storage)
        : (tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    return %1 : tensor<4096xf32>
  }
}
