// Products whose rows only run time tells go through workgroup memory as others do: rows of tiles along x, as many as
// there are then.
//
// RUN: iree-compile --iree-hal-target-backends=cuda --iree-cuda-target=sm_80 --iree-codegen-list-candidates %s -o %t.cuda.vmfb 2>&1 | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-codegen-list-candidates %s -o %t.amd.vmfb 2>&1 | FileCheck %s
// RUN: iree-dump-module %t.cuda.vmfb | FileCheck --check-prefix=GRID %s
// RUN: iree-softgpu --target=sm_80 --check=all -- iree-run-module --device=cuda --module=%t.cuda.vmfb --function=main --input=0x64xf16 --input=40x64xf16=1 --expected_output=0x40xf32
// RUN: iree-softgpu --target=sm_80 --check=all -- iree-run-module --device=cuda --module=%t.cuda.vmfb --function=main --input=3x64xf16=2 --input=40x64xf16=1 --expected_output=3x40xf32=128
// RUN: iree-softgpu --target=gfx1100 --check=all -- iree-run-module --device=amdgpu --module=%t.amd.vmfb --function=main --input=131x64xf16=2 --input=40x64xf16=1 --expected_output=131x40xf32=128
// RUN: iree-softgpu --target=gfx1100 --check=all -- iree-run-module --device=amdgpu --module=%t.amd.vmfb --function=main --input=0x64xf16 --input=40x64xf16=1 --expected_output=0x40xf32

// CHECK: matmul_Dx40x64_f16xf16xf32: staged: {{.*}} chosen
// GRID: dispatch {{.*}}matmul_Dx40x64{{.*}} workgroups(%param{{[0-9]+}}, {{[0-9]+}}, 1)
func.func @main(%x: tensor<?x64xf16>, %w: tensor<40x64xf16>) -> tensor<?x40xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<?x64xf16>, tensor<40x64xf16>) -> tensor<?x40xf32>
  return %0 : tensor<?x40xf32>
}
