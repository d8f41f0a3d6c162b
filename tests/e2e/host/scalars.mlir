// Arguments and results that are numbers: computed in the host program's registers, as tensors where the VM has no
// instruction (asin, i8), and passed to kernels (splat).
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=mixed --input=4 --input=2.5 | FileCheck --check-prefix=MIXED %s
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=splat --input=4 --input=4xi32=1,2,3,4 | FileCheck --check-prefix=SPLAT %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=choose --input=2 | FileCheck --check-prefix=TWO %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=choose --input=5 | FileCheck --check-prefix=FIVE %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=functions --input=0.5 --input=100 --input=7 --input=0 | FileCheck --check-prefix=FUNCTIONS %s

// MIXED: result[0]: i32=42
// MIXED: result[1]: f32=6.25
func.func @mixed(%x: i32, %y: f32) -> (i32, f32) {
  %c = arith.constant 3 : i32
  %0 = arith.addi %x, %c : i32
  %1 = arith.mulf %y, %y : f32
  %2 = arith.fptosi %1 : f32 to i32
  %3 = arith.muli %0, %2 : i32
  return %3, %1 : i32, f32
}

// SPLAT: 4xi32=5 6 7 8
func.func @splat(%x: i32, %t: tensor<4xi32>) -> tensor<4xi32> {
  %s = tensor.splat %x : tensor<4xi32>
  %0 = arith.addi %s, %t : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// TWO: i32=4
// FIVE: i32=-1
func.func @choose(%x: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %cm1 = arith.constant -1 : i32
  %b = arith.cmpi slt, %x, %c3 : i32
  %r = scf.if %b -> i32 {
    %1 = func.call @square(%x) : (i32) -> i32
    scf.yield %1 : i32
  } else {
    scf.yield %cm1 : i32
  }
  return %r : i32
}
func.func private @square(%x: i32) -> i32 {
  %r = arith.muli %x, %x : i32
  return %r : i32
}

// FUNCTIONS: result[0]: f32=0.523599
// FUNCTIONS: result[1]: i32=-56
// FUNCTIONS: result[2]: i64=49
// FUNCTIONS: result[3]: f32=-0.5
func.func @functions(%x: f32, %y: i8, %z: i64, %b: i1) -> (f32, i8, i64, f32) {
  %0 = math.asin %x : f32
  %1 = arith.addi %y, %y : i8
  %2 = arith.muli %z, %z : i64
  %m = arith.negf %x : f32
  %3 = arith.select %b, %x, %m : f32
  return %0, %1, %2, %3 : f32, i8, i64, f32
}
