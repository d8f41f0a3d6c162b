// tosa 
// RUN: iree-opt --verify-roundtrip %s | diff <(grep -v '^//' %s) -
module {
  func.func @tosa(%arg0: tensor<1x4x4x8xf32>, %arg1: tensor<1x1x1x8xf32>, %arg2: tensor<8x1x1x8xf32>, %arg3: tensor<8xf32>, %arg4: tensor<1xf32>, %arg5: tensor<i1>) -> tensor<1x4x4x8xf32> {
    %0 = tosa.add %arg0, %arg1 : (tensor<1x4x4x8xf32>, tensor<1x1x1x8xf32>) -> tensor<1x4x4x8xf32>
    %1 = tosa.conv2d %0, %arg2, %arg3, %arg4, %arg4 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x8xf32>, tensor<8x1x1x8xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x8xf32>
    %2 = tosa.clamp %1 {max_val = 6.000000e+00 : f32, min_val = 0.000000e+00 : f32} : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    %3 = tosa.reduce_sum %2 {axis = 3 : i32} : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x1xf32>
    %4 = tosa.transpose %2 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x4x8xf32>) -> tensor<1x8x4x4xf32>
    %5 = tosa.cond_if %arg5 : tensor<i1> -> tensor<1x4x4x8xf32> {
      tosa.yield %2 : tensor<1x4x4x8xf32>
    } else {
      tosa.yield %1 : tensor<1x4x4x8xf32>
    }
    %6 = tosa.while_loop (%arg6 = %5) : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
      tosa.yield %arg5 : tensor<i1>
    } do {
    ^bb0(%arg6: tensor<1x4x4x8xf32>):
      %7 = tosa.tanh %arg6 : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
      tosa.yield %7 : tensor<1x4x4x8xf32>
    }
    return %6 : tensor<1x4x4x8xf32>
  }
}
