// The same program gives the same module, wherever things lie in memory and whatever the number of threads.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=znver4 --mlir-disable-threading --trace-output=%t.json %s -o %t.0
// RUN: grep -o '"tid":[0-9]*' %t.json | sort -u | wc -l | grep '^1$'
// RUN: for i in 1 2 3 4 5 6 7 8; do iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=znver4 %s -o %t.$i && cmp %t.0 %t.$i || exit 1; done
func.func @main(%x: tensor<1x144x112x112xf32>, %y: tensor<1x96x112x112xf32>, %z: tensor<1x192x28x28xf32>) -> (tensor<1x144x56x56xf32>, tensor<1x96x56x56xf32>, tensor<1x192x14x14xf32>) {
  %w = stablehlo.constant dense<0.5> : tensor<144x1x3x3xf32>
  %v = stablehlo.constant dense<0.5> : tensor<96x1x3x3xf32>
  %u = stablehlo.constant dense<0.5> : tensor<192x1x3x3xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 144 : i64} : (tensor<1x144x112x112xf32>, tensor<144x1x3x3xf32>) -> tensor<1x144x56x56xf32>
  %1 = stablehlo.convolution(%y, %v) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 96 : i64} : (tensor<1x96x112x112xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x56x56xf32>
  %2 = stablehlo.convolution(%z, %u) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 192 : i64} : (tensor<1x192x28x28xf32>, tensor<192x1x3x3xf32>) -> tensor<1x192x14x14xf32>
  return %0, %1, %2 : tensor<1x144x56x56xf32>, tensor<1x96x56x56xf32>, tensor<1x192x14x14xf32>
}
