// Quantised StableHLO: conversions, arithmetic, contractions, and what only moves elements.
// Written by cases_quantized.py.

func.func @quantize(%a: tensor<15xf32>) -> (tensor<15x!quant.uniform<i8:f32, 0.5:3>>) attributes {
    test.in = [dense<[10.007637023925781, 31.777103424072266, 22.054855346679688, -21.98342514038086, -15.98669719696045, 29.884275436401367, -39.57877731323242, 25.698272705078125, 23.765554428100586, 0.25, -0.25, 100.0, -100.0, 0.75, 0x7F800000]> : tensor<15xf32>],
    test.out = [dense<[23, 67, 47, -41, -29, 63, -76, 54, 51, 4, 2, 127, -128, 4, 127]> : tensor<15xi8>]
} {
  %0 = stablehlo.uniform_quantize %a : (tensor<15xf32>) -> tensor<15x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<15x!quant.uniform<i8:f32, 0.5:3>>
}

func.func @dequantize(%a: tensor<15x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<15xf32>) attributes {
    test.in = [dense<[-98, -9, 81, -51, -41, -57, 56, -63, 125, -15, -6, 1, 21, 13, 2]> : tensor<15xi8>],
    test.out = [dense<[-50.5, -6.0, 39.0, -27.0, -22.0, -30.0, 26.5, -33.0, 61.0, -9.0, -4.5, -1.0, 9.0, 5.0, -0.5]> : tensor<15xf32>]
} {
  %0 = stablehlo.uniform_dequantize %a : (tensor<15x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<15xf32>
  return %0 : tensor<15xf32>
}

func.func @requantize(%a: tensor<4x!quant.uniform<u8:f32, 0.25:128>>) -> (tensor<4x!quant.uniform<i8<-7:7>:f32, 2.0>>) attributes {
    test.in = [dense<[0, 255, 128, 140]> : tensor<4xui8>],
    test.out = [dense<[-7, 7, 0, 2]> : tensor<4xi8>]
} {
  %0 = stablehlo.uniform_quantize %a : (tensor<4x!quant.uniform<u8:f32, 0.25:128>>) -> tensor<4x!quant.uniform<i8<-7:7>:f32, 2.0>>
  return %0 : tensor<4x!quant.uniform<i8<-7:7>:f32, 2.0>>
}

func.func @bitcast(%a: tensor<2xi8>) -> (tensor<2xf32>, tensor<2xi8>) attributes {
    test.in = [dense<[5, 7]> : tensor<2xi8>],
    test.out = [dense<[1.0, 2.0]> : tensor<2xf32>, dense<[5, 7]> : tensor<2xi8>]
} {
  %0 = stablehlo.bitcast_convert %a : (tensor<2xi8>) -> tensor<2x!quant.uniform<i8:f32:0, {0.5:3, 0.25:-1}>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<2x!quant.uniform<i8:f32:0, {0.5:3, 0.25:-1}>>) -> tensor<2xf32>
  %2 = stablehlo.bitcast_convert %0 : (tensor<2x!quant.uniform<i8:f32:0, {0.5:3, 0.25:-1}>>) -> tensor<2xi8>
  return %1, %2 : tensor<2xf32>, tensor<2xi8>
}

func.func @add(%a: tensor<6x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<6x!quant.uniform<i8:f32, 0.25:-1>>) -> (tensor<6x!quant.uniform<i8:f32, 0.75>>) attributes {
    test.in = [dense<[60, 37, 35, 24, 15, -19]> : tensor<6xi8>, dense<[59, -4, -34, 42, -41, 43]> : tensor<6xi8>],
    test.out = [dense<[58, 22, 10, 28, -5, 0]> : tensor<6xi8>]
} {
  %0 = stablehlo.add %a, %b : (tensor<6x!quant.uniform<i8:f32, 0.5:3>>, tensor<6x!quant.uniform<i8:f32, 0.25:-1>>) -> tensor<6x!quant.uniform<i8:f32, 0.75>>
  return %0 : tensor<6x!quant.uniform<i8:f32, 0.75>>
}

