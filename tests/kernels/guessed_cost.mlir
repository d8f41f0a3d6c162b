// Guesses at what a kernel costs exceed integers where many sizes are known at run time only.
// RUN: iree-compile --compile-to=executable-targets --iree-hal-target-backends=llvm-cpu %s | FileCheck %s
// CHECK: cycles = {{[0-9]+}} : i64
func.func @main(%x: tensor<?x?x?x?x?x?xf32>, %w: tensor<?x?x?x?x?x?xf32>) -> tensor<?x?x?x?x?x?xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1, 2, 3]x[o, i, 0, 1, 2, 3]->[b, f, 0, 1, 2, 3],
      window = {stride = [1, 1, 1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<?x?x?x?x?x?xf32>, tensor<?x?x?x?x?x?xf32>) -> tensor<?x?x?x?x?x?xf32>
  return %0 : tensor<?x?x?x?x?x?xf32>
}
