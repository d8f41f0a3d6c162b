// Kernels and machine code edited by hand: dumped, changed, and put back in the place of what they came from, by the
// whole name or without its end, which tells what the kernel computes.
//
// RUN: rm -rf %t && mkdir -p %t/replace && iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-hal-dump-executable-files-to=%t/dump --iree-hal-dump-executable-configurations-to=%t/configured %s -o %t/plain.vmfb
// RUN: iree-softgpu --target=gfx1100 -- iree-run-module --device=amdgpu --module=%t/plain.vmfb --input=4xf32=-1.5 | FileCheck --check-prefix=PLAIN %s
// PLAIN: 4xf32=1.5 1.5 1.5 1.5
//
// The assembly: the absolute value becomes a copy.
// RUN: sed -E -e 's/v_and_b32_e32 (v[0-9]+), 0x7fffffff, (v[0-9]+)/v_mov_b32_e32 \1, \2/' %t/dump/module_main_dispatch_0_elementwise_4_f32_gfx1100.rocmasm > %t/edited.rocmasm
// RUN: clang -cc1as -filetype obj -triple amdgcn-amd-amdhsa -target-cpu gfx1100 -mrelocation-model pic -o %t/edited.o %t/edited.rocmasm
// RUN: lld -flavor gnu -m elf64_amdgpu --no-undefined -shared -o %t/replace/module_main_dispatch_0_gfx1100.hsaco %t/edited.o
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-hal-substitute-executable-object=main_dispatch_0=%t/replace/module_main_dispatch_0_gfx1100.hsaco %s -o %t/edited.vmfb 2>&1 | FileCheck --check-prefix=NOTE %s
// NOTE: note: executable 'main_dispatch_0_elementwise_4_f32' substituted with the object '{{.*}}module_main_dispatch_0_gfx1100.hsaco'
// RUN: iree-softgpu --target=gfx1100 -- iree-run-module --device=amdgpu --module=%t/edited.vmfb --input=4xf32=-1.5 | FileCheck --check-prefix=EDITED %s
// EDITED: 4xf32=-1.5 -1.5 -1.5 -1.5
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-hal-substitute-executable-objects-from=%t/replace %s -o %t/edited.vmfb
// RUN: iree-softgpu --target=gfx1100 -- iree-run-module --device=amdgpu --module=%t/edited.vmfb --input=4xf32=-1.5 | FileCheck --check-prefix=EDITED %s
//
// The kernel: the same in either form, its absolute value a negation.
// RUN: sed -e 's/kernel.abs/kernel.neg/' %t/dump/module_main_dispatch_0_elementwise_4_f32.mlir > %t/replace/main_dispatch_0.mlir && diff %t/dump/module_main_dispatch_0_elementwise_4_f32.mlir %t/configured/configured_module_main_dispatch_0_elementwise_4_f32.mlir
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-hal-substitute-executable-sources-from=%t/replace %s -o %t/edited.vmfb 2>&1 | FileCheck --check-prefix=SOURCE %s
// SOURCE: note: executable 'main_dispatch_0_elementwise_4_f32' substituted with the source
// RUN: iree-softgpu --target=gfx1100 -- iree-run-module --device=amdgpu --module=%t/edited.vmfb --input=4xf32=2.5 | FileCheck --check-prefix=NEGATED %s
// NEGATED: 4xf32=-2.5 -2.5 -2.5 -2.5
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-hal-substitute-executable-configuration=main_dispatch_0=%t/replace/main_dispatch_0.mlir %s -o %t/edited.vmfb
// RUN: iree-softgpu --target=gfx1100 -- iree-run-module --device=amdgpu --module=%t/edited.vmfb --input=4xf32=2.5 | FileCheck --check-prefix=NEGATED %s
//
// What does not fit is refused, with its place.
// RUN: not iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-hal-substitute-executable-object=main_dispatch_0=%t/edited.o %s -o %t/bad.vmfb 2>&1 | FileCheck --check-prefix=UNLINKED %s
// UNLINKED: substitute.mlir:[[#]]:{{[0-9]+}}: error: '{{.*}}edited.o', which is to stand for the executable 'main_dispatch_0_elementwise_4_f32', is an object that has not been linked
// RUN: not iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-hal-substitute-executable-object=main_dispatch_0=%t/none.hsaco %s -o %t/bad.vmfb 2>&1 | FileCheck --check-prefix=MISSING %s
// MISSING: error: cannot open input file '{{.*}}none.hsaco'
// RUN: sed -e 's/\([^_]\)f32/\1f64/g' %t/dump/module_main_dispatch_0_elementwise_4_f32.mlir > %t/other.mlir
// RUN: not iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-hal-substitute-executable-source=main_dispatch_0=%t/other.mlir %s -o %t/bad.vmfb 2>&1 | FileCheck --check-prefix=OTHER %s
// OTHER: other.mlir:2:1: error: kernel @main_dispatch_0_elementwise_4_f32 has other arguments than the one that it stands for
// RUN: not iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100,gfx942 --iree-hal-substitute-executable-objects-from=%t %s -o %t/bad.vmfb 2>&1 | FileCheck --check-prefix=SEVERAL %s
// SEVERAL: compile for one target only; there are 2
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-hal-substitute-executable-object=nope=%t/edited.o %s -o %t/plain.vmfb 2>&1 | FileCheck --check-prefix=NOPE %s
// NOPE: warning: nothing was substituted by 'nope={{.*}}': the program has no executable 'nope'
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.absf %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
