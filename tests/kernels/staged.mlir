// Products with tiles of both operands in workgroup memory. Where the operands lie in memory as they are multiplied, tiles
// are copied asynchronously, several steps ahead, and matrices loaded from there, the next tile's before the last of this
// one are multiplied; others go through registers, one step ahead. Copies go through the unit's own cache where
// workgroup memory leaves that room, or rows are repeated past the end. Lanes exchange what they hold of results, so that they
// store 16 bytes.
//
// RUN: iree-compile --iree-hal-target-backends=cuda --iree-cuda-target=sm_80 --iree-codegen-product-plan=2x4,2x2,32,3 --iree-hal-dump-executable-files-to=%t.files %s -o %t.vmfb
// RUN: cat %t.files/*256x256x256*.ptx | FileCheck %s
// RUN: cat %t.files/*256x255x255*.ptx | FileCheck %s --check-prefix=ODD
// RUN: iree-compile --iree-hal-target-backends=cuda --iree-cuda-target=sm_80 --iree-codegen-product-plan=2x4,1x2,64,3,2 --iree-hal-dump-executable-files-to=%t.slices %s -o %t.vmfb
// RUN: cat %t.slices/*256x256x256*.ptx | FileCheck %s --check-prefix=SLICES
// RUN: iree-compile --iree-hal-target-backends=cuda --iree-cuda-target=sm_75 --iree-hal-dump-executable-files-to=%t.old %s -o %t.vmfb
// RUN: cat %t.old/*256x256x256*.ptx | FileCheck %s --check-prefix=OLD
// RUN: not iree-compile --iree-hal-target-backends=cuda --iree-codegen-product-plan=4x8,2x2,64 %s -o %t.vmfb 2>&1 | FileCheck %s --check-prefix=PLAN
// PLAN: --iree-codegen-product-plan=4x8,2x2,64: numbers like 4x8,2x4,64,4 are needed

// CHECK-COUNT-4: cp.async.ca.shared.global
// CHECK: cp.async.commit_group
// CHECK-COUNT-4: cp.async.ca.shared.global
// CHECK: cp.async.commit_group
// CHECK: cp.async.wait_group 1
// CHECK: bar.sync
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK: cp.async.ca.shared.global
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK: cp.async.commit_group
// CHECK: cp.async.wait_group 1
// CHECK: bar.sync
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK: bra
// CHECK: shfl.sync.bfly
// CHECK: st.global.v4.b32
// CHECK-NOT: st.global.v2
// SLICES: .reqntid 128
// SLICES: bra
// SLICES: st.shared.v4
// SLICES: bar.sync
// SLICES: ld.shared.v4
// SLICES: st.global.v4.b32
// OLD-NOT: cp.async
// OLD: bar.sync
// OLD: ldmatrix
// OLD: mma.sync.aligned.m16n8k8
func.func @product(%x: tensor<256x256xf16>, %w: tensor<256x256xf16>) -> tensor<256x256xf16> {
  %0 = "graph.contract"(%x, %w) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<256x256xf16>, tensor<256x256xf16>) -> tensor<256x256xf16>
  return %0 : tensor<256x256xf16>
}

// A part of what lies in memory, at a multiple of an access, is copied, too.
// RUN: cat %t.files/*128x64x256*.ptx | FileCheck %s --check-prefix=PART
// PART: cp.async.c{{[ag]}}.shared.global
// PART: mma.sync
func.func @part(%x: tensor<128x512xf16>, %w: tensor<256x64xf16>) -> tensor<128x64xf16> {
  %0 = "graph.slice"(%x) <{offsets = array<i64: 0, 256>, strides = array<i64: 1, 1>}> : (tensor<128x512xf16>) -> tensor<128x256xf16>
  %1 = "graph.contract"(%0, %w) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<128x256xf16>, tensor<256x64xf16>) -> tensor<128x64xf16>
  return %1 : tensor<128x64xf16>
}

// RUN: iree-compile --iree-hal-target-backends=cuda --iree-cuda-target=sm_80 --iree-codegen-product-plan=4x8,2x2,64,4 --iree-hal-dump-executable-files-to=%t.large %s -o %t.vmfb
// RUN: cat %t.large/*120x512x256*.ptx | FileCheck %s --check-prefix=LARGE
// LARGE: cp.async.ca.shared.global
// LARGE: cp.async.cg.shared.global
// LARGE: mma.sync
func.func @repeated(%x: tensor<120x256xf16>, %w: tensor<256x512xf16>) -> tensor<120x512xf16> {
  %0 = "graph.contract"(%x, %w) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<120x256xf16>, tensor<256x512xf16>) -> tensor<120x512xf16>
  return %0 : tensor<120x512xf16>
}

// ODD: ld.global.nc.b16
// ODD: st.shared
// ODD: bar.sync
// ODD: ld.global.nc.b16
// ODD: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @odd(%x: tensor<256x255xf16>, %w: tensor<255x255xf16>) -> tensor<256x255xf16> {
  %1 = "graph.contract"(%x, %w) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<256x255xf16>, tensor<255x255xf16>) -> tensor<256x255xf16>
  return %1 : tensor<256x255xf16>
}
