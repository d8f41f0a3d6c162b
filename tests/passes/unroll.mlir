// Short rounds of counted loops side by side, in one submission; what is left over in front of the loop.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --compile-to=stream %s | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=even --input=4xf32=1 --expected_output=4xf32=4951
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=odd --input=4xf32=1 --input=4xf32=2 --expected_output=4xf32=20 --expected_output=4xf32=21
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=few --input=4xf32=1 --expected_output=4xf32=16 --expected_output=i32=17
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=rows --input=20x4xf32=2 --expected_output=4xf32=40
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=stacked --input=1xf32=1 --expected_output=32x1xf32=1,2,4,8,16,32,64,128,256,512,1024,2048,4096,8192,16384,32768,65536,131072,262144,524288,1048576,2097152,4194304,8388608,16777216,33554432,67108864,134217728,268435456,536870912,1073741824,2147483648
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=open --input=4xf32=1 --input=i32=21 --expected_output=4xf32=22

// Ten times ten, of which each has its counter.
// CHECK-LABEL: func.func @even
// CHECK: graph.while
// CHECK: _round_9"
// CHECK-NOT: round_10"
// CHECK: return
func.func @even(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%v = %x, %i = %zero) : tensor<4xf32>, tensor<i32>
  cond {
    %end = stablehlo.constant dense<100> : tensor<i32>
    %go = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %f = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %w = stablehlo.add %v, %b : tensor<4xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %w, %n : tensor<4xf32>, tensor<i32>
  }
  return %0#0 : tensor<4xf32>
}

// 37 by 2 from 3 on: 19 rounds, of which three are in front. Values change places.
// CHECK-LABEL: func.func @odd
// CHECK: _round_3"
// CHECK: graph.while
// CHECK: _round_18"
// CHECK-NOT: _round_19"
// CHECK: return
func.func @odd(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %three = stablehlo.constant dense<3> : tensor<i64>
  %0:3 = stablehlo.while(%v = %x, %u = %y, %i = %three) : tensor<4xf32>, tensor<4xf32>, tensor<i64>
  cond {
    %end = stablehlo.constant dense<40> : tensor<i64>
    %go = stablehlo.compare LT, %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %two = stablehlo.constant dense<2> : tensor<i64>
    %b = stablehlo.constant dense<2.0> : tensor<4xf32>
    %w = stablehlo.add %v, %b : tensor<4xf32>
    %n = stablehlo.add %i, %two : tensor<i64>
    stablehlo.return %u, %w, %n : tensor<4xf32>, tensor<4xf32>, tensor<i64>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// No loop any more.
// CHECK-LABEL: func.func @few
// CHECK-NOT: graph.while
// CHECK: _round_15"
// CHECK: return
func.func @few(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) {
  %two = stablehlo.constant dense<2> : tensor<i32>
  %0:2 = stablehlo.while(%v = %x, %i = %two) : tensor<4xf32>, tensor<i32>
  cond {
    %end = stablehlo.constant dense<17> : tensor<i32>
    %go = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %b = stablehlo.constant dense<1.0> : tensor<4xf32>
    %w = stablehlo.add %v, %b : tensor<4xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %w, %n : tensor<4xf32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<i32>
}

// Rows are read where they are.
// CHECK-LABEL: func.func @rows
// CHECK: graph.while
// CHECK: _round_9"
// CHECK-NOT: _round_10"
// CHECK: return
func.func @rows(%x: tensor<20x4xf32>) -> tensor<4xf32> {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0:2 = stablehlo.while(%v = %zeros, %i = %start) : tensor<4xf32>, tensor<i32>
  cond {
    %end = stablehlo.constant dense<20> : tensor<i32>
    %go = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %row = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 4] : (tensor<20x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %r = stablehlo.reshape %row : (tensor<1x4xf32>) -> tensor<4xf32>
    %w = stablehlo.add %v, %r : tensor<4xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %w, %n : tensor<4xf32>, tensor<i32>
  }
  return %0#0 : tensor<4xf32>
}

// Arrays that are updated stay with one round.
// CHECK-LABEL: func.func @stacked
// CHECK: graph.while
// CHECK-NOT: _round_
// CHECK: return
func.func @stacked(%x: tensor<1xf32>) -> tensor<32x1xf32> {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<32x1xf32>
  %0:3 = stablehlo.while(%all = %zeros, %v = %x, %i = %start) : tensor<32x1xf32>, tensor<1xf32>, tensor<i32>
  cond {
    %end = stablehlo.constant dense<32> : tensor<i32>
    %go = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %row = stablehlo.reshape %v : (tensor<1xf32>) -> tensor<1x1xf32>
    %m = stablehlo.dynamic_update_slice %all, %row, %i, %zero : (tensor<32x1xf32>, tensor<1x1xf32>, tensor<i32>, tensor<i32>) -> tensor<32x1xf32>
    %w = stablehlo.add %v, %v : tensor<1xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %m, %w, %n : tensor<32x1xf32>, tensor<1xf32>, tensor<i32>
  }
  return %0#0 : tensor<32x1xf32>
}

// Nor what nobody has counted.
// CHECK-LABEL: func.func @open
// CHECK: graph.while
// CHECK-NOT: _round_
// CHECK: return
func.func @open(%x: tensor<4xf32>, %end: tensor<i32>) -> tensor<4xf32> {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%v = %x, %i = %start) : tensor<4xf32>, tensor<i32>
  cond {
    %go = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %b = stablehlo.constant dense<1.0> : tensor<4xf32>
    %w = stablehlo.add %v, %b : tensor<4xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %w, %n : tensor<4xf32>, tensor<i32>
  }
  return %0#0 : tensor<4xf32>
}
