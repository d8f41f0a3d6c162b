// Long reductions with any body, of parts in order: the largest and the first place where it is.
func.func @main(%x: tensor<2x1301x3xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>, tensor<i32>) attributes {test.sizes = array<i64>, test.tolerance = [0.000000e+00 : f64, 0.000000e+00 : f64, 0.000000e+00 : f64]} {
  %least = "graph.constant"() {value = dense<-2147483648> : tensor<i32>} : () -> tensor<i32>
  %none = "graph.constant"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %zero = "graph.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %places = "graph.iota"() {axis = 1 : i64} : () -> tensor<2x1301x3xi32>
  %0, %1 = "graph.reduce_generic"(%x, %places, %least, %none) ({
  ^bb0(%a: tensor<i32>, %i: tensor<i32>, %b: tensor<i32>, %j: tensor<i32>):
    %2 = "graph.gt"(%b, %a) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = "graph.select"(%2, %b, %a) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %4 = "graph.select"(%2, %j, %i) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "graph.yield"(%3, %4) : (tensor<i32>, tensor<i32>) -> ()
  }) {dims = array<i64: 1>} : (tensor<2x1301x3xi32>, tensor<2x1301x3xi32>, tensor<i32>, tensor<i32>) -> (tensor<2x3xi32>, tensor<2x3xi32>)
  %5 = "graph.reduce_generic"(%x, %zero) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %6 = "graph.xor"(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "graph.yield"(%6) : (tensor<i32>) -> ()
  }) {dims = array<i64: 0, 2, 1>} : (tensor<2x1301x3xi32>, tensor<i32>) -> tensor<i32>
  return %0, %1, %5 : tensor<2x3xi32>, tensor<2x3xi32>, tensor<i32>
}
