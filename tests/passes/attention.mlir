// Attention as programs spell it out becomes one op where devices have a kernel for it; what is not quite attention stays
// as it is.
//
// RUN: iree-compile --iree-hal-target-backends=cuda --iree-cuda-target=sm_80 --mlir-print-ir-after=attention %s -o %t.vmfb 2>&1 | FileCheck %s
//
// CHECK-LABEL: func.func @masked
// A padding mask for all heads and queries, transposed keys.
// CHECK: graph.attention"(%arg0, %{{[0-9]+}}, %arg2, %{{[0-9]+}}) <{scale = 0.1767
func.func @masked(%q: tensor<2x3x20x32xf32>, %k: tensor<2x3x40x32xf32>, %v: tensor<2x3x40x32xf32>, %mask: tensor<2x1x1x40xf32>) -> (tensor<2x3x20x32xf32>) {
  %0 = stablehlo.transpose %k, dims = [0, 1, 3, 2] : (tensor<2x3x40x32xf32>) -> tensor<2x3x32x40xf32>
  %1 = stablehlo.dot_general %q, %0, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x20x32xf32>, tensor<2x3x32x40xf32>) -> tensor<2x3x20x40xf32>
  %2 = stablehlo.constant dense<5.65685> : tensor<f32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<2x3x20x40xf32>
  %4 = stablehlo.divide %1, %3 : tensor<2x3x20x40xf32>
  %5 = stablehlo.broadcast_in_dim %mask, dims = [0, 1, 2, 3] : (tensor<2x1x1x40xf32>) -> tensor<2x3x20x40xf32>
  %6 = stablehlo.add %4, %5 : tensor<2x3x20x40xf32>
  %7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %8 = stablehlo.reduce(%6 init: %7) applies stablehlo.maximum across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %10 = stablehlo.subtract %6, %9 : tensor<2x3x20x40xf32>
  %11 = stablehlo.exponential %10 : tensor<2x3x20x40xf32>
  %12 = stablehlo.constant dense<0.0> : tensor<f32>
  %13 = stablehlo.reduce(%11 init: %12) applies stablehlo.add across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %15 = stablehlo.divide %11, %14 : tensor<2x3x20x40xf32>
  %16 = stablehlo.dot_general %15, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x20x40xf32>, tensor<2x3x40x32xf32>) -> tensor<2x3x20x32xf32>
  return %16 : tensor<2x3x20x32xf32>
}

// CHECK-LABEL: func.func @library
// As jax.nn.dot_product_attention has it: heads behind positions, causal by numbers of places, a limit of the maximum.
// CHECK: graph.attention"({{.*}}) <{causal, scale = 0.1767
// CHECK-NOT: graph.contract
func.func @library(%q: tensor<2x20x3x32xf32>, %k: tensor<2x20x3x32xf32>, %v: tensor<2x20x3x32xf32>) -> (tensor<2x20x3x32xf32>) {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x20x3x32xf32>, tensor<2x20x3x32xf32>) -> tensor<2x3x20x20xf32>
  %1 = stablehlo.constant dense<0.176776692> : tensor<f32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<2x3x20x20xf32>
  %3 = stablehlo.multiply %0, %2 : tensor<2x3x20x20xf32>
  %4 = stablehlo.iota dim = 0 : tensor<20x20xi32>
  %5 = stablehlo.iota dim = 1 : tensor<20x20xi32>
  %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<20x20xi32>, tensor<20x20xi32>) -> tensor<20x20xi1>
  %7 = stablehlo.broadcast_in_dim %6, dims = [2, 3] : (tensor<20x20xi1>) -> tensor<2x3x20x20xi1>
  %8 = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<2x3x20x20xf32>
  %10 = stablehlo.select %7, %3, %9 : tensor<2x3x20x20xi1>, tensor<2x3x20x20xf32>
  %11 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %12 = stablehlo.reduce(%10 init: %11) applies stablehlo.maximum across dimensions = [3] : (tensor<2x3x20x20xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %13 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %14 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<f32>) -> tensor<2x3x20xf32>
  %15 = stablehlo.maximum %14, %12 : tensor<2x3x20xf32>
  %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x20xf32>
  %17 = stablehlo.subtract %10, %16 : tensor<2x3x20x20xf32>
  %18 = stablehlo.exponential %17 : tensor<2x3x20x20xf32>
  %19 = stablehlo.constant dense<0.0> : tensor<f32>
  %20 = stablehlo.reduce(%18 init: %19) applies stablehlo.add across dimensions = [3] : (tensor<2x3x20x20xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x20xf32>
  %22 = stablehlo.divide %18, %21 : tensor<2x3x20x20xf32>
  %23 = stablehlo.dot_general %v, %22, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x20x3x32xf32>, tensor<2x3x20x20xf32>) -> tensor<2x3x32x20xf32>
  %24 = stablehlo.transpose %23, dims = [0, 3, 1, 2] : (tensor<2x3x32x20xf32>) -> tensor<2x20x3x32xf32>
  return %24 : tensor<2x20x3x32xf32>
}

