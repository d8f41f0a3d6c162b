// Two products in a row. The first one is memory that the function would allocate for itself; here the caller brings it,
// as well as the memory of the result, so that a call allocates nothing.
module @program {
  func.func @chain(%x: tensor<16x16xf32>, %y: tensor<16x16xf32>, %result: tensor<16x16xf32> {iree.abi.output = 0 : index},
                   %transients: !hal.buffer {iree.abi.transients}) -> tensor<16x16xf32> {
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %0 = linalg.matmul ins(%x, %y : tensor<16x16xf32>, tensor<16x16xf32>) outs(%zero : tensor<16x16xf32>)
        -> tensor<16x16xf32>
    %1 = linalg.matmul ins(%0, %y : tensor<16x16xf32>, tensor<16x16xf32>) outs(%zero : tensor<16x16xf32>)
        -> tensor<16x16xf32>
    return %1 : tensor<16x16xf32>
  }
}
