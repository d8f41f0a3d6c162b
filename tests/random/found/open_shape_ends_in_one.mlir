// Run-time sizes in front of a dimension of one.
func.func @main(%arg0: tensor<?x?x8x1xf16>) -> (tensor<?x?x8x1xf16>) attributes {test.sizes = array<i64: 8, 3>, test.tolerance = [0.000000e+00 : f64]} {
  %1 = "graph.abs"(%arg0) : (tensor<?x?x8x1xf16>) -> tensor<?x?x8x1xf16>
  return %1 : tensor<?x?x8x1xf16>
}
