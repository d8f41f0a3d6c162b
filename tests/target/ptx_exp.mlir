// exp of f32 numbers on NVIDIA GPUs: the processor's power of two, of what is left of the integer below.
//
// RUN: iree-compile --iree-hal-target-backends=cuda --iree-cuda-target=sm_60 --iree-hal-dump-executable-files-to=%t %s -o %t.vmfb
// RUN: cat %t/*.ptx | FileCheck %s

// CHECK-LABEL: .entry exp_dispatch
// CHECK: fma.rn.sat.f32
// CHECK: fma.rm.f32
// CHECK: ex2.approx.ftz.f32
// CHECK-NOT: 0f3E2AAA
// CHECK: st.global
func.func @exp(%x: tensor<256xf32>) -> tensor<256xf32> {
  %0 = stablehlo.exponential %x : tensor<256xf32>
  return %0 : tensor<256xf32>
}
