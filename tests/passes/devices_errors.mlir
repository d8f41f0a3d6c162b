// What needs several devices is refused by name.
// RUN: not iree-compile --compile-to=input %s 2>&1 | FileCheck %s
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main(%a: tensor<2xf32>) -> (tensor<ui32>, tensor<2xf32>, tensor<2xf32>) {
    // CHECK: error: 'stablehlo.partition_id' op with operands () is not supported: programs for one device are
    %0 = stablehlo.partition_id : tensor<ui32>
    %1 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    return %0, %1, %1 : tensor<ui32>, tensor<2xf32>, tensor<2xf32>
  }
}
