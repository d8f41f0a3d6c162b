// What a kernel evaluates again and what it reads from memory instead.
//
// RUN: iree-opt --pass=form-dispatches %s | FileCheck %s

// A second softmax would have the first one's powers three times more: it has a kernel of its own.
// CHECK-LABEL: func.func @softmaxes
// CHECK-COUNT-2: "graph.dispatch"
// CHECK-NOT: "graph.dispatch"
func.func @softmaxes(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %0 = "graph.reduce"(%x) {dims = array<i64: 1>, kind = "max"} : (tensor<8x64xf32>) -> tensor<8xf32>
  %1 = "graph.broadcast"(%0) {dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x64xf32>
  %2 = "graph.sub"(%x, %1) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  %3 = "graph.exp"(%2) : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %4 = "graph.reduce"(%3) {dims = array<i64: 1>, kind = "add"} : (tensor<8x64xf32>) -> tensor<8xf32>
  %5 = "graph.broadcast"(%4) {dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x64xf32>
  %6 = "graph.div"(%3, %5) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  %7 = "graph.reduce"(%6) {dims = array<i64: 1>, kind = "max"} : (tensor<8x64xf32>) -> tensor<8xf32>
  %8 = "graph.broadcast"(%7) {dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x64xf32>
  %9 = "graph.sub"(%6, %8) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  %10 = "graph.exp"(%9) : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %11 = "graph.reduce"(%10) {dims = array<i64: 1>, kind = "add"} : (tensor<8x64xf32>) -> tensor<8xf32>
  %12 = "graph.broadcast"(%11) {dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x64xf32>
  %13 = "graph.div"(%10, %12) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  return %13 : tensor<8x64xf32>
}

// Sums of squares of the same value cost an addition or two again: one kernel.
// CHECK-LABEL: func.func @cheap_rows
// CHECK-COUNT-1: "graph.dispatch"
// CHECK-NOT: "graph.dispatch"
func.func @cheap_rows(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %0 = "graph.add"(%x, %x) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  %1 = "graph.mul"(%0, %0) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  %2 = "graph.reduce"(%1) {dims = array<i64: 1>, kind = "add"} : (tensor<8x64xf32>) -> tensor<8xf32>
  %3 = "graph.rsqrt"(%2) : (tensor<8xf32>) -> tensor<8xf32>
  %4 = "graph.broadcast"(%3) {dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x64xf32>
  %5 = "graph.mul"(%0, %4) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  return %5 : tensor<8x64xf32>
}

// Each element stands in nine windows: tanh is evaluated once, abs as often as it is read.
// CHECK-LABEL: func.func @dear_window
// CHECK: "graph.dispatch"
// CHECK: "graph.tanh"
// CHECK: "graph.dispatch"
// CHECK-NOT: "graph.dispatch"
// CHECK: "graph.window"
// CHECK-LABEL: func.func @cheap_window
// CHECK: "graph.dispatch"
// CHECK: "graph.abs"
// CHECK-NOT: "graph.dispatch"
// CHECK: "graph.window"
func.func @dear_window(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = "graph.tanh"(%x) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = "graph.window"(%0) {kind = "max", sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %1 : tensor<32x32xf32>
}
func.func @cheap_window(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = "graph.abs"(%x) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = "graph.window"(%0) {kind = "max", sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %1 : tensor<32x32xf32>
}

// Differences of differences of ...: each is needed at two places of the one before it. A few steps share a kernel, not
// all of them.
// CHECK-LABEL: func.func @stencils
// CHECK-COUNT-2: "graph.dispatch"
// CHECK: return
func.func @stencils(%x: tensor<64xf32>) -> tensor<54xf32> {
  %a0 = "graph.slice"(%x) {offsets = array<i64: 0>, strides = array<i64: 1>} : (tensor<64xf32>) -> tensor<62xf32>
  %b0 = "graph.slice"(%x) {offsets = array<i64: 2>, strides = array<i64: 1>} : (tensor<64xf32>) -> tensor<62xf32>
  %0 = "graph.sub"(%b0, %a0) : (tensor<62xf32>, tensor<62xf32>) -> tensor<62xf32>
  %a1 = "graph.slice"(%0) {offsets = array<i64: 0>, strides = array<i64: 1>} : (tensor<62xf32>) -> tensor<60xf32>
  %b1 = "graph.slice"(%0) {offsets = array<i64: 2>, strides = array<i64: 1>} : (tensor<62xf32>) -> tensor<60xf32>
  %1 = "graph.sub"(%b1, %a1) : (tensor<60xf32>, tensor<60xf32>) -> tensor<60xf32>
  %a2 = "graph.slice"(%1) {offsets = array<i64: 0>, strides = array<i64: 1>} : (tensor<60xf32>) -> tensor<58xf32>
  %b2 = "graph.slice"(%1) {offsets = array<i64: 2>, strides = array<i64: 1>} : (tensor<60xf32>) -> tensor<58xf32>
  %2 = "graph.sub"(%b2, %a2) : (tensor<58xf32>, tensor<58xf32>) -> tensor<58xf32>
  %a3 = "graph.slice"(%2) {offsets = array<i64: 0>, strides = array<i64: 1>} : (tensor<58xf32>) -> tensor<56xf32>
  %b3 = "graph.slice"(%2) {offsets = array<i64: 2>, strides = array<i64: 1>} : (tensor<58xf32>) -> tensor<56xf32>
  %3 = "graph.sub"(%b3, %a3) : (tensor<56xf32>, tensor<56xf32>) -> tensor<56xf32>
  %a4 = "graph.slice"(%3) {offsets = array<i64: 0>, strides = array<i64: 1>} : (tensor<56xf32>) -> tensor<54xf32>
  %b4 = "graph.slice"(%3) {offsets = array<i64: 2>, strides = array<i64: 1>} : (tensor<56xf32>) -> tensor<54xf32>
  %4 = "graph.sub"(%b4, %a4) : (tensor<54xf32>, tensor<54xf32>) -> tensor<54xf32>
  return %4 : tensor<54xf32>
}
