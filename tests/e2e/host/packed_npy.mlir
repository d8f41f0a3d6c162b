// Elements below 8 bits from .npy files: a byte each, as ml_dtypes writes them (dtype V1).
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: (printf '\223NUMPY\001\000\100\000'; printf "%-63s\n" "{'descr': '|V1', 'fortran_order': False, 'shape': (5,)}"; printf '\374\377\000\007\003') > %t.npy
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=small --input=5xi4=@%t.npy | FileCheck %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=line --input=5x1xi4=@%t.npy | FileCheck --check-prefix=LINE %s
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --function=small --input=4xi4=@%t.npy 2>&1 | FileCheck --check-prefix=OTHER %s

// CHECK: 5xi8=-4 -1 0 7 3
// OTHER: numpy array has 5 bytes where the tensor takes 2
func.func @small(%x: tensor<5xi4>) -> tensor<5xi8> {
  %0 = arith.extsi %x : tensor<5xi4> to tensor<5xi8>
  return %0 : tensor<5xi8>
}

// LINE: 5xf32=-4 -1 0 7 3
func.func @line(%x: tensor<5x1xi4>) -> tensor<5xf32> {
  %0 = arith.sitofp %x : tensor<5x1xi4> to tensor<5x1xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<5x1xf32> into tensor<5xf32>
  return %1 : tensor<5xf32>
}
