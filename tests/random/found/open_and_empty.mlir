// No elements, whatever the size that is left open.
func.func @main(%arg0: tensor<0x?xf64>, %arg1: tensor<1xf64>) -> (tensor<0x?xf64>, tensor<0x?xf64>, tensor<1xf64>, tensor<1xi32>) attributes {test.sizes = array<i64: 16>, test.tolerance = [0.000000e+00 : f64, 0.000000e+00 : f64, 0.000000e+00 : f64, 0.000000e+00 : f64]} {
  %1 = "graph.transpose"(%arg0) <{perm = array<i64: 1, 0>}> : (tensor<0x?xf64>) -> tensor<?x0xf64>
  %2 = "graph.dim"(%arg0) <{index = 1 : i64}> : (tensor<0x?xf64>) -> index
  %3 = "graph.broadcast"(%arg1, %2) <{dims = array<i64: 1>}> : (tensor<1xf64>, index) -> tensor<0x?xf64>
  %4 = "graph.sub"(%arg0, %3) : (tensor<0x?xf64>, tensor<0x?xf64>) -> tensor<0x?xf64>
  %5, %6 = "graph.top_k"(%arg1) <{axis = 0 : i64, k = 1 : i64}> : (tensor<1xf64>) -> (tensor<1xf64>, tensor<1xi32>)
  return %3, %4, %5, %6 : tensor<0x?xf64>, tensor<0x?xf64>, tensor<1xf64>, tensor<1xi32>
}
