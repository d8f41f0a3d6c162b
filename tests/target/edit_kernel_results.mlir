// A kernel with two results: both are compared, and what it does is counted.

// RUN: iree-edit-kernel %s --target=gfx1100 --work=%t.work --kernel=main_dispatch_0 --run="sed -i '/s_endpgm/i s_nop 0'" | FileCheck %s
// CHECK: counted by the software GPU in one call
// CHECK: dispatches 1 1
// CHECK: the results are the same

module {
  func.func @main(%a: tensor<4x32xf32>) -> (tensor<4x32xf32>, tensor<4x32xf32>) {
    %0:2 = "graph.dispatch"(%a) <{sym_name = "main_dispatch_0_reduction_4x32_f32"}> ({
    ^bb0(%x: tensor<4x32xf32>):
      %1 = "graph.reduce"(%x) <{dims = array<i64: 1>, kind = "add"}> : (tensor<4x32xf32>) -> tensor<4xf32>
      %2 = "graph.broadcast"(%1) <{dims = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x32xf32>
      %3 = "graph.sub"(%x, %2) : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
      "graph.yield"(%3, %2) : (tensor<4x32xf32>, tensor<4x32xf32>) -> ()
    }) : (tensor<4x32xf32>) -> (tensor<4x32xf32>, tensor<4x32xf32>)
    return %0#0, %0#1 : tensor<4x32xf32>, tensor<4x32xf32>
  }
}
