// tensor 
// RUN: iree-opt --verify-roundtrip %s | diff <(grep -v '^//' %s) -
module {
  func.func @ops(%arg0: tensor<4x?xf32>, %arg1: tensor<*xf32>, %arg2: index, %arg3: f32, %arg4: tensor<2xindex>, %arg5: tensor<3x1xindex>) {
    %0 = tensor.empty() : tensor<4x8xf32>
    %1 = tensor.empty(%arg2, %arg2) : tensor<?x?xf32>
    %dim = tensor.dim %arg0, %arg2 : tensor<4x?xf32>
    %rank = tensor.rank %arg1 : tensor<*xf32>
    %cast = tensor.cast %arg0 : tensor<4x?xf32> to tensor<?x?xf32>
    %extracted = tensor.extract %arg0[%arg2, %arg2] : tensor<4x?xf32>
    %inserted = tensor.insert %arg3 into %arg0[%arg2, %arg2] : tensor<4x?xf32>
    %from_elements = tensor.from_elements %arg3, %arg3, %arg3, %arg3 : tensor<2x2xf32>
    %from_elements_0 = tensor.from_elements %arg3 : tensor<f32>
    %splat = tensor.splat %arg3 : tensor<4x4xf32>
    %splat_1 = tensor.splat %arg3[%arg2] : tensor<?xf32>
    %reshape = tensor.reshape %arg0(%arg4) : (tensor<4x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
    %generated = tensor.generate %arg2 {
    ^bb0(%arg6: index):
      tensor.yield %arg3 : f32
    } : tensor<?xf32>
    %concat = tensor.concat dim(1) %0, %0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
    %expanded = tensor.expand_shape %0 [[0], [1, 2]] output_shape [4, 2, 4] : tensor<4x8xf32> into tensor<4x2x4xf32>
    %expanded_2 = tensor.expand_shape %arg0 [[0], [1, 2]] output_shape [4, %arg2, 4] : tensor<4x?xf32> into tensor<4x?x4xf32>
    %collapsed = tensor.collapse_shape %expanded [[0, 1], [2]] : tensor<4x2x4xf32> into tensor<8x4xf32>
    %extracted_slice = tensor.extract_slice %arg0[0, %arg2] [2, %arg2] [1, 1] : tensor<4x?xf32> to tensor<2x?xf32>
    %inserted_slice = tensor.insert_slice %extracted_slice into %arg0[%arg2, 0] [2, %arg2] [1, 1] : tensor<2x?xf32> into tensor<4x?xf32>
    %padded = tensor.pad %0 low[0, 1] high[%arg2, 2] {
    ^bb0(%arg6: index, %arg7: index):
      tensor.yield %arg3 : f32
    } : tensor<4x8xf32> to tensor<?x11xf32>
    %padded_3 = tensor.pad %0 nofold low[0, 0] high[0, 0] {
    ^bb0(%arg6: index, %arg7: index):
      tensor.yield %arg3 : f32
    } : tensor<4x8xf32> to tensor<4x8xf32>
    %gather = tensor.gather %0[%arg5] gather_dims([1]) unique : (tensor<4x8xf32>, tensor<3x1xindex>) -> tensor<3x4x1xf32>
    %2 = tensor.bitcast %0 : tensor<4x8xf32> to tensor<4x8xi32>
    return 
  }
}
