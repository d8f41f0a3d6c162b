// A product with tiles of both operands in workgroup memory: a barrier for each step, the next tile on its way meanwhile,
// whole words from memory to memory, and fragments of two neighbours along the depth in one access.
//
// RUN: iree-compile --iree-hal-target-backends=cuda --iree-cuda-target=sm_80 --iree-hal-dump-executable-files-to=%t.files %s -o %t.vmfb
// RUN: cat %t.files/*.ptx | FileCheck %s

// CHECK: ld.global.nc.v4.b32
// CHECK: st.shared.v4.b32
// CHECK: bar.sync
// CHECK: ld.global.nc.v4.b32
// CHECK: ld.shared.b32
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @product(%x: tensor<256x256xf16>, %w: tensor<256x256xf16>) -> tensor<256x256xf16> {
  %0 = "graph.contract"(%x, %w) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<256x256xf16>, tensor<256x256xf16>) -> tensor<256x256xf16>
  return %0 : tensor<256x256xf16>
}
