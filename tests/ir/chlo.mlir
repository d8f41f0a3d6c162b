// chlo 
// RUN: iree-opt --verify-roundtrip %s | diff <(grep -v '^//' %s) -
module {
  func.func @chlo(%arg0: tensor<4x16xf32>, %arg1: tensor<16xf32>, %arg2: tensor<4x16xi1>) {
    %0 = chlo.broadcast_add %arg0, %arg1 {broadcast_dimensions = array<i64: 1>} : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
    %1 = chlo.broadcast_compare %arg0, %arg1 {comparison_direction = #chlo<comparison_direction GT>} : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xi1>
    %2 = chlo.erf %arg0 : tensor<4x16xf32> -> tensor<4x16xf32>
    %3 = chlo.zeta %arg0, %arg0 : tensor<4x16xf32>, tensor<4x16xf32> -> tensor<4x16xf32>
    %values, %indices = chlo.top_k(%arg0, k = 3) : tensor<4x16xf32> -> (tensor<4x3xf32>, tensor<4x3xi32>)
    %4 = chlo.broadcast_select %arg2, %arg0, %arg1 : (tensor<4x16xi1>, tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
    %cst = chlo.constant dense<1.000000e+00> : tensor<2xf32>
    return 
  }
}
