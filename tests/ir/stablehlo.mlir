// stablehlo 
// RUN: iree-opt --verify-roundtrip %s | diff <(grep -v '^//' %s) -
module {
  func.func @elementwise(%arg0: tensor<4x?xf32>, %arg1: tensor<3xi32>, %arg2: tensor<3xi1>, %arg3: tensor<2xcomplex<f32>>, %arg4: tensor<2xf32>) {
    %0 = stablehlo.abs %arg0 : tensor<4x?xf32>
    %1 = stablehlo.add %arg0, %arg0 : tensor<4x?xf32>
    %2 = stablehlo.convert %arg1 : (tensor<3xi32>) -> tensor<3xf32>
    %3 = stablehlo.compare LT, %arg1, %arg1, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %4 = stablehlo.compare EQ, %2, %2 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %5 = stablehlo.select %arg2, %arg1, %arg1 : tensor<3xi1>, tensor<3xi32>
    %6 = stablehlo.clamp %arg1, %arg1, %arg1 : tensor<3xi32>
    %7 = stablehlo.complex %arg4, %arg4 : tensor<2xcomplex<f32>>
    %8 = stablehlo.real %arg3 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %9 = stablehlo.is_finite %arg4 : (tensor<2xf32>) -> tensor<2xi1>
    %10 = stablehlo.reduce_precision %arg4, format = e5m10 : tensor<2xf32>
    %11 = stablehlo.exponential %arg4 {note = "fast"} : tensor<2xf32>
    %12 = stablehlo.bitcast_convert %arg1 : (tensor<3xi32>) -> tensor<3xf32>
    %13 = stablehlo.not %arg2 : tensor<3xi1>
    %14 = stablehlo.power %arg4, %arg4 : tensor<2xf32>
    return 
  }
  func.func @shapes(%arg0: tensor<2x3x4xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<3xi64>) {
    %0 = stablehlo.iota dim = 1 : tensor<2x3xi32>
    %1 = stablehlo.dynamic_iota %arg3, dim = 0 : (tensor<3xi64>) -> tensor<?x?x?xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
    %3 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %4 = stablehlo.dynamic_broadcast_in_dim %arg1, %arg3, dims = [] : (tensor<f32>, tensor<3xi64>) -> tensor<?x?x?xf32>
    %5 = stablehlo.broadcast %arg1, sizes = [5, 6] : (tensor<f32>) -> tensor<5x6xf32>
    %6 = stablehlo.transpose %arg0, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
    %7 = stablehlo.reverse %arg0, dims = [0, 2] : tensor<2x3x4xf32>
    %8 = stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<4x3x4xf32>
    %9 = stablehlo.slice %arg0 [0:2, 1:3, 0:4:2] : (tensor<2x3x4xf32>) -> tensor<2x2x2xf32>
    %10 = stablehlo.dynamic_slice %arg0, %arg2, %arg2, %arg2, sizes = [1, 1, 4] : (tensor<2x3x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x4xf32>
    %11 = stablehlo.dynamic_update_slice %arg0, %10, %arg2, %arg2, %arg2 : (tensor<2x3x4xf32>, tensor<1x1x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x4xf32>
    %12 = stablehlo.pad %arg0, %arg1, low = [0, 1, 0], high = [1, -1, 0], interior = [0, 0, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3x3x10xf32>
    %13 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<2x3x4xf32>) -> tensor<i32>
    %14 = "stablehlo.gather"(%arg0, %arg3) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], collapsed_slice_dims = [0], start_index_map = [0, 1, 2]>, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<2x3x4xf32>, tensor<3xi64>) -> tensor<2x2xf32>
    return 
  }
  func.func @contractions(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>, %arg2: tensor<3x4xf32>, %arg3: tensor<4x5xf32>, %arg4: tensor<1x8x8x3xf32>, %arg5: tensor<3x3x3x16xf32>, %arg6: tensor<4x8xcomplex<f32>>, %arg7: tensor<3x3xf32>) {
    %0 = stablehlo.dot %arg2, %arg3, precision = [DEFAULT, HIGHEST] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
    %1 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGH, HIGH] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    %2 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
    %3 = stablehlo.convolution(%arg4, %arg5) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [1, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<1x4x4x16xf32>
    %4 = stablehlo.fft %arg6, type = FFT, length = [8] : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
    %5 = "stablehlo.triangular_solve"(%arg7, %arg7) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    return 
  }
  func.func @reductions(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>, %arg2: tensor<4x8xi32>, %arg3: tensor<i32>) {
    %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %1:2 = stablehlo.reduce(%arg0 init: %arg1), (%arg2 init: %arg3) across dimensions = [0] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
     reducer(%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<i32>, %arg7: tensor<i32>) {
      %3 = stablehlo.maximum %arg4, %arg6 : tensor<f32>
      %4 = stablehlo.add %arg5, %arg7 : tensor<i32>
      stablehlo.return %3, %4 : tensor<f32>, tensor<i32>
    }
    %2 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %3 = stablehlo.maximum %arg4, %arg5 : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<2x4xf32>
    return 
  }
  func.func @control(%arg0: tensor<i64>, %arg1: tensor<4xf32>, %arg2: tensor<i1>) -> tensor<4xf32> {
    %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<i64>, tensor<4xf32>
    cond {
      %c = stablehlo.constant dense<10> : tensor<i64>
      %8 = stablehlo.compare LT, %iterArg, %c : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %8 : tensor<i1>
    } do {
      %c = stablehlo.constant dense<1> : tensor<i64>
      %8 = stablehlo.add %iterArg, %c : tensor<i64>
      %9 = stablehlo.multiply %iterArg_0, %iterArg_0 : tensor<4xf32>
      stablehlo.return %8, %9 : tensor<i64>, tensor<4xf32>
    }
    %1 = "stablehlo.if"(%arg2) ({
      stablehlo.return %0#1 : tensor<4xf32>
    }, {
      stablehlo.return %arg1 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    %2 = stablehlo.custom_call @target(%arg1) {backend_config = "", has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
    %3 = stablehlo.optimization_barrier %2 : tensor<4xf32>
    %4 = stablehlo.tuple %3, %arg0 : tuple<tensor<4xf32>, tensor<i64>>
    %5 = stablehlo.get_tuple_element %4[0] : (tuple<tensor<4xf32>, tensor<i64>>) -> tensor<4xf32>
    %6 = stablehlo.composite "my.op" %5 {decomposition = @impl} : (tensor<4xf32>) -> tensor<4xf32>
    %7 = stablehlo.after_all  : !stablehlo.token
    return %6 : tensor<4xf32>
  }
  func.func private @impl(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
  func.func @random(%arg0: tensor<f32>, %arg1: tensor<1xi64>, %arg2: tensor<2xui64>) {
    %0 = stablehlo.rng %arg0, %arg0, %arg1, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<10xf32>
    %output_state, %output = stablehlo.rng_bit_generator %arg2, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<10xui32>)
    return 
  }
}
