// Spellings of attributes and calls that exporters use.
func.func @raw_dimension_numbers(%x: tensor<1x3x3x1xf32>, %w: tensor<2x2x1x1xf32>) -> tensor<1x2x2x1xf32> attributes {
    test.in = [dense<[[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]], [[7.0], [8.0], [9.0]]]]> : tensor<1x3x3x1xf32>,
               dense<[[[[1.0]], [[0.0]]], [[[0.0]], [[-1.0]]]]> : tensor<2x2x1x1xf32>],
    test.out = [dense<-4.0> : tensor<1x2x2x1xf32>]
} {
  %0 = "stablehlo.convolution"(%x, %w) {
    window_strides = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 1>,
    rhs_dilation = array<i64: 1, 1>, feature_group_count = 1 : i64, batch_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<raw
      input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2],
      kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1],
      output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>
  } : (tensor<1x3x3x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x1xf32>
  return %0 : tensor<1x2x2x1xf32>
}

// The state as pairs of 32-bit words is the same state.
func.func @narrow_state() {
  %wide = stablehlo.constant dense<[4294967298, 12884901892]> : tensor<2xui64>
  %narrow = stablehlo.constant dense<[2, 1, 4, 3]> : tensor<4xui32>
  %0:2 = stablehlo.rng_bit_generator %wide, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
  %1:2 = stablehlo.rng_bit_generator %narrow, algorithm = THREE_FRY : (tensor<4xui32>) -> (tensor<4xui32>, tensor<5xui32>)
  check.expect_eq(%0#1, %1#1) : tensor<5xui32>
  %2 = stablehlo.bitcast_convert %0#0 : (tensor<2xui64>) -> tensor<2x2xui32>
  %3 = stablehlo.reshape %2 : (tensor<2x2xui32>) -> tensor<4xui32>
  check.expect_eq(%3, %1#0) : tensor<4xui32>
  return
}

func.func @shape_assertion() {
  %true = stablehlo.constant dense<true> : tensor<i1>
  stablehlo.custom_call @shape_assertion(%true) {api_version = 2 : i32, error_message = "one", has_side_effect = true} : (tensor<i1>) -> ()
  return
}
