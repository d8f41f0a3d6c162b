// Flags of iree-compile that no other test is about.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-triple=x86_64-unknown-linux-gnu --iree-llvmcpu-target-cpu=generic --iree-llvmcpu-target-cpu-features=+avx2 --iree-hal-dump-executable-intermediates-to=%t.d %s -o /dev/null && grep -h ymm %t.d/*.s
// RUN: not iree-compile --iree-hal-target-device=local --iree-llvmcpu-target-triple=z80-unknown-none %s -o /dev/null 2>&1 | grep "z80"
// RUN: not iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-rocm-index-bits=32 %s -o /dev/null 2>&1 | grep -e "--iree-rocm-index-bits=32 is not supported"
// RUN: not iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-rocm-legacy-sync=perhaps %s -o /dev/null 2>&1 | grep -e "--iree-rocm-legacy-sync=perhaps is not supported"
// RUN: rm -rf %t.phases && iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx --dump-compilation-phases-to=%t.phases %s -o /dev/null && ls %t.phases | grep "compile.*flow.mlir"
// RUN: not iree-compile --verify-each=perhaps %s 2>&1 | grep "is not a boolean"
// RUN: not iree-compile --iree-vm-emit-polyglot-zip=false %s 2>&1 | grep "a module is a ZIP file"
// RUN: not iree-compile --iree-vm-target-truncate-unsupported-floats %s 2>&1 | grep "modules have f64"

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = stablehlo.add %x, %x : tensor<64xf32>
  return %0 : tensor<64xf32>
}
