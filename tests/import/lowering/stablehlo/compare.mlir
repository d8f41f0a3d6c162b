// Comparisons in every direction and type, and conversions.
// Written by cases_stablehlo.py.

func.func @eq_f32(%a: tensor<5xf32>, %b: tensor<5xf32>) -> (tensor<5xi1>) attributes {
    test.in = [dense<[1.0, 2.0, 3.0, 0x7FC00000, 0.0]> : tensor<5xf32>, dense<[1.0, 3.0, 2.0, 1.0, -0.0]> : tensor<5xf32>],
    test.out = [dense<[true, false, false, false, true]> : tensor<5xi1>]
} {
  %0 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  return %0 : tensor<5xi1>
}

func.func @ne_f32(%a: tensor<5xf32>, %b: tensor<5xf32>) -> (tensor<5xi1>) attributes {
    test.in = [dense<[1.0, 2.0, 3.0, 0x7FC00000, 0.0]> : tensor<5xf32>, dense<[1.0, 3.0, 2.0, 1.0, -0.0]> : tensor<5xf32>],
    test.out = [dense<[false, true, true, true, false]> : tensor<5xi1>]
} {
  %0 = stablehlo.compare NE, %a, %b, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  return %0 : tensor<5xi1>
}

func.func @lt_f32(%a: tensor<5xf32>, %b: tensor<5xf32>) -> (tensor<5xi1>) attributes {
    test.in = [dense<[1.0, 2.0, 3.0, 0x7FC00000, 0.0]> : tensor<5xf32>, dense<[1.0, 3.0, 2.0, 1.0, -0.0]> : tensor<5xf32>],
    test.out = [dense<[false, true, false, false, false]> : tensor<5xi1>]
} {
  %0 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  return %0 : tensor<5xi1>
}

func.func @le_f32(%a: tensor<5xf32>, %b: tensor<5xf32>) -> (tensor<5xi1>) attributes {
    test.in = [dense<[1.0, 2.0, 3.0, 0x7FC00000, 0.0]> : tensor<5xf32>, dense<[1.0, 3.0, 2.0, 1.0, -0.0]> : tensor<5xf32>],
    test.out = [dense<[true, true, false, false, true]> : tensor<5xi1>]
} {
  %0 = stablehlo.compare LE, %a, %b, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  return %0 : tensor<5xi1>
}

func.func @gt_f32(%a: tensor<5xf32>, %b: tensor<5xf32>) -> (tensor<5xi1>) attributes {
    test.in = [dense<[1.0, 2.0, 3.0, 0x7FC00000, 0.0]> : tensor<5xf32>, dense<[1.0, 3.0, 2.0, 1.0, -0.0]> : tensor<5xf32>],
    test.out = [dense<[false, false, true, false, false]> : tensor<5xi1>]
} {
  %0 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  return %0 : tensor<5xi1>
}

func.func @ge_f32(%a: tensor<5xf32>, %b: tensor<5xf32>) -> (tensor<5xi1>) attributes {
    test.in = [dense<[1.0, 2.0, 3.0, 0x7FC00000, 0.0]> : tensor<5xf32>, dense<[1.0, 3.0, 2.0, 1.0, -0.0]> : tensor<5xf32>],
    test.out = [dense<[true, false, true, false, true]> : tensor<5xi1>]
} {
  %0 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  return %0 : tensor<5xi1>
}

