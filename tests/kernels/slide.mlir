// Windows and depthwise convolutions over lines of images: four rows of results at once, whose rows of the image are
// read once each; at the borders it is asked which rows, and by a mask which columns, are inside. Of open sizes the
// strip's rows are asked for when they are stored. Channels in blocks, and results that the next convolution wants so,
// stay with the convolution's own kernel.
// RUN: iree-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=skylake-avx512 --compile-to=executable-sources %s -o - | FileCheck %s
// RUN: iree-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=skylake-avx512 --iree-codegen-list-candidates --compile-to=executable-sources %s -o %t.mlir 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: iree-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=haswell --compile-to=executable-sources %s -o - | FileCheck %s --check-prefix=NARROW

// LIST: depthwise_dispatch_0{{.*}}: slide: {{[0-9]+}} cycles, chosen
// LIST: pool_dispatch_0{{.*}}: slide: {{[0-9]+}} cycles, chosen
// LIST: before_blocks_dispatch_{{[0-9]+}}_conv_1x16x20x40{{.*}}: slide declines: channels are in blocks
// LIST: short_dispatch_0{{.*}}: slide declines: its lines are short
// LIST: full_dispatch_0{{.*}}: slide declines: its results are sums over channels

// CHECK-LABEL: kernel.func @depthwise_
// Nine weights, then six rows of the image with three vectors each, used by 36 products.
// CHECK-COUNT-9: kernel.load %arg1[%{{[^]]+}}] : (memref<?xf32>, index) -> f32
// CHECK: kernel.if
// CHECK-NOT: kernel.if
// CHECK: kernel.load %arg0[%{{[^]]+}}] : (memref<?xf32>, index) -> vector<16xf32>
// CHECK-COUNT-36: kernel.fma %{{.*}} : vector<16xf32>
// CHECK-NOT: kernel.fma
// CHECK-COUNT-4: kernel.store {{.*}} : (vector<16xf32>, memref<?xf32>, index) -> ()
// The column before the first is not read.
// CHECK: kernel.load %arg0[%{{[^]]+}}], %{{[^,]+}}, %{{.*}}vector<16xi1>
// NARROW-LABEL: kernel.func @depthwise_
// NARROW: kernel.if
// NARROW: kernel.load %arg0[%{{[^]]+}}] : (memref<?xf32>, index) -> vector<8xf32>
// NARROW-COUNT-36: kernel.fma %{{.*}} : vector<8xf32>
// NARROW-COUNT-4: kernel.store {{.*}} : (vector<8xf32>, memref<?xf32>, index) -> ()
func.func @depthwise(%x: tensor<1x4x20x40xf32>, %w: tensor<4x1x3x3xf32>) -> tensor<1x4x20x40xf32> {
  %0 = "graph.conv"(%x, %w) <{batch_groups = 1 : i64, groups = 4 : i64, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>, w_dilation = array<i64: 1, 1>, x_dilation = array<i64: 1, 1>, x_layout = "nc01", w_layout = "oi01", y_layout = "nc01"}> : (tensor<1x4x20x40xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x20x40xf32>
  return %0 : tensor<1x4x20x40xf32>
}

// Two registers of columns use each weight where rows are as long.
// CHECK-LABEL: kernel.func @twice_
// CHECK: kernel.fma %{{.*}} : vector<32xf32>
func.func @twice(%x: tensor<1x4x20x64xf32>, %w: tensor<8x1x3x3xf32>) -> tensor<1x8x20x64xf32> {
  %0 = "graph.conv"(%x, %w) <{batch_groups = 1 : i64, groups = 4 : i64, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>, w_dilation = array<i64: 1, 1>, x_dilation = array<i64: 1, 1>, x_layout = "nc01", w_layout = "oi01", y_layout = "nc01"}> : (tensor<1x4x20x64xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x20x64xf32>
  return %0 : tensor<1x8x20x64xf32>
}

// Along the line first: two of a row, then one for each result that sees it.
// CHECK-LABEL: kernel.func @pool_
// CHECK: kernel.if
// CHECK-COUNT-12: kernel.max %{{.*}} : vector<16xf32>
// CHECK-COUNT-8: kernel.max %{{.*}} : vector<16xf32>
// CHECK-NOT: kernel.max
// CHECK-COUNT-4: kernel.store {{.*}} : (vector<16xf32>, memref<?xf32>, index) -> ()
func.func @pool(%x: tensor<1x4x20x40xf32>) -> tensor<1x4x20x40xf32> {
  %0 = "graph.window"(%x) <{base_dilations = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1, 1, 1>, kind = "max", pad_high = array<i64: 0, 0, 1, 1>, pad_low = array<i64: 0, 0, 1, 1>, sizes = array<i64: 1, 1, 3, 3>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<1x4x20x40xf32>) -> tensor<1x4x20x40xf32>
  return %0 : tensor<1x4x20x40xf32>
}

// CHECK-LABEL: kernel.func @open_
// CHECK: kernel.for
// CHECK: kernel.for
// CHECK: kernel.if
// CHECK: kernel.store {{.*}} : (vector<16xf32>, memref<?xf32>, index) -> ()
// CHECK: kernel.lt %{{.*}} : index
// CHECK: kernel.if
// CHECK: kernel.store {{.*}} : (vector<16xf32>, memref<?xf32>, index) -> ()
func.func @open(%x: tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32> {
  %0 = "graph.window"(%x) <{base_dilations = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1, 1, 1>, kind = "add", pad_high = array<i64: 0, 0, 1, 1>, pad_low = array<i64: 0, 0, 1, 1>, sizes = array<i64: 1, 1, 3, 3>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  return %0 : tensor<?x4x?x?xf32>
}

// Neighbouring channels share what they see of each other.
// CHECK-LABEL: kernel.func @across_
// CHECK: kernel.if
// CHECK-COUNT-8: kernel.load %arg0[%{{[^]]+}}] : (memref<?xf32>, index) -> vector<16xf32>
// CHECK-NOT: kernel.load
// CHECK-COUNT-4: kernel.store {{.*}} : (vector<16xf32>, memref<?xf32>, index) -> ()
func.func @across(%x: tensor<1x24x6x16xf32>) -> tensor<1x24x6x16xf32> {
  %0 = "graph.window"(%x) <{base_dilations = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1, 1, 1>, kind = "add", pad_high = array<i64: 0, 2, 0, 0>, pad_low = array<i64: 0, 2, 0, 0>, sizes = array<i64: 1, 5, 1, 1>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<1x24x6x16xf32>) -> tensor<1x24x6x16xf32>
  return %0 : tensor<1x24x6x16xf32>
}

func.func @before_blocks(%x: tensor<1x16x20x40xf32>, %w: tensor<16x1x3x3xf32>, %v: tensor<32x16x1x1xf32>) -> tensor<1x32x20x40xf32> {
  %0 = "graph.conv"(%x, %w) <{batch_groups = 1 : i64, groups = 16 : i64, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>, w_dilation = array<i64: 1, 1>, x_dilation = array<i64: 1, 1>, x_layout = "nc01", w_layout = "oi01", y_layout = "nc01"}> : (tensor<1x16x20x40xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x20x40xf32>
  %1 = "graph.conv"(%0, %v) <{batch_groups = 1 : i64, groups = 1 : i64, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 0>, strides = array<i64: 1, 1>, w_dilation = array<i64: 1, 1>, x_dilation = array<i64: 1, 1>, x_layout = "nc01", w_layout = "oi01", y_layout = "nc01"}> : (tensor<1x16x20x40xf32>, tensor<32x16x1x1xf32>) -> tensor<1x32x20x40xf32>
  return %1 : tensor<1x32x20x40xf32>
}

func.func @short(%x: tensor<1x64x40x3xf32>) -> tensor<1x64x40x3xf32> {
  %0 = "graph.window"(%x) <{base_dilations = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1, 1, 1>, kind = "max", pad_high = array<i64: 0, 0, 1, 1>, pad_low = array<i64: 0, 0, 1, 1>, sizes = array<i64: 1, 1, 3, 3>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<1x64x40x3xf32>) -> tensor<1x64x40x3xf32>
  return %0 : tensor<1x64x40x3xf32>
}

func.func @full(%x: tensor<1x4x20x40xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<1x4x18x38xf32> {
  %0 = "graph.conv"(%x, %w) <{batch_groups = 1 : i64, groups = 1 : i64, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 0>, strides = array<i64: 1, 1>, w_dilation = array<i64: 1, 1>, x_dilation = array<i64: 1, 1>, x_layout = "nc01", w_layout = "oi01", y_layout = "nc01"}> : (tensor<1x4x20x40xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x18x38xf32>
  return %0 : tensor<1x4x18x38xf32>
}
