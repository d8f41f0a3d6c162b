// Parameters whose names functions put together, also in loops, and those of constants.
// RUN: iree-create-parameters --data=blk.0.w=2xf32=1 --data=blk.1.w=2xf32=2 --data=blk.2.w=2xf32=4 --data=255=2xf32=8 --output=%t.irpa
// RUN: iree-compile --iree-hal-target-device=local %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --parameters=%t.irpa --parameters=model=%t.irpa --function=sum | FileCheck --check-prefix=SUM %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --parameters=%t.irpa --parameters=model=%t.irpa --function=named | FileCheck --check-prefix=NAMED %s
// RUN: iree-opt --verify-roundtrip %s | FileCheck --check-prefix=TEXT %s

// SUM: 2xf32=7 7
// TEXT: %[[KEY:.*]] = util.string.format "blk.{}.w"(%{{.*}}) : (index) -> !util.buffer
func.func @sum() -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %first = arith.constant 0 : i64
  %zeros = arith.constant dense<0.0> : tensor<2xf32>
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %zeros) -> tensor<2xf32> {
    %key = util.string.format "blk.{}.w"(%i) : (index) -> !util.buffer
    %w = flow.parameter.load %key[%first] : tensor<2xf32>
    %1 = arith.addf %sum, %w : tensor<2xf32>
    scf.yield %1 : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}
// NAMED: 2xf32=2 2
// NAMED: 2xf32=8 8
// NAMED: 2xf32=4 4
func.func @named() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %first = arith.constant 0 : i64
  %c1 = arith.constant 1 : index
  %byte = arith.constant -1 : i8
  %scope = util.buffer.constant : !util.buffer = "model"
  %w = util.buffer.constant : !util.buffer = "w"
  %blk = util.buffer.constant : !util.buffer = "blk"
  %key = util.string.format "{1}.{0}.{2}"(%c1, %blk, %w) : (index, !util.buffer, !util.buffer) -> !util.buffer
  %0 = flow.parameter.load %scope::%key[%first] : tensor<2xf32>
  %digits = util.string.itoa %byte : i8 -> !util.buffer
  %1 = flow.parameter.load %digits[%first] : tensor<2xf32>
  %2 = flow.tensor.constant #flow.parameter.named<"model"::"blk.2.w"> : tensor<2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
//
// RUN: sed -n 's|^// late: ||p' %s | not iree-compile --iree-hal-target-device=local - 2>&1 | FileCheck --check-prefix=LATE %s
// LATE: error: 'util.string.format' op {{.*}}numbers and text that are known when the program is compiled are
// late: func.func @late(%i: index) -> tensor<2xf32> {
// late:   %first = arith.constant 0 : i64
// late:   %key = util.string.format "w{}"(%i) : (index) -> !util.buffer
// late:   %w = flow.parameter.load %key[%first] : tensor<2xf32>
// late:   return %w : tensor<2xf32>
// late: }
