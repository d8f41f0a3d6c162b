// PTX that is newer than the driver: it is said what would do.
// RUN: rm -rf %t && mkdir -p %t && iree-compile --iree-hal-target-backends=cuda --iree-cuda-target=sm_80 --iree-hal-dump-executable-files-to=%t/dump %s -o %t/plain.vmfb
// RUN: sed -e 's/^\.version .*/.version 99.0/' %t/dump/*.ptx > %t/newer.ptx
// RUN: iree-compile --iree-hal-target-backends=cuda --iree-cuda-target=sm_80 --iree-hal-substitute-executable-object=main_dispatch_0=%t/newer.ptx %s -o %t/newer.vmfb
// RUN: not iree-softgpu --target=sm_80 -- iree-run-module --device=cuda --module=%t/newer.vmfb --input=4xf32=-1.5 2>&1 | FileCheck %s
// CHECK: INCOMPATIBLE
// CHECK-SAME: compile for an older one, as in --iree-cuda-target=sm_90+ptx80, or to machine code with --iree-cuda-use-ptxas
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.abs %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
