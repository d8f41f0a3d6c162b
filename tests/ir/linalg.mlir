// linalg 
// RUN: iree-opt --verify-roundtrip %s | diff <(grep -v '^//' %s) -
module {
  func.func @structured(%arg0: tensor<4x8xf32>, %arg1: tensor<8x16xf32>, %arg2: tensor<4x16xf32>, %arg3: tensor<4xf32>, %arg4: f32, %arg5: index, %arg6: tensor<1x8x8x3xf32>, %arg7: tensor<3x3x3x4xf32>, %arg8: tensor<1x6x6x4xf32>) -> tensor<4x16xf32> {
    %0 = linalg.fill ins(%arg4 : f32) outs(%arg2 : tensor<4x16xf32>) -> tensor<4x16xf32>
    %1 = linalg.matmul ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<8x16xf32>) outs(%0 : tensor<4x16xf32>) -> tensor<4x16xf32>
    %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%1, %arg3 : tensor<4x16xf32>, tensor<4xf32>) outs(%arg2 : tensor<4x16xf32>) attrs = {test.tag = 3 : i64} {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %9 = linalg.index 0 : index
      %10 = arith.addf %in, %in_1 : f32
      linalg.yield %10 : f32
    } -> tensor<4x16xf32>
    %mapped = linalg.map { arith.mulf } ins(%2, %1 : tensor<4x16xf32>, tensor<4x16xf32>) outs(%arg2 : tensor<4x16xf32>)
    %mapped_0 = linalg.map ins(%mapped : tensor<4x16xf32>) outs(%arg2 : tensor<4x16xf32>)
      (%in: f32, %init: f32) {
      %9 = math.exp %in : f32
      %10 = arith.negf %9 : f32
      linalg.yield %10 : f32
    }
    %reduced = linalg.reduce { arith.maximumf } ins(%mapped_0 : tensor<4x16xf32>) outs(%arg3 : tensor<4xf32>) dimensions = [1]
    %3 = tensor.empty() : tensor<16x8xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<8x16xf32>) outs(%3 : tensor<16x8xf32>) permutation = [1, 0]
    %broadcasted = linalg.broadcast ins(%arg3 : tensor<4xf32>) outs(%arg2 : tensor<4x16xf32>) dimensions = [1]
    %4 = linalg.softmax dimension(1) ins(%arg2 : tensor<4x16xf32>) outs(%1 : tensor<4x16xf32>) -> tensor<4x16xf32>
    %5 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg6, %arg7 : tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) outs(%arg8 : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
    %6 = tensor.empty() : tensor<2x4x2x2xf32>
    %pack = linalg.pack %arg0 padding_value(%arg4 : f32) outer_dims_perm = [0, 1] inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %6 : tensor<4x8xf32> -> tensor<2x4x2x2xf32>
    %unpack = linalg.unpack %pack inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %arg0 : tensor<2x4x2x2xf32> -> tensor<4x8xf32>
    %7 = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%arg0, %transposed : tensor<4x8xf32>, tensor<16x8xf32>) outs(%0 : tensor<4x16xf32>) -> tensor<4x16xf32>
    %8 = linalg.elementwise <exp> ins(%arg0 : tensor<4x8xf32>) outs(%unpack : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %mapped_0 : tensor<4x16xf32>
  }
}
