// A position among no elements is divided by no size.
func.func @main(%arg0: tensor<33x?x0xf16>, %arg1: tensor<?x?x?x?xf16>, %arg2: tensor<7x?x?xf16>, %arg3: tensor<33xf16>) -> (tensor<?x?x?xi64>, tensor<33x?x0xf16>, tensor<33x?x0xf16>, tensor<?x?x?xi64>) attributes {test.sizes = array<i64: 16, 16, 7, 8, 17, 8, 5>, test.tolerance = [0.000000e+00 : f64, 0.000000e+00 : f64, 0.000000e+00 : f64, 0.000000e+00 : f64]} {
  %1 = "graph.round"(%arg0) : (tensor<33x?x0xf16>) -> tensor<33x?x0xf16>
  %2, %3 = "graph.arg_reduce"(%arg1) <{axis = 3 : i64, kind = "max"}> : (tensor<?x?x?x?xf16>) -> (tensor<?x?x?xf16>, tensor<?x?x?xi64>)
  %4 = "graph.dim"(%arg0) <{index = 1 : i64}> : (tensor<33x?x0xf16>) -> index
  %5 = "graph.broadcast"(%arg3, %4) <{dims = array<i64: 0>}> : (tensor<33xf16>, index) -> tensor<33x?x0xf16>
  %6 = "graph.sub"(%1, %5) : (tensor<33x?x0xf16>, tensor<33x?x0xf16>) -> tensor<33x?x0xf16>
  %7 = "graph.dim"(%arg1) <{index = 0 : i64}> : (tensor<?x?x?x?xf16>) -> index
  %8 = "graph.dim"(%arg1) <{index = 1 : i64}> : (tensor<?x?x?x?xf16>) -> index
  %9 = "graph.dim"(%arg1) <{index = 2 : i64}> : (tensor<?x?x?x?xf16>) -> index
  %10 = "graph.iota"(%7, %8, %9) <{axis = 1 : i64}> : (index, index, index) -> tensor<?x?x?xi64>
  return %3, %5, %6, %10 : tensor<?x?x?xi64>, tensor<33x?x0xf16>, tensor<33x?x0xf16>, tensor<?x?x?xi64>
}
