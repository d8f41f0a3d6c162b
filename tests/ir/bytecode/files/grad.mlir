module @jit__lambda attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x8xf32>, %arg1: tensor<8x5xf32>) -> (tensor<4x8xf32> {jax.result_info = "result[0]"}, tensor<8x5xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
    %1 = stablehlo.reduce(%0 init: %cst_2) applies stablehlo.maximum across dimensions = [1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %3 = stablehlo.maximum %2, %1 : tensor<4xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x5xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<4x5xf32>
    %7 = stablehlo.exponential %6 : tensor<4x5xf32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<4xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x5xf32>
    %11 = stablehlo.divide %7, %10 : tensor<4x5xf32>
    %12 = stablehlo.multiply %9, %9 : tensor<4x1xf32>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %14 = stablehlo.divide %13, %12 : tensor<4x1xf32>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x5xf32>
    %16 = stablehlo.multiply %15, %11 : tensor<4x5xf32>
    %17 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x5xf32>
    %18 = stablehlo.multiply %17, %16 : tensor<4x5xf32>
    %19 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x5xf32>
    %20 = stablehlo.multiply %18, %19 : tensor<4x5xf32>
    %21 = stablehlo.multiply %20, %7 : tensor<4x5xf32>
    %22 = stablehlo.reduce(%21 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<4xf32>
    %23 = stablehlo.reshape %22 : (tensor<4xf32>) -> tensor<4x1xf32>
    %24 = stablehlo.negate %23 : tensor<4x1xf32>
    %25 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x5xf32>
    %26 = stablehlo.divide %18, %25 : tensor<4x5xf32>
    %27 = stablehlo.reduce(%24 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0] : (tensor<4xf32>) -> tensor<4x5xf32>
    %29 = stablehlo.add %26, %28 : tensor<4x5xf32>
    %30 = stablehlo.multiply %29, %7 : tensor<4x5xf32>
    %31 = stablehlo.dot_general %30, %arg0, contracting_dims = [0] x [0] : (tensor<4x5xf32>, tensor<4x8xf32>) -> tensor<5x8xf32>
    %32 = stablehlo.transpose %31, dims = [1, 0] : (tensor<5x8xf32>) -> tensor<8x5xf32>
    %33 = stablehlo.dot_general %30, %arg1, contracting_dims = [1] x [1] : (tensor<4x5xf32>, tensor<8x5xf32>) -> tensor<4x8xf32>
    return %33, %32 : tensor<4x8xf32>, tensor<8x5xf32>
  }
}
