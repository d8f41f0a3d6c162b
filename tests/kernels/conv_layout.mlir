// A convolution's operands that are no constants are packed, and padded where its kernel is wide, by dispatches before.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=znver4 --compile-to=stream %s -o - | FileCheck %s
// CHECK: graph.dispatch"(%arg0) <{sym_name = "main_dispatch_0{{.*}}_input"}>
// CHECK: graph.pad
// CHECK: graph.pack
// CHECK: -> tensor<1x2x6x80x16xf32>
// CHECK: graph.dispatch"(%arg1) <{sym_name = "main_dispatch_0{{.*}}_weights"}>
// CHECK: graph.pack
// CHECK: -> tensor<1x1x24x1x40x32xf32>
// CHECK: graph.dispatch"(%0, %1) <{sym_name = "main_dispatch_0
// CHECK: graph.conv
// CHECK-SAME: pad_low = array<i64: 0, 0>
func.func @main(%x: tensor<1x24x6x40xf32>, %w: tensor<20x24x1x40xf32>) -> tensor<1x20x6x41xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[0, 0], [20, 20]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x24x6x40xf32>, tensor<20x24x1x40xf32>) -> tensor<1x20x6x41xf32>
  return %0 : tensor<1x20x6x41xf32>
}