func.func @multiply(%a: tensor<6x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<6x!quant.uniform<i8:f32, 0.25:-1>>) -> (tensor<6x!quant.uniform<i8:f32, 0.75>>) attributes {
    test.in = [dense<[60, 37, 35, 24, 15, -19]> : tensor<6xi8>, dense<[59, -4, -34, 42, -41, 43]> : tensor<6xi8>],
    test.out = [dense<[127, -17, -128, 127, -80, -128]> : tensor<6xi8>]
} {
  %0 = stablehlo.multiply %a, %b : (tensor<6x!quant.uniform<i8:f32, 0.5:3>>, tensor<6x!quant.uniform<i8:f32, 0.25:-1>>) -> tensor<6x!quant.uniform<i8:f32, 0.75>>
  return %0 : tensor<6x!quant.uniform<i8:f32, 0.75>>
}

func.func @maximum(%a: tensor<6x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<6x!quant.uniform<i8:f32, 0.25:-1>>) -> (tensor<6x!quant.uniform<i8:f32, 0.75>>) attributes {
    test.in = [dense<[60, 37, 35, 24, 15, -19]> : tensor<6xi8>, dense<[59, -4, -34, 42, -41, 43]> : tensor<6xi8>],
    test.out = [dense<[38, 23, 21, 14, 8, 15]> : tensor<6xi8>]
} {
  %0 = stablehlo.maximum %a, %b : (tensor<6x!quant.uniform<i8:f32, 0.5:3>>, tensor<6x!quant.uniform<i8:f32, 0.25:-1>>) -> tensor<6x!quant.uniform<i8:f32, 0.75>>
  return %0 : tensor<6x!quant.uniform<i8:f32, 0.75>>
}

func.func @subtract(%a: tensor<6x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<6x!quant.uniform<i8:f32, 0.25:-1>>) -> (tensor<6x!quant.uniform<i8:f32, 0.75>>) attributes {
    test.in = [dense<[60, 37, 35, 24, 15, -19]> : tensor<6xi8>, dense<[59, -4, -34, 42, -41, 43]> : tensor<6xi8>],
    test.out = [dense<[18, 24, 32, 0, 21, -29]> : tensor<6xi8>]
} {
  %0 = stablehlo.subtract %a, %b : (tensor<6x!quant.uniform<i8:f32, 0.5:3>>, tensor<6x!quant.uniform<i8:f32, 0.25:-1>>) -> tensor<6x!quant.uniform<i8:f32, 0.75>>
  return %0 : tensor<6x!quant.uniform<i8:f32, 0.75>>
}

func.func @tanh(%a: tensor<6x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<6x!quant.uniform<i8:f32, 0.75>>) attributes {
    test.in = [dense<[60, 37, 35, 24, 15, -19]> : tensor<6xi8>],
    test.out = [dense<[1, 1, 1, 1, 1, -1]> : tensor<6xi8>]
} {
  %0 = stablehlo.tanh %a : (tensor<6x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<6x!quant.uniform<i8:f32, 0.75>>
  return %0 : tensor<6x!quant.uniform<i8:f32, 0.75>>
}

func.func @compare(%a: tensor<6x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<6x!quant.uniform<i8:f32, 0.25:-1>>) -> (tensor<6xi1>) attributes {
    test.in = [dense<[60, 37, 35, 24, 15, -19]> : tensor<6xi8>, dense<[59, -4, -34, 42, -41, 43]> : tensor<6xi8>],
    test.out = [dense<[false, false, false, true, false, true]> : tensor<6xi1>]
} {
  %0 = stablehlo.compare LT, %a, %b : (tensor<6x!quant.uniform<i8:f32, 0.5:3>>, tensor<6x!quant.uniform<i8:f32, 0.25:-1>>) -> tensor<6xi1>
  return %0 : tensor<6xi1>
}

func.func @dot_general(%a: tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<3x4x!quant.uniform<i8:f32:1, {0.1, 0.2:1, 0.3:-2, 0.4}>>) -> (tensor<2x4x!quant.uniform<i32:f32, 0.05>>) attributes {
    test.in = [dense<[[5, -16, -19], [-2, -19, -15]]> : tensor<2x3xi8>, dense<[[1, 19, -1, 13], [17, 13, 5, -2], [1, -10, 0, -5]]> : tensor<3x4xi8>],
    test.out = [dense<[[-343, 100, -525, 696], [-397, -312, -585, 276]]> : tensor<2x4xi32>]
} {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, tensor<3x4x!quant.uniform<i8:f32:1, {0.1, 0.2:1, 0.3:-2, 0.4}>>) -> tensor<2x4x!quant.uniform<i32:f32, 0.05>>
  return %0 : tensor<2x4x!quant.uniform<i32:f32, 0.05>>
}

