// Sizes that are known at run time only: one module for all of them, and one clear error when they do not fit.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=identity --input=3xf32=1,2,3 --expected_output=3xf32=1,2,3
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=identity --input=0xf32 --expected_output=0xf32
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=double --input=2xf32=1,2 --expected_output=2xf32=2,4
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=double --input=20xf32=3 --expected_output=20xf32=6
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=double --input=100001xf32=3 --expected_output=100001xf32=6
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=add --input=2x3xf32=1 --input=2x3xf32=2 --expected_output=2x3xf32=3
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --function=add --input=2x3xf32=1 --input=4x3xf32=2 2>&1 | FileCheck %s
// CHECK: INVALID_ARGUMENT; sizes do not fit in 'graph.add' at {{.*}}dynamic.mlir:[[#@LINE+32]]:8: the operands must be of one shape (2 and 4)
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --function=add --input=2x4xf32=1 --input=2x4xf32=2 2>&1 | FileCheck --check-prefix=STATIC %s
// STATIC: input0
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=matmul --input=2x3xf32=1,2,3,4,5,6 --input=3x1xf32=1,1,2 --expected_output=2x1xf32=9,21
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=loop --input=3xf32=1,2,3 --input=4xi32 --expected_output=3xf32=16,32,48
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=loop --input=1xf32=1 --input=3xi32 --expected_output=1xf32=8
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=branch --input=i1=1 --input=2xf32=1,2 --expected_output=2xf32=2,4
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=branch --input=i1=0 --input=3xf32=1,2,3 --expected_output=3xf32=-1,-2,-3
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=filled --input=2 --expected_output=2x2xf32=1
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --function=filled --input=4294967296 2>&1 | FileCheck --check-prefix=LARGE %s
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --function=filled --input=16000000 2>&1 | FileCheck --check-prefix=LARGE %s
// LARGE: RESOURCE_EXHAUSTED; a value of type tensor<?x?xf32> would be too large
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=either --input=1x3xf32=1,2,3 --input=2x1xf32=10,20 --expected_output=2x3xf32=11,12,13,21,22,23
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=either --input=2x1xf32=1,2 --input=1x2xf32=10,20 --expected_output=2x2xf32=11,21,12,22
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=either --input=2x2xf32=1,2,3,4 --input=2x2xf32=10,20,30,40 --expected_output=2x2xf32=11,22,33,44
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --function=either --input=2x1xf32 --input=3x1xf32 2>&1 | FileCheck --check-prefix=EITHER %s
// EITHER: INVALID_ARGUMENT; sizes do not fit in 'graph.broadcast' at {{.*}}: a size must be 1 or that of the result in a broadcast (3 and 2)
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=either_tosa --input=3xf32=1,2,3 --input=1xf32=10 --expected_output=3xf32=11,12,13
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=either_tosa --input=1xf32=1 --input=2xf32=10,20 --expected_output=2xf32=11,21
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmvx.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmvx.vmfb --function=double --input=20xf32=3 --expected_output=20xf32=6

func.func @identity(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
func.func @double(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @add(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = stablehlo.negate %x : tensor<?x3xf32>
  %1 = stablehlo.negate %0 : tensor<?x3xf32>
  %2 = arith.addf %1, %y : tensor<?x3xf32>
  return %2 : tensor<?x3xf32>
}
func.func @either(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = chlo.broadcast_add %x, %y : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
func.func @either_tosa(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tosa.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @matmul(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %y, %c1 : tensor<?x?xf32>
  %0 = tensor.empty(%m, %n) : tensor<?x?xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = linalg.matmul ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%1 : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}
func.func @loop(%x: tensor<?xf32>, %n: tensor<?xi32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = tensor.dim %n, %c0 : tensor<?xi32>
  %0 = scf.for %i = %c0 to %end step %c1 iter_args(%a = %x) -> (tensor<?xf32>) {
    %1 = arith.addf %a, %a : tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}
func.func @branch(%c: tensor<i1>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %flag = tensor.extract %c[] : tensor<i1>
  %0 = scf.if %flag -> (tensor<?xf32>) {
    %1 = arith.addf %x, %x : tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  } else {
    %2 = arith.negf %x : tensor<?xf32>
    scf.yield %2 : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}
func.func @filled(%n: i64) -> tensor<?x?xf32> {
  %size = arith.index_cast %n : i64 to index
  %one = arith.constant 1.0 : f32
  %0 = tensor.empty(%size, %size) : tensor<?x?xf32>
  %1 = linalg.fill ins(%one : f32) outs(%0 : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
