// Bytes less a zero point, by known weights that are bytes: the zero point leaves the sums, and is written where the
// padding was. Signed bytes have their highest bit turned.
//
// RUN: iree-opt --pass=byte-products %s | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=cascadelake --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefix=KERNEL
// RUN: iree-opt --pass=byte-products %s -o %t.mlir
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %t.mlir -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=padded --input=1x4x2xi8=-1,3,130,0,7,128,9,1 --expected_output=1x1x2xi32=819,-496
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=signed --input=1x4xi8=-1,3,-128,127 --expected_output=1x2xi32=-1141,-384
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %t.mlir -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=padded --input=1x4x2xi8=-1,3,130,0,7,128,9,1 --expected_output=1x1x2xi32=819,-496

// KERNEL: kernel.func @padded_dispatch
// KERNEL: kernel.dot_bytes
// KERNEL: kernel.func @signed_dispatch
// KERNEL: kernel.dot_bytes

// CHECK-LABEL: func.func @padded
// CHECK: %[[W:.*]] = "graph.constant"() {{.*}} : tensor<1x4x2xi8>
// CHECK: %[[ZERO:.*]] = "graph.constant"() <{value = dense<100> : tensor<i8>}>
// CHECK: %[[X:.*]] = "graph.pad"(%arg0, %[[ZERO]])
// CHECK: %[[Y:.*]] = "graph.conv"(%[[X]], %[[W]]) {{.*}}pad_high = array<i64: 0>, pad_low = array<i64: 0>{{.*}}unsigned_lhs
// CHECK: dense<-300> : tensor<1xi32>
// CHECK: "graph.sub"(%[[Y]],
func.func @padded(%x: tensor<1x4x2xi8>) -> tensor<1x1x2xi32> {
  %0 = "graph.castu"(%x) : (tensor<1x4x2xi8>) -> tensor<1x4x2xi32>
  %1 = "graph.constant"() <{value = dense<100> : tensor<1x4x2xi32>}> : () -> tensor<1x4x2xi32>
  %2 = "graph.sub"(%0, %1) : (tensor<1x4x2xi32>, tensor<1x4x2xi32>) -> tensor<1x4x2xi32>
  %3 = "graph.constant"() <{value = dense<[[[1, -2], [3, -4], [0, -1], [1, -1]]]> : tensor<1x4x2xi8>}> : () -> tensor<1x4x2xi8>
  %4 = "graph.cast"(%3) : (tensor<1x4x2xi8>) -> tensor<1x4x2xi32>
  %5 = "graph.conv"(%2, %4) <{batch_groups = 1 : i64, groups = 1 : i64, pad_high = array<i64: 1>, pad_low = array<i64: 0>, strides = array<i64: 1>, w_dilation = array<i64: 1>, w_layout = "oi0", x_dilation = array<i64: 1>, x_layout = "nc0", y_layout = "nc0"}> : (tensor<1x4x2xi32>, tensor<1x4x2xi32>) -> tensor<1x1x2xi32>
  return %5 : tensor<1x1x2xi32>
}

// CHECK-LABEL: func.func @signed
// CHECK: %[[X:.*]] = "graph.xor"(%arg0,
// CHECK: "graph.conv"(%{{.*}}) {{.*}}unsigned_lhs{{.*}} : (tensor<1x1x4xi8>, tensor<4x2x1xi8>) -> tensor<1x1x2xi32>
func.func @signed(%x: tensor<1x4xi8>) -> tensor<1x2xi32> {
  %0 = "graph.cast"(%x) : (tensor<1x4xi8>) -> tensor<1x4xi32>
  %1 = "graph.constant"() <{value = dense<[[1, -1], [2, 0], [3, 4], [-6, 1]]> : tensor<4x2xi32>}> : () -> tensor<4x2xi32>
  %2 = "graph.contract"(%0, %1) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<1x4xi32>, tensor<4x2xi32>) -> tensor<1x2xi32>
  return %2 : tensor<1x2xi32>
}

// Weights that are no bytes: as they are.
// CHECK-LABEL: func.func @wide
// CHECK-NOT: graph.xor
// CHECK: "graph.contract"(%{{.*}}) {{.*}} : (tensor<1x4xi32>, tensor<4x1xi32>) -> tensor<1x1xi32>
func.func @wide(%x: tensor<1x4xi8>) -> tensor<1x1xi32> {
  %0 = "graph.cast"(%x) : (tensor<1x4xi8>) -> tensor<1x4xi32>
  %1 = "graph.constant"() <{value = dense<[[128], [2], [3], [-6]]> : tensor<4x1xi32>}> : () -> tensor<4x1xi32>
  %2 = "graph.contract"(%0, %1) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<1x4xi32>, tensor<4x1xi32>) -> tensor<1x1xi32>
  return %2 : tensor<1x1xi32>
}
