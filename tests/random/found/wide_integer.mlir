func.func @main(%arg0: tensor<?xi65>, %arg1: tensor<?xi16>, %arg2: tensor<?x?x8xi16>, %arg3: tensor<1xi16>) -> (tensor<?x?x8xi16>, tensor<?x?x8xi16>) attributes {test.sizes = array<i64: 4, 3, 1, 2>, test.tolerance = [0.000000e+00 : f64, 0.000000e+00 : f64]} {
  %1 = "graph.dim"(%arg2) <{index = 0 : i64}> : (tensor<?x?x8xi16>) -> index
  %2 = "graph.dim"(%arg2) <{index = 1 : i64}> : (tensor<?x?x8xi16>) -> index
  %3 = "graph.broadcast"(%arg3, %1, %2) <{dims = array<i64: 0>}> : (tensor<1xi16>, index, index) -> tensor<?x?x8xi16>
  %4 = "graph.min"(%arg2, %3) : (tensor<?x?x8xi16>, tensor<?x?x8xi16>) -> tensor<?x?x8xi16>
  return %3, %4 : tensor<?x?x8xi16>, tensor<?x?x8xi16>
}
