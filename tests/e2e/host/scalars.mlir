// Arguments and results that are numbers: computed in the host program's registers, as tensors where the VM has no
// instruction (asin, i8), and passed to kernels (splat).
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=mixed --input=4 --input=2.5 | FileCheck --check-prefix=MIXED %s
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=splat --input=4 --input=4xi32=1,2,3,4 | FileCheck --check-prefix=SPLAT %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=choose --input=2 | FileCheck --check-prefix=TWO %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=choose --input=5 | FileCheck --check-prefix=FIVE %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=functions --input=0.5 --input=100 --input=7 --input=0 | FileCheck --check-prefix=FUNCTIONS %s

// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=halves --input=1.5 --input=0.3 | FileCheck --check-prefix=HALVES %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=splat_bf16 --input=2.5 --input=2xbf16=1,2 | FileCheck --check-prefix=BF16 %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=pick --input=3xf8E4M3FN=1,2,3.5 --input=2 | FileCheck --check-prefix=PICK %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=small --input=5 --input=6 --input=1 | FileCheck --check-prefix=SMALL %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=sums --input=0.1 --input=3 | FileCheck --check-prefix=SUMS %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=count --input=2 | FileCheck --check-prefix=COUNT %s

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

// Types that the VM has no registers for come as wider ones, and are computed in their own: 1.5 * f16(0.3) + f16(0.1).
// HALVES: result[0]: f32=0.550293
// HALVES: result[1]: f32=0.550293
func.func @halves(%x: f16, %y: f16) -> (f16, f32) {
  %c = arith.constant 0.1 : f16
  %0 = arith.mulf %x, %y : f16
  %1 = arith.addf %0, %c : f16
  %2 = arith.extf %1 : f16 to f32
  return %1, %2 : f16, f32
}

// BF16: 2xbf16=3.5 4.5
func.func @splat_bf16(%x: bf16, %t: tensor<2xbf16>) -> tensor<2xbf16> {
  %s = tensor.splat %x : tensor<2xbf16>
  %0 = arith.addf %s, %t : tensor<2xbf16>
  return %0 : tensor<2xbf16>
}

// PICK: f32=3.5
func.func @pick(%t: tensor<3xf8E4M3FN>, %i: index) -> f8E4M3FN {
  %0 = tensor.extract %t[%i] : tensor<3xf8E4M3FN>
  return %0 : f8E4M3FN
}

// SMALL: result[0]: i32=-5
// SMALL: result[1]: i32=-2
func.func @small(%x: i4, %y: i4, %z: i2) -> (i4, i2) {
  %0 = arith.addi %x, %y : i4
  %1 = arith.trunci %0 : i4 to i2
  %2 = arith.xori %1, %z : i2
  return %0, %2 : i4, i2
}

// SUMS: f32=0.399902
func.func @sums(%x: f16, %n: index) -> f16 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> f16 {
    %b = arith.addf %a, %x : f16
    %p = arith.cmpf ogt, %b, %x : f16
    %q = scf.if %p -> f16 {
      scf.yield %b : f16
    } else {
      %k = func.call @half(%b) : (f16) -> f16
      scf.yield %k : f16
    }
    scf.yield %q : f16
  }
  return %r : f16
}
func.func private @half(%x: f16) -> f16 {
  %c = arith.constant 0.5 : f16
  %0 = arith.mulf %x, %c : f16
  return %0 : f16
}

// COUNT: f32=3.5
util.global private mutable @g = 1.5 : f16
func.func @count(%x: f16) -> f16 {
  %0 = util.global.load @g : f16
  %1 = arith.addf %0, %x : f16
  util.global.store %1, @g : f16
  return %1 : f16
}
