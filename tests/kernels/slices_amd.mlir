// A deep product with few results leaves units of an AMD GPU with a wave or none. Slices of a workgroup share its depth
// then, and put their sums together in workgroup memory, sixteen bytes of each thread side by side, so that no access
// meets another in a bank: whether a lane has four, eight or sixteen numbers of a result's fragment.
//
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx942 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefixes=KERNEL
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx942 %s -o %t.942
// RUN: iree-softgpu --target=gfx942 --stats -- iree-run-module --device=amdgpu --module=%t.942 --function=deep --input=96x512xf16=0.5 --input=512x160xf16=0.25 2>&1 | FileCheck %s --check-prefix=COUNTS
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx942 --iree-codegen-product-plan=1x1,1x1,128,1,4 %s -o %t.wide
// RUN: iree-softgpu --target=gfx942 --stats --check=all -- iree-run-module --device=amdgpu --module=%t.wide --function=deep --input=96x512xf16=0.5 --input=512x160xf16=0.25 2>&1 | FileCheck %s --check-prefix=COUNTS
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-codegen-product-plan=1x2,1x1,64,1,2 %s -o %t.1100
// RUN: iree-softgpu --target=gfx1100 --stats --check=all -- iree-run-module --device=amdgpu --module=%t.1100 --function=deep --input=96x512xf16=0.5 --input=512x160xf16=0.25 2>&1 | FileCheck %s --check-prefix=COUNTS

// COUNTS: 96x160xf32={{\[}}64 64 64
// COUNTS: {{ 0 cycles lost to workgroup memory bank conflicts}}

// KERNEL: %[[SUMS:[a-z0-9_]+]] = kernel.alloc {{.*}} : memref<{{[0-9]+}}xf32, 3>
// KERNEL: kernel.store {{.*}}, %[[SUMS]][{{.*}}] {align = 16 : i64} : (vector<4xf32>
// KERNEL: kernel.barrier
// KERNEL: kernel.load %[[SUMS]][{{.*}}] {align = 16 : i64} {{.*}} -> vector<4xf32>
// KERNEL: kernel.add {{.*}} : vector<4xf32>
// KERNEL: kernel.store {{.*}}, %arg2
func.func @deep(%x: tensor<96x512xf16>, %w: tensor<512x160xf16>) -> tensor<96x160xf32> {
  %0 = "graph.contract"(%x, %w) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<96x512xf16>, tensor<512x160xf16>) -> tensor<96x160xf32>
  return %0 : tensor<96x160xf32>
}
