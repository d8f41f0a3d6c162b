// Passes that are for a target, by name, with the compiler's flags.
// RUN: iree-opt --lower-input --host-scalars --form-dispatches --assign-layouts --build-kernels --iree-hal-target-device=local --iree-llvmcpu-target-cpu=haswell %s | FileCheck %s
// RUN: not iree-opt --lower-input --form-dispatches --build-kernels %s 2>&1 | FileCheck --check-prefix=TARGET %s
// RUN: iree-opt --strip-assertions --lower-input %s | not grep assert
// RUN: iree-opt --lower-input --element-types --iree-input-demote-f64-to-f32 --iree-hal-target-device=local %s 2>&1 | FileCheck --check-prefix=TYPES %s
// RUN: (echo 'func.func @large() -> tensor<8192xf32> { %0 = stablehlo.constant dense<"0x'$(yes 0123456789abcdef | tr -d '\n' | head -c 16384)'"> : tensor<8192xi8>'; echo '%1 = stablehlo.convert %0 : (tensor<8192xi8>) -> tensor<8192xf32> return %1 : tensor<8192xf32> }') > %t.mlir
// RUN: iree-opt --lower-input --const-eval --mlir-elide-elementsattrs-if-larger=8 --iree-hal-target-device=local %t.mlir | FileCheck --check-prefix=EVAL %s
// RUN: iree-opt --lower-input --spread-work %s | grep "func.func @f"
// RUN: for f in iree-hal-dump-executable-files-to iree-flow-trace-dispatch iree-vm-target-index-bits iree-parameter-import; do not iree-opt --lower-input --$f=32 %s 2>&1 | grep "iree-opt: '--$f' is for iree-compile, which goes through all passes" || exit 1; done
// RUN: not iree-opt --lower-input --iree-opt-level=O9 %s 2>&1 | grep "O0, O1, O2 and O3 are known"

// CHECK: "graph.dispatch"
// CHECK-SAME: entry = 0
// CHECK: module @kernels {
// CHECK: kernel.func @
// TARGET: error: this pass is for a target; name one, with --iree-hal-target-device=local or another
// TYPES: func.func @f(%arg0: tensor<4xf32>) -> tensor<4xf32>
// EVAL: func.func @large
// EVAL: "graph.constant"(){{.*}} -> tensor<8192xf32>
// EVAL: return

func.func @f(%x: tensor<4xf64>) -> tensor<4xf64> {
  %true = arith.constant true
  cf.assert %true, "is true"
  %0 = stablehlo.iota dim = 0 : tensor<4xf64>
  %1 = stablehlo.sine %0 : tensor<4xf64>
  %2 = stablehlo.add %x, %1 : tensor<4xf64>
  return %2 : tensor<4xf64>
}
