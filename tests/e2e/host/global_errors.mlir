// What a global or an access to one cannot be is refused by name.
// RUN: not iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb 2>&1 | FileCheck %s

// CHECK: has a value of type tensor<3xf32> where its type is tensor<4xf32>
util.global private @short = dense<[1.0, 2.0, 3.0]> : tensor<3xf32> : tensor<4xf32>
// CHECK: has a value of type i64 where its type is f32
util.global private @kind = 3 : i64 : f32
// CHECK: has an initial value of an unknown kind
util.global private @name = "text" : tensor<4xf32>
// CHECK: needs a byte from 0 to 255 as pattern
util.global private @wide = #util.byte_pattern<256> : tensor<4xf32>
// CHECK: names no parameter
util.global private @nowhere = #flow.parameter.named<7> : tensor<4xf32>
// CHECK: has type vector<4xf32>; tensors of known rank and numbers are supported
util.global private @vector : vector<4xf32>
