module {
  func.func @dynamic(%arg0: tensor<?x4xf32>, %arg1: tensor<2xi32>, %arg2: tensor<?x4xf32, #stablehlo.bounds<8, ?>>) -> tensor<?x4xf32> {
    %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [0, 1] {known_expanding_dimensions = array<i64: 1>} : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    %1 = stablehlo.dynamic_iota %arg1, dim = 1 : (tensor<2xi32>) -> tensor<?x4xf32>
    %2 = stablehlo.add %0, %1 : tensor<?x4xf32>
    %3 = stablehlo.get_dimension_size %2, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %4 = stablehlo.dynamic_reshape %2, %arg1 : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    return %4 : tensor<?x4xf32>
  }
}
