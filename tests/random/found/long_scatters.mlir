// Many updates, several of an element: the last stays, sums are in order; with windows that move, batches, regions,
// indices outside.
func.func @main(%x: tensor<71x5xf32>, %at: tensor<300x1xi32>, %rows: tensor<300x5xf32>, %y: tensor<3x40x6xi32>, %places: tensor<3x50x1xi64>, %parts: tensor<3x50x2x6xi32>, %z: tensor<900xi16>, %each: tensor<130xi32>, %values: tensor<130xi16>) -> (tensor<71x5xf32>, tensor<3x40x6xi32>, tensor<900xi16>, tensor<900xi16>, tensor<71x5xf32>) attributes {test.sizes = array<i64>, test.tolerance = [0.000000e+00 : f64, 0.000000e+00 : f64, 0.000000e+00 : f64, 0.000000e+00 : f64, 0.000000e+00 : f64]} {
  %0 = "graph.scatter"(%x, %at, %rows) {update_window_dims = array<i64: 1>, inserted_dims = array<i64: 0>, operand_batch_dims = array<i64>, indices_batch_dims = array<i64>, scatter_dims_map = array<i64: 0>, index_vector_dim = 1 : i64, kind = "set"} : (tensor<71x5xf32>, tensor<300x1xi32>, tensor<300x5xf32>) -> tensor<71x5xf32>
  %1 = "graph.scatter"(%y, %places, %parts) {update_window_dims = array<i64: 2, 3>, inserted_dims = array<i64>, operand_batch_dims = array<i64: 0>, indices_batch_dims = array<i64: 0>, scatter_dims_map = array<i64: 1>, index_vector_dim = 2 : i64, kind = "add", wrap} : (tensor<3x40x6xi32>, tensor<3x50x1xi64>, tensor<3x50x2x6xi32>) -> tensor<3x40x6xi32>
  %2 = "graph.scatter"(%z, %each, %values) {update_window_dims = array<i64>, inserted_dims = array<i64: 0>, operand_batch_dims = array<i64>, indices_batch_dims = array<i64>, scatter_dims_map = array<i64: 0>, index_vector_dim = 1 : i64, kind = "max"} : (tensor<900xi16>, tensor<130xi32>, tensor<130xi16>) -> tensor<900xi16>
  %3 = "graph.scatter_generic"(%z, %each, %values) ({
  ^bb0(%a: tensor<i16>, %b: tensor<i16>):
    %5 = "graph.add"(%a, %a) : (tensor<i16>, tensor<i16>) -> tensor<i16>
    %6 = "graph.sub"(%5, %b) : (tensor<i16>, tensor<i16>) -> tensor<i16>
    "graph.yield"(%6) : (tensor<i16>) -> ()
  }) {update_window_dims = array<i64>, inserted_dims = array<i64: 0>, operand_batch_dims = array<i64>, indices_batch_dims = array<i64>, scatter_dims_map = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<900xi16>, tensor<130xi32>, tensor<130xi16>) -> tensor<900xi16>
  %4 = "graph.abs"(%0) : (tensor<71x5xf32>) -> tensor<71x5xf32>
  return %0, %1, %2, %3, %4 : tensor<71x5xf32>, tensor<3x40x6xi32>, tensor<900xi16>, tensor<900xi16>, tensor<71x5xf32>
}
