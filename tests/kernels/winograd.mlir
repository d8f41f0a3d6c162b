// Winograd's convolution for 3x3 kernels on CPUs: which convolutions take it and why others do not, what its kernel
// looks like, and results next to those of sums one by one.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-llvmcpu-target-cpu=znver4 --iree-codegen-list-candidates --compile-to=executable-configurations %s -o %t.mlir 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: FileCheck %s < %t.mlir
// RUN: iree-compile --iree-hal-target-device=local --iree-llvmcpu-target-cpu=znver4 --iree-llvmcpu-use-winograd=false --iree-codegen-list-candidates --compile-to=executable-configurations %s -o %t.mlir 2>&1 | FileCheck %s --check-prefix=OFF
// RUN: iree-compile --iree-hal-target-device=local --compile-to=stream %s -o %t.stream.mlir
// RUN: iree-compile --iree-hal-target-device=local --compile-from=stream %t.stream.mlir -o %t.vmfb
// RUN: iree-compile --iree-hal-target-device=local --iree-llvmcpu-use-winograd=false %s -o %t.plain.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.plain.vmfb --function=four --input=2x11x18x40xf32=0.5 --output=@%t.four.npy
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=four --input=2x11x18x40xf32=0.5 --expected_output=@%t.four.npy
// RUN: iree-run-module --device=local-sync --module=%t.plain.vmfb --function=two --input=1x7x7x128xf32=-0.25 --output=@%t.two.npy
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=two --input=1x7x7x128xf32=-0.25 --expected_output=@%t.two.npy
// RUN: iree-run-module --device=local-sync --module=%t.plain.vmfb --function=four --input=2x11x18x40xf32=3e38 --output=@%t.large.npy
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=four --input=2x11x18x40xf32=3e38 --expected_output=@%t.large.npy
//
// OFF: four_dispatch_0{{.*}}: winograd declines: --iree-llvmcpu-use-winograd=false
// OFF: four_dispatch_0{{.*}}: conv: {{[0-9]+}} cycles, chosen

// Tiles of 4x4 results: their image is transformed, at the edges by a patch; then products at 36 positions, and results,
// which are computed again where one is no number.
// LIST: four_dispatch_0{{.*}}: winograd: {{[0-9]+}} cycles, chosen
// LIST: four_dispatch_0{{.*}}: conv declines
// CHECK-LABEL: kernel.func @four_dispatch
// CHECK: kernel.if
// CHECK-COUNT-36: kernel.load {{.*}} -> vector<16xf32>
// CHECK: kernel.for
// CHECK: kernel.for
// CHECK-COUNT-36: kernel.store
// CHECK: kernel.for
// CHECK: kernel.fma
// CHECK: kernel.reduce max
// CHECK: kernel.if
func.func @four(%x: tensor<2x11x18x40xf32>) -> tensor<2x11x18x72xf32> {
  %a = stablehlo.constant dense<0.25> : tensor<3x3x24x72xf32>
  %b = stablehlo.constant dense<-0.75> : tensor<3x3x16x72xf32>
  %w = stablehlo.concatenate %a, %b, dim = 2 : (tensor<3x3x24x72xf32>, tensor<3x3x16x72xf32>) -> tensor<3x3x40x72xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x11x18x40xf32>, tensor<3x3x40x72xf32>) -> tensor<2x11x18x72xf32>
  return %0 : tensor<2x11x18x72xf32>
}

// Larger tiles would read more weights than they save products.
// LIST: two_dispatch_{{.*}}: winograd: {{[0-9]+}} cycles, chosen
// CHECK-LABEL: kernel.func @two_dispatch
// CHECK-COUNT-16: kernel.load {{.*}} -> vector<16xf32>
func.func @two(%x: tensor<1x7x7x128xf32>) -> tensor<1x7x7x128xf32> {
  %a = stablehlo.constant dense<0.25> : tensor<1x3x128x128xf32>
  %b = stablehlo.constant dense<-0.75> : tensor<2x3x128x128xf32>
  %w = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1x3x128x128xf32>, tensor<2x3x128x128xf32>) -> tensor<3x3x128x128xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x7x7x128xf32>, tensor<3x3x128x128xf32>) -> tensor<1x7x7x128xf32>
  return %0 : tensor<1x7x7x128xf32>
}

// LIST: strided_dispatch_0{{.*}}: winograd declines: it is for 3x3 kernels without strides, dilations or groups
func.func @strided(%x: tensor<1x9x9x32xf32>) -> tensor<1x4x4x32xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<3x3x32x32xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x9x9x32xf32>, tensor<3x3x32x32xf32>) -> tensor<1x4x4x32xf32>
  return %0 : tensor<1x4x4x32xf32>
}

// LIST: half_dispatch_0{{.*}}: winograd declines: it is for f32
func.func @half(%x: tensor<1x9x9x32xf16>) -> tensor<1x7x7x32xf16> {
  %w = stablehlo.constant dense<0.5> : tensor<3x3x32x32xf16>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x9x9x32xf16>, tensor<3x3x32x32xf16>) -> tensor<1x7x7x32xf16>
  return %0 : tensor<1x7x7x32xf16>
}

// LIST: open_dispatch_{{.*}}: winograd declines: sizes are known at run time only
func.func @open(%x: tensor<?x9x9x32xf32>) -> tensor<?x7x7x32xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<3x3x32x32xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x9x9x32xf32>, tensor<3x3x32x32xf32>) -> tensor<?x7x7x32xf32>
  return %0 : tensor<?x7x7x32xf32>
}

// LIST: narrow_dispatch_0{{.*}}: winograd declines: there are few channels
func.func @narrow(%x: tensor<1x9x9x8xf32>) -> tensor<1x7x7x32xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<3x3x8x32xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x9x9x8xf32>, tensor<3x3x8x32xf32>) -> tensor<1x7x7x32xf32>
  return %0 : tensor<1x7x7x32xf32>
}

// LIST: apart_dispatch_0{{.*}}: winograd declines: channels are not side by side in memory
func.func @apart(%x: tensor<1x32x9x9xf32>) -> tensor<1x32x7x7xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<32x32x3x3xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x32x9x9xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x7x7xf32>
  return %0 : tensor<1x32x7x7xf32>
}

// LIST: few_dispatch_0{{.*}}: winograd declines: products that it saves do not pay for its larger weights and its sums
func.func @few(%x: tensor<1x3x3x512xf32>) -> tensor<1x1x1x512xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<3x3x512x512xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x3x512xf32>, tensor<3x3x512x512xf32>) -> tensor<1x1x1x512xf32>
  return %0 : tensor<1x1x1x512xf32>
}

// LIST: given_dispatch_{{.*}}: winograd declines: the weights are known at run time only
func.func @given(%x: tensor<1x30x30x64xf32>, %w: tensor<3x3x64x64xf32>) -> tensor<1x28x28x64xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x30x30x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x28x28x64xf32>
  return %0 : tensor<1x28x28x64xf32>
}