func.func @eq_ui32(%a: tensor<3xui32>, %b: tensor<3xui32>) -> (tensor<3xi1>) attributes {
    test.in = [dense<[1, 4294967295, 5]> : tensor<3xui32>, dense<[2, 1, 5]> : tensor<3xui32>],
    test.out = [dense<[false, false, true]> : tensor<3xi1>]
} {
  %0 = stablehlo.compare EQ, %a, %b, UNSIGNED : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

func.func @eq_i32(%a: tensor<3xi32>, %b: tensor<3xi32>) -> (tensor<3xi1>) attributes {
    test.in = [dense<[1, -1, 5]> : tensor<3xi32>, dense<[2, 1, 5]> : tensor<3xi32>],
    test.out = [dense<[false, false, true]> : tensor<3xi1>]
} {
  %0 = stablehlo.compare EQ, %a, %b : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

func.func @ne_ui32(%a: tensor<3xui32>, %b: tensor<3xui32>) -> (tensor<3xi1>) attributes {
    test.in = [dense<[1, 4294967295, 5]> : tensor<3xui32>, dense<[2, 1, 5]> : tensor<3xui32>],
    test.out = [dense<[true, true, false]> : tensor<3xi1>]
} {
  %0 = stablehlo.compare NE, %a, %b, UNSIGNED : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

func.func @ne_i32(%a: tensor<3xi32>, %b: tensor<3xi32>) -> (tensor<3xi1>) attributes {
    test.in = [dense<[1, -1, 5]> : tensor<3xi32>, dense<[2, 1, 5]> : tensor<3xi32>],
    test.out = [dense<[true, true, false]> : tensor<3xi1>]
} {
  %0 = stablehlo.compare NE, %a, %b : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

func.func @lt_ui32(%a: tensor<3xui32>, %b: tensor<3xui32>) -> (tensor<3xi1>) attributes {
    test.in = [dense<[1, 4294967295, 5]> : tensor<3xui32>, dense<[2, 1, 5]> : tensor<3xui32>],
    test.out = [dense<[true, false, false]> : tensor<3xi1>]
} {
  %0 = stablehlo.compare LT, %a, %b, UNSIGNED : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

func.func @lt_i32(%a: tensor<3xi32>, %b: tensor<3xi32>) -> (tensor<3xi1>) attributes {
    test.in = [dense<[1, -1, 5]> : tensor<3xi32>, dense<[2, 1, 5]> : tensor<3xi32>],
    test.out = [dense<[true, true, false]> : tensor<3xi1>]
} {
  %0 = stablehlo.compare LT, %a, %b : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

func.func @le_ui32(%a: tensor<3xui32>, %b: tensor<3xui32>) -> (tensor<3xi1>) attributes {
    test.in = [dense<[1, 4294967295, 5]> : tensor<3xui32>, dense<[2, 1, 5]> : tensor<3xui32>],
    test.out = [dense<[true, false, true]> : tensor<3xi1>]
} {
  %0 = stablehlo.compare LE, %a, %b, UNSIGNED : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

func.func @le_i32(%a: tensor<3xi32>, %b: tensor<3xi32>) -> (tensor<3xi1>) attributes {
    test.in = [dense<[1, -1, 5]> : tensor<3xi32>, dense<[2, 1, 5]> : tensor<3xi32>],
    test.out = [dense<[true, true, true]> : tensor<3xi1>]
} {
  %0 = stablehlo.compare LE, %a, %b : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

func.func @gt_ui32(%a: tensor<3xui32>, %b: tensor<3xui32>) -> (tensor<3xi1>) attributes {
    test.in = [dense<[1, 4294967295, 5]> : tensor<3xui32>, dense<[2, 1, 5]> : tensor<3xui32>],
    test.out = [dense<[false, true, false]> : tensor<3xi1>]
} {
  %0 = stablehlo.compare GT, %a, %b, UNSIGNED : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

func.func @gt_i32(%a: tensor<3xi32>, %b: tensor<3xi32>) -> (tensor<3xi1>) attributes {
    test.in = [dense<[1, -1, 5]> : tensor<3xi32>, dense<[2, 1, 5]> : tensor<3xi32>],
    test.out = [dense<[false, false, false]> : tensor<3xi1>]
} {
  %0 = stablehlo.compare GT, %a, %b : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

func.func @ge_ui32(%a: tensor<3xui32>, %b: tensor<3xui32>) -> (tensor<3xi1>) attributes {
    test.in = [dense<[1, 4294967295, 5]> : tensor<3xui32>, dense<[2, 1, 5]> : tensor<3xui32>],
    test.out = [dense<[false, true, true]> : tensor<3xi1>]
} {
  %0 = stablehlo.compare GE, %a, %b, UNSIGNED : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

func.func @ge_i32(%a: tensor<3xi32>, %b: tensor<3xi32>) -> (tensor<3xi1>) attributes {
    test.in = [dense<[1, -1, 5]> : tensor<3xi32>, dense<[2, 1, 5]> : tensor<3xi32>],
    test.out = [dense<[false, false, true]> : tensor<3xi1>]
} {
  %0 = stablehlo.compare GE, %a, %b : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

func.func @total_order(%a: tensor<5xf32>, %b: tensor<5xf32>) -> (tensor<5xi1>) attributes {
    test.in = [dense<[-0.0, 0.0, 0x7FC00000, 1.0, 0xFF800000]> : tensor<5xf32>, dense<[0.0, -0.0, 1.0, 0x7FC00000, -1.0]> : tensor<5xf32>],
    test.out = [dense<[true, false, false, true, true]> : tensor<5xi1>]
} {
  %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  return %0 : tensor<5xi1>
}

func.func @convert_i8(%a: tensor<4xf32>) -> (tensor<4xi8>) attributes {
    test.in = [dense<[0.0, 1.7000000476837158, -3.200000047683716, 100.0]> : tensor<4xf32>],
    test.out = [dense<[0, 1, -3, 100]> : tensor<4xi8>]
} {
  %0 = "stablehlo.convert"(%a) : (tensor<4xf32>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

func.func @convert_i32(%a: tensor<4xf32>) -> (tensor<4xi32>) attributes {
    test.in = [dense<[0.0, 1.7000000476837158, -3.200000047683716, 100.0]> : tensor<4xf32>],
    test.out = [dense<[0, 1, -3, 100]> : tensor<4xi32>]
} {
  %0 = "stablehlo.convert"(%a) : (tensor<4xf32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

func.func @convert_i64(%a: tensor<4xf32>) -> (tensor<4xi64>) attributes {
    test.in = [dense<[0.0, 1.7000000476837158, -3.200000047683716, 100.0]> : tensor<4xf32>],
    test.out = [dense<[0, 1, -3, 100]> : tensor<4xi64>]
} {
  %0 = "stablehlo.convert"(%a) : (tensor<4xf32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

func.func @convert_f16(%a: tensor<4xf32>) -> (tensor<4xf16>) attributes {
    test.in = [dense<[0.0, 1.7000000476837158, -3.200000047683716, 100.0]> : tensor<4xf32>],
    test.out = [dense<[0.0, 1.7001953125, -3.19921875, 100.0]> : tensor<4xf16>]
} {
  %0 = "stablehlo.convert"(%a) : (tensor<4xf32>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

func.func @convert_f64(%a: tensor<4xf32>) -> (tensor<4xf64>) attributes {
    test.in = [dense<[0.0, 1.7000000476837158, -3.200000047683716, 100.0]> : tensor<4xf32>],
    test.out = [dense<[0.0, 1.7000000476837158, -3.200000047683716, 100.0]> : tensor<4xf64>]
} {
  %0 = "stablehlo.convert"(%a) : (tensor<4xf32>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @convert_i1(%a: tensor<4xf32>) -> (tensor<4xi1>) attributes {
    test.in = [dense<[0.0, 1.7000000476837158, -3.200000047683716, 100.0]> : tensor<4xf32>],
    test.out = [dense<[false, true, true, true]> : tensor<4xi1>]
} {
  %0 = "stablehlo.convert"(%a) : (tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

func.func @convert_ui8_i32(%a: tensor<4xui8>) -> (tensor<4xi32>) attributes {
    test.in = [dense<[0, 127, 128, 255]> : tensor<4xui8>],
    test.out = [dense<[0, 127, 128, 255]> : tensor<4xi32>]
} {
  %0 = "stablehlo.convert"(%a) : (tensor<4xui8>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

func.func @convert_ui8_f32(%a: tensor<4xui8>) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0, 127, 128, 255]> : tensor<4xui8>],
    test.out = [dense<[0.0, 127.0, 128.0, 255.0]> : tensor<4xf32>]
} {
  %0 = "stablehlo.convert"(%a) : (tensor<4xui8>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @convert_si8_ui32(%a: tensor<4xi8>) -> (tensor<4xui32>) attributes {
    test.in = [dense<[0, 127, -128, -1]> : tensor<4xi8>],
    test.out = [dense<[0, 127, 4294967168, 4294967295]> : tensor<4xui32>]
} {
  %0 = "stablehlo.convert"(%a) : (tensor<4xi8>) -> tensor<4xui32>
  return %0 : tensor<4xui32>
}

func.func @convert_i1_f32(%a: tensor<2xi1>) -> (tensor<2xf32>) attributes {
    test.in = [dense<[true, false]> : tensor<2xi1>],
    test.out = [dense<[1.0, 0.0]> : tensor<2xf32>]
} {
  %0 = "stablehlo.convert"(%a) : (tensor<2xi1>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

func.func @bitcast_same(%a: tensor<4xf32>) -> (tensor<4xi32>) attributes {
    test.in = [dense<[0.0, 1.7000000476837158, -3.200000047683716, 100.0]> : tensor<4xf32>],
    test.out = [dense<[0, 1071225242, -1068708659, 1120403456]> : tensor<4xi32>]
} {
  %0 = "stablehlo.bitcast_convert"(%a) : (tensor<4xf32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

func.func @bitcast_bits(%a: tensor<3xi8>) -> (tensor<3x8xi1>) attributes {
    test.in = [dense<[101, 20, 70]> : tensor<3xi8>],
    test.out = [dense<[[true, false, true, false, false, true, true, false], [false, false, true, false, true, false, false, false], [false, true, true, false, false, false, true, false]]> : tensor<3x8xi1>]
} {
  %0 = "stablehlo.bitcast_convert"(%a) : (tensor<3xi8>) -> tensor<3x8xi1>
  return %0 : tensor<3x8xi1>
}

func.func @bitcast_halves(%a: tensor<3xi8>) -> (tensor<3x2xf32>) attributes {
    test.in = [dense<[33, -70, 127]> : tensor<3xi8>],
    test.out = [dense<[[0.5, 1.0], [-1.0, -1.5], [-6.0, 6.0]]> : tensor<3x2xf32>]
} {
  %0 = stablehlo.bitcast_convert %a : (tensor<3xi8>) -> tensor<3x2xf4E2M1FN>
  %1 = stablehlo.convert %0 : (tensor<3x2xf4E2M1FN>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

func.func @bitcast_narrow(%a: tensor<3xi32>) -> (tensor<3x4xi8>) attributes {
    test.in = [dense<[1910852235, 537280937, 791046805]> : tensor<3xi32>],
    test.out = [dense<[[-117, 74, -27, 113], [-87, 65, 6, 32], [-107, 106, 38, 47]]> : tensor<3x4xi8>]
} {
  %0 = "stablehlo.bitcast_convert"(%a) : (tensor<3xi32>) -> tensor<3x4xi8>
  return %0 : tensor<3x4xi8>
}

func.func @bitcast_wide(%a: tensor<3x2xi16>) -> (tensor<3xi32>) attributes {
    test.in = [dense<[[19083, 29157], [16809, 8198], [27285, 12070]]> : tensor<3x2xi16>],
    test.out = [dense<[1910852235, 537280937, 791046805]> : tensor<3xi32>]
} {
  %0 = "stablehlo.bitcast_convert"(%a) : (tensor<3x2xi16>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}
