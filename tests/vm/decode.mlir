// A step of decoding in small: a cache whose length grows from call to call.
func.func @decode(%query: tensor<4x64xf32>, %keys: tensor<64x?xf32>, %values: tensor<?x64xf32>) -> tensor<4x64xf32> {
  %one = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %length = tensor.dim %keys, %one : tensor<64x?xf32>
  %scores_empty = tensor.empty(%length) : tensor<4x?xf32>
  %scores_zero = linalg.fill ins(%zero : f32) outs(%scores_empty : tensor<4x?xf32>) -> tensor<4x?xf32>
  %scores = linalg.matmul ins(%query, %keys : tensor<4x64xf32>, tensor<64x?xf32>)
      outs(%scores_zero : tensor<4x?xf32>) -> tensor<4x?xf32>
  %sums_empty = tensor.empty() : tensor<4x64xf32>
  %sums_zero = linalg.fill ins(%zero : f32) outs(%sums_empty : tensor<4x64xf32>) -> tensor<4x64xf32>
  %sums = linalg.matmul ins(%scores, %values : tensor<4x?xf32>, tensor<?x64xf32>)
      outs(%sums_zero : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %sums : tensor<4x64xf32>
}
