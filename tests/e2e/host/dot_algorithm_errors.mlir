// What an algorithm or precision asks for and cannot have is named.
//
// RUN: not iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmfb 2>&1 | FileCheck %s

// CHECK: dot_algorithm_errors.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: 'stablehlo.dot_general' op {{.*}}lhs_precision_type is 'i7'; a format of floats is needed
func.func @format(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = i7, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// CHECK: error: 'stablehlo.dot_general' op {{.*}}rhs_component_count is '4'; 1 to 3 can be compiled
func.func @parts(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 4, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// CHECK: error: 'stablehlo.dot' op {{.*}}the precisions DEFAULT, HIGH and HIGHEST are, not PACKED_NIBBLE
func.func @precision(%a: tensor<2x2xi8>, %b: tensor<2x2xi8>) -> tensor<2x2xi32> {
  %0 = stablehlo.dot %a, %b, precision = [PACKED_NIBBLE, PACKED_NIBBLE] : (tensor<2x2xi8>, tensor<2x2xi8>) -> tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}
