// Every way to name NVIDIA GPUs, PTX versions, and machine code beside PTX.
//
// RUN: rm -rf %t && iree-compile --iree-hal-target-backends=cuda --iree-hal-dump-executable-binaries-to=%t %s -o %t.vmfb && cat %t/*.ptx | FileCheck --check-prefix=OLD %s
// OLD: .target sm_35
// RUN: rm -rf %t && iree-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_70 --iree-hal-dump-executable-binaries-to=%t %s -o %t.vmfb && cat %t/*.ptx | FileCheck --check-prefix=CHIP %s
// CHIP: .target sm_70
// RUN: rm -rf %t && iree-compile --iree-hal-target-device=cuda --iree-hal-dump-executable-binaries-to=%t %s -o %t.vmfb && cat %t/*.ptx | FileCheck --check-prefix=NEW %s
// NEW: .target sm_60
// RUN: rm -rf %t && iree-compile --iree-hal-target-device=cuda --iree-cuda-target=rtx4070ti_super --iree-cuda-target-features=+ptx85 --iree-hal-dump-executable-binaries-to=%t %s -o %t.vmfb && cat %t/*.ptx | FileCheck --check-prefix=SKU %s
// SKU: .version 8.5
// SKU: .target sm_89
//
// Newer ones come first, and those for one architecture before those for all later ones.
// RUN: iree-compile --iree-hal-target-device=cuda --iree-cuda-target=sm_60,hopper --iree-cuda-target=h100 --iree-cuda-target=blackwell,b200,sm_100f,k80 %s -o %t.vmfb && iree-dump-module %t.vmfb | FileCheck --check-prefix=LIST %s
// LIST: Targets:
// LIST-NEXT: cpu sm_100a) needs sm_100a
// LIST-NEXT: cpu sm_100f) needs sm_100f
// LIST-NEXT: cpu sm_100) needs sm_100
// LIST-NEXT: cpu sm_90a) needs sm_90a
// LIST-NEXT: cpu sm_90) needs sm_90
// LIST-NEXT: cpu sm_60) needs sm_60
// LIST-NEXT: cpu sm_37) needs sm_37
// A GPU takes the newest that it runs; this one runs none of the second module.
// RUN: iree-softgpu --target=sm_70 -- iree-run-module --device=cuda --module=%t.vmfb --function=abs --input=4xf32=-1,2,-3,4 --expected_output=4xf32=1,2,3,4
// RUN: iree-softgpu --target=h200 -- iree-run-module --device=cuda --module=%t.vmfb --function=abs --input=4xf32=-1,2,-3,4 --expected_output=4xf32=1,2,3,4
// RUN: iree-compile --iree-hal-target-device=cuda --iree-cuda-target=sm_90a,sm_100 %s -o %t.new.vmfb
// RUN: not iree-softgpu --target=a100 -- iree-run-module --device=cuda --module=%t.new.vmfb --function=abs --input=4xf32 2>&1 | FileCheck --check-prefix=OLDER %s
// OLDER: the module has [{{.*}}cpu sm_100), which needs sm_100; {{.*}}cpu sm_90a), which needs sm_90a], the device takes [cuda-nvptx-fb, sm_80]
//
// RUN: not iree-compile --iree-hal-target-device=cuda --iree-cuda-target=hoper %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=UNKNOWN %s
// UNKNOWN: Unknown CUDA target 'hoper'; nearest names: 'hopper'
// RUN: not iree-compile --iree-hal-target-device=cuda --iree-cuda-target=sm_120 --iree-cuda-target-features=+ptx80 %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=FEATURE %s
// FEATURE: PTX 8.0 of '+ptx80' is too old for sm_120; the oldest that works is PTX 8.7 (+ptx87)
// RUN: not iree-compile --iree-hal-target-device=cuda --iree-cuda-target=sm_80 --iree-cuda-target-features=+ptx99 %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=FUTURE %s
// FUTURE: LLVM does not know PTX 9.9 of '+ptx99'; the oldest that works for sm_80 is PTX 7.0 (+ptx70)
//
// RUN: not iree-compile --iree-hal-target-device=cuda --iree-cuda-use-ptxas --iree-cuda-use-ptxas-from=%t.none %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=NONE %s
// NONE: --iree-cuda-use-ptxas-from={{.*}}.none: there is no such program; it is part of CUDA's toolkit
// RUN: not iree-compile --iree-hal-target-device=cuda --iree-cuda-use-ptxas-params=-v %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=ALONE %s
// ALONE: --iree-cuda-use-ptxas-params says how to run ptxas; pass --iree-cuda-use-ptxas
// What the assembler says is shown; this one says what it was asked.
// RUN: printf '#!/bin/sh\nread -r line <"$2"; echo "ptxas fatal : $1 $5 $6 $line"; exit 255\n' >%t.ptxas && chmod +x %t.ptxas
// RUN: rm -f %t.vmfb; not iree-compile --iree-hal-target-device=cuda --iree-cuda-use-ptxas --iree-cuda-use-ptxas-from=%t.ptxas "--iree-cuda-use-ptxas-params=-v  -O1" %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=FAILS %s && test ! -e %t.vmfb
// FAILS: .ptxas failed for sm_60: ptxas fatal : -arch=sm_60 -v -O1 //
//
// Kinds and families of AMD GPUs are the fewest code objects that serve all of them.
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=igpu-all,gfx94X-dcgpu %s -o %t.vmfb && iree-dump-module %t.vmfb | FileCheck --check-prefix=KINDS %s
// KINDS: Targets:
// KINDS-NEXT: rocm gfx9-generic
// KINDS-NEXT: rocm gfx10-1-generic
// KINDS-NEXT: rocm gfx10-3-generic
// KINDS-NEXT: rocm gfx11-generic
// KINDS-NEXT: rocm gfx9-4-generic
// RUN: iree-softgpu --target=rx7800xt -- iree-run-module --device=amdgpu --module=%t.vmfb --function=abs --input=4xf32=-1,2,-3,4 --expected_output=4xf32=1,2,3,4
func.func @abs(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.absf %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
