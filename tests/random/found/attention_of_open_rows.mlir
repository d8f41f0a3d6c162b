func.func @main(%arg0: tensor<2x?x8xf16>, %arg1: tensor<2x?x8xf16>, %arg2: tensor<2x?x5xf16>, %arg3: tensor<?x?xf16>) -> tensor<2x?x5xf16> attributes {test.sizes = array<i64: 3, 4, 4, 3, 4>, test.tolerance = [5.0e-2 : f64]} {
  %0 = "graph.attention"(%arg0, %arg1, %arg2, %arg3) <{causal}> : (tensor<2x?x8xf16>, tensor<2x?x8xf16>, tensor<2x?x5xf16>, tensor<?x?xf16>) -> tensor<2x?x5xf16>
  return %0 : tensor<2x?x5xf16>
}