// CHECK-LABEL: func.func @groups
// Several heads of queries share one of keys.
// CHECK: graph.attention
// CHECK-NOT: graph.contract
func.func @groups(%q: tensor<2x20x2x3x32xf32>, %k: tensor<2x40x2x32xf32>, %v: tensor<2x40x2x32xf32>) -> (tensor<2x20x2x3x32xf32>) {
  %0 = stablehlo.transpose %q, dims = [0, 2, 3, 1, 4] : (tensor<2x20x2x3x32xf32>) -> tensor<2x2x3x20x32xf32>
  %1 = stablehlo.dot_general %0, %k, batching_dims = [0, 1] x [0, 2], contracting_dims = [4] x [3] : (tensor<2x2x3x20x32xf32>, tensor<2x40x2x32xf32>) -> tensor<2x2x3x20x40xf32>
  %2 = stablehlo.constant dense<0.176776692> : tensor<f32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<2x2x3x20x40xf32>
  %4 = stablehlo.multiply %1, %3 : tensor<2x2x3x20x40xf32>
  %5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %6 = stablehlo.reduce(%4 init: %5) applies stablehlo.maximum across dimensions = [4] : (tensor<2x2x3x20x40xf32>, tensor<f32>) -> tensor<2x2x3x20xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 3] : (tensor<2x2x3x20xf32>) -> tensor<2x2x3x20x40xf32>
  %8 = stablehlo.subtract %4, %7 : tensor<2x2x3x20x40xf32>
  %9 = stablehlo.exponential %8 : tensor<2x2x3x20x40xf32>
  %10 = stablehlo.constant dense<0.0> : tensor<f32>
  %11 = stablehlo.reduce(%9 init: %10) applies stablehlo.add across dimensions = [4] : (tensor<2x2x3x20x40xf32>, tensor<f32>) -> tensor<2x2x3x20xf32>
  %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<2x2x3x20xf32>) -> tensor<2x2x3x20x40xf32>
  %13 = stablehlo.divide %9, %12 : tensor<2x2x3x20x40xf32>
  %14 = stablehlo.dot_general %13, %v, batching_dims = [0, 1] x [0, 2], contracting_dims = [4] x [1] : (tensor<2x2x3x20x40xf32>, tensor<2x40x2x32xf32>) -> tensor<2x2x3x20x32xf32>
  %15 = stablehlo.transpose %14, dims = [0, 3, 1, 2, 4] : (tensor<2x2x3x20x32xf32>) -> tensor<2x20x2x3x32xf32>
  return %15 : tensor<2x20x2x3x32xf32>
}

// CHECK-LABEL: func.func @joined_heads
// Products with batch and heads as one, masks with both.
// CHECK: graph.attention
// CHECK-NOT: graph.contract
func.func @joined_heads(%q: tensor<6x20x32xf32>, %k: tensor<6x40x32xf32>, %v: tensor<6x40x32xf32>, %mask: tensor<2x1x20x40xf32>) -> (tensor<6x20x32xf32>) {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<6x20x32xf32>, tensor<6x40x32xf32>) -> tensor<6x20x40xf32>
  %1 = stablehlo.reshape %0 : (tensor<6x20x40xf32>) -> tensor<2x3x20x40xf32>
  %2 = stablehlo.broadcast_in_dim %mask, dims = [0, 1, 2, 3] : (tensor<2x1x20x40xf32>) -> tensor<2x3x20x40xf32>
  %3 = stablehlo.add %1, %2 : tensor<2x3x20x40xf32>
  %4 = stablehlo.reshape %3 : (tensor<2x3x20x40xf32>) -> tensor<6x20x40xf32>
  %5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %6 = stablehlo.reduce(%4 init: %5) applies stablehlo.maximum across dimensions = [2] : (tensor<6x20x40xf32>, tensor<f32>) -> tensor<6x20xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<6x20xf32>) -> tensor<6x20x40xf32>
  %8 = stablehlo.subtract %4, %7 : tensor<6x20x40xf32>
  %9 = stablehlo.exponential %8 : tensor<6x20x40xf32>
  %10 = stablehlo.constant dense<0.0> : tensor<f32>
  %11 = stablehlo.reduce(%9 init: %10) applies stablehlo.add across dimensions = [2] : (tensor<6x20x40xf32>, tensor<f32>) -> tensor<6x20xf32>
  %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<6x20xf32>) -> tensor<6x20x40xf32>
  %13 = stablehlo.divide %9, %12 : tensor<6x20x40xf32>
  %14 = stablehlo.dot_general %13, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x20x40xf32>, tensor<6x40x32xf32>) -> tensor<6x20x32xf32>
  return %14 : tensor<6x20x32xf32>
}

