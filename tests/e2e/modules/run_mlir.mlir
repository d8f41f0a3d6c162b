// Compiled and run at once: what to compile for follows from the device, and the other way round.
// RUN: iree-run-mlir --device=local-sync %s --function=add --input=4xf32=1,2,3,4 --input=4xf32=1 | FileCheck %s
// RUN: iree-run-mlir %s --function=add --input=4xf32=1,2,3,4 --input=4xf32=1 -- --iree-hal-target-backends=vmvx | FileCheck %s
// RUN: iree-run-mlir --Xcompiler,iree-hal-target-backends=vmvx --Xruntime,function=add --Xruntime --input=4xf32=1,2,3,4 --input=4xf32=1 %s | FileCheck %s
// RUN: iree-run-mlir %s --iree-hal-target-backends=vmvx --function=add --input=1xf32=1 --input=1xf32=2 --expected_output=1xf32=3 | FileCheck --check-prefix=SAME %s
// RUN: not iree-run-mlir %s --function=add --input=1xf32=1 --input=1xf32=2 --expected_output=1xf32=4 | FileCheck --check-prefix=OTHER %s
// RUN: not iree-run-mlir %s --function=nothing --device=local-sync 2>&1 | FileCheck --check-prefix=NOTHING %s
// RUN: not iree-run-mlir --device=local-sync 2>&1 | FileCheck --check-prefix=FILE %s
// RUN: not iree-run-mlir %s -- --compile-to=flow 2>&1 | FileCheck --check-prefix=STOP %s
// CHECK: EXEC @add
// CHECK-NEXT: result[0]: hal.buffer_view
// CHECK-NEXT: 4xf32=2 3 4 5
// SAME: [SUCCESS] all function outputs matched their expected values.
// OTHER: [FAILED] result[0]: element at index 0 (3) does not match the expected (4)
// NOTHING: NOT_FOUND; no function `nothing` exported by module, which exports [add]
// FILE: no input file
// STOP: --compile-to= leaves nothing to run
func.func @add(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = arith.addf %x, %y : tensor<?xf32>
  return %z : tensor<?xf32>
}
