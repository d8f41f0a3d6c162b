// Products on GPUs whose tiles go through registers to matrix instructions: what a lane loads
// across the depth it stores apart, it reads 16 bytes of fragments at once, of joined steps where one needs less, and the
// last tile is multiplied behind the loop.
//
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx942 --iree-codegen-product-plan=2x2,2x2,32,2 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefixes=ALL,MFMA
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-codegen-product-plan=4x2,2x2,32,2 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefixes=ALL,WMMA
//
// ALL: %[[LEFT:[a-z0-9_]+]] = kernel.alloc
// ALL: %[[RIGHT:[a-z0-9_]+]] = kernel.alloc
// The first tile is on its way.
// MFMA: kernel.load %arg0[{{.*}}] : (memref<?xf16>, index) -> vector<8xf16>
// MFMA-COUNT-4: kernel.load %arg1[{{.*}}] : (memref<?xf16>, index) -> vector<2xf16>
// WMMA-COUNT-4: kernel.load %arg0[{{.*}}] : (memref<?xf16>, index) -> vector<8xf16>
// WMMA-COUNT-4: kernel.load %arg1[{{.*}}] : (memref<?xf16>, index) -> vector<4xf16>
// ALL: kernel.for
// ALL: kernel.store {{.*}}, %[[LEFT]][{{.*}}] {align = 16 : i64} : (vector<8xf16>
// MFMA-COUNT-2: kernel.store {{.*}}, %[[RIGHT]][{{.*}}] {align = 8 : i64} : (vector<4xf16>
// WMMA-COUNT-4: kernel.store {{.*}}, %[[RIGHT]][{{.*}}] {align = 8 : i64} : (vector<4xf16>
// ALL: kernel.barrier
// MFMA: kernel.load %[[LEFT]][{{.*}}] {align = 16 : i64} {{.*}} -> vector<8xf16>
// WMMA: kernel.load %[[LEFT]][{{.*}}] {align = 16 : i64} {{.*}} -> vector<16xf16>
// ALL: kernel.load %[[RIGHT]][{{.*}}] {align = 8 : i64} {{.*}} -> vector<4xf16>
// ALL: kernel.mma
// ALL: kernel.yield
// The last one.
// ALL-NOT: kernel.load %arg
// ALL: kernel.barrier
// ALL-NOT: kernel.load %arg
// ALL: kernel.mma
// ALL-NOT: kernel.load %arg
// ALL: kernel.return
func.func @product(%x: tensor<256x256xf16>, %w: tensor<256x256xf16>) -> tensor<256x256xf32> {
  %0 = "graph.contract"(%x, %w) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<256x256xf16>, tensor<256x256xf16>) -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}
