// A product through workgroup memory tells for how many waves of a SIMD it leaves registers where each holds no more than
// it must. LLVM's scheduler, which would hold more and leave room for fewer, is told so where LLVM knows too little of
// the registers by itself; on processors with fewer of them it does as it likes. Where memory has room for fewer waves
// than the registers, rows of the tile that are shorter than all banks lie side by side, with a gap behind two, not one.
//
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefix=KERNEL
// RUN: rm -rf %t && iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-hal-dump-executable-intermediates-to=%t %s -o %t.vmfb
// RUN: cat %t/*.rocmasm %t/*.optimized.ll | FileCheck %s --check-prefix=CODE
// RUN: rm -rf %t && iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1102 --iree-hal-dump-executable-intermediates-to=%t %s -o %t.vmfb
// RUN: cat %t/*.optimized.ll | FileCheck %s --check-prefix=FEWER
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1201 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefix=MEMORY
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1201 %s -o %t.vmfb
// RUN: iree-softgpu --target=gfx1201 --stats --check=all -- iree-run-module --device=amdgpu --module=%t.vmfb --function=convolution --input=1x58x58x64xf16=0.5 --input=3x3x64x64xf16=0.25 2>&1 | FileCheck %s --check-prefix=COUNTS

// KERNEL: waves = 8 : i64
// KERNEL: kernel.alloc {{.*}} : memref<5120xf16, 3>
// MEMORY: waves = 9 : i64
// MEMORY: kernel.alloc {{.*}} : memref<4608xf16, 3>
// COUNTS: 1x56x56x64xf32={{\[\[\[}}72 72 72
// COUNTS: {{ 0 cycles lost to workgroup memory bank conflicts}}
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
