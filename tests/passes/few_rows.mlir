// Products of few rows by what is not at hand before a call, as sums over rows of that: it is read as it lies, and what
// is kept in 4 bits is computed where it is needed, not before.
// RUN: sed "s/WEIGHTS/$(printf '%02X' $(seq 0 3071 | awk '{print ($1*7+int($1/16))%16}'))/" %s > %t.mlir
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --compile-to=flow %t.mlir | FileCheck --check-prefix=CPU %s
// RUN: iree-compile --iree-hal-target-backends=cuda --iree-cuda-target=sm_80 --compile-to=flow %t.mlir | FileCheck --check-prefix=GPU %s

// Keys in their order: on CPUs they would be transposed, GPUs read them so.
// CPU-LABEL: func.func @keys
// CPU-NOT: graph.transpose"({{.*}}tensor<2x?x64xf32>
// CPU: graph.reduce
// CPU-NOT: graph.contract
// GPU-LABEL: func.func @keys
// GPU: graph.contract
func.func @keys(%q: tensor<2x3x64xf32>, %k: tensor<2x?x64xf32>) -> tensor<2x3x?xf32> {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x3x64xf32>, tensor<2x?x64xf32>) -> tensor<2x3x?xf32>
  return %0 : tensor<2x3x?xf32>
}

// Weights of another module, transposed first.
// CPU-LABEL: func.func @transposed
// CPU: graph.reduce
// CPU-NOT: graph.contract
// GPU-LABEL: func.func @transposed
// GPU: graph.contract
func.func @transposed(%x: tensor<1x64xf32>, %w: tensor<500x64xf32>) -> tensor<1x500xf32> {
  %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<500x64xf32>) -> tensor<64x500xf32>
  %1 = stablehlo.dot %x, %0 : (tensor<1x64xf32>, tensor<64x500xf32>) -> tensor<1x500xf32>
  return %1 : tensor<1x500xf32>
}

// Many rows: the products' own form.
// CPU-LABEL: func.func @many
// CPU: graph.contract
func.func @many(%x: tensor<9x64xf32>, %w: tensor<500x64xf32>) -> tensor<9x500xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<9x64xf32>, tensor<500x64xf32>) -> tensor<9x500xf32>
  return %0 : tensor<9x500xf32>
}

// Weights of 4 bits are constants of 4 bits, in one kernel with the sums.
// CPU-LABEL: func.func @four_bits
// CPU: graph.dispatch{{.*}}reduction
// CPU: ^bb0({{.*}}tensor<48x2x32xi4>
// CPU: graph.castu
// CPU: graph.reduce
// CPU-NOT: graph.dispatch
// GPU-LABEL: func.func @four_bits
// GPU: graph.dispatch{{.*}}reduction
// GPU: ^bb0({{.*}}tensor<48x2x32xi4>
// GPU: graph.castu
// GPU: graph.reduce
// GPU-NOT: graph.dispatch
util.global private @w = dense<"0xWEIGHTS"> : tensor<48x2x32xi4>
func.func @four_bits(%x: tensor<1x64xf32>, %s: tensor<48x2xf32>) -> tensor<1x48xf32> {
  %w = util.global.load @w : tensor<48x2x32xi4>
  %0 = tensor.bitcast %w : tensor<48x2x32xi4> to tensor<48x2x32xui4>
  %1 = stablehlo.convert %0 : (tensor<48x2x32xui4>) -> tensor<48x2x32xf32>
  %2 = stablehlo.broadcast_in_dim %s, dims = [0, 1] : (tensor<48x2xf32>) -> tensor<48x2x32xf32>
  %3 = stablehlo.multiply %1, %2 : tensor<48x2x32xf32>
  %4 = stablehlo.reshape %3 : (tensor<48x2x32xf32>) -> tensor<48x64xf32>
  %5 = stablehlo.dot_general %x, %4, contracting_dims = [1] x [1] : (tensor<1x64xf32>, tensor<48x64xf32>) -> tensor<1x48xf32>
  return %5 : tensor<1x48xf32>
}

// What joins two products of one row is computed by the third: on a GPU neither of the two waits for the other.
// CPU-LABEL: func.func @gated
// GPU-LABEL: func.func @gated
// GPU: graph.contract
// GPU-NOT: graph.mul
// GPU: graph.contract
// GPU-NEXT: graph.yield
// GPU: graph.mul
// GPU: graph.contract
func.func @gated(%x: tensor<1x64xf32>, %g: tensor<64x96xf32>, %u: tensor<64x96xf32>, %d: tensor<96x64xf32>) -> tensor<1x64xf32> {
  %0 = stablehlo.dot %x, %g : (tensor<1x64xf32>, tensor<64x96xf32>) -> tensor<1x96xf32>
  %1 = stablehlo.logistic %0 : tensor<1x96xf32>
  %2 = stablehlo.dot %x, %u : (tensor<1x64xf32>, tensor<64x96xf32>) -> tensor<1x96xf32>
  %3 = stablehlo.multiply %1, %2 : tensor<1x96xf32>
  %4 = stablehlo.dot %3, %d : (tensor<1x96xf32>, tensor<96x64xf32>) -> tensor<1x64xf32>
  return %4 : tensor<1x64xf32>
}
