// attributes 
// RUN: iree-opt --verify-roundtrip %s | diff <(grep -v '^//' %s) -
module {
  "test.numbers"() {a = 1 : i64, b = -128 : i8, c = 255 : ui8, d = 18446744073709551615 : ui64, e = true, f = 5 : index, g = -3 : si32, h = 1.500000e+00 : f32, i = 3.14159274 : f32, j = 3.1415926535897931 : f64, k = 0x7FC0 : bf16, l = 0xFFF0000000000000 : f64, m = 1.000400e-03 : f16, n = -0.000000e+00 : f32, o = 1.000000e+30 : f32, p = -1 : si1, q = 1 : ui1} : () -> ()
  "test.text"() {a = "plain", b = "quote \22 backslash \\ newline \0A tab \09 bell \07 utf8 \C3\A4\C3\B6\C3\BC", c = "", d = @symbol, e = @outer::@inner, f = @"odd name"::@x, "name with space" = 1 : i64} : () -> ()
  "test.lists"() {a = [], b = [1, 2 : i32, "x", unit, [true, 2.000000e+00, 0x7FF0000000000000 : f64]], c = {}, d = {x = 1 : i64, y = {z}}, e = array<i64>, f = array<i64: 1, -2>, g = array<i1: true, false>, h = array<f32: 1.000000e+00, 5.000000e-01>, i = array<i8: 127, -128>} : () -> ()
  "test.dense"() {a = dense<1> : tensor<i32>, b = dense<[1, 2, 3]> : tensor<3xi64>, c = dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>, d = dense<[true, false]> : tensor<2xi1>, e = dense<(1.000000e+00,-1.000000e+00)> : tensor<2xcomplex<f32>>, f = dense<> : tensor<0x4xf32>, g = dense<[0x7FC00000, 1.000000e+00]> : vector<2xf32>, h = dense<[1, 255]> : tensor<2xui8>, i = dense<["a", "b"]> : tensor<2x!test.string>, j = dense<[-1, 7]> : tensor<2xi4>, k = dense<[-1, 0]> : tensor<2xsi1>, l = dense<2.01234579> : tensor<tf32>} : () -> ()
  "test.resource"() {a = dense_resource<blob> : tensor<4xi8>, b = dense_resource<__elided__> : tensor<1000xf32>} : () -> ()
  "test.types"() {a = i32, b = tensor<4xf32>, c = (i32, f32) -> i1, d = !test.thing<4, "x">} : () -> ()
  "test.maps"() {a = affine_map<(d0, d1) -> (d1, d0)>, b = affine_map<(d0)[s0, s1] -> (d0 * s0 + s1, d0 floordiv 4, d0 ceildiv 3, d0 mod 2)>, c = affine_map<() -> ()>, d = affine_map<() -> (0)>, e = affine_map<(d0, d1) -> (d0 - d1 - 1, (d0 + d1) * 2)>, f = affine_set<(d0)[s0] : (d0 >= 0, s0 - d0 - 1 >= 0)>} : () -> ()
  "test.dialect"() {a = #test.lone, b = #test.attr, c = #test.attr<1, [2, 3], {x = "y>"}>, d = #test<kind VALUE>, e = #test.pair<first = 1, second = [2]>, f = distinct[0]<"id">, g = strided<[4, 1], offset: ?>} : () -> ()
  "test.places"() {a = loc("file.py":3:14), b = loc(unknown), c = loc("name"), d = loc("name"("file.py":1:2)), e = loc(callsite("f" at "g.c":5:6)), f = loc(fused["a", "b.c":1:1])} : () -> ()
}
{-#
  dialect_resources: {
    builtin: {
      blob: "0x0100000001020304"
    }
  }
#-}
