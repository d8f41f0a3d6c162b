// What --compile-to prints names what it is compiled for, so that nothing has to be said again, and gives the same module.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx --iree-vm-bytecode-module-strip-source-map %s -o %t.vmfb
// RUN: for p in dispatch-creation stream executable-targets hal vm; do iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx --compile-to=$p %s -o %t.mlir && iree-compile --iree-vm-bytecode-module-strip-source-map --compile-from=$p %t.mlir -o %t.again.vmfb && cmp %t.vmfb %t.again.vmfb || exit 1; done
// RUN: iree-compile --iree-vm-bytecode-module-strip-source-map %t.mlir -o %t.again.vmfb && cmp %t.vmfb %t.again.vmfb
// RUN: for f in "local --iree-llvmcpu-target-cpu=haswell --iree-llvmcpu-link-embedded=false" local "cuda --iree-cuda-target=sm_80" "amdgpu --iree-rocm-target=gfx942 --iree-rocm-target-features=-sramecc,+xnack"; do iree-compile --iree-hal-target-device=$f --iree-vm-bytecode-module-strip-source-map %s -o %t.vmfb && iree-compile --iree-hal-target-device=$f --compile-to=flow %s -o %t.mlir && iree-compile --iree-vm-bytecode-module-strip-source-map %t.mlir -o %t.again.vmfb && cmp %t.vmfb %t.again.vmfb || exit 1; done
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx942 --compile-to=flow %s | FileCheck %s
// CHECK: module attributes {hal.device.targets = [#hal.device.target<"amdgpu", [#hal.executable.target<"rocm", "gfx942", {target_arch = "gfx942", target_features = "+sramecc,-xnack"}>]> : !hal.device]} {
// A program that is for nothing yet says nothing; nor do kernels alone, which may be for another target.
// RUN: iree-compile --compile-to=flow %s | FileCheck --check-prefix=NONE %s
// RUN: iree-compile --iree-hal-target-device=local --compile-to=executable-sources %s | FileCheck --check-prefix=NONE %s
// NONE-NOT: hal.device.targets
func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
