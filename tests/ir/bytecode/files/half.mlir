module @jit__lambda attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5xf32>) -> (tensor<5xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<bf16>
    %0 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xbf16>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<5xbf16>
    %2 = stablehlo.multiply %0, %1 : tensor<5xbf16>
    %3 = stablehlo.convert %2 : (tensor<5xbf16>) -> tensor<5xf32>
    %4 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xf16>
    %5 = stablehlo.convert %4 : (tensor<5xf16>) -> tensor<5xf32>
    %6 = stablehlo.add %3, %5 : tensor<5xf32>
    return %6 : tensor<5xf32>
  }
}
