// Whole numbers that go from floats to integers and back stay floats; what may be no whole number, or not fit, does not.
//
// RUN: iree-opt --pass=integral-floats --pass=dce %s | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=requantize --input=8xf32=-1e30,-100.5,-99.5,0.5,1.5,300,1e30,inf --expected_output=8xf32=-3,-3,-3,0,2,124,124,124
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=bias --input=1x2xi8=1,-2 --expected_output=1x2xf32=16777216,-255
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=fraction --input=2xf32=1.5,-2.5 --expected_output=2xf32=2,-1
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=wraps --input=2xf32=200,-3.4 --expected_output=2xf32=-56,-3

// The zero point goes into the bounds.
// CHECK-LABEL: func.func @requantize
// CHECK: "graph.roundeven"
// CHECK-DAG: dense<-3.000000e+00>
// CHECK-DAG: dense<1.240000e+02>
// CHECK-NOT: "graph.cast"
// CHECK-NOT: "graph.sub"
// CHECK: return
func.func @requantize(%x: tensor<8xf32>) -> tensor<8xf32> {
  %low = "graph.constant"() <{value = dense<0.0> : tensor<8xf32>}> : () -> tensor<8xf32>
  %high = "graph.constant"() <{value = dense<127.0> : tensor<8xf32>}> : () -> tensor<8xf32>
  %zero = "graph.constant"() <{value = dense<3.0> : tensor<8xf32>}> : () -> tensor<8xf32>
  %point = "graph.constant"() <{value = dense<3> : tensor<8xi32>}> : () -> tensor<8xi32>
  %0 = "graph.roundeven"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = "graph.add"(%0, %zero) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = "graph.max"(%1, %low) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = "graph.min"(%2, %high) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = "graph.castu"(%3) : (tensor<8xf32>) -> tensor<8xi8>
  %5 = "graph.castu"(%4) : (tensor<8xi8>) -> tensor<8xi32>
  %6 = "graph.sub"(%5, %point) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %7 = "graph.cast"(%6) : (tensor<8xi32>) -> tensor<8xf32>
  return %7 : tensor<8xf32>
}

// 2^24 and 1 more: the conversion of the sum rounds, and so does the sum of floats.
// CHECK-LABEL: func.func @bias
// CHECK: %[[Y:.*]] = "graph.contract"{{.*}} -> tensor<1x2xf32>
// CHECK: %[[SUM:.*]] = "graph.add"(%[[Y]], %{{.*}}) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
// CHECK: return %[[SUM]]
func.func @bias(%x: tensor<1x2xi8>) -> tensor<1x2xf32> {
  %0 = "graph.cast"(%x) : (tensor<1x2xi8>) -> tensor<1x2xf32>
  %1 = "graph.constant"() <{value = dense<[[1.0, 1.0], [0.0, 128.0]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
  %2 = "graph.contract"(%0, %1) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %3 = "graph.cast"(%2) : (tensor<1x2xf32>) -> tensor<1x2xi32>
  %4 = "graph.constant"() <{value = dense<[16777216, 0]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %5 = "graph.broadcast"(%4) <{dims = array<i64: 1>}> : (tensor<2xi32>) -> tensor<1x2xi32>
  %6 = "graph.add"(%3, %5) : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi32>
  %7 = "graph.cast"(%6) : (tensor<1x2xi32>) -> tensor<1x2xf32>
  return %7 : tensor<1x2xf32>
}

// CHECK-LABEL: func.func @fraction
// CHECK: "graph.cast"({{.*}}) : (tensor<2xf32>) -> tensor<2xi32>
func.func @fraction(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "graph.cast"(%x) : (tensor<2xf32>) -> tensor<2xi32>
  %1 = "graph.constant"() <{value = dense<1> : tensor<2xi32>}> : () -> tensor<2xi32>
  %2 = "graph.add"(%0, %1) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %3 = "graph.cast"(%2) : (tensor<2xi32>) -> tensor<2xf32>
  return %3 : tensor<2xf32>
}

// Unsigned where it is written, signed where it is read.
// CHECK-LABEL: func.func @wraps
// CHECK: "graph.cast"({{.*}}) : (tensor<2xi8>) -> tensor<2xi32>
func.func @wraps(%x: tensor<2xf32>) -> tensor<2xf32> {
  %low = "graph.constant"() <{value = dense<-128.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %high = "graph.constant"() <{value = dense<255.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %0 = "graph.roundeven"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "graph.max"(%0, %low) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = "graph.min"(%1, %high) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = "graph.cast"(%2) : (tensor<2xf32>) -> tensor<2xi32>
  %4 = "graph.cast"(%3) : (tensor<2xi32>) -> tensor<2xi8>
  %5 = "graph.cast"(%4) : (tensor<2xi8>) -> tensor<2xi32>
  %6 = "graph.cast"(%5) : (tensor<2xi32>) -> tensor<2xf32>
  return %6 : tensor<2xf32>
}
