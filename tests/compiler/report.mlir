// What compiling took, by stage and by kernel, and what the program will need.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --compile-report=%t.txt %s -o %t.vmfb && FileCheck %s < %t.txt
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.without.vmfb && iree-run-module --device=local-sync --module=%t.vmfb --input=64x64xf32=1 --input=64x64xf32=1 --input=4x4xf32=1 --expected_output=64x64xf32=4096 --expected_output=4x4xf32=0.25
// CHECK: compiling {{.*}}report.mlir
// CHECK: ms {{ *}}MiB {{ *}}MiB most  stage
// CHECK: {{[0-9.]+ +[0-9]+\.[0-9] +[1-9][0-9]*\.[0-9]}}  reading
// CHECK: building kernels
// CHECK: generating code
// CHECK: {{[1-9][0-9]*\.[0-9]}}  all
// CHECK: ms build    ms code   MiB code dispatches       cycles  kernel (strategy)
// The longest first; equal dispatches share a kernel. What code generation took is not known under sanitizers.
// CHECK-DAG: {{[0-9.]+ +[0-9]*[1-9.][0-9.]* +([0-9.]+|-)}} 2 {{[1-9][0-9]*}}  main_dispatch_0_matmul_64x64x64_f32 ({{[a-z]+}})
// CHECK-DAG: {{[0-9.]+ +[0-9.]+ +([0-9.]+|-)}} 1 {{[1-9][0-9]*}}  main_dispatch_{{[0-9]}}_{{.*}}4x4_f32 (rows)
// CHECK: bytes  of a device's memory, most in @main
// CHECK: 0  constants
// CHECK: {{[1-9][0-9]*}}  temporaries
// CHECK: 32832  arguments
// CHECK: 16448  results
// CHECK: {{[1-9][0-9]*}}  all
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx --compile-report=- %s -o %t.vmfb 2>&1 | grep -E ' - +2 +[1-9][0-9]*  main_dispatch_0_matmul'
// RUN: not iree-compile --iree-hal-target-device=local --compile-report=/nowhere/report %s -o %t.vmfb 2>&1 | grep "error: cannot write '/nowhere/report' of --compile-report: No such file or directory"

func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<4x4xf32>) -> (tensor<64x64xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %small = tensor.empty() : tensor<4x4xf32>
  %fill = linalg.fill ins(%zero: f32) outs(%empty: tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fill: tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = linalg.matmul ins(%0, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fill: tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = linalg.softmax dimension(1) ins(%c : tensor<4x4xf32>) outs(%small : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %2 : tensor<64x64xf32>, tensor<4x4xf32>
}
