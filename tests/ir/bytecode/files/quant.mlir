module {
  func.func @quant(%arg0: tensor<4xf32>, %arg1: tensor<2x3xf32>) -> (tensor<4xf32>, tensor<2x3x!quant.uniform<i8<-127:127>:f32:1, {1.000000e-01:1,2.500000e-01,3.000000e+00:-4}>>) {
    %0 = stablehlo.uniform_quantize %arg0 : (tensor<4xf32>) -> tensor<4x!quant.uniform<u8:f32, 7.812500e-03:128>>
    %1 = stablehlo.uniform_dequantize %0 : (tensor<4x!quant.uniform<u8:f32, 7.812500e-03:128>>) -> tensor<4xf32>
    %2 = stablehlo.uniform_quantize %arg1 : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8<-127:127>:f32:1, {1.000000e-01:1,2.500000e-01,3.000000e+00:-4}>>
    return %1, %2 : tensor<4xf32>, tensor<2x3x!quant.uniform<i8<-127:127>:f32:1, {1.000000e-01:1,2.500000e-01,3.000000e+00:-4}>>
  }
}
