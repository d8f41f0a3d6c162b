// Sines of large angles take integers of 64 bits: in rounds over as many lanes as a vector has of those.
// RUN: rm -rf %t && iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=x86-64-v3 --iree-hal-dump-executable-intermediates-to=%t %s -o %t.vmfb && cat %t/*.optimized.ll | FileCheck %s
// CHECK: fadd <8 x float>
// CHECK-NOT: <8 x i64>
// CHECK: mul <4 x i64>
// CHECK-NOT: <8 x i64>
func.func @sine(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.sine %a : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
