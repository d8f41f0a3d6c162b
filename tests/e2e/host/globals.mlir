// State: numbers and tensors that functions load and store, in loops and across a store (the old value is still needed
// after the new one is there).
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=run --input=4xf32=1,2,3,4 --input=3 | FileCheck %s
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=double | FileCheck --check-prefix=DOUBLE %s

util.global private mutable @state = dense<0.0> : tensor<4xf32>
util.global private mutable @count = 0 : i32
ml_program.global private mutable @pair(dense<[1, 3]> : tensor<2xi32>) : tensor<2xi32>

// CHECK: 4xf32=9 18 27 36
// CHECK: result[1]: i32=3
func.func @run(%x: tensor<4xf32>, %n: i32) -> (tensor<4xf32>, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.index_cast %n : i32 to index
  scf.for %i = %c0 to %end step %c1 {
    func.call @add(%x) : (tensor<4xf32>) -> ()
    func.call @next() : () -> ()
  }
  %old = util.global.load @state : tensor<4xf32>
  %two = arith.addf %old, %old : tensor<4xf32>
  util.global.store %two, @state : tensor<4xf32>
  %new = util.global.load @state : tensor<4xf32>
  %sum = arith.addf %old, %new : tensor<4xf32>
  %count = util.global.load @count : i32
  return %sum, %count : tensor<4xf32>, i32
}
func.func private @add(%x: tensor<4xf32>) {
  %0 = util.global.load @state : tensor<4xf32>
  %1 = arith.addf %0, %x : tensor<4xf32>
  util.global.store %1, @state : tensor<4xf32>
  return
}
func.func private @next() {
  %0 = util.global.load @count : i32
  %c = arith.constant 1 : i32
  %1 = arith.addi %0, %c : i32
  util.global.store %1, @count : i32
  return
}

// DOUBLE: 2xi32=2 6
func.func @double() -> tensor<2xi32> {
  %0 = ml_program.global_load @pair : tensor<2xi32>
  %1 = arith.addi %0, %0 : tensor<2xi32>
  ml_program.global_store @pair = %1 : tensor<2xi32>
  return %1 : tensor<2xi32>
}
