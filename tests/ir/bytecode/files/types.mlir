module {
  func.func @types() {
    %c = stablehlo.constant dense<[true, false]> : tensor<2xi1>
    %c_0 = stablehlo.constant dense<[-3, 7, 5]> : tensor<3xi4>
    %c_1 = stablehlo.constant dense<[1, 0, -2]> : tensor<3xi2>
    %c_2 = stablehlo.constant dense<[-128, 127]> : tensor<2xi8>
    %c_3 = stablehlo.constant dense<[-32768, 5]> : tensor<2xi16>
    %c_4 = stablehlo.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xi32>
    %c_5 = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
    %c_6 = stablehlo.constant dense<[15, 3]> : tensor<2xui4>
    %c_7 = stablehlo.constant dense<[255, 0]> : tensor<2xui8>
    %c_8 = stablehlo.constant dense<65535> : tensor<4xui16>
    %c_9 = stablehlo.constant dense<[4294967295, 1]> : tensor<2xui32>
    %c_10 = stablehlo.constant dense<[18446744073709551615, 1]> : tensor<2xui64>
    %cst = stablehlo.constant dense<[1.000000e+00, -2.500000e+00]> : tensor<2xf16>
    %cst_11 = stablehlo.constant dense<[1.000000e+00, 0x7FC0]> : tensor<2xbf16>
    %cst_12 = stablehlo.constant dense<[1.000000e+00, 0x7F800000, 3.40282347E+38]> : tensor<3xf32>
    %cst_13 = stablehlo.constant dense<[1.000000e+00, -2.2250738585072014E-308]> : tensor<2xf64>
    %cst_14 = stablehlo.constant dense<[(1.000000e+00,-2.000000e+00), (0.000000e+00,3.500000e+00)]> : tensor<2xcomplex<f32>>
    %cst_15 = stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<3xcomplex<f64>>
    %cst_16 = stablehlo.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf8E4M3FN>
    %cst_17 = stablehlo.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf8E5M2>
    %cst_18 = stablehlo.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf8E4M3FNUZ>
    %cst_19 = stablehlo.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf8E5M2FNUZ>
    %cst_20 = stablehlo.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf8E4M3B11FNUZ>
    %cst_21 = stablehlo.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf8E4M3>
    %cst_22 = stablehlo.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf8E3M4>
    %cst_23 = stablehlo.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf4E2M1FN>
    %cst_24 = stablehlo.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf6E2M3FN>
    %cst_25 = stablehlo.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf6E3M2FN>
    %cst_26 = stablehlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf8E8M0FNU>
    %cst_27 = stablehlo.constant dense<> : tensor<0x3xf32>
    %cst_28 = stablehlo.constant dense<1.500000e+00> : tensor<100xf32>
    %c_29 = stablehlo.constant dense<true> : tensor<9xi1>
    %c_30 = stablehlo.constant dense<false> : tensor<i1>
    %c_31 = stablehlo.constant dense<true> : tensor<i1>
    %c_32 = stablehlo.constant dense<[true, false, true, false, true, false, true, false, true, false, true]> : tensor<11xi1>
    return
  }
}
