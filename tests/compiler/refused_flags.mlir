// Flags of IREE's that are not here are refused with what to use.
// RUN: for f in --iree-codegen-llvmgpu-use-vector-distribution=false --iree-llvmgpu-prefetch-num-stages=2 --iree-dispatch-creation-enable-aggressive-fusion --iree-global-opt-propagate-transposes=true --iree-opt-outer-dim-concat --iree-llvmcpu-target-vector-width-in-bytes=64 --iree-llvmcpu-loop-unrolling=true --iree-llvmcpu-system-linker-path=ld --iree-stream-resource-max-range=1 --iree-scheduling-optimize-bindings --iree-torch-decompose-complex-ops --iree-vm-target-extension-f32 --iree-vmvx-enable-microkernels --iree-plugin=x --remarks-filter=x --mlir-print-skip-regions --mlir-print-stacktrace-on-diagnostic --mlir-pass-statistics --debug-only=x --print-after-all --verify-diagnostics --pass-pipeline=x --iree-llvmcpu-enable-llvm-ukernels --iree-vm-c-module-strip-debug-ops -iree-preprocessing-pass-library=x.mlir; do not iree-compile $f %s -o %t 2>&1 | FileCheck --check-prefix=REFUSED %s || exit 1; done
// RUN: not iree-compile --iree-global-opt-data-tiling %s -o %t 2>&1 | FileCheck --check-prefix=TILING %s
// RUN: not iree-compile --iree-vm-bytecode-source-listing=x %s -o %t 2>&1 | FileCheck --check-prefix=LISTING %s
// RUN: not iree-compile --iree-opt-date-tiling %s -o %t 2>&1 | FileCheck --check-prefix=OTHER %s
// RUN: not iree-compile --iree-pluginx=3 %s -o %t 2>&1 | FileCheck --check-prefix=UNKNOWN %s
// REFUSED: iree-compile: '--{{.*}}' is a flag of IREE's that is not here: {{.......}}
// TILING: '--iree-global-opt-data-tiling' is a flag of IREE's that is not here: --iree-opt-data-tiling packs weights
// LISTING: '--iree-vm-bytecode-source-listing' is a flag of IREE's that is not here: --output-format=vm-asm prints the host program
// OTHER: Did you mean '--iree-opt-data-tiling'?
// UNKNOWN: Unknown command line argument '--iree-pluginx=3'
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
