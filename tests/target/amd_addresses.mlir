// Global memory on AMD GPUs: what lanes have in common of an address is a scalar base, which the loop advances by scalar
// instructions; vector instructions compute a lane's own offset, once before the loop.
//
// RUN: rm -rf %t && iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx942 --iree-hal-dump-executable-files-to=%t %s -o %t.vmfb
// RUN: FileCheck %s --input-file=$(ls %t/*.rocmasm)
// CHECK: [[LOOP:.LBB[0-9_]+]]:
// CHECK-NOT: v_addc_co_u32
// CHECK-NOT: v_lshl_add_u64
// CHECK-DAG: global_load_dwordx4 v[{{.*}}], [[LEFT:v[0-9]+]], s[{{[0-9:]+}}]
// CHECK-DAG: s_addc_u32
// CHECK-NOT: v_addc_co_u32
// CHECK-NOT: v_lshl_add_u64
// CHECK: s_cbranch_{{.*}} [[LOOP]]
// CHECK-NOT: v_addc_co_u32
// CHECK: global_store_dwordx4 v{{[0-9]+}}, v[{{.*}}], s[{{[0-9:]+}}]
func.func @product(%x: tensor<1024x1024xf16>, %w: tensor<1024x1024xf16>) -> tensor<1024x1024xf32> {
  %0 = "graph.contract"(%x, %w) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<1024x1024xf16>, tensor<1024x1024xf16>) -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}
