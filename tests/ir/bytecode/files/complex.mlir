module @jit__lambda attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
    %0 = stablehlo.complex %arg0, %arg1 : tensor<4xcomplex<f32>>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<4xcomplex<f32>>
    %2 = stablehlo.multiply %0, %1 : tensor<4xcomplex<f32>>
    %3 = stablehlo.real %2 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %4 = stablehlo.complex %arg0, %arg1 : tensor<4xcomplex<f32>>
    %5 = stablehlo.abs %4 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %6 = stablehlo.add %3, %5 : tensor<4xf32>
    return %6 : tensor<4xf32>
  }
}
