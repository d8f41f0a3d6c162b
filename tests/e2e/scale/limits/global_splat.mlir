// A global that starts as one number.
util.global private @g = dense<3> : tensor<1099511627776xi8>
func.func @main() -> tensor<1099511627776xi8> {
  %2 = util.global.load @g : tensor<1099511627776xi8>
  return %2 : tensor<1099511627776xi8>
}
