// What a witness of the shape dialect says is checked when the program runs.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input=2x3xf32=1 --input=1x3xf32=1,2,3 --expected_output=2x3xf32=2,3,4,2,3,4
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --function=main --input=2x3xf32=1 --input=3x3xf32=2 2>&1 | FileCheck %s
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --function=same --input=2xf32=1 --input=3xf32=2 2>&1 | FileCheck --check-prefix=SAME %s
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --function=few --input=3xf32=1 2>&1 | FileCheck --check-prefix=FEW %s
// CHECK: shapes do not broadcast
// SAME: shapes differ
// FEW: at most two are wanted
func.func @main(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %s = shape.shape_of %x : tensor<?x3xf32> -> tensor<2xindex>
  %t = shape.shape_of %y : tensor<?x3xf32> -> tensor<2xindex>
  %w = shape.cstr_broadcastable %s, %t : tensor<2xindex>, tensor<2xindex>
  %0 = shape.assuming %w -> (tensor<?x3xf32>) {
    %1 = chlo.broadcast_add %x, %y : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    shape.assuming_yield %1 : tensor<?x3xf32>
  }
  return %0 : tensor<?x3xf32>
}
func.func @same(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %s = shape.shape_of %x : tensor<?xf32> -> tensor<1xindex>
  %t = shape.shape_of %y : tensor<?xf32> -> tensor<1xindex>
  %w = shape.cstr_eq %s, %t : tensor<1xindex>, tensor<1xindex>
  %0 = arith.addf %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @few(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = shape.dim %x, %c0 : tensor<?xf32>, index -> index
  %few = arith.cmpi ule, %n, %c2 : index
  %w = shape.cstr_require %few, "at most two are wanted"
  %0 = arith.addf %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
