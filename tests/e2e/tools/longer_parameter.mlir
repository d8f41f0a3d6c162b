// A parameter that is longer than the program needs has what it needs at its start; a shorter one is refused.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmfb
// RUN: iree-create-parameters --data=a=6xi32=1,2,3,4,5,6 --splat=b=9xi32=7 --output=%t.irpa
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --parameters=m=%t.irpa --expected_output=4xi32=8,9,10,11
// RUN: iree-create-parameters --data=a=3xi32=1,2,3 --splat=b=9xi32=7 --output=%t.irpa
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --parameters=m=%t.irpa 2>&1 | FileCheck %s
// CHECK: OUT_OF_RANGE; parameter 'a' has 12 bytes where the program needs 16
util.global private @a = #flow.parameter.named<"m"::"a"> : tensor<4xi32>
util.global private @b = #flow.parameter.named<"m"::"b"> : tensor<4xi32>
func.func @main() -> tensor<4xi32> {
  %a = util.global.load @a : tensor<4xi32>
  %b = util.global.load @b : tensor<4xi32>
  %sum = arith.addi %a, %b : tensor<4xi32>
  return %sum : tensor<4xi32>
}
