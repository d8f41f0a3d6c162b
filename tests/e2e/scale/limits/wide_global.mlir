// error: wide_global.mlir:2:1: error: .*starts as 8796093022208 bytes of one element of 8 bytes
util.global private mutable @g = dense<3> : tensor<1099511627776xi64>
func.func @main() -> tensor<1099511627776xi64> {
  %2 = util.global.load @g : tensor<1099511627776xi64>
  util.global.store %2, @g : tensor<1099511627776xi64>
  return %2 : tensor<1099511627776xi64>
}
