// Factors of matrices that are larger than a workgroup has threads in a subgroup; both halves.
func.func @main(%x: tensor<2x67x67xf32>) -> (tensor<2x67x67xf32>, tensor<2x67x67xf32>) attributes {test.sizes = array<i64>, test.tolerance = [1.000000e-02 : f64, 1.000000e-02 : f64]} {
  %rows = "graph.iota"() {axis = 1 : i64} : () -> tensor<2x67x67xi32>
  %columns = "graph.iota"() {axis = 2 : i64} : () -> tensor<2x67x67xi32>
  %diagonal = "graph.eq"(%rows, %columns) : (tensor<2x67x67xi32>, tensor<2x67x67xi32>) -> tensor<2x67x67xi1>
  %some = "graph.constant"() {value = dense<67.0> : tensor<2x67x67xf32>} : () -> tensor<2x67x67xf32>
  %none = "graph.constant"() {value = dense<0.0> : tensor<2x67x67xf32>} : () -> tensor<2x67x67xf32>
  %more = "graph.select"(%diagonal, %some, %none) : (tensor<2x67x67xi1>, tensor<2x67x67xf32>, tensor<2x67x67xf32>) -> tensor<2x67x67xf32>
  %square = "graph.contract"(%x, %x) {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 2>} : (tensor<2x67x67xf32>, tensor<2x67x67xf32>) -> tensor<2x67x67xf32>
  %a = "graph.add"(%square, %more) : (tensor<2x67x67xf32>, tensor<2x67x67xf32>) -> tensor<2x67x67xf32>
  %0 = "graph.cholesky"(%a) {lower} : (tensor<2x67x67xf32>) -> tensor<2x67x67xf32>
  %1 = "graph.cholesky"(%a) : (tensor<2x67x67xf32>) -> tensor<2x67x67xf32>
  return %0, %1 : tensor<2x67x67xf32>, tensor<2x67x67xf32>
}
