// The name that stands for data left out is a name like any other where the file brings data for it.
// RUN: iree-opt --verify-roundtrip %s | diff <(grep -v '^//' %s) -
module {
  "test.resource"() {a = dense_resource<__elided__> : tensor<4xi8>} : () -> ()
}
{-#
  dialect_resources: {
    builtin: {
      __elided__: "0x0100000001020304"
    }
  }
#-}
