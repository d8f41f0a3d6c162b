module @jit__lambda attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x3xf32>, %arg1: tensor<3x2xf32>) -> (tensor<3x2xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<3x3xf32>
    %1 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
    %3 = stablehlo.slice %2 [0:5:2, 1:3] : (tensor<5x3xf32>) -> tensor<3x2xf32>
    return %3 : tensor<3x2xf32>
  }
}