// CHECK-LABEL: func.func @blank_rows
// As exporters write scaled_dot_product_attention: both sides scaled, a mask of flags, zero for rows without keys.
// CHECK: graph.attention"({{.*}}) <{blank, scale = 0.1767
// CHECK-NOT: graph.contract
func.func @blank_rows(%q: tensor<2x3x20x32xf32>, %k: tensor<2x3x40x32xf32>, %v: tensor<2x3x40x32xf32>, %mask: tensor<2x1x20x40xi1>) -> (tensor<2x3x20x32xf32>) {
  %0 = stablehlo.constant dense<0.420448208> : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x3x20x32xf32>
  %2 = stablehlo.multiply %q, %1 : tensor<2x3x20x32xf32>
  %3 = stablehlo.constant dense<0.420448208> : tensor<f32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<2x3x40x32xf32>
  %5 = stablehlo.multiply %k, %4 : tensor<2x3x40x32xf32>
  %6 = stablehlo.dot_general %2, %5, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x20x32xf32>, tensor<2x3x40x32xf32>) -> tensor<2x3x20x40xf32>
  %7 = stablehlo.constant dense<0.0> : tensor<f32>
  %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<2x1x20x40xf32>
  %9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f32>) -> tensor<2x1x20x40xf32>
  %11 = stablehlo.select %mask, %8, %10 : tensor<2x1x20x40xi1>, tensor<2x1x20x40xf32>
  %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<2x1x20x40xf32>) -> tensor<2x3x20x40xf32>
  %13 = stablehlo.add %6, %12 : tensor<2x3x20x40xf32>
  %14 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %15 = stablehlo.reduce(%13 init: %14) applies stablehlo.maximum across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %17 = stablehlo.subtract %13, %16 : tensor<2x3x20x40xf32>
  %18 = stablehlo.exponential %17 : tensor<2x3x20x40xf32>
  %19 = stablehlo.constant dense<0.0> : tensor<f32>
  %20 = stablehlo.reduce(%18 init: %19) applies stablehlo.add across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %22 = stablehlo.divide %18, %21 : tensor<2x3x20x40xf32>
  %23 = stablehlo.compare NE, %22, %22, FLOAT : (tensor<2x3x20x40xf32>, tensor<2x3x20x40xf32>) -> tensor<2x3x20x40xi1>
  %24 = stablehlo.constant dense<0.0> : tensor<f32>
  %25 = stablehlo.broadcast_in_dim %24, dims = [] : (tensor<f32>) -> tensor<2x3x20x40xf32>
  %26 = stablehlo.select %23, %25, %22 : tensor<2x3x20x40xi1>, tensor<2x3x20x40xf32>
  %27 = stablehlo.dot_general %26, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x20x40xf32>, tensor<2x3x40x32xf32>) -> tensor<2x3x20x32xf32>
  return %27 : tensor<2x3x20x32xf32>
}

// CHECK-LABEL: func.func @narrow
// Softmax in a wider type.
// CHECK: graph.attention
// CHECK-NOT: graph.contract
func.func @narrow(%q: tensor<2x3x20x32xf16>, %k: tensor<2x3x40x32xf16>, %v: tensor<2x3x40x32xf16>) -> (tensor<2x3x20x32xf16>) {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x20x32xf16>, tensor<2x3x40x32xf16>) -> tensor<2x3x20x40xf16>
  %1 = stablehlo.constant dense<0.176776692> : tensor<f16>
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f16>) -> tensor<2x3x20x40xf16>
  %3 = stablehlo.multiply %0, %2 : tensor<2x3x20x40xf16>
  %4 = stablehlo.convert %3 : (tensor<2x3x20x40xf16>) -> tensor<2x3x20x40xf32>
  %5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %6 = stablehlo.reduce(%4 init: %5) applies stablehlo.maximum across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %8 = stablehlo.subtract %4, %7 : tensor<2x3x20x40xf32>
  %9 = stablehlo.exponential %8 : tensor<2x3x20x40xf32>
  %10 = stablehlo.constant dense<0.0> : tensor<f32>
  %11 = stablehlo.reduce(%9 init: %10) applies stablehlo.add across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %13 = stablehlo.divide %9, %12 : tensor<2x3x20x40xf32>
  %14 = stablehlo.convert %13 : (tensor<2x3x20x40xf32>) -> tensor<2x3x20x40xf16>
  %15 = stablehlo.dot_general %14, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x20x40xf16>, tensor<2x3x40x32xf16>) -> tensor<2x3x20x32xf16>
  return %15 : tensor<2x3x20x32xf16>
}

