// How code for AMD GPUs is generated, by flag: what a flag says happens, and what there is not is refused by name.
//
// RUN: rm -rf %t && iree-compile --iree-hal-target-device=hip --iree-hip-target=gfx942 --iree-hip-waves-per-eu=4 --iree-rocm-denormal-fp-math-f32=preserve-sign --iree-hal-dump-executable-files-to=%t %s -o %t.vmfb
// RUN: cat %t/*.optimized.ll %t/*.rocmasm | FileCheck --check-prefix=CODE %s
// CODE: "amdgpu-waves-per-eu"="4"
// CODE-SAME: "denormal-fp-math-f32"="preserve-sign,preserve-sign"
// CODE: .amdhsa_float_denorm_mode_32 0
//
// RUN: rm -rf %t && iree-compile --iree-hal-target-device=hip --iree-hip-target=gfx1250 --iree-hip-target-features=-sramecc,+xnack --iree-rocm-emit-debug-info --iree-hal-dump-executable-binaries-to=%t %s -o %t.vmfb
// RUN: llvm-readelf --file-header --sections %t/*.hsaco | FileCheck --check-prefix=DEBUG %s
// DEBUG: Flags: 0x{{[0-9A-Fa-f]+}}, gfx1250, xnack+, sramecc-{{$}}
// DEBUG: .debug_line
//
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-rocm-enable-ukernels=default --iree-rocm-link-bc=true --iree-rocm-use-spirv=false --iree-hip-legacy-sync %s -o %t.vmfb
// RUN: iree-softgpu --target=gfx1100 -- iree-run-module --device=amdgpu --module=%t.vmfb --function=sum --input=2x64xf32=1 | FileCheck --check-prefix=VALUE %s
// VALUE: 2xf32=64 64
//
// What LLVM does besides.
// RUN: rm -rf %t && for f in --iree-rocm-llvm-slp-vec --iree-rocm-llvm-global-isel; do iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx942 $f --iree-hal-dump-executable-files-to=%t/$f %s -o %t.vmfb || exit 1; done
// RUN: cat %t/--iree-rocm-llvm-slp-vec/*_complex_dispatch*.optimized.ll | FileCheck --check-prefix=SLP %s
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx942 --iree-hal-dump-executable-files-to=%t/usual %s -o %t.vmfb
// RUN: ls %t/--iree-rocm-llvm-global-isel/*_complex_*.rocmasm
// RUN: for k in sum complex; do not diff -q <(grep -v '^;' %t/usual/*_${k}_*.rocmasm) <(grep -v '^;' %t/--iree-rocm-llvm-global-isel/*_${k}_*.rocmasm) || exit 1; done
// SLP: fmul <2 x float>
//
// RUN: iree-compile --iree-hal-target-device=hip --iree-hip-target=gfx900 --iree-rocm-waves-per-eu=10 --iree-rocm-enable-register-spill-warning %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=SPILL %s
// SPILL: amd_flags.mlir:[[#]]:{{[0-9]+}}: warning: kernel 'product_dispatch_0_{{.*}}' spills {{[1-9][0-9]*}} vector and {{[0-9]+}} scalar registers
//
// Waves of 64 lanes where there are such: the kernels are built for them.
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-rocm-target-features=+wavefrontsize64,+cumode %s -o %t.vmfb
// RUN: iree-softgpu --target=gfx1100 --check=all -- iree-run-module --device=amdgpu --module=%t.vmfb --function=sum --input=2x64xf32=1 | FileCheck --check-prefix=VALUE %s
// RUN: not iree-compile --iree-hal-target-device=hip --iree-hip-target=gfx942 --iree-rocm-target-features=+wavefrontsize32 %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=WAVE32 %s
// WAVE32: gfx942 has no feature 'wavefrontsize32'
//
// RUN: not iree-compile --iree-hal-target-device=hip --iree-hip-target=gfx1100 --iree-hip-waves-per-eu=99 %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=WAVES %s
// WAVES: --iree-rocm-waves-per-eu=99: a number from 1 to 20
// RUN: not iree-compile --iree-hal-target-device=hip --iree-hip-target=gfx1100 --iree-rocm-denormal-fp-math-f32=zero %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=DENORMAL %s
// DENORMAL: ieee, preserve-sign and positive-zero are known
// RUN: not iree-compile --iree-hal-target-device=hip --iree-hip-target=gfx1100 --iree-rocm-use-spirv %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=SPIRV %s
// SPIRV: --iree-rocm-use-spirv=true is not supported: code objects hold machine code
// RUN: not iree-compile --iree-hal-target-device=hip --iree-hip-target=gfx1100 --iree-hip-enable-ukernels=argmax %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=UKERNELS %s
// UKERNELS: --iree-rocm-enable-ukernels=argmax is not supported
// RUN: not iree-compile --iree-hal-target-device=hip --iree-hip-target=gfx1100 --iree-hip-index-bits=32 %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=BITS %s
// BITS: --iree-rocm-index-bits=32 is not supported
func.func @sum(%a: tensor<2x64xf32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x64xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @product(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = stablehlo.dot %a, %b : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}
func.func @complex(%a: tensor<64xcomplex<f32>>, %b: tensor<64xcomplex<f32>>) -> tensor<64xcomplex<f32>> {
  %0 = stablehlo.multiply %a, %b : tensor<64xcomplex<f32>>
  %1 = stablehlo.add %0, %b : tensor<64xcomplex<f32>>
  return %1 : tensor<64xcomplex<f32>>
}
