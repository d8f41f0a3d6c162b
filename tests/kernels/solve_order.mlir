// Kernels of strategies that are alike on all GPUs: factors and triangular systems, bodies of the program's own, ranks;
// and the first few of a line, which CPUs have a strategy for where GPUs sort.
//
// RUN: iree-compile --iree-hal-target-device=cuda --iree-cuda-target=sm_90 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefixes=ALL,GPU
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx942 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefixes=ALL,GPU
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefixes=ALL,GPU
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=skylake-avx512 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefixes=ALL,CPU

// Column by column; of a column each thread of the workgroup has some rows, and waits for the others behind it.
// ALL-LABEL: kernel.func @cholesky_dispatch_0
// GPU: kernel.thread_id
// ALL: kernel.for
// GPU: kernel.sqrt
// GPU: kernel.store
// ALL: kernel.for
// ALL: kernel.div
// ALL: kernel.store
// CPU: kernel.sqrt
// GPU: kernel.barrier
// CPU-NOT: kernel.barrier
// ALL: kernel.return
func.func @cholesky(%x: tensor<4x24x24xf32>) -> tensor<4x24x24xf32> {
  %0 = stablehlo.cholesky %x, lower = true : tensor<4x24x24xf32>
  return %0 : tensor<4x24x24xf32>
}

// A column of the right-hand side for each thread, or iteration: row by row, each by the rows before it.
// ALL-LABEL: kernel.func @triangular_dispatch_0
// GPU: kernel.if
// ALL: kernel.for
// ALL: kernel.load
// ALL: kernel.for
// ALL: kernel.load
// ALL: kernel.mul
// ALL: kernel.sub
// ALL: kernel.yield
// ALL: kernel.div
// ALL: kernel.store
// ALL-NOT: kernel.barrier
// ALL: kernel.return
func.func @triangular(%a: tensor<24x24xf32>, %b: tensor<24x64xf32>) -> tensor<24x64xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<24x24xf32>, tensor<24x64xf32>) -> tensor<24x64xf32>
  return %0 : tensor<24x64xf32>
}

// No sum that may be shared out: a loop for each result, in order.
// ALL-LABEL: kernel.func @body_dispatch_0
// ALL: kernel.for
// ALL: kernel.load
// ALL: kernel.mul
// ALL-NEXT: kernel.xor
// ALL-NEXT: kernel.yield
// ALL-NOT: kernel.subgroup_shuffle
// ALL: kernel.store
func.func @body(%x: tensor<64x300xi32>) -> tensor<64xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %zero) across dimensions = [1] : (tensor<64x300xi32>, tensor<i32>) -> tensor<64xi32> reducer(%a: tensor<i32>, %b: tensor<i32>) {
    %three = stablehlo.constant dense<3> : tensor<i32>
    %1 = stablehlo.multiply %a, %three : tensor<i32>
    %2 = stablehlo.xor %1, %b : tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }
  return %0 : tensor<64xi32>
}

// How many go before an element is its place: equal ones do when they come earlier.
// ALL-LABEL: kernel.func @order_dispatch_1_sort
// ALL: kernel.load
// ALL: kernel.for
// ALL: kernel.lt
// ALL: kernel.load
// ALL: kernel.select
// ALL: kernel.lt
// ALL: kernel.castu
// ALL-NEXT: kernel.add
// ALL-NEXT: kernel.yield
// ALL: kernel.store
func.func @order(%x: tensor<16x200xf32>) -> tensor<16x200xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<16x200xf32>) -> tensor<16x200xf32>
  return %0 : tensor<16x200xf32>
}

// One sweep over a line beside the first of what it had so far: a vector of which none goes before the last of these is
// passed over.
// CPU-LABEL: kernel.func @top_dispatch_1_top_k
// CPU: kernel.alloc
// CPU: kernel.for
// CPU: kernel.load {{.*}}vector<
// CPU: kernel.reduce
// CPU: kernel.if
// GPU: kernel.func @top_dispatch_1_sort
// GPU: kernel.func @top_dispatch_2_sort
func.func @top(%x: tensor<16x2000xf32>) -> (tensor<16x20xf32>, tensor<16x20xi32>) {
  %0:2 = chlo.top_k(%x, k = 20) : tensor<16x2000xf32> -> (tensor<16x20xf32>, tensor<16x20xi32>)
  return %0#0, %0#1 : tensor<16x20xf32>, tensor<16x20xi32>
}
