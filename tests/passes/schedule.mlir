// Dispatches that do not need one another side by side, so that one barrier serves them all.
//
// RUN: iree-compile --iree-hal-target-device=cuda --iree-cuda-target=sm_80 --compile-to=stream %s | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --compile-to=stream %s | FileCheck %s --check-prefix=CPU

// Three products of one value, each of which is turned by a kernel of its own: two rounds and not six.
// CHECK-LABEL: func.func @heads
// CHECK: sym_name = "heads_dispatch_[[#]]_matmul
// CHECK: sym_name = "heads_dispatch_[[#]]_matmul
// CHECK: sym_name = "heads_dispatch_[[#]]_sort
// CHECK: sym_name = "heads_dispatch_[[#]]_sort
// CHECK: return
// CPU-LABEL: func.func @heads
// CPU: matmul
// CPU: sort
// CPU: matmul
// CPU: sort
func.func @heads(%x: tensor<4x64xf32>, %a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>) {
  %0 = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  %1 = "stablehlo.sort"(%0) <{dimension = 1 : i64}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %c = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %2 = stablehlo.dot_general %x, %b, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  %3 = "stablehlo.sort"(%2) <{dimension = 1 : i64}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %c = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return %1, %3 : tensor<4x64xf32>, tensor<4x64xf32>
}

// What reads a global's old value stays before what changes it, and the cache is updated where it is.
// CHECK-LABEL: func.func @cache
// CHECK: %[[OLD:[0-9]+]] = "graph.global_load"
// CHECK: "graph.dispatch"(%[[OLD]]) {{.*}}sort
// CHECK: "graph.dispatch"({{.*}}matmul
// CHECK: "graph.dispatch"({{.*}}in_place = 1
// CHECK: graph.global_store
util.global private mutable @kept = dense<0.0> : tensor<64x64xf32>
func.func @cache(%x: tensor<1x64xf32>, %a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %at: tensor<i32>) -> (tensor<64x64xf32>, tensor<1x64xf32>) {
  %old = util.global.load @kept : tensor<64x64xf32>
  %0 = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0] : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  %sorted = "stablehlo.sort"(%old) <{dimension = 1 : i64}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %c = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %new = stablehlo.dynamic_update_slice %old, %0, %at, %zero : (tensor<64x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<64x64xf32>
  util.global.store %new, @kept : tensor<64x64xf32>
  %1 = stablehlo.dot_general %x, %b, contracting_dims = [1] x [0] : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  return %sorted, %1 : tensor<64x64xf32>, tensor<1x64xf32>
}
