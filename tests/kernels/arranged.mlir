// Products on GPUs whose tiles go through registers to matrix instructions: loads are of 16 bytes where there are threads
// enough, of some rows of a run if need be; what a lane loads across the depth it stores apart; it reads 16 bytes of
// fragments at once, of joined steps where one needs less; the first tile is multiplied before the loop, as sums are zero
// there, and the last one behind it. Each lane has a piece of a line of the result, for which the instruction's sides are
// turned, and on gfx11 columns stand in another order in workgroup memory.
//
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx942 --iree-codegen-product-plan=2x2,2x2,32,2 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefixes=ALL,MFMA
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx942 --iree-codegen-product-plan=2x2,2x2,32,1 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefix=ONE
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-codegen-product-plan=4x2,2x2,32,2 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefixes=ALL,WMMA
//
// ALL: %[[LEFT:[a-z0-9_]+]] = kernel.alloc
// ALL: %[[RIGHT:[a-z0-9_]+]] = kernel.alloc
// The first tile is on its way.
// MFMA: kernel.load %arg0[{{.*}}] : (memref<?xf16>, index) -> vector<8xf16>
// MFMA-COUNT-2: kernel.load %arg1[{{.*}}] : (memref<?xf16>, index) -> vector<4xf16>
// WMMA-COUNT-4: kernel.load %arg0[{{.*}}] : (memref<?xf16>, index) -> vector<8xf16>
// WMMA-COUNT-2: kernel.load %arg1[{{.*}}] : (memref<?xf16>, index) -> vector<8xf16>
// ALL: kernel.mma {{.*}}, %cst :
// ALL: kernel.for %{{.*}} = %c1 to %c7
// ALL: kernel.store {{.*}}, %[[LEFT]][{{.*}}] {align = 16 : i64} : (vector<8xf16>
// MFMA-COUNT-4: kernel.store {{.*}}, %[[RIGHT]][{{.*}}] {align = 4 : i64} : (vector<2xf16>
// WMMA-COUNT-8: kernel.store {{.*}}, %[[RIGHT]][{{.*}}] {align = 4 : i64} : (vector<2xf16>
// ALL: kernel.barrier
// MFMA: kernel.load %[[LEFT]][{{.*}}] {align = 16 : i64} {{.*}} -> vector<8xf16>
// WMMA: kernel.load %[[LEFT]][{{.*}}] {align = 16 : i64} {{.*}} -> vector<16xf16>
// ALL: kernel.load %[[RIGHT]][{{.*}}] {align = 16 : i64} {{.*}} -> vector<8xf16>
// ALL: kernel.mma
// ALL-NOT: kernel.barrier
// ALL: kernel.yield
// With one stage what is stored next waits for the products.
// ONE: kernel.for
// ONE-COUNT-2: kernel.barrier
// ONE: kernel.yield
// The last one.
// ALL-NOT: kernel.load %arg
// ALL: kernel.barrier
// ALL-NOT: kernel.load %arg
// ALL: kernel.mma
// ALL-NOT: kernel.load %arg
// MFMA-COUNT-4: kernel.store {{.*}}, %arg2{{.*}} : (vector<4xf32>
// WMMA-COUNT-8: kernel.store {{.*}}, %arg2{{.*}} : (vector<8xf32>
// ALL: kernel.return
func.func @product(%x: tensor<256x256xf16>, %w: tensor<256x256xf16>) -> tensor<256x256xf32> {
  %0 = "graph.contract"(%x, %w) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<256x256xf16>, tensor<256x256xf16>) -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}
