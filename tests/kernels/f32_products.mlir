// Products of f32 are exact unless a flag lets them read 10 bits of the operands' fractions, by matrix instructions, where
// the GPU has them. All ways to cut a product are listed, each with what it should cost; the one that is asked for is
// built. Exact ones are shared by slices of a workgroup, too, which sum what they have in the end.
//
// RUN: iree-compile --iree-hal-target-backends=cuda --iree-cuda-target=sm_80 --iree-hal-dump-executable-files-to=%t.exact %s -o %t.vmfb
// RUN: cat %t.exact/*.ptx | FileCheck %s --check-prefix=EXACT
// RUN: iree-compile --iree-hal-target-backends=cuda --iree-cuda-target=sm_80 --iree-cuda-use-tf32 --iree-codegen-product-plan=2x4,2x2,32,3 --iree-codegen-list-product-plans --iree-hal-dump-executable-files-to=%t.tf32 %s -o %t.vmfb 2>&1 | FileCheck %s --check-prefix=PLANS
// RUN: cat %t.tf32/*.ptx | FileCheck %s
// RUN: iree-compile --iree-hal-target-backends=cuda --iree-cuda-target=sm_80 --iree-codegen-product-plan=4x1,2x1,64,4,4 --iree-hal-dump-executable-files-to=%t.slices %s -o %t.vmfb
// RUN: cat %t.slices/*.ptx | FileCheck %s --check-prefix=SLICES
// RUN: iree-compile --iree-hal-target-backends=cuda --iree-cuda-target=sm_75 --iree-cuda-use-tf32 --iree-hal-dump-executable-files-to=%t.old %s -o %t.vmfb
// RUN: cat %t.old/*.ptx | FileCheck %s --check-prefix=EXACT

// EXACT-NOT: mma.sync
// EXACT: fma.rn.f32
// EXACT-NOT: mma.sync
// PLANS: mma.m16n8k8.f32.tf32 2x4,2x2,32,3: {{[0-9]+}}
// PLANS: mma.m16n8k8.f32.tf32 2x4,1x2,64,3,2: {{[0-9]+}}
// SLICES: .reqntid 256
// SLICES: cp.async.cg.shared.global
// SLICES: fma.rn.f32
// SLICES: st.shared.v4.b32
// SLICES: bar.sync
// SLICES: ld.shared.v4.b32
// SLICES: add.rn.f32
// SLICES: st.global.v4.b32
// CHECK: .reqntid 128
// CHECK: cp.async.cg.shared.global
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK: st.global
func.func @product(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = "graph.contract"(%x, %w) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}
