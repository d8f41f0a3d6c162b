// The null driver executes nothing: programs run and their results say nothing. What it cannot do it refuses by name.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmfb && iree-run-module --device=null --module=%t.vmfb --function=add --input=4xf32=1 | FileCheck %s
// CHECK: 4xf32=
// RUN: not iree-run-module --device=null --module=%t.vmfb --function=add --input=4xf32=1 --device_profiling_mode=queue-events --device_profiling_output=%t.ireeprof 2>&1 | FileCheck --check-prefix=PROFILE %s
// PROFILE: UNIMPLEMENTED; device 'null' has nothing to profile
// RUN: not iree-run-module --device=null://1 --module=%t.vmfb --function=add --input=4xf32=1 2>&1 | FileCheck --check-prefix=PATH %s
// PATH: 'null' has one device, without a path
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 %s -o %t.gpu.vmfb && not iree-run-module --device=null --module=%t.gpu.vmfb --function=add --input=4xf32=1 2>&1 | FileCheck --check-prefix=CODE %s
// CODE: INCOMPATIBLE; HAL device `__device_0` (null) does not support any variant
func.func @add(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
