// --iree-vm-target-index-bits=32: an index is an i32 where it comes and goes. What the program counts with has 64 bits
// nevertheless, so that sizes are right; a number that does not fit is an error.
// RUN: iree-compile --iree-execution-model=host-only --iree-vm-target-index-bits=32 %s -o %t.vmfb
// RUN: iree-dump-module --output=metadata %t.vmfb | FileCheck %s
// RUN: iree-compile --iree-execution-model=host-only %s -o %t.wide.vmfb && iree-dump-module --output=metadata %t.wide.vmfb | FileCheck --check-prefix=WIDE %s
// CHECK: other.next(i32, i64) -> (i32)
// CHECK: add(i32, i64) -> (i32, i64)
// CHECK: count(i32) -> (i32)
// WIDE: other.next(i64, i64) -> (i64)
// WIDE: add(i64, i64) -> (i64, i64)
// WIDE: count(i64) -> (i64)
// RUN: iree-compile --iree-execution-model=host-only --iree-vm-target-index-bits=32 --output-format=vm-asm %s | FileCheck --check-prefix=GLOBAL %s
// GLOBAL: vm.global @total : i32 = 0xFFFFFFFE
//
// Without what another module has:
// RUN: sed -e '/other/d' -e '/uses-import/,$d' %s > %t.mlir && iree-compile --iree-execution-model=host-only --iree-vm-target-index-bits=32 %t.mlir -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=add --input=-5 --input=3 | FileCheck --check-prefix=ADD %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=add --input=2147483640 --input=-6 | FileCheck --check-prefix=MOST %s
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --function=add --input=2147483641 --input=1 2>&1 | FileCheck --check-prefix=RUN-TIME %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=count --input=40 | FileCheck --check-prefix=COUNT %s
// ADD: i32=2
// ADD: i64=6
// MOST: i32=2147483647
// MOST: i64=-12884901882
// RUN-TIME: OUT_OF_RANGE; an index is 2147483648, which 32 bits have no room for
// COUNT: i32=778
//
// RUN: echo 'func.func @f() -> index { %0 = arith.constant 2147483648 : index return %0 : index }' > %t.f.mlir && iree-compile --iree-execution-model=host-only %t.f.mlir -o %t.f.vmfb
// RUN: not iree-compile --iree-execution-model=host-only --iree-vm-target-index-bits=32 %t.f.mlir -o %t.f.vmfb 2>&1 | FileCheck --check-prefix=RESULT %s
// RUN: echo 'util.global private @g = 4294967296 : index func.func @f() -> index { %0 = util.global.load @g : index return %0 : index }' > %t.g.mlir && not iree-compile --iree-execution-model=host-only --iree-vm-target-index-bits=32 --iree-opt-const-eval=false %t.g.mlir -o %t.g.vmfb 2>&1 | FileCheck --check-prefix=STATE %s
// RUN: not iree-compile --iree-vm-target-index-bits=16 %s 2>&1 | FileCheck --check-prefix=BITS %s
// RESULT: error: 'func.func' op has 2147483648 as an index, which --iree-vm-target-index-bits=32 has no room for
// STATE: has 4294967296 as an index
// BITS: error: --iree-vm-target-index-bits=16: 32 and 64 are known

util.global private mutable @total = -2 : index
func.func private @other.next(index, i64) -> index

func.func @add(%x: index, %n: i64) -> (index, i64) {
  %c7 = arith.constant 7 : index
  %sum = arith.addi %x, %c7 : index
  %i = arith.index_cast %n : i64 to index
  %product = arith.muli %i, %sum : index
  %wide = arith.index_cast %product : index to i64
  return %sum, %wide : index, i64
}

func.func @count(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t = util.global.load @total : index
    %u = arith.addi %t, %i : index
    util.global.store %u, @total : index
  }
  %t = util.global.load @total : index
  return %t : index
}

// uses-import
func.func @next(%x: index) -> index {
  %c1 = arith.constant 1 : i64
  %r = func.call @other.next(%x, %c1) : (index, i64) -> index
  return %r : index
}