// CHECK-LABEL: func.func @flags
// Scores are replaced where the mask says so, by the lowest number.
// CHECK: graph.attention
// CHECK-NOT: graph.contract
func.func @flags(%q: tensor<2x3x20x32xf32>, %k: tensor<2x3x40x32xf32>, %v: tensor<2x3x40x32xf32>, %mask: tensor<2x1x1x40xi1>) -> (tensor<2x3x20x32xf32>) {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x20x32xf32>, tensor<2x3x40x32xf32>) -> tensor<2x3x20x40xf32>
  %1 = stablehlo.constant dense<0.176776692> : tensor<f32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<2x3x20x40xf32>
  %3 = stablehlo.multiply %0, %2 : tensor<2x3x20x40xf32>
  %4 = stablehlo.broadcast_in_dim %mask, dims = [0, 1, 2, 3] : (tensor<2x1x1x40xi1>) -> tensor<2x3x20x40xi1>
  %5 = stablehlo.constant dense<-3.40282347E+38> : tensor<f32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<2x3x20x40xf32>
  %7 = stablehlo.select %4, %6, %3 : tensor<2x3x20x40xi1>, tensor<2x3x20x40xf32>
  %8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %9 = stablehlo.reduce(%7 init: %8) applies stablehlo.maximum across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %11 = stablehlo.subtract %7, %10 : tensor<2x3x20x40xf32>
  %12 = stablehlo.exponential %11 : tensor<2x3x20x40xf32>
  %13 = stablehlo.constant dense<0.0> : tensor<f32>
  %14 = stablehlo.reduce(%12 init: %13) applies stablehlo.add across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %16 = stablehlo.divide %12, %15 : tensor<2x3x20x40xf32>
  %17 = stablehlo.dot_general %16, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x20x40xf32>, tensor<2x3x40x32xf32>) -> tensor<2x3x20x32xf32>
  return %17 : tensor<2x3x20x32xf32>
}

// CHECK-LABEL: func.func @triangle
// A causal mask as numbers, the queries being the last of the keys.
// CHECK: graph.attention"({{.*}}) <{causal
// CHECK-NOT: graph.contract
func.func @triangle(%q: tensor<2x3x20x32xf32>, %k: tensor<2x3x40x32xf32>, %v: tensor<2x3x40x32xf32>) -> (tensor<2x3x20x32xf32>) {
  %0 = stablehlo.constant dense<[[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<20x40xf32>
  %1 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x20x32xf32>, tensor<2x3x40x32xf32>) -> tensor<2x3x20x40xf32>
  %2 = stablehlo.constant dense<0.176776692> : tensor<f32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<2x3x20x40xf32>
  %4 = stablehlo.multiply %1, %3 : tensor<2x3x20x40xf32>
  %5 = stablehlo.broadcast_in_dim %0, dims = [2, 3] : (tensor<20x40xf32>) -> tensor<2x3x20x40xf32>
  %6 = stablehlo.add %4, %5 : tensor<2x3x20x40xf32>
  %7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %8 = stablehlo.reduce(%6 init: %7) applies stablehlo.maximum across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %10 = stablehlo.subtract %6, %9 : tensor<2x3x20x40xf32>
  %11 = stablehlo.exponential %10 : tensor<2x3x20x40xf32>
  %12 = stablehlo.constant dense<0.0> : tensor<f32>
  %13 = stablehlo.reduce(%11 init: %12) applies stablehlo.add across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %15 = stablehlo.divide %11, %14 : tensor<2x3x20x40xf32>
  %16 = stablehlo.dot_general %15, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x20x40xf32>, tensor<2x3x40x32xf32>) -> tensor<2x3x20x32xf32>
  return %16 : tensor<2x3x20x32xf32>
}

