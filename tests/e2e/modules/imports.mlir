// Functions of other modules: a body is here, another module has it, or a fallback stands in for it.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx tests/e2e/modules/Inputs/library.mlir -o %t.library.vmfb
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmfb
// RUN: iree-run-module --device=local-task --module=%t.library.vmfb --module=%t.vmfb --function=twice_between --input=3xf32=1,2,3 --expected_output=3xf32=2,16,54
// RUN: iree-run-module --device=local-sync --module=%t.library.vmfb --module=%t.vmfb --function=number --input=3 --expected_output=5
// RUN: iree-run-module --device=local-sync --module=%t.library.vmfb --module=%t.vmfb --function=loop --input=4xf32=1,2,3,4 --input=3 --expected_output=4xf32=8,16,24,32
// RUN: iree-run-module --device=local-sync --module=%t.library.vmfb --module=%t.vmfb --function=static --input=2x2xf32=1,2,3,4 --expected_output=2x2xf32=2,4,6,8 --expected_output=1
// RUN: iree-run-module --device=local-sync --module=%t.library.vmfb --module=%t.vmfb --function=branch --input=0 --input=2xf32=1,2 --expected_output=2xf32=1,2
// RUN: iree-run-module --device=local-sync --module=%t.library.vmfb --module=%t.vmfb --function=branch --input=1 --input=2xf32=1,2 --expected_output=2xf32=2,4
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --function=number --input=3 2>&1 | FileCheck --check-prefix=ABSENT %s
// RUN: not iree-run-module --device=local-sync --module=%t.library.vmfb --module=%t.vmfb --function=wrong --input=2x2xf32 2>&1 | FileCheck --check-prefix=WRONG %s
// RUN: iree-compile --compile-to=input %s | iree-opt - | FileCheck %s
// ABSENT: required module 'library' not registered
// WRONG: result0 shape rank mismatch; expected 1 but have 2; expected shape `7`, actual shape `2x2`
module @program {
  func.func private @library.twice(tensor<?xf32>) -> tensor<?xf32>
  func.func private @library.increment(i32) -> i32
  func.func private @library.square(tensor<2x2xf32>) -> (tensor<2x2xf32>, i1)
  func.func private @library.reshaped(tensor<2x2xf32>) -> tensor<7xf32>
  func.func private @absent.f(i32) -> i32 attributes {vm.fallback = @instead}
  func.func private @instead(%x: i32) -> i32 {
    %y = call @library.increment(%x) : (i32) -> i32
    return %y : i32
  }
  // CHECK-LABEL: @twice_between
  // CHECK: graph.call_import
  // CHECK-SAME: callee = @library.twice
  func.func @twice_between(%x: tensor<?xf32>) -> tensor<?xf32> {
    %0 = arith.mulf %x, %x : tensor<?xf32>
    %1 = call @library.twice(%0) : (tensor<?xf32>) -> tensor<?xf32>
    %2 = arith.mulf %1, %x : tensor<?xf32>
    return %2 : tensor<?xf32>
  }
  func.func @number(%x: i32) -> i32 {
    %0 = call @library.increment(%x) : (i32) -> i32
    %1 = call @absent.f(%0) : (i32) -> i32
    return %1 : i32
  }
  func.func @loop(%x: tensor<4xf32>, %n: index) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %start = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
    %r = scf.for %i = %zero to %n step %one iter_args(%a = %start) -> tensor<?xf32> {
      %b = call @library.twice(%a) : (tensor<?xf32>) -> tensor<?xf32>
      scf.yield %b : tensor<?xf32>
    }
    return %r : tensor<?xf32>
  }
  func.func @static(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, i1) {
    %0:2 = call @library.square(%x) : (tensor<2x2xf32>) -> (tensor<2x2xf32>, i1)
    return %0#0, %0#1 : tensor<2x2xf32>, i1
  }
  func.func @branch(%c: i1, %x: tensor<2xf32>) -> tensor<2xf32> {
    %r = scf.if %c -> tensor<2xf32> {
      %d = tensor.cast %x : tensor<2xf32> to tensor<?xf32>
      %0 = call @library.twice(%d) : (tensor<?xf32>) -> tensor<?xf32>
      %1 = tensor.cast %0 : tensor<?xf32> to tensor<2xf32>
      scf.yield %1 : tensor<2xf32>
    } else {
      scf.yield %x : tensor<2xf32>
    }
    return %r : tensor<2xf32>
  }
  func.func @wrong(%x: tensor<2x2xf32>) -> tensor<7xf32> {
    %0 = call @library.reshaped(%x) : (tensor<2x2xf32>) -> tensor<7xf32>
    return %0 : tensor<7xf32>
  }
}
