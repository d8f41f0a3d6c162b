// The message of a shape assertion has the numbers that it is given, as JAX writes them.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input=4xf32=1,2,3,4 2>&1 | FileCheck %s --check-prefix=HOLDS
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --function=main --input=3xf32=1,2,3 2>&1 | FileCheck %s

// HOLDS: 4xf32=2 4 6 8
// CHECK: INVALID_ARGUMENT; expected m - 4 of 0 or more, found -1; m = 3, n = 9 (m = 3, {3}, {x, {})
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %wide = stablehlo.constant dense<9> : tensor<i64>
  %rest = stablehlo.subtract %n, %four : tensor<i32>
  %holds = stablehlo.compare GE, %rest, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%holds, %rest, %n, %wide) {api_version = 2 : i32, error_message = "expected m - 4 of 0 or more, found {0}; m = {1}, n = {2} (m = {1}, {3}, {x, {})", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i64>) -> ()
  %y = stablehlo.add %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
