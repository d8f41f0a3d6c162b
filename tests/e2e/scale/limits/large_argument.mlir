// error: large_argument.mlir:2:1: error: .*a value of type tensor<70368744177664xf64> takes 562949953421312 bytes
func.func @main(%arg0: tensor<70368744177664xf64>) -> tensor<70368744177664xf64> {
  %0 = stablehlo.tanh %arg0 : tensor<70368744177664xf64>
  %2 = "stablehlo.dot_general"(%0, %0) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>} : (tensor<70368744177664xf64>, tensor<70368744177664xf64>) -> tensor<f64>
  %3 = "stablehlo.broadcast_in_dim"(%2) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<70368744177664xf64>
  return %3 : tensor<70368744177664xf64>
}