func.func @hybrid(%a: tensor<2x3xf32>, %b: tensor<3x4x!quant.uniform<i8:f32:1, {0.1, 0.2:1, 0.3:-2, 0.4}>>) -> (tensor<2x4xf32>) attributes {
    test.in = [dense<[[-1.9528238773345947, -1.2303913831710815, 0.7681284546852112], [-1.1975730657577515, -0.5218547582626343, -1.985063076019287]]> : tensor<2x3xf32>, dense<[[1, 19, -1, 13], [17, 13, 5, -2], [1, -10, 0, -5]]> : tensor<3x4xi8>],
    test.out = [dense<[[-2.210134983062744, -11.672987937927246, -2.708792209625244, -10.706628799438477], [-1.2054167985916138, -1.19657564163208, -2.646204948425293, -1.8397703170776367]]> : tensor<2x4xf32>]
} {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4x!quant.uniform<i8:f32:1, {0.1, 0.2:1, 0.3:-2, 0.4}>>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

func.func @convolution(%a: tensor<1x3x3x1x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<2x2x1x2x!quant.uniform<i8<-127:127>:f32:3, {0.5, 0.25}>>) -> (tensor<1x2x2x2x!quant.uniform<i8:f32, 0.75>>) attributes {
    test.in = [dense<[[[[-5], [2], [6]], [[3], [-7], [1]], [[-4], [9], [7]]]]> : tensor<1x3x3x1xi8>, dense<[[[[-6, 0]], [[8, 7]]], [[[4, 3]], [[-9, 5]]]]> : tensor<2x2x1x2xi8>],
    test.out = [dense<[[[[43, -10], [3, -3]], [[-54, -10], [11, 4]]]]> : tensor<1x2x2x2xi8>]
} {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x3x1x!quant.uniform<i8:f32, 0.5:3>>, tensor<2x2x1x2x!quant.uniform<i8<-127:127>:f32:3, {0.5, 0.25}>>) -> tensor<1x2x2x2x!quant.uniform<i8:f32, 0.75>>
  return %0 : tensor<1x2x2x2x!quant.uniform<i8:f32, 0.75>>
}

func.func @moved(%a: tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<3x2x!quant.uniform<i8:f32, 0.5:3>>) attributes {
    test.in = [dense<[[-1, -8, -5], [1, 4, 0]]> : tensor<2x3xi8>],
    test.out = [dense<[[1, 2], [4, 7], [0, 4]]> : tensor<3x2xi8>]
} {
  %c = stablehlo.constant() <{value = dense<[[2, 7, 4], [-3, 3, 2]]> : tensor<2x3xi8>}> : () -> tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>
  %0 = stablehlo.concatenate %a, %c, dim = 0 : (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<4x3x!quant.uniform<i8:f32, 0.5:3>>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<3x4x!quant.uniform<i8:f32, 0.5:3>>
  %2 = stablehlo.slice %1 [0:3, 1:3] : (tensor<3x4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<3x2x!quant.uniform<i8:f32, 0.5:3>>
  return %2 : tensor<3x2x!quant.uniform<i8:f32, 0.5:3>>
}

func.func @reduce(%a: tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) attributes {
    test.in = [dense<[[-1, -8, -5], [1, 4, 0]]> : tensor<2x3xi8>],
    test.out = [dense<[-20, -1]> : tensor<2xi8>]
} {
  %z = stablehlo.constant() <{value = dense<3> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 0.5:3>>
  %0 = "stablehlo.reduce"(%a, %z) ({
  ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5:3>>, %y: tensor<!quant.uniform<i8:f32, 0.5:3>>):
    %1 = stablehlo.add %x, %y : tensor<!quant.uniform<i8:f32, 0.5:3>>
    stablehlo.return %1 : tensor<!quant.uniform<i8:f32, 0.5:3>>
  }) {dimensions = array<i64: 1>} : (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, tensor<!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
}
