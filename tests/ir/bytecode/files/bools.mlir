module @jit__lambda attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10xf32>, %arg1: tensor<10xf32>) -> (tensor<10xi1> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<false> : tensor<i1>
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %c_0 = stablehlo.constant dense<[true, false, true, true, false, true, false, false, true, true]> : tensor<10xi1>
    %0 = stablehlo.compare GT, %arg0, %arg1, FLOAT : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %2 = stablehlo.compare LT, %arg0, %1, FLOAT : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
    %3 = stablehlo.and %0, %2 : tensor<10xi1>
    %4 = call @_where(%3, %c_0, %c) : (tensor<10xi1>, tensor<10xi1>, tensor<i1>) -> tensor<10xi1>
    return %4 : tensor<10xi1>
  }
  func.func private @_where(%arg0: tensor<10xi1>, %arg1: tensor<10xi1>, %arg2: tensor<i1>) -> tensor<10xi1> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<i1>) -> tensor<10xi1>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<10xi1>, tensor<10xi1>
    return %1 : tensor<10xi1>
  }
}
