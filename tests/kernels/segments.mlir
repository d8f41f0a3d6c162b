// Heads that stand side by side in the left operand: the reduction is a loop over heads and one within a head, so that
// no element's place is divided; what belongs to a row, whose number is known at run time only, is computed before.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=znver4 --compile-to=executable-configurations %s -o - | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=heads --input=2x3x1x16xf32=1 --input=48x2xf32=0.5 --expected_output="2x2xf32=[24 24][24 24]"
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=heads --input=1x3x2x16xf32=2 --input=48x2xf32=0.5 --expected_output="2x2xf32=[48 48][48 48]"
// CHECK: kernel.func @heads_dispatch_0
// CHECK: kernel.divu
// CHECK: kernel.for %{{.*}} to %c3{{.*}} iter_args
// CHECK: kernel.for %{{.*}} to %c16{{.*}} iter_args
// CHECK-NOT: kernel.divu
// CHECK: kernel.fma
func.func @heads(%x: tensor<?x3x?x16xf32>, %w: tensor<48x2xf32>) -> tensor<?x2xf32> {
  %n = "graph.dim"(%x) <{index = 0 : i64}> : (tensor<?x3x?x16xf32>) -> index
  %m = "graph.dim"(%x) <{index = 2 : i64}> : (tensor<?x3x?x16xf32>) -> index
  %rows = "graph.mul"(%n, %m) : (index, index) -> index
  %y = "graph.transpose"(%x) <{perm = array<i64: 0, 2, 1, 3>}> : (tensor<?x3x?x16xf32>) -> tensor<?x?x3x16xf32>
  %z = "graph.reshape"(%y, %rows) : (tensor<?x?x3x16xf32>, index) -> tensor<?x48xf32>
  %r = "graph.contract"(%z, %w) <{lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}> : (tensor<?x48xf32>, tensor<48x2xf32>) -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}
