// Products of dequantised bytes are products of bytes; both scales are applied to the sums.
//
// RUN: iree-opt --pass=scaled-products --pass=dce %s | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=cascadelake --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefix=KERNEL
// RUN: iree-opt --pass=scaled-products %s -o %t.mlir
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %t.mlir -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=conv --input=1x4x2xi8=-1,3,-126,0,7,127,9,1 --expected_output=1x2x2xf32=139,-1,-36.25,-31.75
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=rows --input=1x3xi8=1,2,255 --expected_output=1x2xf32=126.5,-126
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=conv --input=1x4x2xi8=-1,3,-126,0,7,127,9,1 --expected_output=1x2x2xf32=139,-1,-36.25,-31.75
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=rows --input=1x3xi8=1,2,255 --expected_output=1x2xf32=126.5,-126

// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=open_conv --input=1x4x2xi8=-1,3,-126,0,7,127,9,1 --expected_output=1x2x2xf32=139,-1,-36.25,-31.75
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=open_conv --input=2x4x1xi8=-1,-126,7,9,3,0,127,1 --expected_output=2x2x1xf32=139,-36.25,-1,-31.75
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=open_rows --input=3x1x4xi8=[[[1,2,-1,0]],[[0,0,0,0]],[[5,5,5,1]]] --expected_output=3x1x2xf32=[[[10.5,-8.5]],[[0,0]],[[22.5,-18]]]

// KERNEL: kernel.func @conv_dispatch
// KERNEL: kernel.dot_bytes
// KERNEL: kernel.func @open_conv_dispatch{{.*}}_input
// KERNEL: kernel.dot_bytes
// KERNEL: kernel.func @open_rows_dispatch
// KERNEL: kernel.dot_bytes

