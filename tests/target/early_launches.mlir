// From sm_90 on kernels wait for those before them, before they read anything.
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
