func.func @types() {
  %0 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %1 = stablehlo.constant dense<[-3, 7, 5]> : tensor<3xi4>
  %2 = stablehlo.constant dense<[1, 0, -2]> : tensor<3xi2>
  %3 = stablehlo.constant dense<[-128, 127]> : tensor<2xi8>
  %4 = stablehlo.constant dense<[-32768, 5]> : tensor<2xi16>
  %5 = stablehlo.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xi32>
  %6 = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
  %7 = stablehlo.constant dense<[15, 3]> : tensor<2xui4>
  %8 = stablehlo.constant dense<[255, 0]> : tensor<2xui8>
  %9 = stablehlo.constant dense<65535> : tensor<4xui16>
  %10 = stablehlo.constant dense<[4294967295, 1]> : tensor<2xui32>
  %11 = stablehlo.constant dense<[18446744073709551615, 1]> : tensor<2xui64>
  %12 = stablehlo.constant dense<[1.0, -2.5]> : tensor<2xf16>
  %13 = stablehlo.constant dense<[1.0, 0x7FC0]> : tensor<2xbf16>
  %14 = stablehlo.constant dense<[1.0, 0x7F800000, 3.40282347E+38]> : tensor<3xf32>
  %15 = stablehlo.constant dense<[1.0, -2.2250738585072014E-308]> : tensor<2xf64>
  %16 = stablehlo.constant dense<[(1.0, -2.0), (0.0, 3.5)]> : tensor<2xcomplex<f32>>
  %17 = stablehlo.constant dense<(1.0, 2.0)> : tensor<3xcomplex<f64>>
  %18 = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf8E4M3FN>
  %19 = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf8E5M2>
  %20 = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf8E4M3FNUZ>
  %21 = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf8E5M2FNUZ>
  %22 = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf8E4M3B11FNUZ>
  %23 = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf8E4M3>
  %24 = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf8E3M4>
  %25 = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf4E2M1FN>
  %26 = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf6E2M3FN>
  %27 = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf6E3M2FN>
  %28 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf8E8M0FNU>
  %29 = stablehlo.constant dense<> : tensor<0x3xf32>
  %30 = stablehlo.constant dense<1.5> : tensor<100xf32>
  %31 = stablehlo.constant dense<true> : tensor<9xi1>
  %32 = stablehlo.constant dense<false> : tensor<i1>
  %33 = stablehlo.constant dense<true> : tensor<i1>
  %34 = stablehlo.constant dense<[true, false, true, false, true, false, true, false, true, false, true]> : tensor<11xi1>
  return
}
