func.func @bodies(%a: tensor<4x6xf32>, %i: tensor<4x6xi32>, %u: tensor<2x3xf32>, %z: tensor<f32>, %zi: tensor<i32>) -> tensor<4x6xf32> {
  %0:2 = stablehlo.reduce(%a init: %z), (%i init: %zi) across dimensions = [1] : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
   reducer(%x: tensor<f32>, %y: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
    %5 = stablehlo.compare GT, %x, %y, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %6 = stablehlo.select %5, %x, %y : tensor<i1>, tensor<f32>
    %7 = stablehlo.select %5, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %6, %7 : tensor<f32>, tensor<i32>
  }
  %1 = "stablehlo.select_and_scatter"(%a, %u, %z) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %5 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %5 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %5 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %5 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  %2 = "stablehlo.map"(%a, %1) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %5 = stablehlo.multiply %x, %y : tensor<f32>
    stablehlo.return %5 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = "stablehlo.all_reduce"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %5 = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %5 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}
