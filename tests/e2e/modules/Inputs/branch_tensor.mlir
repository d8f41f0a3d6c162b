func.func @maybe(%big: i1, %x: f32, %t: tensor<4xf32>) -> f32 {
  %zero = arith.constant 0 : index
  %one = scf.if %big -> f32 {
    %sum = arith.addf %t, %t : tensor<4xf32>
    %e = tensor.extract %sum[%zero] : tensor<4xf32>
    scf.yield %e : f32
  } else {
    scf.yield %x : f32
  }
  return %one : f32
}