// CHECK-LABEL: func.func @window
// Not causal: a window of places, which stays a mask.
// CHECK: graph.attention"({{.*}}) <{scale
func.func @window(%q: tensor<2x3x20x32xf32>, %k: tensor<2x3x20x32xf32>, %v: tensor<2x3x20x32xf32>) -> (tensor<2x3x20x32xf32>) {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x20x32xf32>, tensor<2x3x20x32xf32>) -> tensor<2x3x20x20xf32>
  %1 = stablehlo.constant dense<0.176776692> : tensor<f32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<2x3x20x20xf32>
  %3 = stablehlo.multiply %0, %2 : tensor<2x3x20x20xf32>
  %4 = stablehlo.iota dim = 0 : tensor<20x20xi32>
  %5 = stablehlo.iota dim = 1 : tensor<20x20xi32>
  %6 = stablehlo.subtract %4, %5 : tensor<20x20xi32>
  %7 = stablehlo.constant dense<0> : tensor<i32>
  %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<i32>) -> tensor<20x20xi32>
  %9 = stablehlo.compare GE, %6, %8, SIGNED : (tensor<20x20xi32>, tensor<20x20xi32>) -> tensor<20x20xi1>
  %10 = stablehlo.constant dense<5> : tensor<i32>
  %11 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<i32>) -> tensor<20x20xi32>
  %12 = stablehlo.compare LE, %6, %11, SIGNED : (tensor<20x20xi32>, tensor<20x20xi32>) -> tensor<20x20xi1>
  %13 = stablehlo.and %9, %12 : tensor<20x20xi1>
  %14 = stablehlo.broadcast_in_dim %13, dims = [2, 3] : (tensor<20x20xi1>) -> tensor<2x3x20x20xi1>
  %15 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %16 = stablehlo.broadcast_in_dim %15, dims = [] : (tensor<f32>) -> tensor<2x3x20x20xf32>
  %17 = stablehlo.select %14, %3, %16 : tensor<2x3x20x20xi1>, tensor<2x3x20x20xf32>
  %18 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %19 = stablehlo.reduce(%17 init: %18) applies stablehlo.maximum across dimensions = [3] : (tensor<2x3x20x20xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x20xf32>
  %21 = stablehlo.subtract %17, %20 : tensor<2x3x20x20xf32>
  %22 = stablehlo.exponential %21 : tensor<2x3x20x20xf32>
  %23 = stablehlo.constant dense<0.0> : tensor<f32>
  %24 = stablehlo.reduce(%22 init: %23) applies stablehlo.add across dimensions = [3] : (tensor<2x3x20x20xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x20xf32>
  %26 = stablehlo.divide %22, %25 : tensor<2x3x20x20xf32>
  %27 = stablehlo.dot_general %26, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x20x20xf32>, tensor<2x3x20x32xf32>) -> tensor<2x3x20x32xf32>
  return %27 : tensor<2x3x20x32xf32>
}

// CHECK-LABEL: func.func @one_query
// One query: its keys in parts, and both heads that share them at once.
// CHECK: %[[PARTS:.*]]:2 = "graph.attention"({{.*}}) <{scale = 0.1767{{.*}}, splits = 5 : i64}> : (tensor<1x2x2x32xf32>
// CHECK: graph.reduce
// CHECK-NOT: graph.attention
func.func @one_query(%q: tensor<1x4x1x32xf32>, %k: tensor<1x2x1280x32xf32>, %v: tensor<1x2x1280x32xf32>, %mask: tensor<1x1x1x1280xi1>) -> (tensor<1x4x1x32xf32>) {
  %0 = stablehlo.broadcast_in_dim %k, dims = [0, 1, 3, 4] : (tensor<1x2x1280x32xf32>) -> tensor<1x2x2x1280x32xf32>
  %1 = stablehlo.reshape %0 : (tensor<1x2x2x1280x32xf32>) -> tensor<1x4x1280x32xf32>
  %2 = stablehlo.dot_general %q, %1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<1x4x1x32xf32>, tensor<1x4x1280x32xf32>) -> tensor<1x4x1x1280xf32>
  %3 = stablehlo.constant dense<0.176776692> : tensor<f32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<1x4x1x1280xf32>
  %5 = stablehlo.multiply %2, %4 : tensor<1x4x1x1280xf32>
  %6 = stablehlo.broadcast_in_dim %mask, dims = [0, 1, 2, 3] : (tensor<1x1x1x1280xi1>) -> tensor<1x4x1x1280xi1>
  %7 = stablehlo.constant dense<-3.40282347E+38> : tensor<f32>
  %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<1x4x1x1280xf32>
  %9 = stablehlo.select %6, %5, %8 : tensor<1x4x1x1280xi1>, tensor<1x4x1x1280xf32>
  %10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %11 = stablehlo.reduce(%9 init: %10) applies stablehlo.maximum across dimensions = [3] : (tensor<1x4x1x1280xf32>, tensor<f32>) -> tensor<1x4x1xf32>
  %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<1x4x1xf32>) -> tensor<1x4x1x1280xf32>
  %13 = stablehlo.subtract %9, %12 : tensor<1x4x1x1280xf32>
  %14 = stablehlo.exponential %13 : tensor<1x4x1x1280xf32>
  %15 = stablehlo.constant dense<0.0> : tensor<f32>
  %16 = stablehlo.reduce(%14 init: %15) applies stablehlo.add across dimensions = [3] : (tensor<1x4x1x1280xf32>, tensor<f32>) -> tensor<1x4x1xf32>
  %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<1x4x1xf32>) -> tensor<1x4x1x1280xf32>
  %18 = stablehlo.divide %14, %17 : tensor<1x4x1x1280xf32>
  %19 = stablehlo.broadcast_in_dim %v, dims = [0, 1, 3, 4] : (tensor<1x2x1280x32xf32>) -> tensor<1x2x2x1280x32xf32>
  %20 = stablehlo.reshape %19 : (tensor<1x2x2x1280x32xf32>) -> tensor<1x4x1280x32xf32>
  %21 = stablehlo.dot_general %18, %20, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<1x4x1x1280xf32>, tensor<1x4x1280x32xf32>) -> tensor<1x4x1x32xf32>
  return %21 : tensor<1x4x1x32xf32>
}

