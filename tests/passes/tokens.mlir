// Tokens order what has effects: callers see none of them.
//
// RUN: iree-compile --compile-to=input %s -o - | FileCheck %s
// CHECK: func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT: return %arg0
func.func @main(%t: !stablehlo.token, %a: tensor<2xf32>) -> (tensor<2xf32>, !stablehlo.token) {
  %0 = stablehlo.create_token : !stablehlo.token
  %1 = stablehlo.after_all %t, %0 : !stablehlo.token
  return %a, %1 : tensor<2xf32>, !stablehlo.token
}
