// A program of numbers needs no target; one with tensors is told where it needs one.
// RUN: iree-compile %s -o %t.vmfb && iree-run-module --module=%t.vmfb --input=5 --input=2.5 --expected_output=120 --expected_output=5.0
// RUN: not iree-compile tests/e2e/modules/Inputs/branch_tensor.mlir -o %t.out 2>&1 | FileCheck %s
// CHECK: error: 'graph.dispatch' op needs a device: what to compile for? --iree-hal-target-device=local
func.func @factorial(%n: i32, %x: f32) -> (i32, f32) {
  %one_i32 = arith.constant 1 : i32
  %big = arith.cmpi sgt, %n, %one_i32 : i32
  %twice = arith.addf %x, %x : f32
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.index_cast %n : i32 to index
  %product = scf.for %i = %zero to %end step %one iter_args(%p = %one_i32) -> i32 {
    %i_i32 = arith.index_cast %i : index to i32
    %next = arith.addi %i_i32, %one_i32 : i32
    %q = arith.muli %p, %next : i32
    scf.yield %q : i32
  }
  return %product, %twice : i32, f32
}
