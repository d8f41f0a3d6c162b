// What a row's reductions give is computed with once a row, and what is dear once an element: the logarithm stands
// outside of the last sweep, the exponentials are kept in the result's memory.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=znver4 --compile-to=executable-configurations %s -o - | FileCheck %s
// CHECK-LABEL: kernel.func @logs_dispatch_0
// CHECK: kernel.log %{{.*}} : f32
// CHECK-NOT: kernel.log
// CHECK: kernel.return
func.func @logs(%x: tensor<40x256xf32>) -> tensor<40x256xf32> {
  %0 = "graph.exp"(%x) : (tensor<40x256xf32>) -> tensor<40x256xf32>
  %1 = "graph.reduce"(%0) <{dims = array<i64: 1>, kind = "add"}> : (tensor<40x256xf32>) -> tensor<40xf32>
  %2 = "graph.log"(%1) : (tensor<40xf32>) -> tensor<40xf32>
  %3 = "graph.broadcast"(%2) <{dims = array<i64: 0>}> : (tensor<40xf32>) -> tensor<40x256xf32>
  %4 = "graph.sub"(%x, %3) : (tensor<40x256xf32>, tensor<40x256xf32>) -> tensor<40x256xf32>
  return %4 : tensor<40x256xf32>
}

// CHECK-LABEL: kernel.func @shares_dispatch_0
// CHECK: kernel.exp
// CHECK-NOT: kernel.exp
// CHECK: kernel.return
func.func @shares(%x: tensor<40x256xf32>) -> tensor<40x256xf32> {
  %0 = "graph.exp"(%x) : (tensor<40x256xf32>) -> tensor<40x256xf32>
  %1 = "graph.reduce"(%0) <{dims = array<i64: 1>, kind = "add"}> : (tensor<40x256xf32>) -> tensor<40xf32>
  %2 = "graph.broadcast"(%1) <{dims = array<i64: 0>}> : (tensor<40xf32>) -> tensor<40x256xf32>
  %3 = "graph.div"(%0, %2) : (tensor<40x256xf32>, tensor<40x256xf32>) -> tensor<40x256xf32>
  return %3 : tensor<40x256xf32>
}
