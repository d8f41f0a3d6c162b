// What follows the first of several results.
func.func @main(%arg0: tensor<64x64xf32>, %arg1: tensor<4x5xf32>, %arg2: tensor<1xf32>) -> (tensor<64xf32>, tensor<64xi64>, tensor<64xf32>, tensor<64x64xf32>) attributes {test.sizes = array<i64>, test.tolerance = [0.000000e+00 : f64, 0.000000e+00 : f64, 1.000000e-05 : f64, 0.000000e+00 : f64]} {
  %1, %2 = "graph.arg_reduce"(%arg0) <{axis = 1 : i64, kind = "min", last}> : (tensor<64x64xf32>) -> (tensor<64xf32>, tensor<64xi64>)
  %3 = "graph.sin"(%1) : (tensor<64xf32>) -> tensor<64xf32>
  %4 = "graph.transpose"(%arg0) <{perm = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1, %2, %3, %4 : tensor<64xf32>, tensor<64xi64>, tensor<64xf32>, tensor<64x64xf32>
}
