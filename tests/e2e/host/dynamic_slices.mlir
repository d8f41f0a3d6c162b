// Slices whose sizes, starts and strides are computed from a run-time size.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=differences --input=4x2xf32=1,2,3,5,6,9,10,14 | FileCheck %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=row --input=4x2xf32=1,2,3,5,6,9,10,14 --input=i32=2 | FileCheck --check-prefix=ROW %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=rest --input=4x2xf32=1,2,3,5,6,9,10,14 --input=i32=3 | FileCheck --check-prefix=REST %s

// CHECK: 3x2xf32=[2 3][3 4][4 5]
func.func @differences(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %size = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
  %sizes = stablehlo.reshape %size : (tensor<i32>) -> tensor<1xi32>
  %less = stablehlo.subtract %sizes, %one : tensor<1xi32>
  %slice = stablehlo.concatenate %less, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %front = "stablehlo.dynamic_gather"(%x, %zero, %slice) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0]>}> : (tensor<?x2xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?x2xf32>
  %back = "stablehlo.dynamic_gather"(%x, %one, %slice) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0]>}> : (tensor<?x2xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?x2xf32>
  %0 = stablehlo.subtract %back, %front : tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}
// ROW: 2xf32=6 9
func.func @row(%x: tensor<?x2xf32>, %i: tensor<i32>) -> tensor<2xf32> {
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %index = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
  %slice = stablehlo.concatenate %one, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %index, %slice) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0]>}> : (tensor<?x2xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// REST: 1x2xf32=[10 14]
func.func @rest(%x: tensor<?x2xf32>, %i: tensor<i32>) -> tensor<?x2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %size = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
  %sizes = stablehlo.reshape %size : (tensor<i32>) -> tensor<1xi32>
  %first = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
  %starts = stablehlo.concatenate %first, %zero, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %limits = stablehlo.concatenate %sizes, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %strides = stablehlo.concatenate %one, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.real_dynamic_slice %x, %starts, %limits, %strides : (tensor<?x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}
