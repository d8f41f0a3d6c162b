// Sizes that are known at run time only are refused by name.
// RUN: not iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb 2>&1 | FileCheck %s

// CHECK: dynamic.mlir:{{[0-9]+}}:{{[0-9]+}}: error: {{.*}}copies a value of type tensor<?xf32>; kernels need static shapes
func.func @identity(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
// CHECK: error: 'graph.add' op has a result of type tensor<?xf32>; kernels need static shapes
func.func @double(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
