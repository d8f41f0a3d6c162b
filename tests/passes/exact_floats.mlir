// Bytes less a zero point, by known weights: sums that stay below 2^24 are computed in floats, others are not. What adds
// to a sum and what takes from it count apart; a sum that is somewhat too large is made of two.
//
// RUN: iree-opt --pass=exact-floats %s | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=small --input=1x2xi8=-1,3 --expected_output=1x2xi32=8128,-127
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=large --input=1x2xi8=-1,3 --expected_output=1x2xi32=16777344,16777473
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=both_signs --input=1x2xi8=-1,-1 --expected_output=1x2xi32=-2550,-16776960
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=halves --input=1x128xi8=-1 --expected_output=1x1xi32=32639745
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=half_channels --input=1x128x1x1xi8=-1 --expected_output=1x1x1x1xi32=32639745

// CHECK-LABEL: func.func @small
// CHECK: %[[W:.*]] = "graph.constant"() <{value = dense<{{\[\[}}6.400000e+01, -1.000000e+00], [0.000000e+00, 0.000000e+00]]> : tensor<2x2xf32>}>
// CHECK: "graph.contract"(%{{.*}}, %[[W]]) {{.*}} -> tensor<1x2xf32>
// CHECK: "graph.cast"(%{{.*}}) : (tensor<1x2xf32>) -> tensor<1x2xi32>
func.func @small(%x: tensor<1x2xi8>) -> tensor<1x2xi32> {
  %0 = "graph.castu"(%x) : (tensor<1x2xi8>) -> tensor<1x2xi32>
  %1 = "graph.constant"() <{value = dense<128> : tensor<1x2xi32>}> : () -> tensor<1x2xi32>
  %2 = "graph.sub"(%0, %1) : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi32>
  %3 = "graph.constant"() <{value = dense<[[64, 0], [-1, 0]]> : tensor<2x2xi8>}> : () -> tensor<2x2xi8>
  %4 = "graph.transpose"(%3) <{perm = array<i64: 1, 0>}> : (tensor<2x2xi8>) -> tensor<2x2xi8>
  %5 = "graph.cast"(%4) : (tensor<2x2xi8>) -> tensor<2x2xi32>
  %6 = "graph.contract"(%2, %5) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<1x2xi32>, tensor<2x2xi32>) -> tensor<1x2xi32>
  return %6 : tensor<1x2xi32>
}

// 255 * 65793 is 2^24 - 1, and there is more.
// CHECK-LABEL: func.func @large
// CHECK: "graph.contract"(%{{.*}}) {{.*}} -> tensor<1x2xi32>
func.func @large(%x: tensor<1x2xi8>) -> tensor<1x2xi32> {
  %0 = "graph.castu"(%x) : (tensor<1x2xi8>) -> tensor<1x2xi32>
  %1 = "graph.constant"() <{value = dense<[[65793, 65793], [43, 86]]> : tensor<2x2xi32>}> : () -> tensor<2x2xi32>
  %2 = "graph.contract"(%0, %1) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<1x2xi32>, tensor<2x2xi32>) -> tensor<1x2xi32>
  return %2 : tensor<1x2xi32>
}

// 255 * 65790 either way.
// CHECK-LABEL: func.func @both_signs
// CHECK: "graph.contract"(%{{.*}}) {{.*}} -> tensor<1x2xf32>
func.func @both_signs(%x: tensor<1x2xi8>) -> tensor<1x2xi32> {
  %0 = "graph.castu"(%x) : (tensor<1x2xi8>) -> tensor<1x2xi32>
  %1 = "graph.constant"() <{value = dense<[[65780, 1], [-65790, -65793]]> : tensor<2x2xi32>}> : () -> tensor<2x2xi32>
  %2 = "graph.contract"(%0, %1) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<1x2xi32>, tensor<2x2xi32>) -> tensor<1x2xi32>
  return %2 : tensor<1x2xi32>
}

// 127 * 1000 + 999 = 127,999 times 255.
// CHECK-LABEL: func.func @halves
// CHECK-DAG: "graph.contract"(%{{.*}}) {{.*}} : (tensor<1x64xf32>, tensor<64x1xf32>) -> tensor<1x1xf32>
// CHECK-DAG: "graph.contract"(%{{.*}}) {{.*}} : (tensor<1x64xf32>, tensor<64x1xf32>) -> tensor<1x1xf32>
func.func @halves(%x: tensor<1x128xi8>) -> tensor<1x1xi32> {
  %0 = "graph.castu"(%x) : (tensor<1x128xi8>) -> tensor<1x128xi32>
  %1 = "graph.constant"() <{value = dense<"0xE7030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000"> : tensor<128x1xi32>}> : () -> tensor<128x1xi32>
  %2 = "graph.contract"(%0, %1) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<1x128xi32>, tensor<128x1xi32>) -> tensor<1x1xi32>
  return %2 : tensor<1x1xi32>
}

// CHECK-LABEL: func.func @half_channels
// CHECK-DAG: "graph.conv"(%{{.*}}) {{.*}} : (tensor<1x64x1x1xf32>, tensor<1x64x1x1xf32>) -> tensor<1x1x1x1xf32>
// CHECK-DAG: "graph.conv"(%{{.*}}) {{.*}} : (tensor<1x64x1x1xf32>, tensor<1x64x1x1xf32>) -> tensor<1x1x1x1xf32>
func.func @half_channels(%x: tensor<1x128x1x1xi8>) -> tensor<1x1x1x1xi32> {
  %0 = "graph.castu"(%x) : (tensor<1x128x1x1xi8>) -> tensor<1x128x1x1xi32>
  %1 = "graph.constant"() <{value = dense<"0xE7030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000E8030000"> : tensor<1x128x1x1xi32>}> : () -> tensor<1x128x1x1xi32>
  %2 = "graph.conv"(%0, %1) <{batch_groups = 1 : i64, groups = 1 : i64, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 0>, strides = array<i64: 1, 1>, w_dilation = array<i64: 1, 1>, w_layout = "oi01", x_dilation = array<i64: 1, 1>, x_layout = "nc01", y_layout = "nc01"}> : (tensor<1x128x1x1xi32>, tensor<1x128x1x1xi32>) -> tensor<1x1x1x1xi32>
  return %2 : tensor<1x1x1x1xi32>
}
