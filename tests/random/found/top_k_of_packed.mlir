func.func @main(%arg0: tensor<1x32x5x4xf32>, %arg1: tensor<32x1x1x3xf32>, %arg2: tensor<1x32x3x4xi32>, %arg3: tensor<2xi32>, %arg4: tensor<2x32x5x4xf32>) -> (tensor<1x32x3x4xi32>, tensor<1x32x5x4xf32>) attributes {test.sizes = array<i64>, test.tolerance = [0.000000e+00 : f64, 0.000000e+00 : f64]} {
  %1 = "graph.conv"(%arg0, %arg1) <{batch_groups = 1 : i64, groups = 32 : i64, pad_high = array<i64: 0, 1>, pad_low = array<i64: 0, 1>, strides = array<i64: 1, 1>, w_dilation = array<i64: 1, 1>, w_layout = "oi01", x_dilation = array<i64: 1, 1>, x_layout = "nc01", y_layout = "nc01"}> : (tensor<1x32x5x4xf32>, tensor<32x1x1x3xf32>) -> tensor<1x32x5x4xf32>
  %2, %3 = "graph.top_k"(%1) <{axis = 2 : i64, k = 3 : i64}> : (tensor<1x32x5x4xf32>) -> (tensor<1x32x3x4xf32>, tensor<1x32x3x4xi32>)
  %4 = "graph.rem"(%3, %arg2) : (tensor<1x32x3x4xi32>, tensor<1x32x3x4xi32>) -> tensor<1x32x3x4xi32>
  %5 = "graph.scatter"(%1, %arg3, %arg4) <{index_vector_dim = 1 : i64, indices_batch_dims = array<i64>, inserted_dims = array<i64: 0>, kind = "add", operand_batch_dims = array<i64>, scatter_dims_map = array<i64: 0>, update_window_dims = array<i64: 1, 2, 3>}> : (tensor<1x32x5x4xf32>, tensor<2xi32>, tensor<2x32x5x4xf32>) -> tensor<1x32x5x4xf32>
  %6 = "graph.sign"(%5) : (tensor<1x32x5x4xf32>) -> tensor<1x32x5x4xf32>
  return %4, %6 : tensor<1x32x3x4xi32>, tensor<1x32x5x4xf32>
}
