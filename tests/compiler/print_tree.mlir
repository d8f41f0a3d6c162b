// What is printed between passes as files.
// RUN: rm -rf %t && iree-opt --pass-pipeline=lower-input,cse,dce --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t %s -o %t.out && ls %t/* | FileCheck %s && FileCheck --check-prefix=LOWER %s < %t/builtin_module____up/0_lower-input.mlir
// CHECK: 0_lower-input.mlir
// CHECK-NEXT: 1_cse.mlir
// CHECK-NEXT: 2_dce.mlir
// LOWER-NOT: IR Dump
// LOWER: graph.add
// RUN: iree-opt %t/builtin_module____up/0_lower-input.mlir | FileCheck --check-prefix=LOWER %s
// RUN: rm -rf %t && iree-compile --iree-hal-target-device=local --mlir-print-ir-after=lower-input --mlir-print-ir-tree-dir=%t --compile-to=input %s -o %t.out && FileCheck --check-prefix=LOWER %s < %t/builtin_module____up/0_lower-input.mlir
// RUN: not iree-opt --pass=cse --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t.out/none %s 2>&1 | FileCheck --check-prefix=WRITE %s
// WRITE: error: cannot write '{{.*}}.out/none/builtin_module____up/0_cse.mlir': Not a directory
module @"../up" {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %x, %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
