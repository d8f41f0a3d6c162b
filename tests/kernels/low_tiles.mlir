// Products of one or two rows sum neighbours of the reduction side by side, whatever is left over at its end.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=seven --input=1x7xf32=1,2,3,4,5,6,7 --input=7x33xf32=2 --expected_output=1x33xf32=56
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=two_rows --input=2x6xi32=[1,2,3,4,5,6][-1,-2,-3,-4,-5,-7] --input=6x2xi32=[1,2][1,2][1,2][1,2][1,2][1,2] --expected_output=2x2xi32=[21,42][-22,-44]
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=three --input=1x3xf32=1,2,3 --input=3x64xf32=1 --expected_output=1x64xf32=6
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-hal-dump-executable-sources-to=%t.kernels %s -o %t.vmfb
// RUN: cat %t.kernels/*seven*.mlir | FileCheck %s

// CHECK: kernel.func @seven
// CHECK: kernel.for {{.*}} step %c4{{[_0-9]*}} iter_args
func.func @seven(%x: tensor<1x7xf32>, %w: tensor<7x33xf32>) -> tensor<1x33xf32> {
  %0 = "graph.contract"(%x, %w) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<1x7xf32>, tensor<7x33xf32>) -> tensor<1x33xf32>
  return %0 : tensor<1x33xf32>
}

func.func @two_rows(%x: tensor<2x6xi32>, %w: tensor<6x2xi32>) -> tensor<2x2xi32> {
  %0 = "graph.contract"(%x, %w) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<2x6xi32>, tensor<6x2xi32>) -> tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}

func.func @three(%x: tensor<1x3xf32>, %w: tensor<3x64xf32>) -> tensor<1x64xf32> {
  %0 = "graph.contract"(%x, %w) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<1x3xf32>, tensor<3x64xf32>) -> tensor<1x64xf32>
  return %0 : tensor<1x64xf32>
}
