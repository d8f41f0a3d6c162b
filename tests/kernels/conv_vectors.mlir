// Vectors of a convolution's channels are loaded and stored as they are, however many channels there are: no product
// gathers its operands, in any rank, with groups, a dilated input or each channel on its own.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=znver4 --compile-to=executable-configurations %s -o - | FileCheck %s
// CHECK-NOT: kernel.gather
// CHECK-NOT: kernel.scatter
// CHECK: kernel.func @dense_dispatch_0{{.*}}f32(
// CHECK-NOT: kernel.gather
// CHECK-NOT: kernel.scatter
// CHECK: kernel.func @groups_dispatch_0{{.*}}f32(
// CHECK-NOT: kernel.gather
// CHECK-NOT: kernel.scatter
// CHECK: kernel.func @single_dispatch_0{{.*}}f32(
// CHECK-NOT: kernel.gather
// CHECK-NOT: kernel.scatter
// CHECK: kernel.func @transposed_dispatch_0{{.*}}f32(
// CHECK-NOT: kernel.gather
// CHECK-NOT: kernel.scatter
// CHECK: kernel.func @volume_dispatch_0{{.*}}f32(
// CHECK-NOT: kernel.gather
// CHECK-NOT: kernel.scatter
func.func @dense(%x: tensor<1x5x7x72xf32>) -> tensor<1x5x7x104xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<3x3x72x104xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x7x72xf32>, tensor<3x3x72x104xf32>) -> tensor<1x5x7x104xf32>
  return %0 : tensor<1x5x7x104xf32>
}
func.func @groups(%x: tensor<1x5x7x72xf32>) -> tensor<1x5x7x72xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<3x3x24x72xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<1x5x7x72xf32>, tensor<3x3x24x72xf32>) -> tensor<1x5x7x72xf32>
  return %0 : tensor<1x5x7x72xf32>
}
func.func @single(%x: tensor<1x5x7x116xf32>) -> tensor<1x5x7x116xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<3x3x1x116xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 116 : i64} : (tensor<1x5x7x116xf32>, tensor<3x3x1x116xf32>) -> tensor<1x5x7x116xf32>
  return %0 : tensor<1x5x7x116xf32>
}
func.func @transposed(%x: tensor<1x9x20xf32>) -> tensor<1x36x44xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<8x20x44xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[5, 5]], lhs_dilate = [4]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x9x20xf32>, tensor<8x20x44xf32>) -> tensor<1x36x44xf32>
  return %0 : tensor<1x36x44xf32>
}
func.func @volume(%x: tensor<1x4x5x6x20xf32>) -> tensor<1x4x5x6x45xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<3x3x3x20x45xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f], window = {pad = [[1, 1], [1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x5x6x20xf32>, tensor<3x3x3x20x45xf32>) -> tensor<1x4x5x6x45xf32>
  return %0 : tensor<1x4x5x6x45xf32>
}