// CHECK-LABEL: func.func @conv
// CHECK: %[[X:.*]] = "graph.sub"
// CHECK: %[[W:.*]] = "graph.cast"({{.*}}) : (tensor<2x4x1xi8>) -> tensor<2x4x1xi32>
// CHECK: %[[SUM:.*]] = "graph.conv"(%[[X]], %[[W]]) {{.*}} : (tensor<1x4x2xi32>, tensor<2x4x1xi32>) -> tensor<1x2x2xi32>
// CHECK-DAG: %[[FLOAT:.*]] = "graph.cast"(%[[SUM]]) : (tensor<1x2x2xi32>) -> tensor<1x2x2xf32>
// CHECK-DAG: %[[SCALE:.*]] = "graph.mul"({{.*}}) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-DAG: %[[ALL:.*]] = "graph.broadcast"(%[[SCALE]]) <{dims = array<i64: 1>}> : (tensor<2xf32>) -> tensor<1x2x2xf32>
// CHECK: "graph.mul"(%[[FLOAT]], %[[ALL]])
func.func @conv(%x: tensor<1x4x2xi8>) -> tensor<1x2x2xf32> {
  %0 = "graph.cast"(%x) : (tensor<1x4x2xi8>) -> tensor<1x4x2xi32>
  %1 = "graph.constant"() <{value = dense<3> : tensor<1x4x2xi32>}> : () -> tensor<1x4x2xi32>
  %2 = "graph.sub"(%0, %1) : (tensor<1x4x2xi32>, tensor<1x4x2xi32>) -> tensor<1x4x2xi32>
  %3 = "graph.cast"(%2) : (tensor<1x4x2xi32>) -> tensor<1x4x2xf32>
  %4 = "graph.constant"() <{value = dense<0.5> : tensor<1x4x2xf32>}> : () -> tensor<1x4x2xf32>
  %5 = "graph.mul"(%3, %4) : (tensor<1x4x2xf32>, tensor<1x4x2xf32>) -> tensor<1x4x2xf32>
  %6 = "graph.constant"() <{value = dense<[[[1], [-2], [0], [4]], [[3], [1], [-1], [0]]]> : tensor<2x4x1xi8>}> : () -> tensor<2x4x1xi8>
  %7 = "graph.cast"(%6) : (tensor<2x4x1xi8>) -> tensor<2x4x1xi32>
  %8 = "graph.cast"(%7) : (tensor<2x4x1xi32>) -> tensor<2x4x1xf32>
  %9 = "graph.constant"() <{value = dense<[1.0, 0.5]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %10 = "graph.broadcast"(%9) <{dims = array<i64: 0>}> : (tensor<2xf32>) -> tensor<2x4x1xf32>
  %11 = "graph.mul"(%8, %10) : (tensor<2x4x1xf32>, tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %12 = "graph.conv"(%5, %11) <{x_layout = "nc0", w_layout = "oi0", y_layout = "nc0", strides = array<i64: 1>, pad_low = array<i64: 0>, pad_high = array<i64: 0>, x_dilation = array<i64: 1>, w_dilation = array<i64: 1>, groups = 1 : i64, batch_groups = 1 : i64}> : (tensor<1x4x2xf32>, tensor<2x4x1xf32>) -> tensor<1x2x2xf32>
  return %12 : tensor<1x2x2xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK: "graph.contract"({{.*}}) {{.*}} : (tensor<1x3xi32>, tensor<3x2xi32>) -> tensor<1x2xi32>
func.func @rows(%x: tensor<1x3xi8>) -> tensor<1x2xf32> {
  %0 = "graph.castu"(%x) : (tensor<1x3xi8>) -> tensor<1x3xi32>
  %1 = "graph.cast"(%0) : (tensor<1x3xi32>) -> tensor<1x3xf32>
  %2 = "graph.constant"() <{value = dense<0.5> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
  %3 = "graph.mul"(%2, %1) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
  %4 = "graph.constant"() <{value = dense<[[2, -1], [-2, 2], [1, -1]]> : tensor<3x2xi8>}> : () -> tensor<3x2xi8>
  %5 = "graph.cast"(%4) : (tensor<3x2xi8>) -> tensor<3x2xi32>
  %6 = "graph.cast"(%5) : (tensor<3x2xi32>) -> tensor<3x2xf32>
  %7 = "graph.constant"() <{value = dense<1.0> : tensor<3x2xf32>}> : () -> tensor<3x2xf32>
  %8 = "graph.mul"(%6, %7) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %9 = "graph.contract"(%3, %8) <{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, lhs_batch = array<i64>, rhs_batch = array<i64>}> : (tensor<1x3xf32>, tensor<3x2xf32>) -> tensor<1x2xf32>
  return %9 : tensor<1x2xf32>
}

// Scales along what is summed over are no scales of the sums.
// CHECK-LABEL: func.func @inner
// CHECK: "graph.contract"({{.*}}) {{.*}} : (tensor<1x3xf32>, tensor<3x2xf32>) -> tensor<1x2xf32>
func.func @inner(%x: tensor<1x3xi8>) -> tensor<1x2xf32> {
  %0 = "graph.cast"(%x) : (tensor<1x3xi8>) -> tensor<1x3xi32>
  %1 = "graph.cast"(%0) : (tensor<1x3xi32>) -> tensor<1x3xf32>
  %2 = "graph.constant"() <{value = dense<0.5> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
  %3 = "graph.mul"(%1, %2) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
  %4 = "graph.constant"() <{value = dense<[[2, -1], [-2, 2], [1, -1]]> : tensor<3x2xi8>}> : () -> tensor<3x2xi8>
  %5 = "graph.cast"(%4) : (tensor<3x2xi8>) -> tensor<3x2xi32>
  %6 = "graph.cast"(%5) : (tensor<3x2xi32>) -> tensor<3x2xf32>
  %7 = "graph.constant"() <{value = dense<[1.0, 0.5, 2.0]> : tensor<3xf32>}> : () -> tensor<3xf32>
  %8 = "graph.broadcast"(%7) <{dims = array<i64: 0>}> : (tensor<3xf32>) -> tensor<3x2xf32>
  %9 = "graph.mul"(%6, %8) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %10 = "graph.contract"(%3, %9) <{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, lhs_batch = array<i64>, rhs_batch = array<i64>}> : (tensor<1x3xf32>, tensor<3x2xf32>) -> tensor<1x2xf32>
  return %10 : tensor<1x2xf32>
}

// Images of any number and width.
// CHECK-LABEL: func.func @open_conv
// CHECK: %[[SUM:.*]] = "graph.conv"({{.*}}) {{.*}} : (tensor<?x4x?xi32>, tensor<2x4x1xi32>) -> tensor<?x2x?xi32>
// CHECK: %[[FLOAT:.*]] = "graph.cast"(%[[SUM]])
// CHECK: %[[ALL:.*]] = "graph.broadcast"({{.*}}) <{dims = array<i64: 1>}> : (tensor<2xf32>, index, index) -> tensor<?x2x?xf32>
// CHECK: "graph.mul"(%[[FLOAT]], %[[ALL]])
func.func @open_conv(%x: tensor<?x4x?xi8>) -> tensor<?x2x?xf32> {
  %n = "graph.dim"(%x) <{index = 0 : i64}> : (tensor<?x4x?xi8>) -> index
  %width = "graph.dim"(%x) <{index = 2 : i64}> : (tensor<?x4x?xi8>) -> index
  %0 = "graph.cast"(%x) : (tensor<?x4x?xi8>) -> tensor<?x4x?xi32>
  %zero = "graph.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
  %1 = "graph.broadcast"(%zero, %n, %width) <{dims = array<i64>}> : (tensor<i32>, index, index) -> tensor<?x4x?xi32>
  %2 = "graph.sub"(%0, %1) : (tensor<?x4x?xi32>, tensor<?x4x?xi32>) -> tensor<?x4x?xi32>
  %3 = "graph.cast"(%2) : (tensor<?x4x?xi32>) -> tensor<?x4x?xf32>
  %scale = "graph.constant"() <{value = dense<0.5> : tensor<f32>}> : () -> tensor<f32>
  %4 = "graph.broadcast"(%scale, %n, %width) <{dims = array<i64>}> : (tensor<f32>, index, index) -> tensor<?x4x?xf32>
  %5 = "graph.mul"(%3, %4) : (tensor<?x4x?xf32>, tensor<?x4x?xf32>) -> tensor<?x4x?xf32>
  %6 = "graph.constant"() <{value = dense<[[[1], [-2], [0], [4]], [[3], [1], [-1], [0]]]> : tensor<2x4x1xi8>}> : () -> tensor<2x4x1xi8>
  %7 = "graph.cast"(%6) : (tensor<2x4x1xi8>) -> tensor<2x4x1xi32>
  %8 = "graph.cast"(%7) : (tensor<2x4x1xi32>) -> tensor<2x4x1xf32>
  %9 = "graph.constant"() <{value = dense<[1.0, 0.5]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %10 = "graph.broadcast"(%9) <{dims = array<i64: 0>}> : (tensor<2xf32>) -> tensor<2x4x1xf32>
  %11 = "graph.mul"(%8, %10) : (tensor<2x4x1xf32>, tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %12 = "graph.conv"(%5, %11) <{x_layout = "nc0", w_layout = "oi0", y_layout = "nc0", strides = array<i64: 1>, pad_low = array<i64: 0>, pad_high = array<i64: 0>, x_dilation = array<i64: 1>, w_dilation = array<i64: 1>, groups = 1 : i64, batch_groups = 1 : i64}> : (tensor<?x4x?xf32>, tensor<2x4x1xf32>) -> tensor<?x2x?xf32>
  return %12 : tensor<?x2x?xf32>
}

// Rows are reshaped behind their scale.
// CHECK-LABEL: func.func @open_rows
// CHECK: "graph.reshape"({{.*}}) : (tensor<?x?x4xi32>, index) -> tensor<?x4xi32>
// CHECK: "graph.contract"({{.*}}) {{.*}} : (tensor<?x4xi32>, tensor<4x2xi32>) -> tensor<?x2xi32>
func.func @open_rows(%x: tensor<?x?x4xi8>) -> tensor<?x?x2xf32> {
  %n = "graph.dim"(%x) <{index = 0 : i64}> : (tensor<?x?x4xi8>) -> index
  %m = "graph.dim"(%x) <{index = 1 : i64}> : (tensor<?x?x4xi8>) -> index
  %all = "graph.mul"(%n, %m) : (index, index) -> index
  %0 = "graph.cast"(%x) : (tensor<?x?x4xi8>) -> tensor<?x?x4xi32>
  %1 = "graph.cast"(%0) : (tensor<?x?x4xi32>) -> tensor<?x?x4xf32>
  %scale = "graph.constant"() <{value = dense<0.5> : tensor<f32>}> : () -> tensor<f32>
  %2 = "graph.broadcast"(%scale, %n, %m) <{dims = array<i64>}> : (tensor<f32>, index, index) -> tensor<?x?x4xf32>
  %3 = "graph.mul"(%1, %2) : (tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  %4 = "graph.reshape"(%3, %all) : (tensor<?x?x4xf32>, index) -> tensor<?x4xf32>
  %5 = "graph.constant"() <{value = dense<[[3, -2], [8, -7], [-2, 1], [0, 4]]> : tensor<4x2xi8>}> : () -> tensor<4x2xi8>
  %6 = "graph.cast"(%5) : (tensor<4x2xi8>) -> tensor<4x2xi32>
  %7 = "graph.cast"(%6) : (tensor<4x2xi32>) -> tensor<4x2xf32>
  %8 = "graph.constant"() <{value = dense<1.0> : tensor<4x2xf32>}> : () -> tensor<4x2xf32>
  %9 = "graph.mul"(%7, %8) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %10 = "graph.contract"(%4, %9) <{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, lhs_batch = array<i64>, rhs_batch = array<i64>}> : (tensor<?x4xf32>, tensor<4x2xf32>) -> tensor<?x2xf32>
  %11 = "graph.reshape"(%10, %n, %m) : (tensor<?x2xf32>, index, index) -> tensor<?x?x2xf32>
  return %11 : tensor<?x?x2xf32>
}
