// A loop's number is the place that an update in its body writes, though the number moves on before the work is done.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --input=4x3xf32=1,2,3,4,5,6,7,8,9,10,11,12 | FileCheck %s

// CHECK: 4x3xf32=[1 2 3][5 7 9][12 15 18][22 26 30]
func.func @main(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %empty = arith.constant dense<0.0> : tensor<4x3xf32>
  %zero = arith.constant dense<0.0> : tensor<1x3xf32>
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%all = %empty, %sum = %zero) -> (tensor<4x3xf32>, tensor<1x3xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<1x3xf32>
    %next = arith.addf %row, %sum : tensor<1x3xf32>
    %more = tensor.insert_slice %next into %all[%i, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<4x3xf32>
    scf.yield %more, %next : tensor<4x3xf32>, tensor<1x3xf32>
  }
  return %r#0 : tensor<4x3xf32>
}
