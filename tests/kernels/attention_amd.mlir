// Attention on AMD GPUs: keys and values go through registers to workgroup memory in an order in which no access meets
// another in a bank, eight waves share them, and no tile of keys is loaded in vain. Where halves of a wave hold every
// other key of the scores, they exchange them for the second product; those never go through memory. Results are brought
// to a new maximum only where one exceeds the last by much.
//
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx942 %s -o %t.942
// RUN: iree-softgpu --target=gfx942 --stats -- iree-run-module --device=amdgpu --module=%t.942 --function=attention --input=2x256x64xf16=0.5 --input=2x256x64xf16=0.25 --input=2x256x64xf16=3 2>&1 | FileCheck %s --check-prefixes=COUNTS
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 %s -o %t.1100
// RUN: iree-softgpu --target=gfx1100 --stats -- iree-run-module --device=amdgpu --module=%t.1100 --function=attention --input=2x256x64xf16=0.5 --input=2x256x64xf16=0.25 --input=2x256x64xf16=3 2>&1 | FileCheck %s --check-prefixes=COUNTS
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1201 %s -o %t.1201
// RUN: iree-softgpu --target=gfx1201 --stats -- iree-run-module --device=amdgpu --module=%t.1201 --function=attention --input=2x256x64xf16=0.5 --input=2x256x64xf16=0.25 --input=2x256x64xf16=3 2>&1 | FileCheck %s --check-prefixes=COUNTS
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx942 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefixes=ALL,MFMA
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefixes=ALL,WMMA

// COUNTS: 2x256x64xf16={{\[\[}}3 3 3
// COUNTS-DAG: {{ 0 cycles lost to workgroup memory bank conflicts}}

// ALL: workgroup_size = array<i64: {{512|256}}, 1, 1>
// ALL: %[[KEYS:[a-z0-9_]+]] = kernel.alloc
// ALL: %[[VALUES:[a-z0-9_]+]] = kernel.alloc
// ALL-NOT: kernel.alloc
// Either half of a wave loads half of what both hold of the queries.
// WMMA: kernel.load %arg0{{.*}} -> vector<8xf16>
// WMMA-NOT: kernel.load %arg0
// WMMA: kernel.subgroup_shuffle xor {{.*}} -> vector<8xf16>
// ALL: kernel.for
// Fragments of keys: of two steps, or of one, whose elements are two accesses.
// MFMA: kernel.load %[[KEYS]][{{.*}}] {align = 16 : i64} : {{.*}} -> vector<8xf16>
// WMMA: kernel.load %[[KEYS]][{{.*}}] {align = 16 : i64} : {{.*}} -> vector<16xf16>
// ALL: kernel.mma
// ALL: %[[EXCEEDS:.*]] = kernel.gt {{.*}} : f32
// ALL-NEXT: kernel.if %[[EXCEEDS]]
// ALL: kernel.exp2
// ALL: kernel.mul {{.*}} : vector
// ALL: } else {
// ALL: kernel.barrier
// ALL: kernel.if
// ALL: kernel.load %arg1
// ALL: } else {
// WMMA: kernel.subgroup_shuffle xor {{.*}} -> vector<8xf16>
// MFMA: kernel.load %[[VALUES]][{{.*}}] {align = 8 : i64} : {{.*}} -> vector<4xf16>
// WMMA: kernel.load %[[VALUES]][{{.*}}] {align = 16 : i64} : {{.*}} -> vector<8xf16>
// ALL: kernel.mma
// ALL: kernel.barrier
// ALL: kernel.return
func.func @attention(%q: tensor<2x256x64xf16>, %k: tensor<2x256x64xf16>, %v: tensor<2x256x64xf16>) -> tensor<2x256x64xf16> {
  %0 = "graph.attention"(%q, %k, %v) <{scale = 1.250000e-01 : f64}> : (tensor<2x256x64xf16>, tensor<2x256x64xf16>, tensor<2x256x64xf16>) -> tensor<2x256x64xf16>
  return %0 : tensor<2x256x64xf16>
}
