// Every spelling of an AMD target, its features, and names that are none.
//
// RUN: iree-compile --iree-hal-target-device=hip --iree-hip-target=mi300x --iree-hal-dump-executable-binaries-to=%t.HIP %s -o %t.vmfb && llvm-readelf --file-header %t.HIP/*.hsaco | FileCheck --check-prefix=HIP %s
// HIP: Flags: 0x{{[0-9A-Fa-f]+}}, gfx942, xnack-, sramecc+{{$}}
// RUN: iree-compile --iree-hal-target-device=hip --iree-rocm-target=cdna3 --iree-rocm-target-features=+sramecc,-xnack --iree-hal-dump-executable-binaries-to=%t.CDNA3 %s -o %t.vmfb && llvm-readelf --file-header %t.CDNA3/*.hsaco | FileCheck --check-prefix=CDNA3 %s
// CDNA3: Flags: 0x{{[0-9A-Fa-f]+}}, gfx942, xnack-, sramecc+{{$}}
// RUN: iree-compile --iree-hal-target-device=hip --iree-hip-target=cdna1 --iree-hip-target-features=-sramecc,+xnack --iree-hal-dump-executable-binaries-to=%t.CDNA1 %s -o %t.vmfb && llvm-readelf --file-header %t.CDNA1/*.hsaco | FileCheck --check-prefix=CDNA1 %s
// CDNA1: Flags: 0x{{[0-9A-Fa-f]+}}, gfx908, xnack+, sramecc-{{$}}
// RUN: iree-compile --iree-hal-target-backends=rocm --iree-rocm-target-chip=gfx906 --iree-rocm-link-bc=true --iree-hal-dump-executable-binaries-to=%t.CHIP %s -o %t.vmfb && llvm-readelf --file-header %t.CHIP/*.hsaco | FileCheck --check-prefix=CHIP %s
// CHIP: Flags: 0x{{[0-9A-Fa-f]+}}, gfx906, xnack-, sramecc{{$}}
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=rx9070xt --iree-hal-dump-executable-binaries-to=%t.RDNA4 %s -o %t.vmfb && llvm-readelf --file-header %t.RDNA4/*.hsaco | FileCheck --check-prefix=RDNA4 %s
// RDNA4: Flags: 0x{{[0-9A-Fa-f]+}}, gfx1201{{$}}
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=RDNA2 --iree-hal-dump-executable-binaries-to=%t.RDNA2 %s -o %t.vmfb && llvm-readelf --file-header %t.RDNA2/*.hsaco | FileCheck --check-prefix=RDNA2 %s
// RDNA2: Flags: 0x{{[0-9A-Fa-f]+}}, gfx1030{{$}}
// RUN: iree-compile --iree-hal-target-device=hip --iree-hip-target=cdna4 --iree-hal-dump-executable-binaries-to=%t.CDNA4 %s -o %t.vmfb && llvm-readelf --file-header %t.CDNA4/*.hsaco | FileCheck --check-prefix=CDNA4 %s
// CDNA4: Flags: 0x{{[0-9A-Fa-f]+}}, gfx950, xnack-, sramecc+{{$}}
// RUN: iree-compile --iree-hal-target-device=hip --iree-hip-target=rdna1 --iree-hal-dump-executable-binaries-to=%t.RDNA1 %s -o %t.vmfb && llvm-readelf --file-header %t.RDNA1/*.hsaco | FileCheck --check-prefix=RDNA1 %s
// RDNA1: Flags: 0x{{[0-9A-Fa-f]+}}, gfx1010, xnack{{$}}
// RUN: iree-compile --iree-hal-target-device=hip --iree-hip-target=strix-halo --iree-hal-dump-executable-binaries-to=%t.STRIX %s -o %t.vmfb && llvm-readelf --file-header %t.STRIX/*.hsaco | FileCheck --check-prefix=STRIX %s
// STRIX: Flags: 0x{{[0-9A-Fa-f]+}}, gfx1151{{$}}
// RUN: iree-compile --iree-hal-target-device=hip --iree-hip-target=gfx9-4-generic --iree-hal-dump-executable-binaries-to=%t.GENERIC9 %s -o %t.vmfb && llvm-readelf --file-header %t.GENERIC9/*.hsaco | FileCheck --check-prefix=GENERIC9 %s
// GENERIC9: Flags: 0x{{[0-9A-Fa-f]+}}, gfx9-4-generic, xnack, sramecc, generic_v1{{$}}
// RUN: iree-compile --iree-hal-target-device=hip --iree-hip-target=gfx11-generic --iree-hal-dump-executable-binaries-to=%t.GENERIC11 %s -o %t.vmfb && llvm-readelf --file-header %t.GENERIC11/*.hsaco | FileCheck --check-prefix=GENERIC11 %s
// GENERIC11: Flags: 0x{{[0-9A-Fa-f]+}}, gfx11-generic, generic_v1{{$}}
//
// RUN: mkdir -p %t.bc && iree-compile --iree-hal-target-device=hip --iree-hip-target=gfx1100 --iree-hip-bc-dir=%t.bc %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=EMPTY %s
// EMPTY: warning: the bitcode directory '{{.*}}.bc' is empty; no kernel needs it
// RUN: touch %t.bc/ocml.bc && iree-compile --iree-hal-target-device=hip --iree-hip-target=gfx1100 --iree-rocm-bc-dir=%t.bc %s -o %t.vmfb 2>&1 | FileCheck --allow-empty --check-prefix=FULL %s
// FULL-NOT: warning
// RUN: iree-compile --iree-hal-target-device=hip --iree-hip-target=gfx1100 --iree-rocm-bc-dir=%t.none %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=FOLDER %s
// FOLDER: warning: the bitcode directory '{{.*}}.none' can't be read (No such file or directory); no kernel needs it
// RUN: not iree-compile --iree-hal-target-device=hip --iree-hip-target=mi300z %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=UNKNOWN %s
// UNKNOWN: Unknown ROCM target 'mi300z'; nearest names: {{.*}}'mi300x'
// RUN: not iree-compile --iree-hal-target-device=hip %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=NONE %s
// NONE: ROCM target not set; did you forget to pass '--iree-rocm-target'?
// RUN: not iree-compile --iree-hal-target-device=hip --iree-hip-target=gfx1100 --iree-rocm-target-features=+sramecc %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=FEATURE %s
// FEATURE: gfx1100 has no feature 'sramecc'
func.func @abs(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.absf %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
