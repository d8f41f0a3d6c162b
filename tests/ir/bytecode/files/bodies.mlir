module {
  func.func @bodies(%arg0: tensor<4x6xf32>, %arg1: tensor<4x6xi32>, %arg2: tensor<2x3xf32>, %arg3: tensor<f32>, %arg4: tensor<i32>) -> tensor<4x6xf32> {
    %0:2 = stablehlo.reduce(%arg0 init: %arg3), (%arg1 init: %arg4) across dimensions = [1] : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
     reducer(%arg5: tensor<f32>, %arg7: tensor<f32>) (%arg6: tensor<i32>, %arg8: tensor<i32>)  {
      %4 = stablehlo.compare GT, %arg5, %arg7, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %5 = stablehlo.select %4, %arg5, %arg7 : tensor<i1>, tensor<f32>
      %6 = stablehlo.select %4, %arg6, %arg8 : tensor<i1>, tensor<i32>
      stablehlo.return %5, %6 : tensor<f32>, tensor<i32>
    }
    %1 = "stablehlo.select_and_scatter"(%arg0, %arg2, %arg3) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %4 = stablehlo.compare GE, %arg5, %arg6 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    }, {
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %4 = stablehlo.add %arg5, %arg6 : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
    %2 = "stablehlo.map"(%arg0, %1) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %4 = stablehlo.multiply %arg5, %arg6 : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %3 = "stablehlo.all_reduce"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %4 = stablehlo.maximum %arg5, %arg6 : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return %2 : tensor<4x6xf32>
  }
}