// CHECK-LABEL: func.func @scores_used
// What else needs the scores, or the probabilities, has them: nothing is gained then.
// CHECK-NOT: graph.attention
// CHECK: return
func.func @scores_used(%q: tensor<2x3x20x32xf32>, %k: tensor<2x3x40x32xf32>, %v: tensor<2x3x40x32xf32>) -> (tensor<2x3x20x32xf32>, tensor<2x3x20x40xf32>) {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x20x32xf32>, tensor<2x3x40x32xf32>) -> tensor<2x3x20x40xf32>
  %1 = stablehlo.constant dense<0.176776692> : tensor<f32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<2x3x20x40xf32>
  %3 = stablehlo.multiply %0, %2 : tensor<2x3x20x40xf32>
  %4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %5 = stablehlo.reduce(%3 init: %4) applies stablehlo.maximum across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %7 = stablehlo.subtract %3, %6 : tensor<2x3x20x40xf32>
  %8 = stablehlo.exponential %7 : tensor<2x3x20x40xf32>
  %9 = stablehlo.constant dense<0.0> : tensor<f32>
  %10 = stablehlo.reduce(%8 init: %9) applies stablehlo.add across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %12 = stablehlo.divide %8, %11 : tensor<2x3x20x40xf32>
  %13 = stablehlo.dot_general %12, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x20x40xf32>, tensor<2x3x40x32xf32>) -> tensor<2x3x20x32xf32>
  return %13, %3 : tensor<2x3x20x32xf32>, tensor<2x3x20x40xf32>
}

// CHECK-LABEL: func.func @weights_used
// CHECK-NOT: graph.attention
// CHECK: return
func.func @weights_used(%q: tensor<2x3x20x32xf32>, %k: tensor<2x3x40x32xf32>, %v: tensor<2x3x40x32xf32>) -> (tensor<2x3x20x32xf32>, tensor<2x3x20x40xf32>) {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x20x32xf32>, tensor<2x3x40x32xf32>) -> tensor<2x3x20x40xf32>
  %1 = stablehlo.constant dense<0.176776692> : tensor<f32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<2x3x20x40xf32>
  %3 = stablehlo.multiply %0, %2 : tensor<2x3x20x40xf32>
  %4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %5 = stablehlo.reduce(%3 init: %4) applies stablehlo.maximum across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %7 = stablehlo.subtract %3, %6 : tensor<2x3x20x40xf32>
  %8 = stablehlo.exponential %7 : tensor<2x3x20x40xf32>
  %9 = stablehlo.constant dense<0.0> : tensor<f32>
  %10 = stablehlo.reduce(%8 init: %9) applies stablehlo.add across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %12 = stablehlo.divide %8, %11 : tensor<2x3x20x40xf32>
  %13 = stablehlo.dot_general %12, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x20x40xf32>, tensor<2x3x40x32xf32>) -> tensor<2x3x20x32xf32>
  return %13, %12 : tensor<2x3x20x32xf32>, tensor<2x3x20x40xf32>
}

