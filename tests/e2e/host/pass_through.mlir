// Without a device, tensors can be passed through: what a caller gave is what comes back.
//
// RUN: iree-compile %s -o %t.vmfb && iree-dump-module --output=metadata %t.vmfb | FileCheck --check-prefix=NONE %s
// RUN: iree-compile --iree-execution-model=host-only %s | iree-run-module --module=- --function=swap --input="2xi32=1 2" --input=f32=-3 | FileCheck %s
// RUN: iree-run-module --module=%t.vmfb --function=numbers --input=1 --input=4 | FileCheck --check-prefix=NUMBERS %s
// NONE-NOT: hal, version
// NONE: swap(!vm.ref<?>, !vm.ref<?>) -> (!vm.ref<?>, !vm.ref<?>, !vm.ref<?>)
// NONE-NEXT: iree.abi.declaration: sync func @swap(%input0: tensor<2xi32>, %input1: tensor<f32>) -> (%output0: tensor<f32>, %output1: tensor<2xi32>, %output2: tensor<f32>)
func.func private @first(%x: tensor<2xi32>, %y: tensor<f32>) -> tensor<2xi32> {
  return %x : tensor<2xi32>
}
// CHECK: result[0]: hal.buffer_view
// CHECK-NEXT: f32=-3
// CHECK-NEXT: result[1]: hal.buffer_view
// CHECK-NEXT: 2xi32=1 2
// CHECK-NEXT: result[2]: hal.buffer_view
// CHECK-NEXT: f32=-3
func.func @swap(%x: tensor<2xi32>, %y: tensor<f32>) -> (tensor<f32>, tensor<2xi32>, tensor<f32>) {
  %0 = call @first(%x, %y) : (tensor<2xi32>, tensor<f32>) -> tensor<2xi32>
  return %y, %0, %y : tensor<f32>, tensor<2xi32>, tensor<f32>
}
// NUMBERS: result[0]: i64=4
func.func @numbers(%x: i1, %y: i64) -> i64 {
  return %y : i64
}
//
// What computes with them still needs one.
// RUN: sed -n 's|^// computes: ||p' %s | not iree-compile - 2>&1 | FileCheck --check-prefix=COMPUTES %s
// COMPUTES: error: 'graph.dispatch' op needs a device
// computes: func.func @f(%x: tensor<f32>) -> tensor<f32> {
// computes:   %0 = arith.negf %x : tensor<f32>
// computes:   return %0 : tensor<f32>
// computes: }
