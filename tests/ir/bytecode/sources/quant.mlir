func.func @quant(%a: tensor<4xf32>, %b: tensor<2x3xf32>) -> (tensor<4xf32>, tensor<2x3x!quant.uniform<i8<-127:127>:f32:1, {0.1:1, 0.25, 3.0:-4}>>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<4xf32>) -> tensor<4x!quant.uniform<u8:f32, 0.0078125:128>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<4x!quant.uniform<u8:f32, 0.0078125:128>>) -> tensor<4xf32>
  %2 = stablehlo.uniform_quantize %b : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8<-127:127>:f32:1, {0.1:1, 0.25, 3.0:-4}>>
  return %1, %2 : tensor<4xf32>, tensor<2x3x!quant.uniform<i8<-127:127>:f32:1, {0.1:1, 0.25, 3.0:-4}>>
}
