// Loads and stores that do not fit their global.
// RUN: not iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb 2>&1 | FileCheck %s

util.global private @fixed = dense<1.0> : tensor<4xf32>
util.global private mutable @open = dense<1.0> : tensor<4xf32>

// CHECK: stores @fixed, which is not mutable
func.func @immutable(%x: tensor<4xf32>) {
  util.global.store %x, @fixed : tensor<4xf32>
  return
}
// CHECK: loads a global of type tensor<4xf32>
func.func @larger() -> tensor<8xf32> {
  %0 = util.global.load @fixed : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK: tensor<8xf32>
func.func @longer(%x: tensor<8xf32>) {
  util.global.store %x, @open : tensor<8xf32>
  return
}
// CHECK: names @none, which is no global of this module
func.func @missing() -> tensor<4xf32> {
  %0 = util.global.load @none : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK: has an address that is not from util.global.address
func.func @anywhere(%p: tensor<4xf32>) -> tensor<4xf32> {
  %0 = util.global.load.indirect %p : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
