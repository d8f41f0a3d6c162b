// Products of a few rows by weights, which are read once, by loads of 16 bytes: with matrix instructions where there are
// any for the types, however the weights lie. A lane's run of the depth is what two instructions need of it.
//
// RUN: iree-compile --iree-hal-target-device=cuda --iree-cuda-target=sm_90 --compile-to=executable-configurations %s -o - | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=cuda --iree-cuda-target=sm_70 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefix=LANES

// Eight columns at each of eight depths, a step ahead, and eight depths of a row of the left: sixteen products of
// fragments.
// CHECK-LABEL: kernel.func @columns_dispatch_0
// CHECK: kernel.for
// CHECK-COUNT-9: kernel.load %{{.*}} {align = 16 : i64} : (memref<?xf16>, index) -> vector<8xf16>
// CHECK-NOT: kernel.load
// CHECK-COUNT-16: kernel.mma "mma.m16n8k16.f32.f16"
// CHECK: kernel.barrier
// LANES-LABEL: kernel.func @columns_dispatch_0
// LANES-NOT: kernel.mma
// LANES: kernel.return
func.func @columns(%x: tensor<8x4096xf16>, %w: tensor<4096x32000xf16>) -> tensor<8x32000xf16> {
  %0 = "graph.contract"(%x, %w) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<8x4096xf16>, tensor<4096x32000xf16>) -> tensor<8x32000xf16>
  return %0 : tensor<8x32000xf16>
}

// A fragment of rows; of four columns, 64 bytes of the depth each.
// CHECK-LABEL: kernel.func @depth_dispatch_0
// CHECK: kernel.for
// CHECK-COUNT-4: kernel.load %arg0{{.*}} {align = 16 : i64} : (memref<?xbf16>, index) -> vector<8xbf16>
// CHECK-NOT: kernel.load %arg0
// CHECK-COUNT-8: kernel.mma "mma.m16n8k16.f32.bf16"
// CHECK: kernel.barrier
func.func @depth(%x: tensor<16x4096xbf16>, %w: tensor<11008x4096xbf16>) -> tensor<16x11008xbf16> {
  %0 = "graph.contract"(%x, %w) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 1>}> : (tensor<16x4096xbf16>, tensor<11008x4096xbf16>) -> tensor<16x11008xbf16>
  return %0 : tensor<16x11008xbf16>
}

// More rows go by tiles, which are copied.
// CHECK-LABEL: kernel.func @more_dispatch_0
// CHECK: kernel.async_copy
// LANES-LABEL: kernel.func @more_dispatch_0
// LANES-NOT: kernel.async_copy
// LANES: kernel.return
func.func @more(%x: tensor<20x4096xbf16>, %w: tensor<11008x4096xbf16>) -> tensor<20x11008xbf16> {
  %0 = "graph.contract"(%x, %w) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 1>}> : (tensor<20x4096xbf16>, tensor<11008x4096xbf16>) -> tensor<20x11008xbf16>
  return %0 : tensor<20x11008xbf16>
}

// Narrower columns, so that all units have some.
// CHECK-LABEL: kernel.func @narrow_dispatch_0
// CHECK: kernel.load %arg1{{.*}} {align = 8 : i64} : (memref<?xf16>, index) -> vector<4xf16>
func.func @narrow(%x: tensor<6x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<6x4096xf16> {
  %0 = "graph.contract"(%x, %w) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<6x4096xf16>, tensor<4096x4096xf16>) -> tensor<6x4096xf16>
  return %0 : tensor<6x4096xf16>
}
