// Older and longer spellings are read as the current ones.
// RUN: iree-opt --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @aliases(
// CHECK-SAME: tensor<4x?xf32, #test.layout<2>>
// CHECK: map = affine_map<(d0, d1) -> (d1, d0)>, place = loc("late.py":7:1)
!before = tensor<4x?xf32, #layout>
#map = affine_map<(d0, d1) -> (d1, d0)>
func.func @aliases(%arg0: !before) -> !before {
  "test.op"() {map = #map, place = loc(#where)} : () -> ()
  return %arg0 : !before
}
#layout = #test.layout<2>
#where = loc("late.py":7:1)

// -----

// CHECK-LABEL: func.func @mhlo
func.func @mhlo(%arg0: tensor<4xf32>, %arg1: tensor<f32>) -> tensor<f32> {
  // CHECK: stablehlo.add %arg0, %arg0 : tensor<4xf32>
  %0 = mhlo.add %arg0, %arg0 : tensor<4xf32>
  // CHECK: stablehlo.reduce(%0 init: %arg1) applies stablehlo.maximum across dimensions = [0]
  %1 = mhlo.reduce(%0 init: %arg1) applies mhlo.maximum across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.compare LT, %1, %arg1
  %2 = "mhlo.compare"(%1, %arg1) {comparison_direction = #mhlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  // CHECK: !stablehlo.token
  %3 = "test.token"() : () -> !mhlo.token
  return %1 : tensor<f32>
}

// -----

// Attributes as element data, names without their dialect, properties, regions before and behind attributes.
// CHECK-LABEL: func.func @older
func.func @older(%arg0: tensor<4x8xf32>, %arg1: i1, %arg2: i32) -> tensor<8x4xf32> {
  // CHECK: stablehlo.transpose %arg0, dims = [1, 0]
  %0 = "stablehlo.transpose"(%arg0) {permutation = dense<[1, 0]> : tensor<2xi64>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  // CHECK: stablehlo.slice %arg0 [0:2, 0:8:2]
  %1 = "stablehlo.slice"(%arg0) <{start_indices = dense<0> : tensor<2xi64>, limit_indices = dense<[2, 8]> : tensor<2xi64>, strides = array<i64: 1, 2>}> : (tensor<4x8xf32>) -> tensor<2x4xf32>
  // CHECK: cf.cond_br %arg1, ^bb1, ^bb2(%0 : tensor<8x4xf32>)
  cond_br %arg1, ^bb1, ^bb2(%0 : tensor<8x4xf32>)
^bb1:
  br ^bb2(%0 : tensor<8x4xf32>)
^bb2(%2: tensor<8x4xf32>):
  // CHECK: arith.addi %arg2, %arg2 : i32
  %3 = addi %arg2, %arg2 : i32
  // CHECK: return %{{.*}} : tensor<8x4xf32>
  "func.return"(%2) : (tensor<8x4xf32>) -> ()
}

// -----

// CHECK-LABEL: func.func @generic_form
// CHECK: cf.switch %arg0 : i32, [
// CHECK-NEXT: default: ^bb1(%arg0 : i32),
// CHECK-NEXT: 1: ^bb2,
// CHECK-NEXT: 2: ^bb1(%arg0 : i32)
"func.func"() ({
^bb0(%arg0: i32):
  "cf.switch"(%arg0, %arg0, %arg0)[^bb1, ^bb2, ^bb1] {case_values = dense<[1, 2]> : tensor<2xi32>, case_operand_segments = array<i32: 0, 1>, operand_segment_sizes = array<i32: 1, 1, 1>} : (i32, i32, i32) -> ()
^bb1(%0: i32):
  "func.return"() : () -> ()
^bb2:
  "func.return"() : () -> ()
}) {function_type = (i32) -> (), sym_name = "generic_form"} : () -> ()

// -----

// Element data: hexadecimal, equal elements, packed bits; numbers in hexadecimal.
// CHECK: a = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-SAME: b = dense<7> : tensor<2x2xi8>
// CHECK-SAME: c = dense<[true, false, true, true, false, false, false, false, true, false]> : tensor<10xi1>
// CHECK-SAME: d = dense<5> : tensor<3xi16>
// CHECK-SAME: e = 255 : i64
// CHECK-SAME: f = 1.000000e+00 : f32
// CHECK-SAME: g = dense<"0x{{[0-9A-F]*}}"> : tensor<101xi8>
"test.data"() {
  a = dense<"0x0000803F00000040"> : tensor<2xf32>,
  b = dense<[[7, 7], [7, 7]]> : tensor<2x2xi8>,
  c = dense<"0x0D01"> : tensor<10xi1>,
  d = dense<"0x0500"> : tensor<3xi16>,
  e = 0xFF,
  f = 0x3F800000 : f32,
  g = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33,
    34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67,
    68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100]> : tensor<101xi8>
} : () -> ()

// -----

// Torch ops without a row are read in their usual form; attributes of tosa ops may be words.
// CHECK-LABEL: func.func @families
func.func @families(%arg0: !torch.vtensor<[4],f32>, %arg1: tensor<1x4x4x8xf32>) {
  // CHECK: "torch.aten.relu"(%arg0) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  %0 = torch.aten.relu %arg0 : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  // CHECK: tosa.max_pool2d %arg1 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
  %1 = tosa.max_pool2d %arg1 kernel([2, 2]) stride([2, 2]) pad([0, 0, 0, 0]) : (tensor<1x4x4x8xf32>) -> tensor<1x2x2x8xf32>
  // CHECK: tosa.argmax %arg1 {axis = 3 : i32}
  %2 = tosa.argmax %arg1 axis(3) : (tensor<1x4x4x8xf32>) -> tensor<1x4x4xi32>
  return
}
