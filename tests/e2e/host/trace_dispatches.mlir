// What dispatches take and give, of all and of one.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-flow-trace-dispatch-tensors %s -o %t.vmfb
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=main --input=2x3xf32=1,2,3,4,5,6 --input=3x2xf32=1,0,0,1,1,1 2>&1 | FileCheck %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=loop --input=2xf32=1,2 --input=2 2>&1 | FileCheck --check-prefix=LOOP %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-flow-trace-dispatch=@main:1 %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input=2x3xf32=1,2,3,4,5,6 --input=3x2xf32=1,0,0,1,1,1 2>&1 | FileCheck --check-prefix=ONE %s
// CHECK: === main_dispatch_0::main_dispatch_0_{{.*}} inputs ===
// CHECK: 2x3xf32=[1 2 3][4 5 6]
// CHECK: 3x2xf32=[1 0][0 1][1 1]
// CHECK: === main_dispatch_0::main_dispatch_0_{{.*}} outputs ===
// CHECK-NEXT: 2x2xf32=[4 5][10 11]
// CHECK: === main_dispatch_1::main_dispatch_1_{{.*}} inputs ===
// CHECK: === main_dispatch_1::main_dispatch_1_{{.*}} outputs ===
// CHECK-NEXT: 2xf32=9 21
// CHECK: result[0]
// LOOP-COUNT-2: outputs ===
// LOOP: 2xf32=4 8
// ONE-NOT: main_dispatch_0
// ONE: === main_dispatch_1::main_dispatch_1_{{.*}} inputs ===
// ONE: === main_dispatch_1::main_dispatch_1_{{.*}} outputs ===

func.func @main(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>) -> tensor<2xf32> {
  %z = arith.constant dense<0.0> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %y : tensor<2x3xf32>, tensor<3x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  %w = arith.constant dense<0.0> : tensor<2xf32>
  %1 = linalg.reduce {arith.addf} ins(%0 : tensor<2x2xf32>) outs(%w : tensor<2xf32>) dimensions = [1]
  return %1 : tensor<2xf32>
}

func.func @loop(%x: tensor<2xf32>, %n: index) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<2xf32> {
    %b = arith.addf %a, %a : tensor<2xf32>
    scf.yield %b : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
