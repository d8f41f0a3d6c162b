// Products whose rows, and convolutions whose images only run time tells go through workgroup memory as others do: tiles
// of what is open along x, as many as there are then.
//
// RUN: iree-compile --iree-hal-target-backends=cuda --iree-cuda-target=sm_80 --iree-codegen-list-candidates %s -o %t.cuda.vmfb 2>&1 | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-codegen-list-candidates %s -o %t.amd.vmfb 2>&1 | FileCheck %s
// RUN: iree-dump-module %t.cuda.vmfb | FileCheck --check-prefix=GRID %s
// RUN: iree-softgpu --target=sm_80 --check=all -- iree-run-module --device=cuda --module=%t.cuda.vmfb --function=main --input=0x64xf16 --input=40x64xf16=1 --expected_output=0x40xf32
// RUN: iree-softgpu --target=sm_80 --check=all -- iree-run-module --device=cuda --module=%t.cuda.vmfb --function=main --input=3x64xf16=2 --input=40x64xf16=1 --expected_output=3x40xf32=128
// RUN: iree-softgpu --target=gfx1100 --check=all -- iree-run-module --device=amdgpu --module=%t.amd.vmfb --function=main --input=131x64xf16=2 --input=40x64xf16=1 --expected_output=131x40xf32=128
// RUN: iree-softgpu --target=gfx1100 --check=all -- iree-run-module --device=amdgpu --module=%t.amd.vmfb --function=main --input=0x64xf16 --input=40x64xf16=1 --expected_output=0x40xf32
// RUN: iree-softgpu --target=sm_80 --check=all -- iree-run-module --device=cuda --module=%t.cuda.vmfb --function=images --input=0x64x5x5xf16 --input=40x64x1x1xf16=1 --expected_output=0x40x5x5xf32
// RUN: iree-softgpu --target=gfx1100 --check=all -- iree-run-module --device=amdgpu --module=%t.amd.vmfb --function=images --input=3x64x5x5xf16=2 --input=40x64x1x1xf16=1 --expected_output=3x40x5x5xf32=128

// CHECK: matmul_Dx40x64_f16xf16xf32: staged: {{.*}} chosen
// CHECK: conv_Dx40x5x5x64x1x1_f16xf16xf32: staged: {{.*}} chosen
// GRID: dispatch {{.*}}matmul_Dx40x64{{.*}} workgroups(%param{{[0-9]+}}, {{[0-9]+}}, 1)
func.func @main(%x: tensor<?x64xf16>, %w: tensor<40x64xf16>) -> tensor<?x40xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<?x64xf16>, tensor<40x64xf16>) -> tensor<?x40xf32>
  return %0 : tensor<?x40xf32>
}

func.func @images(%x: tensor<?x64x5x5xf16>, %w: tensor<40x64x1x1xf16>) -> tensor<?x40x5x5xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x64x5x5xf16>, tensor<40x64x1x1xf16>) -> tensor<?x40x5x5xf32>
  return %0 : tensor<?x40x5x5xf32>
}
