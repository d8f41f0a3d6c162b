// Flags of iree-softgpu.
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 %s -o %t.vmfb
// RUN: iree-softgpu --target=gfx1100 --gpus=3 -- iree-run-module --list_devices=amdgpu | grep -c "amdgpu://GPU" | grep -x 3
// RUN: iree-softgpu --target=gfx1100 --stats -- iree-run-module --device=amdgpu --module=%t.vmfb --input=64xf32=1 2>&1 | grep "vector instructions"
// RUN: not iree-softgpu --target=gfx1100 --limit=3 -- iree-run-module --device=amdgpu --module=%t.vmfb --input=64xf32=1 2>&1 | grep -i "3 instructions"
// RUN: not iree-softgpu --target=gfx1100 --event=ecc:0:0 -- iree-run-module --device=amdgpu --module=%t.vmfb --input=64xf32=1 2>&1 | grep "its memory has errors"
// RUN: iree-softgpu --fidelity --target=gfx1100 | grep -i exact
// RUN: not iree-softgpu --check=nope -- true 2>&1 | grep nope

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = stablehlo.add %x, %x : tensor<64xf32>
  return %0 : tensor<64xf32>
}
