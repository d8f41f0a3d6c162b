// From sm_90 on kernels wait for those before them, before they read anything. Weights that are read once are brought
// near before that.
//
// RUN: iree-compile --iree-hal-target-backends=cuda --iree-cuda-target=sm_90 --iree-hal-dump-executable-files-to=%t.90 %s -o %t.vmfb
// RUN: cat %t.90/*.ptx | FileCheck %s
// RUN: iree-compile --iree-hal-target-backends=cuda --iree-cuda-target=sm_80 --iree-hal-dump-executable-files-to=%t.80 %s -o %t.vmfb
// RUN: cat %t.80/*.ptx | FileCheck %s --check-prefix=OLD

// CHECK-NOT: ld.
// CHECK: griddepcontrol.wait
// CHECK: ld.global
// OLD-NOT: griddepcontrol
// OLD: ld.global
// OLD-NOT: griddepcontrol
func.func @add(%x: tensor<256xf32>, %y: tensor<256xf32>) -> tensor<256xf32> {
  %0 = stablehlo.add %x, %y : tensor<256xf32>
  return %0 : tensor<256xf32>
}

// CHECK-LABEL: .entry row_dispatch
// CHECK-NOT: ld.global
// CHECK: prefetch.global.L2
// CHECK-NOT: ld.global
// CHECK: griddepcontrol.wait
// CHECK: ld.global
// OLD-LABEL: .entry row_dispatch
// OLD-NOT: prefetch
// OLD: ld.global
func.func @row(%x: tensor<1x512xf16>, %w: tensor<512x512xf16>) -> tensor<1x512xf16> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<1x512xf16>, tensor<512x512xf16>) -> tensor<1x512xf16>
  return %0 : tensor<1x512xf16>
}