// CHECK-LABEL: func.func @dropout
// Probabilities are changed on the way.
// CHECK-NOT: graph.attention
// CHECK: return
func.func @dropout(%q: tensor<2x3x20x32xf32>, %k: tensor<2x3x40x32xf32>, %v: tensor<2x3x40x32xf32>, %kept: tensor<2x3x20x40xf32>) -> (tensor<2x3x20x32xf32>) {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x20x32xf32>, tensor<2x3x40x32xf32>) -> tensor<2x3x20x40xf32>
  %1 = stablehlo.constant dense<0.176776692> : tensor<f32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<2x3x20x40xf32>
  %3 = stablehlo.multiply %0, %2 : tensor<2x3x20x40xf32>
  %4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %5 = stablehlo.reduce(%3 init: %4) applies stablehlo.maximum across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %7 = stablehlo.subtract %3, %6 : tensor<2x3x20x40xf32>
  %8 = stablehlo.exponential %7 : tensor<2x3x20x40xf32>
  %9 = stablehlo.constant dense<0.0> : tensor<f32>
  %10 = stablehlo.reduce(%8 init: %9) applies stablehlo.add across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %12 = stablehlo.divide %8, %11 : tensor<2x3x20x40xf32>
  %13 = stablehlo.multiply %12, %kept : tensor<2x3x20x40xf32>
  %14 = stablehlo.dot_general %13, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x20x40xf32>, tensor<2x3x40x32xf32>) -> tensor<2x3x20x32xf32>
  return %14 : tensor<2x3x20x32xf32>
}

// CHECK-LABEL: func.func @other_axis
// A softmax over the queries.
// CHECK-NOT: graph.attention
// CHECK: return
func.func @other_axis(%q: tensor<2x3x20x32xf32>, %k: tensor<2x3x20x32xf32>, %v: tensor<2x3x20x32xf32>) -> (tensor<2x3x20x32xf32>) {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x20x32xf32>, tensor<2x3x20x32xf32>) -> tensor<2x3x20x20xf32>
  %1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %2 = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [2] : (tensor<2x3x20x20xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 3] : (tensor<2x3x20xf32>) -> tensor<2x3x20x20xf32>
  %4 = stablehlo.subtract %0, %3 : tensor<2x3x20x20xf32>
  %5 = stablehlo.exponential %4 : tensor<2x3x20x20xf32>
  %6 = stablehlo.constant dense<0.0> : tensor<f32>
  %7 = stablehlo.reduce(%5 init: %6) applies stablehlo.add across dimensions = [2] : (tensor<2x3x20x20xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 3] : (tensor<2x3x20xf32>) -> tensor<2x3x20x20xf32>
  %9 = stablehlo.divide %5, %8 : tensor<2x3x20x20xf32>
  %10 = stablehlo.dot_general %9, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x20x20xf32>, tensor<2x3x20x32xf32>) -> tensor<2x3x20x32xf32>
  return %10 : tensor<2x3x20x32xf32>
}

// CHECK-LABEL: func.func @soft_cap
// Scores go through a function.
// CHECK-NOT: graph.attention
// CHECK: return
func.func @soft_cap(%q: tensor<2x3x20x32xf32>, %k: tensor<2x3x40x32xf32>, %v: tensor<2x3x40x32xf32>) -> (tensor<2x3x20x32xf32>) {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x20x32xf32>, tensor<2x3x40x32xf32>) -> tensor<2x3x20x40xf32>
  %1 = stablehlo.constant dense<0.176776692> : tensor<f32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<2x3x20x40xf32>
  %3 = stablehlo.multiply %0, %2 : tensor<2x3x20x40xf32>
  %4 = stablehlo.tanh %3 : tensor<2x3x20x40xf32>
  %5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %6 = stablehlo.reduce(%4 init: %5) applies stablehlo.maximum across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %8 = stablehlo.subtract %4, %7 : tensor<2x3x20x40xf32>
  %9 = stablehlo.exponential %8 : tensor<2x3x20x40xf32>
  %10 = stablehlo.constant dense<0.0> : tensor<f32>
  %11 = stablehlo.reduce(%9 init: %10) applies stablehlo.add across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %13 = stablehlo.divide %9, %12 : tensor<2x3x20x40xf32>
  %14 = stablehlo.dot_general %13, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x20x40xf32>, tensor<2x3x40x32xf32>) -> tensor<2x3x20x32xf32>
  return %14 : tensor<2x3x20x32xf32>
}

