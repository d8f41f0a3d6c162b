// A product through workgroup memory tells for how many waves of a SIMD it leaves registers where each holds no more than
// it must. LLVM's scheduler, which would hold more and leave room for fewer, is told so where LLVM knows too little of
// the registers by itself; on processors with fewer of them it does as it likes.
//
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefix=KERNEL
// RUN: rm -rf %t && iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-hal-dump-executable-intermediates-to=%t %s -o %t.vmfb
// RUN: cat %t/*.rocmasm %t/*.optimized.ll | FileCheck %s --check-prefix=CODE
// RUN: rm -rf %t && iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1102 --iree-hal-dump-executable-intermediates-to=%t %s -o %t.vmfb
// RUN: cat %t/*.optimized.ll | FileCheck %s --check-prefix=FEWER

// KERNEL: waves = 8 : i64
// CODE: .vgpr_spill_count: 0
// CODE: "amdgpu-waves-per-eu"="8"
// FEWER-NOT: "amdgpu-waves-per-eu"
func.func @convolution(%x: tensor<1x58x58x64xf16>, %w: tensor<3x3x64x64xf16>) -> tensor<1x56x56x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x56x56x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<1x58x58x64xf16>, tensor<3x3x64x64xf16>) outs(%z : tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
  return %r : tensor<1x56x56x64xf32>
}
