// --iree-flow-export-benchmark-funcs: a function without arguments for each kernel and each function; equal dispatches
// share a kernel, and what has a size known only at run time has none.
//
// RUN: iree-compile --iree-input-type=stablehlo --iree-flow-export-benchmark-funcs --iree-hal-target-backends=vmvx %s -o %t.vmfb
// RUN: iree-benchmark-module --module=%t.vmfb --device=local-task --benchmark_min_time=2x 2>&1 | grep -o "^BM_[a-z0-9_]*" | FileCheck %s
// CHECK: BM_main_ex_dispatch_0_{{[a-z0-9_]+}}_benchmark
// CHECK-NEXT: BM_main_ex_dispatch_1_{{[a-z0-9_]+}}_benchmark
// CHECK-NEXT: BM_main_ex_dispatch_2_{{[a-z0-9_]+}}_benchmark
// CHECK-NEXT: BM_main_benchmark
// CHECK-NOT: {{.}}
//
// Weights stay in the layout that each target wants them in.
// RUN: iree-compile -iree-flow-export-benchmark-funcs --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu,vmvx %s -o %t.vmfb
// RUN: iree-benchmark-module --module=%t.vmfb --device=local-sync --benchmark_min_time=2x 2>&1 | grep -o "^BM_[a-z0-9_]*" | FileCheck %s
// RUN: iree-run-module --module=%t.vmfb --device=local-sync --function=main --input=8x32xf32=1 | FileCheck --check-prefix=VALUE %s
// VALUE: 8xf32=12 12 12 12 12 12 12 12
// RUN: iree-run-module --module=%t.vmfb --device=local-sync --function=open --input=3xf32=-1 | FileCheck --check-prefix=OPEN %s
// OPEN: 3xf32=1 1 1
//
// RUN: iree-compile -iree-flow-export-benchmark-funcs --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 %s -o %t.vmfb
// RUN: iree-softgpu --target=gfx1100 -- iree-benchmark-module --module=%t.vmfb --device=amdgpu --benchmark_min_time=2x 2>&1 | grep -o "^BM_[a-z0-9_]*" | FileCheck %s
module {
  func.func @main(%a: tensor<8x32xf32>) -> tensor<8xf32> {
    %w = stablehlo.constant dense<0.125> : tensor<32x32xf32>
    %v = stablehlo.constant dense<0.03125> : tensor<32x3xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.dot %a, %w : (tensor<8x32xf32>, tensor<32x32xf32>) -> tensor<8x32xf32>
    %1 = stablehlo.dot %0, %v : (tensor<8x32xf32>, tensor<32x3xf32>) -> tensor<8x3xf32>
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<8x3xf32>, tensor<f32>) -> tensor<8xf32>
    return %2 : tensor<8xf32>
  }
  func.func @open(%a: tensor<?xf32>) -> tensor<?xf32> {
    %0 = stablehlo.abs %a : tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}