// CHECK-LABEL: func.func @mild_mask
// A number that does not hide a score.
// CHECK-NOT: graph.attention
// CHECK: return
func.func @mild_mask(%q: tensor<2x3x20x32xf32>, %k: tensor<2x3x40x32xf32>, %v: tensor<2x3x40x32xf32>, %mask: tensor<2x1x1x40xi1>) -> (tensor<2x3x20x32xf32>) {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x20x32xf32>, tensor<2x3x40x32xf32>) -> tensor<2x3x20x40xf32>
  %1 = stablehlo.constant dense<0.176776692> : tensor<f32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<2x3x20x40xf32>
  %3 = stablehlo.multiply %0, %2 : tensor<2x3x20x40xf32>
  %4 = stablehlo.broadcast_in_dim %mask, dims = [0, 1, 2, 3] : (tensor<2x1x1x40xi1>) -> tensor<2x3x20x40xi1>
  %5 = stablehlo.constant dense<-10.0> : tensor<f32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<2x3x20x40xf32>
  %7 = stablehlo.select %4, %6, %3 : tensor<2x3x20x40xi1>, tensor<2x3x20x40xf32>
  %8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %9 = stablehlo.reduce(%7 init: %8) applies stablehlo.maximum across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %11 = stablehlo.subtract %7, %10 : tensor<2x3x20x40xf32>
  %12 = stablehlo.exponential %11 : tensor<2x3x20x40xf32>
  %13 = stablehlo.constant dense<0.0> : tensor<f32>
  %14 = stablehlo.reduce(%12 init: %13) applies stablehlo.add across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %16 = stablehlo.divide %12, %15 : tensor<2x3x20x40xf32>
  %17 = stablehlo.dot_general %16, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x20x40xf32>, tensor<2x3x40x32xf32>) -> tensor<2x3x20x32xf32>
  return %17 : tensor<2x3x20x32xf32>
}

// CHECK-LABEL: func.func @other_sum
// Divided by another sum.
// CHECK-NOT: graph.attention
// CHECK: return
func.func @other_sum(%q: tensor<2x3x20x32xf32>, %k: tensor<2x3x40x32xf32>, %v: tensor<2x3x40x32xf32>, %w: tensor<2x3x20x40xf32>) -> (tensor<2x3x20x32xf32>) {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x20x32xf32>, tensor<2x3x40x32xf32>) -> tensor<2x3x20x40xf32>
  %1 = stablehlo.constant dense<0.176776692> : tensor<f32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<2x3x20x40xf32>
  %3 = stablehlo.multiply %0, %2 : tensor<2x3x20x40xf32>
  %4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %5 = stablehlo.reduce(%3 init: %4) applies stablehlo.maximum across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %7 = stablehlo.subtract %3, %6 : tensor<2x3x20x40xf32>
  %8 = stablehlo.exponential %7 : tensor<2x3x20x40xf32>
  %9 = stablehlo.constant dense<0.0> : tensor<f32>
  %10 = stablehlo.reduce(%w init: %9) applies stablehlo.add across dimensions = [3] : (tensor<2x3x20x40xf32>, tensor<f32>) -> tensor<2x3x20xf32>
  %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<2x3x20xf32>) -> tensor<2x3x20x40xf32>
  %12 = stablehlo.divide %8, %11 : tensor<2x3x20x40xf32>
  %13 = stablehlo.dot_general %12, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x20x40xf32>, tensor<2x3x40x32xf32>) -> tensor<2x3x20x32xf32>
  return %13 : tensor<2x3x20x32xf32>
}

// CHECK-LABEL: func.func @linalg
// As IREE's own op, whose scale is a number.
// CHECK: graph.attention"({{.*}}) <{scale = 1.250000e-01
// CHECK-NOT: graph.contract
func.func @linalg(%q: tensor<8x128x64xf16>, %k: tensor<8x128x64xf16>, %v: tensor<8x128x64xf16>) -> tensor<8x128x64xf16> {
  %scale = arith.constant 0.125 : f16
  %e = tensor.empty() : tensor<8x128x64xf16>
  %r = iree_linalg_ext.attention <{indexing_maps = [affine_map<(b, m, n, k1, k2) -> (b, m, k1)>, affine_map<(b, m, n, k1, k2) -> (b, k2, k1)>, affine_map<(b, m, n, k1, k2) -> (b, k2, n)>, affine_map<(b, m, n, k1, k2) -> ()>, affine_map<(b, m, n, k1, k2) -> (b, m, n)>]}>
      ins(%q, %k, %v, %scale : tensor<8x128x64xf16>, tensor<8x128x64xf16>, tensor<8x128x64xf16>, f16)
      outs(%e : tensor<8x128x64xf16>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<8x128x64xf16>
  return %r : tensor<8x128x64xf16>
}
