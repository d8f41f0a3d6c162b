// What strategies propose for a dispatch or why they do not, what was chosen, what that should cost, and why it is slow.
//
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx942 --iree-codegen-list-candidates --compile-to=executable-targets %s -o %t.mlir 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: FileCheck %s --check-prefix=DUMP < %t.mlir
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx942 --iree-codegen-strategy=matrix --compile-to=executable-targets %s -o - | FileCheck %s --check-prefix=MATRIX
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx942 --iree-codegen-strategy=map --compile-report=- %s -o %t.vmfb 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: not iree-compile --iree-hal-target-device=local --iree-codegen-strategy=tyle %s -o %t.vmfb 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: --iree-codegen-strategy=tyle: there are tiles, dots, contract, winograd, conv, slide, rows, scan, transpose, map, radix, merge, select_lanes, select_digits, select, places, suppress, rank, scatter, solve, region, attention, few_matrix, few, staged, matrix, depthwise, tile
//
// LIST: product_dispatch_0{{.*}}: few_matrix declines: it has more than 31 rows, fewer than 32 columns or 64 of depth, or weights lie otherwise
// LIST: product_dispatch_0{{.*}}: staged: {{[0-9]+}} cycles, chosen
// LIST: product_dispatch_0{{.*}}: matrix: {{[0-9]+}} cycles
// LIST: product_dispatch_0{{.*}}: tile: {{[0-9]+}} cycles
// LIST: product_dispatch_0{{.*}}: map: {{[0-9]+}} cycles
// LIST: product_dispatch_0{{.*}}: mfma.{{.*}}.f16 {{[0-9x,]+}}: {{[0-9]+}}
// LIST: small_dispatch_0{{.*}}: staged declines: it is too small for tiles of workgroup memory
// LIST: small_dispatch_0{{.*}}: matrix: {{[0-9]+}} cycles, chosen
// LIST: sum_dispatch_0{{.*}}: rows: {{[0-9]+}} cycles, chosen
// LIST: sum_dispatch_0{{.*}}: map: {{[0-9]+}} cycles
// DUMP: cycles = {{[1-9][0-9]*}} : i64, entry = 0 : i64, strategy = "staged"
// DUMP: slow = "few_matrix: it has more than 31 rows, fewer than 32 columns or 64 of depth, or weights lie otherwise; few: {{.*}}; staged: it is too small for tiles of workgroup memory", strategy = "matrix"
// DUMP: strategy = "rows"
// MATRIX: strategy = "matrix"
// MATRIX: strategy = "matrix"
// What it does not propose a kernel for another one builds.
// MATRIX: strategy = "rows"
// REPORT: cycles  kernel (strategy)
// REPORT-DAG: {{[1-9][0-9]*}}  small_dispatch_0{{.*}} (map)
// REPORT-DAG: slow, since few_matrix: {{.*}}; staged: it is too small for tiles of workgroup memory
// REPORT-DAG: {{[1-9][0-9]*}}  sum_dispatch_0{{.*}} (map)
func.func @product(%x: tensor<256x256xf16>, %w: tensor<256x256xf16>) -> tensor<256x256xf32> {
  %0 = "graph.contract"(%x, %w) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<256x256xf16>, tensor<256x256xf16>) -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}
func.func @small(%x: tensor<16x16xf16>, %w: tensor<16x16xf16>) -> tensor<16x16xf32> {
  %0 = "graph.contract"(%x, %w) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
func.func @sum(%x: tensor<64x256xf32>) -> tensor<64xf32> {
  %0 = "graph.reduce"(%x) <{dims = array<i64: 1>, kind = "add"}> : (tensor<64x256xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
