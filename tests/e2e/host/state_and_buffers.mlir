// State as TOSA has it, calls as util has them, bytes that a function gives.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmfb
// RUN: iree-opt %s | iree-opt - | FileCheck --check-prefix=TEXT %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=step --input=3xf32=1,2,3 --expected_output=3xf32=11,22,33
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=before --input=3xf32=1,2,3 --expected_output=3xf32=1,2,3
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=calls --input=5 --expected_output=2xi32=10,20
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=text | FileCheck %s

// TEXT: tosa.variable @state = dense<[{{.*}}]> : tensor<3xf32>
tosa.variable @state = dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
func.func @step(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = tosa.variable_read @state : tensor<3xf32>
  %1 = tosa.add %0, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  tosa.variable_write @state, %1 : tensor<3xf32>
  %2 = "tosa.variable.read"() {name = "state"} : () -> tensor<3xf32>
  return %2 : tensor<3xf32>
}
func.func @before(%x: tensor<3xf32>) -> tensor<3xf32> {
  tosa.variable.write @state, %x : tensor<3xf32>
  %0 = tosa.variable.read @state : tensor<3xf32>
  return %0 : tensor<3xf32>
}

util.func public @calls(%x: i32) -> tensor<2xi32> {
  %0 = util.call @twice(%x) : (i32) -> i32
  %1 = util.call @twice(%0) : (i32) -> i32
  %2 = tensor.from_elements %0, %1 : tensor<2xi32>
  util.return %2 : tensor<2xi32>
}
util.func private @twice(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  util.return %0 : i32
}

// CHECK: vm.buffer
util.func public @text() -> !util.buffer {
  %0 = util.buffer.constant : !util.buffer = "hello"
  util.return %0 : !util.buffer
}
