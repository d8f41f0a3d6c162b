// Large constants and counters, moved.
func.func @main() -> tensor<1099511627776xi64> {
  %0 = stablehlo.iota dim = 0 : tensor<1099511627776xi64>
  %1 = stablehlo.constant dense<1> : tensor<1099511627776xi64>
  %2 = stablehlo.add %0, %1 : tensor<1099511627776xi64>
  %3 = stablehlo.concatenate %2, %1, dim = 0 : (tensor<1099511627776xi64>, tensor<1099511627776xi64>) -> tensor<2199023255552xi64>
  %4 = stablehlo.slice %3 [5:1099511627781] : (tensor<2199023255552xi64>) -> tensor<1099511627776xi64>
  return %4 : tensor<1099511627776xi64>
}
