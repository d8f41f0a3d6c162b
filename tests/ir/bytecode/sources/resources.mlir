// plain
func.func @resources() -> (tensor<4xf32>, tensor<2xi64>) {
  %0 = stablehlo.constant dense_resource<weights> : tensor<4xf32>
  %1 = stablehlo.constant dense_resource<"other.name"> : tensor<2xi64>
  return %0, %1 : tensor<4xf32>, tensor<2xi64>
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F000000400000404000008040",
      "other.name": "0x0800000001000000000000000200000000000000"
    }
  }
#-}
