func.func @main(%arg0: tensor<7x?x13xf32>, %arg1: tensor<?x3xi32>, %arg2: tensor<2x?x5xf64>, %arg3: tensor<2x?x5xf64>) -> (tensor<7xf32>, tensor<?x2xi32>, tensor<2x?x5xf64>, tensor<2x?x5xf64>) attributes {test.sizes = array<i64: 4, 6, 3, 3>, test.tolerance = [0.000000e+00 : f64, 0.000000e+00 : f64, 1.0e-9 : f64, 1.0e-9 : f64]} {
  %0 = "graph.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %1 = "graph.reduce_generic"(%arg0, %0) <{dims = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %3 = "graph.min"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "graph.yield"(%3) : (tensor<f32>) -> ()
  }) : (tensor<7x?x13xf32>, tensor<f32>) -> tensor<7xf32>
  %2 = "graph.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %4 = "graph.window_generic"(%arg1, %2) <{base_dilations = array<i64: 2, 1>, dilations = array<i64: 1, 1>, pad_high = array<i64: 0, 0>, pad_low = array<i64: 1, 0>, sizes = array<i64: 2, 2>, strides = array<i64: 1, 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %5 = "graph.add"(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "graph.yield"(%5) : (tensor<i32>) -> ()
  }) : (tensor<?x3xi32>, tensor<i32>) -> tensor<?x2xi32>
  %6, %7 = "graph.fft"(%arg2, %arg3) <{kind = "ifft", rank = 2 : i64}> : (tensor<2x?x5xf64>, tensor<2x?x5xf64>) -> (tensor<2x?x5xf64>, tensor<2x?x5xf64>)
  return %1, %4, %6, %7 : tensor<7xf32>, tensor<?x2xi32>, tensor<2x?x5xf64>, tensor<2x?x5xf64>
}
