// Ops of memref and vector are read and written as MLIR writes them.
// RUN: iree-opt %s -o %t.mlir && iree-opt %t.mlir | diff %t.mlir -
// RUN: FileCheck %s < %t.mlir
// RUN: iree-opt --verify-roundtrip %s -o %t.mlir
// RUN: sed -e 's/load %a\[%i, %j\]/load %a[%i]/' %s | not iree-opt 2>&1 | FileCheck --check-prefix=INDICES %s
// INDICES: error: 'memref.load' op incorrect number of indices for 'memref<?x4xf32>': 1
// RUN: sed -e 's/alloca(%i)/alloca()/' %s | not iree-opt 2>&1 | FileCheck --check-prefix=SIZES %s
// SIZES: error: 'memref.alloca' op incorrect number of dynamic sizes, has 0, expected 1
// RUN: sed -e 's/%b\[%i, %j\], %x {in/%b[%i, %j] {in/' %s | not iree-opt 2>&1 | FileCheck --check-prefix=OUTSIDE %s
// OUTSIDE: error: expected a value for what is outside

// CHECK-LABEL: @memory
func.func @memory(%a: memref<?x4xf32>, %b: memref<8x4xf32, #hal.descriptor_type<storage_buffer>>, %i: index, %j: index) {
  // CHECK: memref.load %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x4xf32>
  %x = memref.load %a[%i, %j] : memref<?x4xf32>
  // CHECK: memref.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : memref<8x4xf32>
  memref.store %x, %b[%i, %j] : memref<8x4xf32, #hal.descriptor_type<storage_buffer>>
  // CHECK: memref.alloca(%{{.*}}) : memref<?xi32>
  %t = memref.alloca(%i) : memref<?xi32>
  %u = memref.alloc() {alignment = 64 : i64} : memref<4xi32>
  memref.dealloc %u : memref<4xi32>
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?x4xf32>
  // CHECK: memref.subview %{{.*}}[%{{.*}}, 0] [2, 4] [1, 1] : memref<?x4xf32> to memref<2x4xf32, strided<[4, 1], offset: ?>>
  %s = memref.subview %a[%i, 0] [2, 4] [1, 1] : memref<?x4xf32> to memref<2x4xf32, strided<[4, 1], offset: ?>>
  // CHECK: memref.assume_alignment %{{.*}}, 64 : memref<?x4xf32>
  memref.assume_alignment %a, 64 : memref<?x4xf32>
  %k = memref.assume_alignment %a, 64 : memref<?x4xf32>
  %p = memref.cast %b : memref<8x4xf32> to memref<?x4xf32>
  memref.copy %a, %p : memref<?x4xf32> to memref<?x4xf32>
  // CHECK: memref.reinterpret_cast %{{.*}} to offset
  %r = memref.reinterpret_cast %b to offset: [%i], sizes: [2, 2], strides: [2, 1] : memref<8x4xf32> to memref<2x2xf32, strided<[2, 1], offset: ?>>
  %e = memref.collapse_shape %b [[0, 1]] : memref<8x4xf32> into memref<32xf32>
  %f = memref.expand_shape %e [[0, 1]] output_shape [4, 8] : memref<32xf32> into memref<4x8xf32>
  return
}

// CHECK-LABEL: @vectors
func.func @vectors(%a: memref<?xf32>, %b: memref<8x4xf32>, %i: index, %j: index, %x: f32, %m: vector<4xi1>) -> f32 {
  // CHECK: "vector.transfer_read"({{.*}}) <{in_bounds = [true], operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  %0 = vector.transfer_read %a[%i], %x {in_bounds = [true]} : memref<?xf32>, vector<4xf32>
  %1 = vector.transfer_read %b[%i, %j], %x {in_bounds = [false, true]} : memref<8x4xf32>, vector<2x4xf32>
  %2 = vector.transfer_read %a[%i], %x, %m : memref<?xf32>, vector<4xf32>
  vector.transfer_write %2, %a[%i], %m : vector<4xf32>, memref<?xf32>
  vector.transfer_write %1, %b[%i, %j] : vector<2x4xf32>, memref<8x4xf32>
  // CHECK: vector.load %{{.*}}[%{{.*}}] : memref<?xf32>, vector<4xf32>
  %3 = vector.load %a[%i] : memref<?xf32>, vector<4xf32>
  // CHECK: vector.store %{{.*}}, %{{.*}}[%{{.*}}] : memref<?xf32>, vector<4xf32>
  vector.store %3, %a[%i] : memref<?xf32>, vector<4xf32>
  %4 = vector.broadcast %x : f32 to vector<4xf32>
  %5 = vector.splat %x : vector<4xf32>
  %6 = vector.fma %3, %4, %5 : vector<4xf32>
  // CHECK: vector.reduction{{ ?}}<add>, %{{.*}} : vector<4xf32> into f32
  %7 = vector.reduction <add>, %6 : vector<4xf32> into f32
  // CHECK: vector.reduction{{ ?}}<maximumf>, %{{.*}}, %{{.*}} : vector<4xf32> into f32
  %8 = vector.reduction <maximumf>, %6, %7 : vector<4xf32> into f32
  // CHECK: vector.multi_reduction{{ ?}}<add>, %{{.*}}, %{{.*}} [0] : vector<2x4xf32> to vector<4xf32>
  %9 = vector.multi_reduction <add>, %1, %6 [0] : vector<2x4xf32> to vector<4xf32>
  // CHECK: vector.extract %{{.*}}[1, 2] : f32 from vector<2x4xf32>
  %10 = vector.extract %1[1, 2] : f32 from vector<2x4xf32>
  %11 = vector.insert %10, %9[%i] : f32 into vector<4xf32>
  %12 = vector.extract_strided_slice %11 {offsets = [1], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
  %13 = vector.insert_strided_slice %12, %11 {offsets = [0], strides = [1]} : vector<2xf32> into vector<4xf32>
  %14 = vector.shape_cast %1 : vector<2x4xf32> to vector<8xf32>
  // CHECK: vector.transpose %{{.*}}, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
  %15 = vector.transpose %1, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
  %16 = vector.step : vector<4xindex>
  %17 = vector.from_elements %x, %x : vector<2xf32>
  %18 = arith.constant dense<0.0> : vector<2x2xf32>
  // CHECK: vector.contract {{{.*}}} %{{.*}}, %{{.*}}, %{{.*}} : vector<2x4xf32>, vector<4x2xf32> into vector<2x2xf32>
  %19 = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %1, %15, %18 : vector<2x4xf32>, vector<4x2xf32> into vector<2x2xf32>
  return %8 : f32
}
